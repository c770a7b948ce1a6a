/* SPDX-License-Identifier: MIT */
/*
 * trend_shape.h - what one series of bytes looks like: does it grow, has it grown and stopped, does
 * it only vary? Built on trend_test.h; knows nothing of heaps.
 */
#ifndef HEAPSTORY_ANALYSIS_TREND_SHAPE_H
#define HEAPSTORY_ANALYSIS_TREND_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/trend_stairs.h"

enum trend_shape {
	TREND_LINEAR, /* grows, more or less evenly */
	TREND_DOUBLING, /* grows by a factor each time, in a staircase */
	TREND_PLATEAU, /* grew and stopped */
	TREND_STEP, /* grew at once, and not before or after */
	TREND_NOISE, /* varies, or nothing is known of it */
	TREND_SHRINKING,
};

/* "linear", "doubling", ... */
const char *trend_shape_name(enum trend_shape shape);

enum trend_confidence {
	TREND_LOW,
	TREND_MEDIUM,
	TREND_HIGH,
};
const char *trend_confidence_name(enum trend_confidence confidence);

/* With fewer measurements nothing is said with more than low confidence. */
#define TREND_MIN_SURE 6u

/* Of all series that were measured at the same times. */
struct trend_times;

/* n >= 3 times in seconds, ascending, none equal; they are copied. */
struct trend_times *trend_times_new(const double *s, size_t n);
void trend_times_free(struct trend_times *times);

/* One series. */
struct trend_view {
	/*
	 * The probability that it does not grow (trend_test.h); 1 where it has bent off, has not
	 * gained anything, or there are too few measurements.
	 */
	double not_growing;
	double not_shrinking; /* the same downwards */
	enum trend_shape otherwise; /* what it looks like if it does not grow */
	double slope; /* per second: median slope (Theil-Sen) from `from` on */
	size_t from; /* growth is judged from this measurement on: 0, or where the last half begins */
	/*
	 * The first measurement from which on it was always larger than ever before; 0: there is
	 * none, or it has not gained anything.
	 */
	size_t first_growth;
	struct trend_stairs stairs;
	bool rose_last; /* the last measurement is above the one before */
};

void trend_look(const struct trend_times *times, const double *value, struct trend_view *ret);

/* What is believed of a series. */
struct trend_belief {
	enum trend_shape shape;
	enum trend_confidence confidence; /* that it grows */
};

/*
 * Of n series that were looked at together, so that false discoveries are at most one in twenty of
 * what is above TREND_LOW. A staircase of three steps that has not ended is believed as it is, of
 * four if there are other bytes beside it.
 */
void trend_believe(const struct trend_times *times, const struct trend_view *views, size_t n,
		   struct trend_belief *ret);

#endif
