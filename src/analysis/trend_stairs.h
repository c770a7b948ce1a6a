/* SPDX-License-Identifier: MIT */
/*
 * trend_stairs.h - a buffer that grows by a factor each time, as a series of bytes shows it: levels,
 * and steps between them.
 */
#ifndef HEAPSTORY_ANALYSIS_TREND_STAIRS_H
#define HEAPSTORY_ANALYSIS_TREND_STAIRS_H

#include <stdbool.h>
#include <stddef.h>

/* Factors from one level to the next that are taken for those of a buffer. */
#define TREND_MIN_FACTOR 1.4
#define TREND_MAX_FACTOR 3.2

/* A staircase: steps that each make a buffer larger by a factor. */
struct trend_stairs {
	size_t nr; /* steps seen; 0: it is none */
	double factor; /* the typical one */
	double size; /* of the buffer now; the series may have other bytes beside it */
	double last_s; /* when the latest step came */
	double level_s; /* how long the level behind it is expected to last; above 0 */
	double slower; /* so many times as long each level lasts as the one before: 1 to factor */
};

/*
 * Fills in last_s, level_s and slower from the times of so many steps, two or more, ascending, the
 * last two not equal; factor is known. What comes in at a constant rate fills each level `factor`
 * times as slowly as the one before; what comes in at a rate that grows like the buffer fills all
 * of them in the same time. Which it is, or what in between, the latest levels tell; what is nearly
 * one of the two is taken for it.
 */
void trend_stairs_expect(struct trend_stairs *stairs, const double *step_s, size_t nr);

/* When the next step is due if it goes on like that. */
double trend_stairs_next(const struct trend_stairs *stairs);
/* Whether that is long past: the staircase has ended. */
bool trend_stairs_ended(const struct trend_stairs *stairs, double now_s);

/* Looks for them in n values at these times; *ret stays as it is where there are none. */
void trend_stairs_find(const double *s, const double *value, size_t n, struct trend_stairs *ret);

#endif
