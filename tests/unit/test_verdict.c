/* SPDX-License-Identifier: MIT */
/*
 * test_verdict.c - a diff of a random history fails exactly where a group or the whole grew by more
 * than is allowed; and what was not seen gets no verdict.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/diff.h"
#include "analysis/filter.h"
#include "cli/verdict.h"
#include "tests/unit/fake_heap.h"

#define NR_SEEDS 120u

/* Two moments of a made-up process. */
struct moments {
	struct snapshot *snapshots[2];
	struct names *names[2];
};

static void moments_init(struct moments *m, uint64_t seed)
{
	struct fake_heap heap;

	fake_heap_init(&heap, seed + 1);
	for (int i = 0; i < 2; i++) {
		for (uint64_t k = fake_heap_random(&heap, seed + 1); k > 0; k--)
			fake_heap_event(&heap);
		m->snapshots[i] = fake_heap_snapshot(&heap, (uint32_t)i);
		m->snapshots[i]->coverage.mode = HS_MODE_LIVE;
		m->snapshots[i]->coverage.share_of_life = 1;
		m->snapshots[i]->state = HS_STATE_RECORDING;
		m->names[i] = names_new(m->snapshots[i], fake_heap_lookup, NULL);
	}
	fake_heap_release(&heap);
}

static void moments_release(struct moments *m)
{
	for (int i = 0; i < 2; i++) {
		names_free(m->names[i]);
		snapshot_free(m->snapshots[i]);
	}
}

static bool grew_above(const struct diff_sums *s, const struct verdict_options *o)
{
	int64_t bytes = s->after.bytes - s->before.bytes;

	if (!o->has_limit)
		return bytes > 0 || s->after.count > s->before.count;
	return bytes > 0 && (uint64_t)bytes > o->limit;
}

static void check_verdict(const struct diff *d, struct moments *m, enum group_by by,
			  const struct verdict_options *o)
{
	bool expected = o->has_limit && grew_above(&d->totals, o);
	struct verdict v;

	for (size_t i = 0; i < d->nr_rows; i++)
		expected |= grew_above(&d->rows[i].sums, o);
	verdict_init(&v, d, m->names, by, o);
	assert_int_equal(v.failed, expected);
	assert_int_equal(strncmp(v.text, expected ? "GREW: " : "clean: ", 6), 0);
	assert_null(strchr(v.text, '\n'));
	verdict_release(&v);
}

static void test_limits(void **state)
{
	static const uint64_t limits[] = {0, 100, 1000, 4096, UINT64_MAX};
	static const enum group_by groupings[] = {GROUP_SITE, GROUP_STACK, GROUP_MODULE};
	static const struct filter none;

	(void)state;
	for (uint64_t seed = 0; seed < NR_SEEDS; seed++) {
		struct moments m;

		moments_init(&m, seed);
		for (size_t g = 0; g < 3; g++) {
			struct diff_options options = {
				{groupings[g], false, false, 0}, SORT_DEFAULT, &none, NULL};
			struct verdict_options o = {.wanted = true};
			struct diff d;

			assert_int_equal(diff_build(&d, m.names[0], m.names[1], &options, NULL), 0);
			check_verdict(&d, &m, groupings[g], &o);
			o.has_limit = true;
			for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
				o.limit = limits[i];
				check_verdict(&d, &m, groupings[g], &o);
			}
			diff_release(&d);
		}
		moments_release(&m);
	}
}

/* Whether there is a verdict, or why there is none. */
static void expect_obstacle(struct snapshot *b, struct snapshot *a, bool across, const char *why)
{
	char *obstacle = verdict_obstacle(b, a, &(struct verdict_options){.across = across});

	if (why)
		assert_non_null(strstr(obstacle, why));
	else
		assert_null(obstacle);
	free(obstacle);
}

static void test_obstacles(void **state)
{
	struct snapshot *b, *a;
	struct moments m;

	(void)state;
	moments_init(&m, 30);
	b = m.snapshots[0];
	a = m.snapshots[1];
	expect_obstacle(b, a, false, NULL);
	expect_obstacle(b, b, false, NULL);
	expect_obstacle(a, b, false, "after AFTER");
	b->image[0]++;
	expect_obstacle(b, a, false, "different processes");
	expect_obstacle(a, b, true, NULL); /* of two runs none is the later one */
	b->image[0]--;
	a->state = HS_STATE_STOPPED;
	expect_obstacle(b, a, true, "AFTER");
	a->state = HS_STATE_RECORDING;
	b->coverage.mode = HS_MODE_DRAIN;
	expect_obstacle(b, a, true, "BEFORE");
	b->coverage.mode = HS_MODE_LIVE;
	a->coverage.consistent = false;
	expect_obstacle(b, a, true, "AFTER is inconsistent");
	moments_release(&m);
}

/* Recording that was off in between, for whatever moment it was, and however often it was on. */
static void test_gap(void **state)
{
	struct snapshot *b, *a;
	struct moments m;

	(void)state;
	moments_init(&m, 30);
	b = m.snapshots[0];
	a = m.snapshots[1];
	b->taken_ms = 1000;
	b->coverage.share_of_life = 0.4; /* switched on late */
	for (uint64_t off_ms = 0; off_ms < 600; off_ms += 7) {
		a->taken_ms = 1601;
		a->coverage.share_of_life = (double)(400 + 601 - off_ms) / 1601;
		a->coverage.since_ms = 1600;
		assert_int_equal(diff_unrecorded_ms(b, a), off_ms);
		expect_obstacle(b, a, true, off_ms ? "between BEFORE and AFTER" : NULL);
	}
	a->image[0]++;
	expect_obstacle(b, a, true, NULL); /* nothing lies between two processes */
	moments_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_obstacles),
		cmocka_unit_test(test_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
