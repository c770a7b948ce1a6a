/* SPDX-License-Identifier: MIT */
/*
 * trend_stairs.c - staircases in a series; see trend_stairs.h.
 */
#include "analysis/trend_stairs.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/trend_test.h"
#include "util/alloc.h"

#define ALIKE	 1.15 /* so much may factors differ from the median one */
#define LEVEL	 0.02 /* of all that is gained: what is no step at all */
#define BESIDE	 0.05 /* of the buffer: what may be beside it without being noticed */
#define PATIENCE 1.5 /* so much longer than the slowest that is expected may a level last */
#define WAVERING 2.0 /* so much shorter or longer than expected are levels of the same growth */
#define LATEST	 8u /* levels that are looked at */
#define AVERAGED 3u /* of these, for how long they are */
#define USUAL	 0.2 /* of log(factor): as near as this to the two usual ways to fill, it is that */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The middle one, or the middle of the middle two; sorts them. */
static double median(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), ascending);
	return (values[(nr - 1) / 2] + values[nr / 2]) / 2;
}

/* The steps of a series that has some, and stays where it is in between. */
struct steps {
	double *gains, *at_s; /* by step: bytes, and when it was first seen */
	size_t nr;
};

/* False if it is no staircase: it falls, or goes up too little in too many places. */
static bool find_steps(const double *s, const double *value, size_t n, struct steps *ret)
{
	double range = value[n - 1] - value[0], slight = 0;

	for (size_t i = 1; i < n; i++) {
		double gain = value[i] - value[i - 1];

		if (gain < -LEVEL * range)
			return false;
		if (gain > LEVEL * range) {
			ret->at_s[ret->nr] = s[i];
			ret->gains[ret->nr++] = gain;
		} else {
			slight += fabs(gain);
		}
	}
	return ret->nr >= 2 && slight <= 2 * LEVEL * range;
}

/*
 * A buffer that grows by a factor gains by the same factor more in each step. What is beside it, and
 * does not grow, is what is left of the first level.
 */
static void judge_steps(const struct steps *steps, const double *value, size_t n,
			struct trend_stairs *ret)
{
	double *ratios = xmallocarray(steps->nr, sizeof(*ratios)), factor, size, beside;
	size_t nr = steps->nr - 1, needed;

	for (size_t i = 0; i < nr; i++)
		ratios[i] = steps->gains[i + 1] / steps->gains[i];
	qsort(ratios, nr, sizeof(*ratios), ascending);
	factor = ratios[nr / 2];
	size = factor > 1 ? steps->gains[nr] * factor / (factor - 1) : 0;
	beside = value[n - 1] - size;
	needed = beside > BESIDE * size ? 4 : 2;
	if (factor >= TREND_MIN_FACTOR && factor <= TREND_MAX_FACTOR &&
	    ratios[nr - 1] <= factor * ALIKE && ratios[0] >= factor / ALIKE &&
	    beside >= -BESIDE * size && steps->nr >= needed) {
		*ret = (struct trend_stairs){.nr = steps->nr, .factor = factor, .size = size};
		trend_stairs_expect(ret, steps->at_s, steps->nr);
	}
	free(ratios);
}

void trend_stairs_find(const double *s, const double *value, size_t n, struct trend_stairs *ret)
{
	struct steps steps = {xmallocarray(n, sizeof(double)), xmallocarray(n, sizeof(double)), 0};

	if (find_steps(s, value, n, &steps))
		judge_steps(&steps, value, n, ret);
	free(steps.gains);
	free(steps.at_s);
}

/*
 * Logarithms of the latest levels, latest first, as many as belong to the same growth: one that the
 * program filled while it started, or slept through, says nothing of what comes.
 */
static size_t latest_levels(const double *step_s, size_t nr, double factor, double *ret)
{
	size_t n = 0;

	for (size_t i = nr - 1; i > 0 && n < LATEST; i--) {
		double level_s = step_s[i] - step_s[i - 1], behind = (double)n * log(factor);

		if (!(level_s > 0))
			break;
		ret[n] = log(level_s);
		if (ret[n] > ret[0] + log(WAVERING) || ret[n] < ret[0] - behind - log(WAVERING))
			break;
		n++;
	}
	return n;
}

/*
 * An error adds up from level to level. What comes in at a constant rate, or at one that grows like
 * the buffer, is met far more often than what is nearly so.
 */
static double usual(double slower, double constant_rate)
{
	if (slower > (1 - USUAL) * constant_rate)
		return constant_rate;
	return slower < USUAL * constant_rate ? 0 : slower;
}

void trend_stairs_expect(struct trend_stairs *stairs, const double *step_s, size_t nr)
{
	double levels[LATEST], back[LATEST], slower = log(stairs->factor);
	size_t n = latest_levels(step_s, nr, stairs->factor, levels);

	for (size_t i = 0; i < n; i++)
		back[i] = -(double)i;
	/* of all pairs: of neighbours one is too long where the other is too short */
	if (n > 1)
		slower = usual(trend_slope(back, levels, n), slower);
	n = n < AVERAGED ? n : AVERAGED;
	for (size_t i = 0; i < n; i++) /* each as the one that comes next */
		levels[i] += (double)(i + 1) * slower;
	stairs->last_s = step_s[nr - 1];
	stairs->level_s = exp(median(levels, n));
	stairs->slower = exp(slower);
}

double trend_stairs_next(const struct trend_stairs *stairs)
{
	return stairs->last_s + stairs->level_s;
}

bool trend_stairs_ended(const struct trend_stairs *stairs, double now_s)
{
	double slowest = stairs->level_s / stairs->slower * stairs->factor;

	return now_s > stairs->last_s + PATIENCE * slowest;
}
