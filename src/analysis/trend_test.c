/* SPDX-License-Identifier: MIT */
/*
 * trend_test.c - the probability that a series grows; see trend_test.h.
 *
 * Noise is a hidden level that is drawn to 0, of which phi is left after the median interval (phi
 * 1: a random walk), disturbed with variance 1 in each such interval, plus white noise of variance
 * `white`. Intervals may differ. A Kalman filter turns value, 1 and time into innovations that are
 * independent; what follows is least squares of these. All that the values have no part in is in
 * the design: per value and noise there is one multiplication and addition left.
 */
#include "analysis/trend_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

struct noise {
	double phi, white, weight;
};

/*
 * Memories and their weights. As much weight lies on those as long as the window or longer as on
 * the others: it is these that look like growth.
 */
static const struct noise noises[] = {
	{0.0, 0, 16}, {0.3, 0, 4},   {0.5, 0, 4},  {0.7, 0, 4}, {0.8, 0, 4},  {0.9, 0, 6},
	{0.95, 0, 4}, {1.0, 0, 8},   {0.5, 1, 2},  {0.7, 1, 2}, {0.8, 1, 2},  {0.9, 1, 3},
	{0.95, 1, 2}, {1.0, 1, 4},   {0.8, 4, 1},  {0.9, 4, 2}, {0.95, 4, 2}, {1.0, 4, 3},
	{0.9, 16, 1}, {0.95, 16, 1}, {1.0, 16, 2},
};
#define NR_NOISES (sizeof(noises) / sizeof(noises[0]))

/* Of one noise: the filter, and least squares of the innovations of 1 and time. */
struct filter_of {
	double *keep; /* what is left of the estimate of the level before */
	double *gain; /* of an innovation in the estimate */
	double *root; /* 1 / standard deviation of the innovation */
	double *one, *time; /* innovations of 1 and of time, each times root */
	double one_one, one_time, time_time, det; /* sums of their products */
	double fixed; /* the part of the logarithm of the evidence that no value has a part in */
};

struct trend_design {
	size_t n;
	double *at; /* times, moved and scaled to 0 .. 1 */
	struct filter_of filters[NR_NOISES];
};

/* ---- the filter -------------------------------------------------------------------------- */

/* What is left of the level after `interval`, and the variance that came to it. */
static double transition(const struct noise *noise, double interval, double *ret_variance)
{
	double left;

	if (noise->phi <= 0) {
		*ret_variance = 1;
		return 0;
	}
	if (noise->phi >= 1) {
		*ret_variance = interval;
		return 1;
	}
	left = pow(noise->phi, interval);
	*ret_variance = (1 - left * left) / (1 - noise->phi * noise->phi);
	return left;
}

/* Innovations of a column, each times root: independent, of variance 1 in units of the noise. */
static void innovations(const struct filter_of *f, const double *column, size_t n, double *ret)
{
	double level = 0;

	for (size_t i = 0; i < n; i++) {
		double innovation;

		level *= f->keep[i];
		innovation = column[i] - level;
		level += f->gain[i] * innovation;
		ret[i] = innovation * f->root[i];
	}
}

static double product(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* interval: the median one, of scaled time. */
static void filter_init(struct filter_of *f, const struct noise *noise, const double *at, size_t n,
			double interval)
{
	double *ones = xmallocarray(n, sizeof(*ones)), variance = 0, logs = 0;

	f->keep = xcalloc(n, 5 * sizeof(double));
	f->gain = f->keep + n;
	f->root = f->gain + n;
	f->one = f->root + n;
	f->time = f->one + n;
	/* the first level of a random walk is the level itself, which is fitted */
	if (noise->phi < 1)
		variance = 1 / (1 - noise->phi * noise->phi);
	for (size_t i = 0; i < n; i++) {
		double came = 0, all;

		ones[i] = 1;
		if (i) {
			f->keep[i] = transition(noise, (at[i] - at[i - 1]) / interval, &came);
			variance = f->keep[i] * f->keep[i] * variance + came;
		}
		all = variance + noise->white;
		/* a random walk without white noise begins at its fitted level: known exactly */
		if (!(all > 0))
			all = 1e-6;
		f->gain[i] = variance / all;
		f->root[i] = 1 / sqrt(all);
		logs += log(all);
		variance *= 1 - f->gain[i];
	}
	innovations(f, ones, n, f->one);
	innovations(f, at, n, f->time);
	f->one_one = product(f->one, f->one, n);
	f->one_time = product(f->one, f->time, n);
	f->time_time = product(f->time, f->time, n);
	f->det = f->one_one * f->time_time - f->one_time * f->one_time;
	f->fixed = log(noise->weight) - (logs + log(f->det)) / 2;
	free(ones);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_interval(const double *at, size_t n)
{
	double *gaps = xmallocarray(n, sizeof(*gaps)), median;

	for (size_t i = 1; i < n; i++)
		gaps[i - 1] = at[i] - at[i - 1];
	qsort(gaps, n - 1, sizeof(*gaps), compare);
	median = gaps[(n - 1) / 2];
	free(gaps);
	return median;
}

struct trend_design *trend_design_new(const double *s, size_t n)
{
	struct trend_design *d = xcalloc(1, sizeof(*d));
	double interval;

	d->n = n;
	d->at = xmallocarray(n, sizeof(*d->at));
	for (size_t i = 0; i < n; i++)
		d->at[i] = (s[i] - s[0]) / (s[n - 1] - s[0]);
	interval = median_interval(d->at, n);
	for (size_t k = 0; k < NR_NOISES; k++)
		filter_init(&d->filters[k], &noises[k], d->at, n, interval);
	return d;
}

void trend_design_free(struct trend_design *d)
{
	if (!d)
		return;
	for (size_t k = 0; k < NR_NOISES; k++)
		free(d->filters[k].keep);
	free(d->at);
	free(d);
}

/* ---- the test ---------------------------------------------------------------------------- */

/*
 * The values less the line through first and last, scaled to 1 at most: what is left of a straight
 * line is then exactly 0. The slope of the line is that of the values in *ret_slope.
 */
static double *without_line(const struct trend_design *d, const double *value, double *ret_slope)
{
	double *rest = xmallocarray(d->n, sizeof(*rest)), most = 0;

	for (size_t i = 0; i < d->n; i++) {
		rest[i] = value[i] - value[0];
		if (fabs(rest[i]) > most)
			most = fabs(rest[i]);
	}
	*ret_slope = 0;
	if (!(most > 0))
		return rest;
	*ret_slope = rest[d->n - 1] / most;
	for (size_t i = 0; i < d->n; i++)
		rest[i] = rest[i] / most - *ret_slope * d->at[i];
	return rest;
}

/* t of the slope under one noise; the logarithm of how well that explains the series. */
static double slope_t(const struct filter_of *f, const double *rest, double slope, size_t n,
		      double *innovation, double *ret_evidence)
{
	double with_one, with_time, one, time, squares = 0;

	innovations(f, rest, n, innovation);
	with_one = product(innovation, f->one, n);
	with_time = product(innovation, f->time, n);
	one = (with_one * f->time_time - with_time * f->one_time) / f->det;
	time = (with_time * f->one_one - with_one * f->one_time) / f->det;
	for (size_t i = 0; i < n; i++) {
		double left = innovation[i] - one * f->one[i] - time * f->time[i];

		squares += left * left;
	}
	squares += 1e-24; /* a straight line: as sure as a double can say */
	*ret_evidence = f->fixed - (double)(n - 2) / 2 * log(squares);
	return (slope + time) / sqrt(squares / (double)(n - 2) * f->one_one / f->det);
}

double trend_test(const struct trend_design *d, const double *value)
{
	double slope, *rest = without_line(d, value, &slope);
	double *innovation = xmallocarray(d->n, sizeof(*innovation));
	double t[NR_NOISES], evidence[NR_NOISES], best = -INFINITY, weights = 0, sum = 0;

	for (size_t k = 0; k < NR_NOISES; k++) {
		t[k] = slope_t(&d->filters[k], rest, slope, d->n, innovation, &evidence[k]);
		if (evidence[k] > best)
			best = evidence[k];
	}
	for (size_t k = 0; k < NR_NOISES; k++) {
		double weight = exp(evidence[k] - best);

		weights += weight;
		sum += weight * trend_t_tail(t[k], (double)(d->n - 2));
	}
	free(innovation);
	free(rest);
	return sum / weights;
}

/* ---- Student's t ------------------------------------------------------------------------- */

/*
 * The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by
 * Lentz's method; converges fast for x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), value;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	value = d;
	for (int m = 1; m < 300; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		value *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		value *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return value;
}

static double incomplete_beta(double a, double b, double x)
{
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));

	if (!(x > 0))
		return 0;
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double trend_t_tail(double t, double df)
{
	double tail;

	if (t == 0)
		return 0.5;
	tail = 0.5 * incomplete_beta(df / 2, 0.5, df / (df + t * t));
	return t > 0 ? tail : 1 - tail;
}

/* ---- slope, false discoveries ------------------------------------------------------------ */

static void swap(double *a, double *b)
{
	double c = *a;

	*a = *b;
	*b = c;
}

/* The k-th smallest, by Hoare's selection; changes the order. */
static double select_nth(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = v[low + (high - low) / 2];
		size_t i = low, j = high;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap(&v[i++], &v[j--]);
		}
		/* v[low..j] <= pivot <= v[j+1..high] */
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
	return v[k];
}

double trend_slope(const double *s, const double *value, size_t n)
{
	size_t nr = n * (n - 1) / 2, k = 0;
	double *slopes = xmallocarray(nr, sizeof(*slopes)), median;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			slopes[k++] = (value[j] - value[i]) / (s[j] - s[i]);
	median = select_nth(slopes, nr, nr / 2);
	if (nr % 2 == 0) {
		double below = slopes[0];

		/* what is before the place is not larger: its largest is the other middle one */
		for (k = 1; k < nr / 2; k++)
			below = slopes[k] > below ? slopes[k] : below;
		median = (median + below) / 2;
	}
	free(slopes);
	return median;
}

struct ranked {
	double p;
	size_t at;
};

static int by_p(const void *a, const void *b)
{
	return compare(&((const struct ranked *)a)->p, &((const struct ranked *)b)->p);
}

void trend_false_discovery(double *p, size_t n)
{
	struct ranked *order = xmallocarray(n + 1, sizeof(*order));
	double least = 1;

	for (size_t i = 0; i < n; i++)
		order[i] = (struct ranked){p[i], i};
	qsort(order, n, sizeof(*order), by_p);
	for (size_t i = n; i-- > 0;) {
		double rate = order[i].p * (double)n / (double)(i + 1);

		least = rate < least ? rate : least;
		p[order[i].at] = least;
	}
	free(order);
}
