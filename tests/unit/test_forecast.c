/* SPDX-License-Identifier: MIT */
/*
 * test_forecast.c - when a made-up program reaches a limit, by the forecast of its first 200 seconds
 * and by its own rule: a buffer that is filled evenly and doubles, or doubles every so many seconds,
 * other blocks of the function that owns it, blocks of another function that grow in a line, and what
 * stays as it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/filter.h"
#include "analysis/names.h"
#include "analysis/series.h"
#include "analysis/snapshot.h"
#include "analysis/trend.h"
#include "tests/unit/fake_heap.h"
#include "util/alloc.h"

#define SAMPLES	   20u
#define INTERVAL_S 10u
#define NOW_S	   ((double)(SAMPLES * INTERVAL_S))

enum { OWNER = 3, OTHER = 9, STILL = 15 }; /* stacks, in f1, f3 and f5 */

/* Bytes a second, and bytes that stay; every: if not 0, the buffer doubles so often instead. */
struct program {
	double fill, rest, line, still, every;
};

/* The size of a buffer that holds so much. */
static double room_for(double used)
{
	return used > 0 ? 64 * exp2(fmax(0, ceil(log2(used / 64)))) : 0;
}

static double buffer_at(const struct program *p, double s)
{
	return p->every > 0 ? 64 * exp2(floor(s / p->every)) : room_for(p->fill * s);
}

static double bytes_at(const struct program *p, double s)
{
	return buffer_at(p, s) + (p->rest + p->line) * s + p->still;
}

/* By the program's own rule; line: whether the other function goes on after now. */
static double reached_at(struct program p, double limit, bool line)
{
	double s = NOW_S;

	if (!line) {
		p.still += p.line * NOW_S;
		p.line = 0;
	}
	while (bytes_at(&p, s) < limit)
		s += 0.01;
	return s;
}

/* ---- what trend makes of it -------------------------------------------------------------- */

struct seen {
	struct series series;
	struct snapshot *latest;
	struct names *names, *own;
	struct trend trend;
};

static struct snapshot *snapshot_at(const struct program *p, double s)
{
	const double sizes[] = {buffer_at(p, s), p->rest * s, p->line * s, p->still};
	const uint32_t stacks[] = {OWNER, OWNER + 1, OTHER, STILL};
	struct fake_heap heap;
	struct snapshot *snapshot;

	fake_heap_init(&heap, 5);
	for (size_t i = 0; i < 4; i++) {
		size_t b = fake_heap_add(&heap, (uint64_t)sizes[i], stacks[i], 1);

		heap.blocks[b].nr_steps = !i && sizes[i] > 0;
	}
	heap.now_ms = (uint64_t)(s * 1000);
	snapshot = fake_heap_snapshot(&heap, 0);
	fake_heap_release(&heap);
	return snapshot;
}

/* The snapshot's one lineage has every step of the buffer. */
static void tell_steps(const struct program *p, struct snapshot *s)
{
	struct snap_lineage *l = &s->lineages[0];
	uint32_t stack = s->steps[0].stack, nr = 0;

	assert_int_equal(s->nr_lineages, 1);
	free(s->steps);
	s->steps = xcalloc(64, sizeof(*s->steps));
	for (double size = 64; size < buffer_at(p, NOW_S); size *= 2) {
		double at_s = p->every > 0 ? p->every * log2(size / 32) : size / p->fill;

		s->steps[nr++] = (struct snap_step){(uint64_t)(2 * size), (uint64_t)(1000 * at_s),
						    stack};
	}
	l->born_size = 64;
	l->first_step = 0;
	l->nr_steps = l->nr_kept = l->nr_first = nr;
	s->nr_steps = nr;
}

static void see(struct seen *seen, const struct program *p, double limit, bool lineage)
{
	static const struct filter filter;
	struct group_options options = {.by = GROUP_FUNCTION, .now_ms = (uint64_t)(NOW_S * 1000)};
	struct series_map map;

	series_init(&seen->series);
	for (unsigned int i = 1; i <= SAMPLES; i++) {
		seen->latest = snapshot_at(p, i * INTERVAL_S);
		assert_int_equal(series_add(&seen->series, seen->latest, NULL), 0);
		if (i < SAMPLES)
			snapshot_free(seen->latest);
	}
	series_describe(&seen->series, seen->latest);
	if (buffer_at(p, NOW_S) > 0)
		tell_steps(p, seen->latest);
	seen->names = names_new(seen->series.all, fake_heap_lookup, NULL);
	seen->own = names_new(seen->latest, fake_heap_lookup, NULL);
	trend_init(&seen->trend, &seen->series, seen->names, &filter, &options);
	trend_add_series(&seen->trend);
	if (lineage) {
		series_map_init(&map, &seen->series, seen->latest);
		trend_add_latest(&seen->trend, seen->latest, seen->own, &map);
		series_map_release(&map);
	}
	trend_finish(&seen->trend, (uint64_t)limit);
}

static void seen_release(struct seen *seen)
{
	trend_release(&seen->trend);
	names_free(seen->names);
	names_free(seen->own);
	snapshot_free(seen->latest);
	series_release(&seen->series);
}

static const struct trend_row *row_of(const struct seen *seen, const char *key)
{
	for (size_t i = 0; i < seen->trend.nr_rows; i++)
		if (!strcmp(grouping_get(seen->trend.grouping, seen->trend.rows[i].group)->key, key))
			return &seen->trend.rows[i];
	fail_msg("no row %s", key);
	return NULL;
}

/* Within 2 % of what there is to wait, or as far as samples tell when steps were. */
static void assert_foreseen(const struct trend_forecast *f, double at_s, bool lineage)
{
	double slack = lineage ? 0.02 * (at_s - NOW_S) + 0.1 : 4 * INTERVAL_S;

	assert_true(f->reached);
	if (fabs(f->at_s - at_s) > slack)
		fail_msg("reached at %.1f s, foreseen for %.1f s", at_s, f->at_s);
}

/* ---- tests ------------------------------------------------------------------------------- */

static void test_line(void **state)
{
	const struct program p = {0, 0, 500, 10000, 0};
	struct seen seen;

	(void)state;
	see(&seen, &p, 1e6, true);
	assert_int_equal(row_of(&seen, "f3")->belief.shape, TREND_LINEAR);
	assert_foreseen(&seen.trend.limit, reached_at(p, 1e6, true), true);
	assert_foreseen(&row_of(&seen, "f3")->limit, reached_at(p, 1e6, true), true);
	assert_true(fabs(seen.trend.slope - 500) < 1);
	assert_false(seen.trend.limit.faster);
	seen_release(&seen);
}

/* The next step, and the one after that, from the buffer's lineage and from samples alone. */
static void test_buffer(void **state)
{
	const struct program p = {1000, 0, 0, 10000, 0};

	(void)state;
	for (int lineage = 0; lineage < 2; lineage++) {
		for (double limit = 3e5; limit < 5e6; limit *= 1.7) {
			const struct trend_row *row;
			struct seen seen;
			double size, at_s;

			see(&seen, &p, limit, lineage);
			row = row_of(&seen, "f1");
			assert_int_equal(row->belief.shape, TREND_DOUBLING);
			trend_next_step(&seen.trend, row, &size, &at_s);
			assert_true(fabs(size / (2 * room_for(1000 * NOW_S)) - 1) < 0.06);
			assert_true(fabs(at_s - room_for(1000 * NOW_S) / 1000) < (lineage ? 0.1 : 20));
			if (lineage || limit < 1e6) /* further on, errors add up */
				assert_foreseen(&row->limit, reached_at(p, limit, true), lineage);
			assert_true(fabs(seen.trend.limit.at_s - row->limit.at_s) < 1e-9);
			assert_false(row->limit.faster || seen.trend.limit.faster);
			seen_release(&seen);
		}
	}
}

/* A buffer that doubles at equal intervals, as what comes in grows with what there is. */
static void test_equal_intervals(void **state)
{
	(void)state;
	for (int lineage = 0; lineage < 2; lineage++) {
		for (double limit = 1e6; limit < 1e9; limit *= 1.9) {
			const struct program p = {.still = 1000, .every = 19};
			const struct trend_row *row;
			struct seen seen;
			double size, at_s;

			see(&seen, &p, limit, lineage);
			row = row_of(&seen, "f1");
			assert_int_equal(row->belief.shape, TREND_DOUBLING);
			trend_next_step(&seen.trend, row, &size, &at_s);
			assert_true(size == 64 * 2048);
			assert_true(fabs(at_s - 209) < (lineage ? 0.1 : INTERVAL_S + 1));
			assert_true(row->limit.reached);
			assert_true(row->limit.faster || limit < 4e6);
			if (fabs(row->limit.at_s - reached_at(p, limit, true)) >
			    (lineage ? 0.2 : 5 * INTERVAL_S))
				fail_msg("limit %.0f: %.1f s, foreseen for %.1f s", limit,
					 reached_at(p, limit, true), row->limit.at_s);
			seen_release(&seen);
		}
	}
}

/* What is expected of steps at these times; factor 2. */
static struct trend_stairs expected(const double *step_s, size_t nr)
{
	struct trend_stairs stairs = {.nr = nr, .factor = 2, .size = 1024};

	trend_stairs_expect(&stairs, step_s, nr);
	return stairs;
}

/* A pause of so many seconds before each step; how long the next one is expected to be. */
static double next_pause(const double *pauses, size_t nr)
{
	double *step_s = xcalloc(nr + 1, sizeof(*step_s));
	struct trend_stairs stairs;

	for (size_t i = 0; i < nr; i++)
		step_s[i + 1] = step_s[i] + pauses[i];
	stairs = expected(step_s, nr + 1);
	assert_true(stairs.last_s == step_s[nr]);
	free(step_s);
	return trend_stairs_next(&stairs) - stairs.last_s;
}

#define assert_next(seconds, ...)                                                                  \
	do {                                                                                       \
		const double pauses[] = {__VA_ARGS__};                                             \
		double next = next_pause(pauses, sizeof(pauses) / sizeof(pauses[0]));              \
                                                                                                   \
		if (fabs(next / (seconds)-1) > 0.2)                                                \
			fail_msg("%f s expected, not %f", next, (double)(seconds));                \
	} while (0)

/* Both laws and one in between; starts, sleeps and wavering times do not mislead. */
static void test_pauses(void **state)
{
	(void)state;
	assert_next(20, 10); /* one level tells no law: the slower one is taken */
	assert_next(10, 10, 10);
	assert_next(40, 10, 20);
	assert_next(64, 1, 2, 4, 8, 16, 32);
	assert_next(5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5);
	assert_next(22.6, 2, 2.83, 4, 5.66, 8, 11.3, 16); /* a rate that grows in a line */
	assert_next(200, 0.001, 0.001, 0.001, 0.002, 0.001, 100); /* loaded, then used */
	assert_next(400, 0.001, 0.001, 0.001, 0.002, 0.001, 50, 100, 200);
	assert_next(5, 5, 5, 600, 5, 5, 5); /* slept once */
	assert_next(64, 4, 8, 500, 16, 32);
	assert_next(10, 9, 11, 10.5, 9.4, 10.2, 8.9, 10.8);
	assert_next(64, 1.1, 1.8, 4.3, 7.6, 17, 30);
	assert_next(2.5, 4, 3, 2.5, 2); /* ever faster: no faster than of late */
}

/* A buffer and other blocks of the same function: the limit is met by a step, or on a level. */
static void test_mixed_group(void **state)
{
	static const double rests[] = {100, 300, 800};
	size_t on_level = 0, by_step = 0;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		for (double limit = 4.5e5; limit < 8e6; limit *= 1.3) {
			const struct program p = {1000, rests[i], 0, 10000, 0};
			double at_s = reached_at(p, limit, true);
			const struct trend_row *row;
			struct seen seen;

			see(&seen, &p, limit, true);
			row = row_of(&seen, "f1");
			assert_int_equal(row->belief.shape, TREND_DOUBLING);
			assert_true(row->view.stairs.size == room_for(1000 * NOW_S));
			assert_foreseen(&row->limit, at_s, true);
			assert_foreseen(&seen.trend.limit, at_s, true);
			if (bytes_at(&p, at_s) - limit > 10 * rests[i])
				by_step++;
			else
				on_level++;
			seen_release(&seen);
		}
	}
	assert_true(on_level > 3 && by_step > 3);
}

/* Each by itself, and all together, which is sooner. */
static void test_two_groups(void **state)
{
	(void)state;
	for (double limit = 4.5e5; limit < 8e6; limit *= 1.3) {
		const struct program p = {1000, 0, 300, 10000, 0};
		struct program alone = p;
		struct seen seen;

		alone.still += room_for(p.fill * NOW_S);
		alone.fill = 0;
		see(&seen, &p, limit, true);
		assert_foreseen(&row_of(&seen, "f1")->limit, reached_at(p, limit, false), true);
		assert_foreseen(&row_of(&seen, "f3")->limit, reached_at(alone, limit, true), true);
		assert_foreseen(&seen.trend.limit, reached_at(p, limit, true), true);
		seen_release(&seen);
	}
}

static void test_passed_and_never(void **state)
{
	const struct program p = {1000, 300, 0, 10000, 0}, slow = {0, 0, 20, 10000, 0};
	struct seen seen;

	(void)state;
	see(&seen, &p, 2e5, true);
	assert_true(seen.trend.limit.reached && seen.trend.limit.at_s == NOW_S);
	seen_release(&seen);
	see(&seen, &slow, 1e12, true);
	assert_true(row_of(&seen, "f3")->belief.shape == TREND_LINEAR);
	assert_false(seen.trend.limit.reached);
	assert_false(row_of(&seen, "f3")->limit.reached);
	seen_release(&seen);
	see(&seen, &p, 0, true); /* no limit is known */
	assert_false(seen.trend.limit.reached);
	assert_true(seen.trend.slope > 0);
	seen_release(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),	   cmocka_unit_test(test_buffer),
		cmocka_unit_test(test_mixed_group), cmocka_unit_test(test_two_groups),
		cmocka_unit_test(test_passed_and_never), cmocka_unit_test(test_equal_intervals),
		cmocka_unit_test(test_pauses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
