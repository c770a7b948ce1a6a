/* SPDX-License-Identifier: MIT */
/*
 * test_pattern.c - the grammar of `heap --addresses`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "analysis/pattern.h"
#include "analysis/snapshot.h"
#include "tests/unit/fake_heap.h"
#include "util/error.h"

static void test_ranges(void **state)
{
	static const struct {
		const char *text;
		uint64_t low, high;
	} cases[] = {
		{"all", 0, UINT64_MAX},
		{".*", 0, UINT64_MAX},
		{".*[1m+]", 1048576, UINT64_MAX},
		{"[1m+]", 1048576, UINT64_MAX},
		{"[64]", 64, 64},
		{"[1k-2k]", 1024, 2048},
		{"[-64]", 0, 64},
		{"[500k-]", 512000, UINT64_MAX},
		{"[1g]", 1073741824, 1073741824},
		{"[1K-2G]", 1024, 2147483648},
		{"[0]", 0, 0},
		{"[5-5]", 5, 5},
		{".*[.*[3]", 0, 0}, /* refused: a class */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_error err = {0};
		struct pattern p = {7, 7};
		int status = pattern_parse(cases[i].text, &p, &err);

		if (!strcmp(cases[i].text, ".*[.*[3]")) {
			assert_int_equal(status, -HS_E_USAGE);
			continue;
		}
		assert_int_equal(status, 0);
		assert_true(p.low == cases[i].low && p.high == cases[i].high);
		assert_true(pattern_matches(&p, p.low) && pattern_matches(&p, p.high));
		assert_false(p.low && pattern_matches(&p, p.low - 1));
		assert_false(p.high != UINT64_MAX && pattern_matches(&p, p.high + 1));
	}
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"[]",
		"[-]",
		"[x]",
		"[1q]",
		"[2-1]",
		"[1+2]",
		"[+]",
		"[1--2]",
		"[x",
		"malloc",
		"^.*",
		"std::string",
		"std::string[64]",
		"[64]x",
		"[99999999999999999999]",
		"[ 64]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct pattern p = {7, 8};
		struct hs_error err = {0};

		assert_int_equal(pattern_parse(texts[i], &p, &err), -HS_E_USAGE);
		assert_true(err.text[0] && !strchr(err.text, '\n'));
		assert_true(p.low == 7 && p.high == 8); /* written only on success */
	}
}

static void test_nearest(void **state)
{
	struct pattern p = {100, 200};
	struct pattern_nearest n;
	struct fake_heap heap;
	struct snapshot *s;

	(void)state;
	fake_heap_init(&heap, 3);
	s = fake_heap_snapshot(&heap, 0);
	pattern_nearest(&p, s, &n);
	assert_true(!n.nr_below && !n.nr_above);
	snapshot_free(s);
	for (uint64_t size = 10; size < 100; size += 30)
		fake_heap_add(&heap, size, 1, 1);
	fake_heap_add(&heap, 70, 2, 1);
	fake_heap_add(&heap, 201, 2, 1);
	fake_heap_add(&heap, 5000, 2, 1);
	s = fake_heap_snapshot(&heap, 0);
	pattern_nearest(&p, s, &n);
	assert_int_equal(n.below, 70);
	assert_int_equal(n.nr_below, 2);
	assert_int_equal(n.above, 201);
	assert_int_equal(n.nr_above, 1);
	snapshot_free(s);
	fake_heap_release(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
