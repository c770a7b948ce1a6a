/* SPDX-License-Identifier: MIT */
/*
 * trend_stairs.c - staircases in a series; see trend_stairs.h.
 */
#include "analysis/trend_stairs.h"

#include <math.h>
#include <stdlib.h>

#include "util/alloc.h"

#define ALIKE	 1.15 /* so much may factors differ from the median one */
#define LEVEL	 0.02 /* of all that is gained: what is no step at all */
#define BESIDE	 0.05 /* of the buffer: what may be beside it without being noticed */
#define PATIENCE 1.5 /* so much longer than expected may a level last */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The steps of a series that has some, and stays where it is in between. */
struct steps {
	double *gains; /* by step */
	size_t nr, last, before; /* measurements that the last two are seen in */
};

/* False if it is no staircase: it falls, or goes up too little in too many places. */
static bool find_steps(const double *value, size_t n, struct steps *ret)
{
	double range = value[n - 1] - value[0], slight = 0;

	for (size_t i = 1; i < n; i++) {
		double gain = value[i] - value[i - 1];

		if (gain < -LEVEL * range)
			return false;
		if (gain > LEVEL * range) {
			ret->gains[ret->nr++] = gain;
			ret->before = ret->last;
			ret->last = i;
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
static void judge_steps(const struct steps *steps, const double *s, const double *value, size_t n,
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
	    beside >= -BESIDE * size && steps->nr >= needed)
		*ret = (struct trend_stairs){steps->nr, factor, size, s[steps->last],
					     s[steps->before]};
	free(ratios);
}

void trend_stairs_find(const double *s, const double *value, size_t n, struct trend_stairs *ret)
{
	struct steps steps = {xmallocarray(n, sizeof(double)), 0, 0, 0};

	if (find_steps(value, n, &steps))
		judge_steps(&steps, s, value, n, ret);
	free(steps.gains);
}

double trend_stairs_next(const struct trend_stairs *stairs)
{
	return stairs->last_s + stairs->factor * (stairs->last_s - stairs->before_s);
}

bool trend_stairs_ended(const struct trend_stairs *stairs, double now_s)
{
	double level = trend_stairs_next(stairs) - stairs->last_s;

	return now_s > stairs->last_s + PATIENCE * level;
}
