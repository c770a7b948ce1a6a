/* SPDX-License-Identifier: MIT */
/*
 * trend_curves.h - curves through a series, by least squares.
 */
#ifndef HEAPSTORY_ANALYSIS_TREND_CURVES_H
#define HEAPSTORY_ANALYSIS_TREND_CURVES_H

#include <stddef.h>

struct trend_fit {
	double slope, slope_error; /* 0 where x is all one value */
	double squares; /* of what is left */
};

/* The line of n values on x. */
struct trend_fit trend_fit_line(const double *x, const double *value, size_t n);

enum curve {
	CURVE_RAMP, /* a line, then flat: for two or three measurements at the end at least */
	CURVE_STEP, /* one level before a measurement, another one from there on */
	CURVE_FILL, /* ever slower up to a level, as random keys fill a cache */
};

struct trend_bend {
	double squares; /* of the best curve of its kind; INFINITY: there is none that rises */
	double memory; /* of what it leaves: correlation of neighbours, 0 at least */
};

/* The best curve of a kind that rises, of n values at these times; n is 6 at least. */
struct trend_bend trend_fit_bend(enum curve curve, const double *s, const double *value, size_t n);

#endif
