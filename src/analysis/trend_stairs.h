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
	double last_s,
		before_s; /* when the latest step came, and the one before; before_s < last_s */
};

/*
 * When the next step is due if what fills the buffer goes on as between the last two: then each
 * level lasts `factor` times as long as the one before.
 */
double trend_stairs_next(const struct trend_stairs *stairs);
/* Whether that is long past: the staircase has ended. */
bool trend_stairs_ended(const struct trend_stairs *stairs, double now_s);

/* Looks for them in n values at these times; *ret stays as it is where there are none. */
void trend_stairs_find(const double *s, const double *value, size_t n, struct trend_stairs *ret);

#endif
