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

#include "analysis/names.h"
#include "analysis/pattern.h"
#include "analysis/snapshot.h"
#include "tests/unit/fake_heap.h"
#include "util/error.h"

/* A heap with blocks of one size and stack. */
static struct snapshot *heap_of(struct fake_heap *heap, const uint64_t *sizes, size_t nr)
{
	fake_heap_init(heap, 3);
	for (size_t i = 0; i < nr; i++)
		fake_heap_add(heap, sizes[i], 1, 1);
	return fake_heap_snapshot(heap, 0);
}

static bool matches_size(const struct pattern *p, uint64_t size)
{
	const struct snap_block b = {.size = size};
	struct pattern_verdicts none = {NULL};

	return pattern_matches(p, &none, NULL, &b);
}

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
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_error err = {0};
		struct pattern p;

		assert_int_equal(pattern_parse(cases[i].text, &p, &err), 0);
		assert_true(p.low == cases[i].low && p.high == cases[i].high && !p.has_class);
		assert_true(matches_size(&p, p.low) && matches_size(&p, p.high));
		assert_false(p.low && matches_size(&p, p.low - 1));
		assert_false(p.high != UINT64_MAX && matches_size(&p, p.high + 1));
		pattern_release(&p);
	}
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",    "[]",	 "[-]",	 "[x]", "[1q]",	    "[2-1]", "[1+2]",
		"[+]", "[1--2]", "[x",	 "[ 64]", ".*[.*[3]", "(Foo",  "[99999999999999999999]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct pattern p = {.low = 7, .high = 8};
		struct hs_error err = {0};

		assert_int_equal(pattern_parse(texts[i], &p, &err), -HS_E_USAGE);
		assert_true(err.text[0] && !strchr(err.text, '\n'));
		assert_true(p.low == 7 && p.high == 8); /* written only on success */
	}
}

/* Blocks of fake heaps have the class "malloc in" and a function. */
static void test_classes(void **state)
{
	static const uint64_t sizes[] = {64};
	static const struct {
		const char *text;
		bool fits;
	} cases[] = {
		{"malloc in .*", true},	   {"malloc", false},	      {"malloc|malloc in .*", true},
		{"malloc in .*[64]", true}, {"malloc in .*[65+]", false}, {".* in .*[-64]", true},
		{"Malloc in .*", false},   {"alloc in .*", false},     {"malloc in", false},
	};
	struct fake_heap heap;
	struct snapshot *s = heap_of(&heap, sizes, 1);
	struct names *names = names_new(s, fake_heap_lookup, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pattern_verdicts verdicts = {NULL};
		struct hs_error err = {0};
		struct pattern p;

		assert_int_equal(pattern_parse(cases[i].text, &p, &err), 0);
		for (int again = 0; again < 2; again++)
			assert_int_equal(pattern_matches(&p, &verdicts, names, &s->blocks[0]),
					 cases[i].fits);
		pattern_verdicts_release(&verdicts);
		pattern_release(&p);
	}
	names_free(names);
	snapshot_free(s);
	fake_heap_release(&heap);
}

static void nearest(const char *text, struct snapshot *s, struct pattern_nearest *ret)
{
	struct names *names = names_new(s, fake_heap_lookup, NULL);
	struct hs_error err = {0};
	struct pattern p;

	assert_int_equal(pattern_parse(text, &p, &err), 0);
	nearest_release(&ret->classes);
	memset(ret, 0, sizeof(*ret));
	pattern_nearest_add(&p, names, ret);
	if (ret->classes.names[0])
		assert_int_equal(strncmp(ret->classes.names[0], "malloc in ", 10), 0);
	pattern_release(&p);
	names_free(names);
}

static void test_nearest(void **state)
{
	static const uint64_t sizes[] = {10, 40, 70, 70, 201, 5000};
	struct pattern_nearest n = {.class_fits = false};
	struct fake_heap heap;
	struct snapshot *s = heap_of(&heap, sizes, 0);

	(void)state;
	nearest("[100-200]", s, &n);
	assert_true(!n.nr_below && !n.nr_above && !n.classes.names[0]);
	snapshot_free(s);
	fake_heap_release(&heap);
	s = heap_of(&heap, sizes, 6);
	nearest("[100-200]", s, &n);
	assert_int_equal(n.below, 70);
	assert_int_equal(n.nr_below, 2);
	assert_int_equal(n.above, 201);
	assert_int_equal(n.nr_above, 1);
	assert_null(n.classes.names[0]);
	nearest("malloc in .*[100-200]", s, &n);
	assert_int_equal(n.below, 70);
	/* no block is of such a class: what comes nearest to it */
	nearest("Visitor", s, &n);
	assert_true(!n.nr_below && !n.nr_above);
	assert_non_null(n.classes.names[0]);
	assert_null(n.classes.names[1]);
	nearest_release(&n.classes);
	snapshot_free(s);
	fake_heap_release(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
