/* SPDX-License-Identifier: MIT */
/*
 * trend_curves.c - lines, ramps, steps and fillings through a series, by least squares; see
 * trend_curves.h.
 */
#include "analysis/trend_curves.h"

#include <math.h>
#include <stdlib.h>

#include "util/alloc.h"

struct trend_fit trend_fit_line(const double *x, const double *value, size_t n)
{
	double mx = 0, my = 0, xx = 0, xy = 0;
	struct trend_fit f = {0, 0, 0};

	for (size_t i = 0; i < n; i++) {
		mx += x[i] / (double)n;
		my += value[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		xx += (x[i] - mx) * (x[i] - mx);
		xy += (x[i] - mx) * (value[i] - my);
	}
	f.slope = xx > 0 ? xy / xx : 0;
	for (size_t i = 0; i < n; i++) {
		double left = value[i] - my - f.slope * (x[i] - mx);

		f.squares += left * left;
	}
	f.slope_error = xx > 0 && n > 2 ? sqrt(f.squares / (double)(n - 2) / xx) : 0;
	return f;
}

/* What is left to fill falls to 1/e in this share of the time, times 1, 2, ... FILLS. */
#define FILL_SHARE 0.055
#define FILLS	   6u

/* Places tried for the end of a ramp from one measurement to the next: it may be full in between. */
#define CORNERS 4u

/*
 * at: a measurement; of CURVE_FILL how fast it is. before: so much of the interval before it is
 * flat already.
 */
static void curve_fill(enum curve curve, size_t at, double before, const double *s, size_t n,
		       double *ret)
{
	double fall = FILL_SHARE * (double)at * (s[n - 1] - s[0]);
	double corner = curve == CURVE_RAMP ? s[at] - before * (s[at] - s[at - 1]) : 0;

	for (size_t i = 0; i < n; i++)
		ret[i] = curve == CURVE_STEP   ? (double)(i >= at)
			 : curve == CURVE_RAMP ? fmin(s[i], corner)
					       : -exp((s[0] - s[i]) / fall);
}

/* How much of what is left of a measurement the next one has as well. */
static double memory_of(const double *x, const double *value, size_t n, double slope)
{
	double *left = xmallocarray(n, sizeof(*left)), mean = 0, all = 0, next = 0;

	for (size_t i = 0; i < n; i++) {
		left[i] = value[i] - slope * x[i];
		mean += left[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		all += (left[i] - mean) * (left[i] - mean);
		next += i ? (left[i] - mean) * (left[i - 1] - mean) : 0;
	}
	free(left);
	return all > 0 && next > 0 ? next / all : 0;
}

/* So many measurements at least are flat at the end of a ramp. */
static size_t flat_part(size_t n)
{
	return n < 10 ? 2 : 3;
}

/* Sums over the measurements before one. */
struct sums {
	double x, xx, y, xy;
};

/* What of the squares a curve takes away; 0 if it does not rise. before: up to `at`. */
static double taken_by(enum curve curve, const struct sums *before, double all_y, double at_x,
		       size_t at, size_t n)
{
	double rest = (double)(n - at), rest_y = all_y - before->y, x, xx, xy, both, own;

	if (curve == CURVE_STEP) {
		x = xx = rest;
		xy = rest_y;
	} else {
		x = before->x + rest * at_x;
		xx = before->xx + rest * at_x * at_x;
		xy = before->xy + at_x * rest_y;
	}
	both = xy - x * all_y / (double)n;
	own = xx - x * x / (double)n;
	return both > 0 && own > 0 ? both * both / own : 0;
}

/* Where a ramp or step fits best, to a measurement; 0: it rises nowhere. `end`: one too far. */
static size_t best_place(enum curve curve, const double *s, const double *value, size_t n,
			 size_t end)
{
	struct sums before = {0, 0, 0, 0};
	double all_y = 0, most = 0;
	size_t best = 0;

	for (size_t i = 0; i < n; i++)
		all_y += value[i] - value[0];
	for (size_t i = 0; i < end; i++) {
		double x = s[i] - s[0], y = value[i] - value[0];
		double taken = i ? taken_by(curve, &before, all_y, x, i, n) : 0;

		if (taken > most) {
			most = taken;
			best = i;
		}
		before.x += x;
		before.xx += x * x;
		before.y += y;
		before.xy += x * y;
	}
	return best;
}

struct trend_bend trend_fit_bend(enum curve curve, const double *s, const double *value, size_t n)
{
	size_t from = 1, end = curve == CURVE_FILL   ? FILLS + 1
			       : curve == CURVE_RAMP ? n - flat_part(n)
						     : n;
	size_t corners = curve == CURVE_RAMP ? CORNERS : 1;
	double *x = xmallocarray(n, sizeof(*x));
	struct trend_bend best = {INFINITY, 0};

	if (curve != CURVE_FILL) {
		size_t place = best_place(curve, s, value, n, end);

		/* sums tell the place; how well it fits is to be known better than they know it */
		from = place > 1 ? place - 1 : 1;
		end = !place ? from : place + 2 < end ? place + 2 : end;
	}
	for (size_t k = from * corners; k < end * corners; k++) {
		struct trend_fit f;

		curve_fill(curve, k / corners, (double)(k % corners) / (double)corners, s, n, x);
		f = trend_fit_line(x, value, n);
		if (f.slope > 0 && f.squares < best.squares)
			best = (struct trend_bend){f.squares, memory_of(x, value, n, f.slope)};
	}
	free(x);
	return best;
}
