/* SPDX-License-Identifier: MIT */
/*
 * test_trend.c - how often trend is wrong: simulated series of groups that do not grow and of
 * groups that do, with the rates that docs/heapstory-trend.1 states; and single shapes.
 *
 * Prints its parameters, seeds and rates. TREND_ROUNDS=N repeats the simulations with N seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/spread.h"
#include "analysis/thin.h"
#include "analysis/trend_shape.h"
#include "analysis/trend_test.h"
#include "util/alloc.h"

#define MOST	 200u /* measurements */
#define LEVEL	 1e6 /* bytes of a group */
#define GROUPS	 10000u
#define WALKS	 4000u
#define LEAKS	 1000u
#define INTERVAL 60.0 /* seconds */

/* ---- random numbers ---------------------------------------------------------------------- */

static uint64_t state;

/* Below 1 (splitmix64). */
static double uniform(void)
{
	uint64_t x = state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return (double)(x >> 11) / 9007199254740992.0;
}

static double between(double low, double high)
{
	return low + (high - low) * uniform();
}

static double normal(void)
{
	double radius = sqrt(-2 * log(1 - uniform()));

	return radius * cos(2 * M_PI * uniform());
}

/* ---- series ------------------------------------------------------------------------------ */

enum kind {
	WHITE,
	AR_05,
	AR_09,
	SAWTOOTH,
	CACHE_EVEN, /* fills at an even rate, and stops */
	CACHE_RANDOM, /* fills as random keys fill it */
	NR_FLAT,
	WALK = NR_FLAT,
};
static const char *const kinds[] = {
	"white noise", "AR(1) 0.5",	     "AR(1) 0.9",   "sawtooth",
	"cache, even", "cache, random keys", "random walk",
};

/* Noise around a level; sd is that of the series (of a walk: of a step), as a share of it. */
static void make_noise(double phi, double sd, double *x, size_t n)
{
	double step = phi < 1 ? sd * sqrt(1 - phi * phi) : sd, at = phi < 1 ? sd * normal() : 0;

	for (size_t i = 0; i < n; i++) {
		if (i)
			at = phi * at + step * normal();
		x[i] = LEVEL * (1 + at);
	}
}

/* Two teeth at least are in the window. */
static void make_sawtooth(double *x, size_t n)
{
	double period = between(2, (double)n / 2), phase = uniform(), height = between(0.1, 2);
	double sd = uniform() < 0.3 ? 0 : between(0, 0.05);

	for (size_t i = 0; i < n; i++) {
		double at = (double)i / period + phase;

		x[i] = LEVEL * (1 + height * (at - floor(at)) + sd * normal());
	}
}

/* Full after 10 to 60 % of the window; random keys: to 95 % after 9 to 45 %. */
static void make_cache(bool even, double *x, size_t n)
{
	double full = between(0.1, 0.6) * (double)(n - 1);
	double tau = between(0.03, 0.15) * (double)(n - 1);
	double sd = uniform() < 0.3 ? 0 : between(0, 0.05),
	       before = uniform() < 0.5 ? 0 : uniform();

	for (size_t i = 0; i < n; i++) {
		double at = (double)i + 0.3,
		       filled = even ? fmin(1, at / full) : 1 - exp(-at / tau);

		x[i] = LEVEL * (before + filled * (1 + sd * normal()));
	}
}

static void make(enum kind kind, double *x, size_t n)
{
	double sd = between(0.02, 0.2);

	switch (kind) {
	case WHITE:
		make_noise(0, sd, x, n);
		break;
	case AR_05:
		make_noise(0.5, sd, x, n);
		break;
	case AR_09:
		make_noise(0.9, sd, x, n);
		break;
	case SAWTOOTH:
		make_sawtooth(x, n);
		break;
	case CACHE_EVEN:
	case CACHE_RANDOM:
		make_cache(kind == CACHE_EVEN, x, n);
		break;
	default:
		make_noise(1, 0.02, x, n);
	}
	for (size_t i = 0; i < n; i++)
		x[i] = 16 * floor(fmax(0, x[i]) / 16); /* blocks are not fractions */
}

/* Gains 1 % of the level in each interval. */
static void make_leak(double sd, double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = 16 * floor(fmax(0, LEVEL * (1 + 0.01 * (double)i + sd * normal())) / 16);
}

static struct trend_times *even_times(size_t n)
{
	double s[MOST];

	for (size_t i = 0; i < n; i++)
		s[i] = 5 + INTERVAL * (double)i;
	return trend_times_new(s, n);
}

static unsigned int rounds(void)
{
	const char *text = getenv("TREND_ROUNDS");

	return text && atoi(text) > 0 ? (unsigned int)atoi(text) : 1;
}

/* ---- rates ------------------------------------------------------------------------------- */

/* Rows of a report of flat groups, a sixth of each kind. */
static size_t flat_rows(size_t n, uint64_t seed, size_t ret_of[NR_FLAT])
{
	struct trend_times *times = even_times(n);
	struct trend_view *views = xcalloc(GROUPS, sizeof(*views));
	struct trend_belief *beliefs = xcalloc(GROUPS, sizeof(*beliefs));
	size_t rows = 0;
	double x[MOST];

	state = seed;
	memset(ret_of, 0, NR_FLAT * sizeof(*ret_of));
	for (size_t i = 0; i < GROUPS; i++) {
		make((enum kind)(i % NR_FLAT), x, n);
		trend_look(times, x, &views[i]);
	}
	trend_believe(times, views, GROUPS, beliefs);
	for (size_t i = 0; i < GROUPS; i++) {
		ret_of[i % NR_FLAT] += beliefs[i].confidence > TREND_LOW;
		rows += beliefs[i].confidence > TREND_LOW;
	}
	trend_times_free(times);
	free(views);
	free(beliefs);
	return rows;
}

static void test_flat_groups(void **unused)
{
	static const size_t lengths[] = {6, 8, 12, 20, 50};

	(void)unused;
	print_message("%u flat groups: noise of sd 2 to 20 %%; sawtooths of 2 teeth or more; "
		      "caches full by 60 %% of the time\n",
		      GROUPS);
	for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
		for (uint64_t seed = 1; seed <= rounds(); seed++) {
			size_t of[NR_FLAT], rows = flat_rows(lengths[k], 1000 * seed + k, of);

			print_message("  %zu snapshots, seed %u: %zu false rows", lengths[k],
				      (unsigned int)(1000 * seed + k), rows);
			for (size_t i = 0; i < NR_FLAT && rows; i++)
				print_message("; %s %zu", kinds[i], of[i]);
			print_message("\n");
			assert_true(rows <= 1);
		}
	}
}

/* Each judged as the only group of its report, and all in one. */
static void count_believed(const struct trend_times *times, const struct trend_view *views,
			   size_t nr, size_t *ret_alone, size_t *ret_together)
{
	struct trend_belief *beliefs = xcalloc(nr, sizeof(*beliefs)), one;

	*ret_alone = *ret_together = 0;
	for (size_t i = 0; i < nr; i++) {
		trend_believe(times, &views[i], 1, &one);
		*ret_alone += one.confidence > TREND_LOW;
	}
	trend_believe(times, views, nr, beliefs);
	for (size_t i = 0; i < nr; i++)
		*ret_together += beliefs[i].confidence > TREND_LOW;
	free(beliefs);
}

static void test_random_walks(void **unused)
{
	struct trend_view *views = xcalloc(WALKS, sizeof(*views));
	struct trend_times *times = even_times(20);
	double x[MOST];

	(void)unused;
	for (uint64_t seed = 1; seed <= rounds(); seed++) {
		size_t alone, together;

		state = seed;
		for (size_t i = 0; i < WALKS; i++) {
			make(WALK, x, 20);
			trend_look(times, x, &views[i]);
		}
		count_believed(times, views, WALKS, &alone, &together);
		print_message("%u random walks of 20 snapshots, seed %u: above low confidence %.1f "
			      "%% each by itself, %.2f %% in one report\n",
			      WALKS, (unsigned int)seed, 100.0 * (double)alone / WALKS,
			      100.0 * (double)together / WALKS);
		assert_true(alone <= WALKS / 20);
		assert_true(together <= WALKS / 20);
	}
	trend_times_free(times);
	free(views);
}

/* Percent of leaks that are found, each as the only group that changes. */
static double found(size_t n, double sd, uint64_t seed)
{
	struct trend_view *views = xcalloc(LEAKS, sizeof(*views));
	struct trend_times *times = even_times(n);
	size_t alone, together;
	double x[MOST];

	state = seed;
	for (size_t i = 0; i < LEAKS; i++) {
		make_leak(sd, x, n);
		trend_look(times, x, &views[i]);
	}
	count_believed(times, views, LEAKS, &alone, &together);
	trend_times_free(times);
	free(views);
	return 100.0 * (double)alone / LEAKS;
}

static void test_leaks(void **unused)
{
	enum { NR_WANTED = 4 };
	static const double sds[] = {0, 0.02, 0.05, 0.10, 0.20};
	static const struct {
		size_t n;
		double at_least[5]; /* percent, by sd */
	} wanted[NR_WANTED] = {
		{6, {100, 0, 0, 0, 0}},
		{20, {100, 95, 10, 0, 0}},
		{50, {100, 99, 98, 90, 30}},
		{100, {100, 99, 99, 99, 97}},
	};

	(void)unused;
	print_message("%u leaks of 1 %% of the level an interval: percent found\n", LEAKS);
	for (size_t j = 0; j < rounds() * NR_WANTED; j++) {
		size_t k = j % NR_WANTED, seed = 1 + k + 1000 * (j / NR_WANTED);

		print_message("  %zu snapshots, seed %zu:", wanted[k].n, seed);
		for (size_t i = 0; i < sizeof(sds) / sizeof(sds[0]); i++) {
			double percent = found(wanted[k].n, sds[i], seed);

			print_message(" %.1f (noise %.0f %%)", percent, 100 * sds[i]);
			assert_true(percent >= wanted[k].at_least[i]);
		}
		print_message("\n");
	}
}

/* One report of 2000 groups, some of them leaks under noise of sd. */
static void count_mixed(size_t nr_leaks, double sd, size_t *ret_true, size_t *ret_false)
{
	const size_t nr = 2000, n = 20;
	struct trend_view *views = xcalloc(nr, sizeof(*views));
	struct trend_belief *beliefs = xcalloc(nr, sizeof(*beliefs));
	struct trend_times *times = even_times(n);
	double x[MOST];

	*ret_true = *ret_false = 0;
	for (size_t i = 0; i < nr; i++) {
		if (i < nr_leaks)
			make_leak(sd, x, n);
		else
			make((enum kind)(i % NR_FLAT), x, n);
		trend_look(times, x, &views[i]);
	}
	trend_believe(times, views, nr, beliefs);
	for (size_t i = 0; i < nr; i++) {
		*ret_true += i < nr_leaks && beliefs[i].confidence > TREND_LOW;
		*ret_false += i >= nr_leaks && beliefs[i].confidence > TREND_LOW;
	}
	trend_times_free(times);
	free(views);
	free(beliefs);
}

/* Leaks among flat groups in one report: how many are found, how many rows are false. */
static void test_mixed(void **unused)
{
	static const size_t leaks[] = {1, 10, 100, 1000};
	static const double sds[] = {0.01, 0.02};

	(void)unused;
	for (size_t k = 0; k < 8; k++) {
		size_t nr = leaks[k % 4], nr_true, nr_false;
		double sd = sds[k / 4];

		state = 77 + k;
		count_mixed(nr, sd, &nr_true, &nr_false);
		print_message("%zu leaks (noise %.0f %%) among 2000 groups, 20 snapshots, seed "
			      "%zu: "
			      "%zu found, %zu false rows\n",
			      nr, 100 * sd, 77 + k, nr_true, nr_false);
		assert_true(nr_false <= 1 + nr_true / 20);
		/* few of many under more noise are known to need more snapshots */
		assert_true(sd > 0.01 || nr < 10 || 10 * nr_true >= 8 * nr);
		assert_true(nr < 1000 || 10 * nr_true >= 8 * nr);
	}
}

/* ---- single series ----------------------------------------------------------------------- */

static struct trend_belief look_at(const double *x, size_t n, struct trend_view *ret)
{
	struct trend_times *times = even_times(n);
	struct trend_belief belief;

	trend_look(times, x, ret);
	trend_believe(times, ret, 1, &belief);
	trend_times_free(times);
	return belief;
}

#define assert_shape(values, wanted_shape, wanted_confidence)                                    \
	do {                                                                                     \
		struct trend_belief b = look_at(values, sizeof(values) / sizeof(*(values)), &v); \
                                                                                                 \
		assert_string_equal(trend_shape_name(b.shape), trend_shape_name(wanted_shape));  \
		assert_string_equal(trend_confidence_name(b.confidence),                         \
				    trend_confidence_name(wanted_confidence));                   \
	} while (0)

static void test_shapes(void **unused)
{
	const double line[] = {600, 1200, 1800, 2400, 3000, 3600};
	const double late_line[] = {0,	      9e6,	9e6,	  9e6,	    9e6,
				    9e6,      9e6 + 16, 9e6 + 32, 9e6 + 48, 9e6 + 64,
				    9e6 + 80, 9e6 + 96, 9e6 + 112};
	const double cache[] = {192e3, 384e3, 512e3, 512e3, 512e3, 512e3};
	const double step[] = {64, 64, 64, 64, 8192, 8192, 8192, 8192};
	const double gone[] = {5000, 4100, 3000, 2100, 1000, 0};
	const double emptied[] = {5000, 4000, 3000, 2000, 1000, 0, 0, 0, 0, 0, 0, 0};
	const double level[] = {64, 64, 64, 64, 64, 64};
	const double up_and_down[] = {64, 128, 64, 128, 64, 128, 64, 128};
	const double doubling[] = {64, 128, 256, 256, 512, 512, 512, 1024, 1024, 1024, 1024, 1024};
	const double beside[] = {18368, 22464, 30656, 30656,  47040,  47040, 79808,
				 79808, 79808, 79808, 145344, 145344, 145344};
	const double ended[] = {64,   128,  256,  512,	1024, 1024, 1024,
				1024, 1024, 1024, 1024, 1024, 1024, 1024};
	const double spikes[] = {0,   100, 200,	 9000, 400,  500,  600,	 700,
				 800, 900, 9000, 1100, 1200, 1300, 1400, 1500};
	const double filling[] = {632, 864, 950, 981, 993, 997, 999, 1000, 1000, 1000, 1000, 1000};
	const double one_tooth[] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
	struct trend_view v;

	(void)unused;
	assert_shape(line, TREND_LINEAR, TREND_MEDIUM);
	assert_int_equal(v.first_growth, 1);
	assert_true(fabs(v.slope - 10) < 1e-9); /* bytes a second */
	assert_shape(late_line, TREND_LINEAR, TREND_HIGH);
	assert_true(fabs(v.slope - 16 / INTERVAL) < 1e-9);
	assert_shape(cache, TREND_PLATEAU, TREND_LOW);
	assert_shape(step, TREND_STEP, TREND_LOW);
	assert_int_equal(v.first_growth, 4);
	assert_shape(gone, TREND_SHRINKING, TREND_LOW);
	assert_int_equal(v.first_growth, 0);
	assert_shape(emptied, TREND_SHRINKING, TREND_LOW);
	assert_shape(level, TREND_NOISE, TREND_LOW);
	assert_shape(up_and_down, TREND_NOISE, TREND_LOW);
	assert_shape(doubling, TREND_DOUBLING, TREND_MEDIUM);
	assert_int_equal(v.stairs.nr, 4);
	assert_true(v.stairs.factor == 2 && v.stairs.size == 1024);
	assert_shape(beside, TREND_DOUBLING, TREND_HIGH);
	assert_true(v.stairs.factor == 2 && v.stairs.size == 131072);
	assert_shape(ended, TREND_PLATEAU, TREND_LOW);
	assert_shape(spikes, TREND_LINEAR, TREND_HIGH);
	assert_int_equal(v.first_growth, 1);
	assert_shape(filling, TREND_PLATEAU, TREND_LOW);
	assert_shape(one_tooth, TREND_NOISE, TREND_LOW);
}

/*
 * How much longer each level of a buffer lasts: of one that takes in 300 bytes more each round, and
 * grows by half, sqrt(1.5) times; the rounds are of 40 ms and the clock is coarse. And of noisy ones
 * that take in the same all the time, or ever more.
 */
static void test_levels(void **unused)
{
	const double halves[] = {0.05, 0.05, 0.08, 0.13, 0.16, 0.25,
				 0.34, 0.40, 0.54, 0.69, 0.92, 1.13};
	struct trend_stairs stairs = {.nr = 12, .factor = 1.5, .size = 66429};
	double slower[2] = {1, 2}, s[9];

	(void)unused;
	trend_stairs_expect(&stairs, halves, 12);
	assert_true(stairs.slower > 1.15 && stairs.slower < 1.35);
	assert_true(stairs.level_s > 0.2 && stairs.level_s < 0.3);
	state = 13;
	for (int k = 0; k < 2; k++) {
		int near = 0;

		for (int series = 0; series < 1000; series++) {
			s[0] = 10;
			for (int i = 1; i < 9; i++)
				s[i] = s[i - 1] + pow(slower[k], i) * exp(0.2 * normal());
			stairs = (struct trend_stairs){.nr = 9, .factor = 2, .size = 1024};
			trend_stairs_expect(&stairs, s, 9);
			near += fabs(log(stairs.slower / slower[k])) < 0.05;
		}
		print_message("8 levels, each %g times as long, sd 20 %%, seed 13: %d of 1000 found "
			      "within 5 %%\n",
			      slower[k], near);
		assert_true(near > 950);
	}
}

/*
 * A leak of 300 bytes in every second period beside a pool, and one of 100 in a seventh of them: as
 * measured. They may not be sure to grow, but it would be wrong that they grew and stopped.
 */
static void test_goes_on(void **unused)
{
	const double s[] = {
		0.03, 0.068, 0.096, 0.128, 0.171, 0.202, 0.231, 0.259, 0.316, 0.346, 0.375,
		0.404, 0.435, 0.465, 0.494, 0.523, 0.551, 0.58, 0.608, 0.637, 0.669, 0.701,
		0.734, 0.766, 0.801, 0.834, 0.862, 0.891, 0.931, 1.052, 1.152, 1.188, 1.218,
		1.247, 1.282, 1.314, 1.342, 1.382, 1.431, 1.468,
	};
	const double pool[] = {
		10500, 11700, 13800, 13200, 13200, 13500, 13500, 12600, 12600, 13500, 14400,
		14400, 14700, 13500, 13500, 14400, 14400, 14700, 15000, 14700, 15000, 15000,
		15300, 15300, 15600, 15300, 15000, 15300, 16200, 16800, 16800, 16500, 16200,
		15300, 15600, 16200, 16500, 17400, 17700, 18000,
	};
	const double seventh[] = {
		0, 0, 100, 100, 100, 200, 300, 300, 300, 400, 400, 400, 400, 400, 500, 500, 500,
		500, 500, 500, 500, 500, 500, 600, 600, 600, 600, 600, 600, 600, 600, 600, 700,
		700, 700, 700, 700, 800, 800, 800,
	};
	struct trend_times *times = trend_times_new(s, 40);
	struct trend_view v;

	(void)unused;
	trend_look(times, pool, &v);
	assert_string_equal(trend_shape_name(v.otherwise), "noise");
	trend_look(times, seventh, &v);
	assert_string_equal(trend_shape_name(v.otherwise), "noise");
	trend_times_free(times);
}

/* What only ever grows, by a few steps of any size at any time, is seldom a staircase. */
static void test_random_steps(void **unused)
{
	struct trend_times *times = even_times(20);
	size_t nr_believed = 0, nr = 5000;
	double x[20];

	(void)unused;
	state = 9;
	for (size_t k = 0; k < nr; k++) {
		struct trend_belief b;
		struct trend_view v;

		for (size_t i = 0; i < 20; i++)
			x[i] = LEVEL;
		for (int steps = 3 + (int)(4 * uniform()); steps > 0; steps--) {
			double gain = LEVEL * between(0.02, 1);

			for (size_t i = (size_t)between(1, 19.99); i < 20; i++)
				x[i] += gain;
		}
		trend_look(times, x, &v);
		trend_believe(times, &v, 1, &b);
		nr_believed += b.confidence > TREND_LOW && b.shape == TREND_DOUBLING;
	}
	print_message("%zu series of 3 to 6 random steps, seed 9: %.2f %% taken for doubling\n", nr,
		      100.0 * (double)nr_believed / (double)nr);
	assert_true(nr_believed < nr / 100);
	trend_times_free(times);
}

/* Three to five: a guess, always with low confidence. */
static void test_few(void **unused)
{
	const double grows[] = {10, 20, 30}, full[] = {10, 20, 30, 30}, once[] = {10, 10, 20, 20};
	const double less[] = {30, 20, 10}, same[] = {10, 10, 10}, both[] = {10, 30, 5, 20};
	const double doubled[] = {64, 128, 256};
	struct trend_view v;

	(void)unused;
	assert_shape(grows, TREND_LINEAR, TREND_LOW);
	assert_shape(full, TREND_PLATEAU, TREND_LOW);
	assert_shape(once, TREND_STEP, TREND_LOW);
	assert_shape(less, TREND_SHRINKING, TREND_LOW);
	assert_shape(same, TREND_NOISE, TREND_LOW);
	assert_shape(both, TREND_NOISE, TREND_LOW);
	assert_shape(doubled, TREND_DOUBLING, TREND_LOW);
}

/* Snapshots that were thinned out, or taken by hand, are not evenly apart. */
static void test_uneven_times(void **unused)
{
	double s[20], x[20];
	size_t nr_found = 0, nr_false = 0, nr_full = 0;

	(void)unused;
	state = 5;
	for (unsigned int k = 0; k < 500; k++) {
		struct trend_times *times;
		struct trend_view v;
		struct trend_belief b;

		s[0] = 0;
		for (size_t i = 1; i < 20; i++)
			s[i] = s[i - 1] + INTERVAL * (uniform() < 0.3 ? between(1, 8) : 0.5);
		times = trend_times_new(s, 20);
		for (size_t i = 0; i < 20; i++)
			x[i] = LEVEL * (1 + 0.01 * s[i] / INTERVAL + 0.02 * normal());
		trend_look(times, x, &v);
		trend_believe(times, &v, 1, &b);
		nr_found += b.confidence > TREND_LOW;
		make_noise(0.5, 0.1, x, 20);
		trend_look(times, x, &v);
		trend_believe(times, &v, 1, &b);
		nr_false += b.confidence > TREND_LOW;
		/* a cache full by 60 % of the time: seen if five snapshots or more came then */
		for (size_t i = 0; i < 20; i++)
			x[i] = LEVEL * (1 + fmin(s[i] / s[19], 0.6) + 0.002 * normal());
		trend_look(times, x, &v);
		trend_believe(times, &v, 1, &b);
		nr_full += b.confidence > TREND_LOW && s[15] / s[19] >= 0.6;
		/* by the round of work, whenever that is */
		for (size_t i = 0; i < 20; i++)
			x[i] = 1000 + 24 * (double)i;
		trend_look(times, x, &v);
		trend_believe(times, &v, 1, &b);
		assert_string_equal(trend_confidence_name(b.confidence), "high");
		trend_times_free(times);
	}
	print_message("uneven times, 500 series, seed 5: %zu leaks found, %zu of AR(1) 0.5 false, %zu of "
		      "caches that filled\n",
		      nr_found, nr_false, nr_full);
	assert_true(nr_found >= 475);
	assert_true(nr_false <= 5);
	assert_true(nr_full <= 5);
}

/* ---- the parts --------------------------------------------------------------------------- */

/* Against critical values as tables print them, and the closed forms of 1 and 2 degrees of freedom. */
static void test_t_tail(void **unused)
{
	static const struct {
		double t, df, tail;
	} table[] = {
		{3.747, 4, 0.01},   {1.734, 18, 0.05},	{3.610, 18, 0.001},
		{2.326, 1e6, 0.01}, {-1.734, 18, 0.95},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		double tail = trend_t_tail(table[i].t, table[i].df);

		assert_true(fabs(tail / table[i].tail - 1) < 0.01);
	}
	for (double t = -50; t < 50; t += 0.37) {
		double two = (1 - t / sqrt(t * t + 2)) / 2;

		assert_true(fabs(trend_t_tail(t, 1) - (0.5 - atan(t) / M_PI)) < 1e-12);
		assert_true(fabs(trend_t_tail(t, 2) - two) < 1e-12);
	}
	assert_true(trend_t_tail(0, 5) == 0.5);
	assert_true(trend_t_tail(1e9, 18) < 1e-100);
	assert_true(trend_t_tail(1e9, 18) >= 0);
}

/* Against the plain median; a fifth of the values may be wild. */
static void test_slope(void **unused)
{
	double s[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, x[10];
	double two[] = {3, 7};

	(void)unused;
	for (int i = 0; i < 10; i++)
		x[i] = 100 + 3 * s[i];
	assert_true(trend_slope(s, x, 10) == 3);
	x[2] = 1e9;
	x[7] = -1e9;
	assert_true(trend_slope(s, x, 10) == 3);
	assert_true(trend_slope(s, two, 2) == 4);
	x[0] = 0, x[1] = 1, x[2] = 5, x[3] = 5;
	/* of the slopes 0 1 5/3 2 5/2 4 the middle two are 5/3 and 2 */
	assert_true(fabs(trend_slope(s, x, 4) - 11.0 / 6) < 1e-12);
}

static void test_false_discovery(void **unused)
{
	double p[] = {0.5, 0.01, 0.03, 0.02, 1};
	const double rate[] = {0.625, 0.05, 0.05, 0.05, 1};

	(void)unused;
	trend_false_discovery(p, 5);
	for (int i = 0; i < 5; i++)
		assert_true(fabs(p[i] - rate[i]) < 1e-12);
	trend_false_discovery(p, 0);
}

static void test_thin(void **unused)
{
	uint64_t at[1000];
	bool keep[1000];
	size_t nr = 0, longest = 0, gap = 0;

	(void)unused;
	for (size_t i = 0; i < 1000; i++)
		at[i] = i * i; /* ever less often */
	thin_evenly(at, 1000, 100, keep);
	assert_true(keep[0] && keep[999]);
	for (size_t i = 0, last = 0; i < 1000; i++) {
		if (!keep[i])
			continue;
		nr++;
		gap = at[i] - at[last];
		longest = gap > longest ? gap : longest;
		last = i;
	}
	assert_true(nr <= 100 && nr > 90);
	assert_true(longest < 3 * at[999] / 100);
	thin_evenly(at, 50, 100, keep);
	for (size_t i = 0; i < 50; i++)
		assert_true(keep[i]);
	memset(at, 0, sizeof(at)); /* a clock that stands still */
	thin_evenly(at, 1000, 10, keep);
	for (size_t i = nr = 0; i < 1000; i++)
		nr += keep[i];
	assert_true(nr >= 2 && nr <= 10);
	at[0] = 0, at[1] = 10, at[2] = 11, at[3] = 12, at[4] = 30;
	assert_int_equal(thin_next(at, 5), 2);
}

static void test_spread(void **unused)
{
	struct spread all = {{0}}, half = {{0}}, one = {{0}}, none = {{0}};

	(void)unused;
	for (uint64_t i = 0; i < 2000; i++) {
		spread_add(&all, 1000 + i, 1000, 3000);
		spread_add(&half, 2000 + i / 2, 1000, 3000);
		spread_add(&one, 1001, 1000, 3000);
	}
	assert_true(fabs(spread_value(&all) - 1) < 1e-9);
	assert_true(fabs(spread_value(&half) - 0.5) < 1e-9);
	assert_true(fabs(spread_value(&one) - 1.0 / SPREAD_SLICES) < 1e-9);
	assert_true(spread_value(&none) == 0);
	spread_add(&none, 5000, 1000, 3000); /* later than the last moment, as clocks are coarse */
	assert_int_equal(none.born[SPREAD_SLICES - 1], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flat_groups),	cmocka_unit_test(test_random_walks),
		cmocka_unit_test(test_leaks),		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_goes_on),		cmocka_unit_test(test_few),
		cmocka_unit_test(test_random_steps),	cmocka_unit_test(test_uneven_times),
		cmocka_unit_test(test_t_tail),		cmocka_unit_test(test_slope),
		cmocka_unit_test(test_false_discovery), cmocka_unit_test(test_thin),
		cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
