/* SPDX-License-Identifier: MIT */
/*
 * test_reports.c - members of rows and their order, strings that are no UTF-8, and text that keeps
 * to the width of the terminal.
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

#include "analysis/diff.h"
#include "analysis/filter.h"
#include "reports/report.h"
#include "reports/rows.h"
#include "reports/text_internal.h"
#include "tests/unit/fake_heap.h"

/* ---- JSON -------------------------------------------------------------------------------- */

/* The first members of an object, in order, have to be these (blank between them). */
static void assert_members(const json_t *object, const char *names)
{
	void *iter = json_object_iter((json_t *)(uintptr_t)object);

	while (*names) {
		size_t len = strcspn(names, " ");

		assert_non_null(iter);
		if (strlen(json_object_iter_key(iter)) != len ||
		    memcmp(json_object_iter_key(iter), names, len))
			fail_msg("member '%s' where '%.*s' should be", json_object_iter_key(iter),
				 (int)len, names);
		iter = json_object_iter_next((json_t *)(uintptr_t)object, iter);
		names += len + (names[len] == ' ');
	}
}

struct made {
	struct fake_heap heap;
	struct snapshot *snapshot;
	struct names *names;
};

static void made_init(struct made *m)
{
	fake_heap_init(&m->heap, 5);
	for (int i = 0; i < 200; i++)
		fake_heap_event(&m->heap);
	m->snapshot = fake_heap_snapshot(&m->heap, 1);
	m->names = names_new(m->snapshot, fake_heap_lookup, NULL);
}

static void made_release(struct made *m)
{
	names_free(m->names);
	snapshot_free(m->snapshot);
	fake_heap_release(&m->heap);
}

#define FRAME "function module offset file line column inlined address"

static void test_members_of_blocks(void **state)
{
	struct made m;
	bool grown = false;

	(void)state;
	made_init(&m);
	for (size_t i = 0; i < m.snapshot->nr_blocks; i++) {
		json_t *row = rows_block(m.names, &m.snapshot->blocks[i]);
		const json_t *lineage = json_object_get(row, "lineage");
		const json_t *steps = json_object_get(lineage, "steps");

		assert_members(row, "address serial size usable class zone thread birth_s");
		assert_true(json_is_string(json_object_get(row, "class")));
		assert_true(json_is_array(json_object_get(row, "stack")));
		if (json_array_size(json_object_get(row, "stack")))
			assert_members(json_array_get(json_object_get(row, "stack"), 0), FRAME);
		if (json_is_object(lineage)) {
			grown = true;
			assert_members(lineage, "born steps nr_steps nr_shrinks factor increment "
						"growers inferred");
			assert_members(json_object_get(lineage, "born"), "s size stack");
			assert_members(json_array_get(steps, 0), "s size stack");
		}
		json_decref(row);
	}
	assert_true(grown);
	made_release(&m);
}

static void test_members_of_groups(void **state)
{
	struct group_options by = {GROUP_SITE, false, false, 0};
	static const struct filter none;
	struct diff_options options = {by, SORT_DEFAULT, &none, NULL};
	struct names *names[2];
	struct made m;
	struct heap heap;
	struct diff diff;
	json_t *o;

	(void)state;
	made_init(&m);
	names[0] = names[1] = m.names;
	heap_build(&heap, m.names, &none, &by, SORT_DEFAULT);
	o = rows_heap(&heap, &heap.rows[0], m.names);
	assert_members(o, "key kind class zone count bytes usable avg stack");
	json_decref(o);
	heap_release(&heap);

	assert_int_equal(diff_build(&diff, m.names, m.names, &options, NULL), 0);
	o = rows_diff(&diff, &diff.rows[0], names, 0);
	assert_members(o, "key kind class zone count bytes born freed resized survived per_unit "
			  "stack");
	assert_members(json_object_get(o, "bytes"), "before after delta");
	assert_true(json_is_null(json_object_get(o, "per_unit")));
	assert_non_null(json_object_get(o, "lineage"));
	json_decref(o);
	o = rows_diff_totals(&diff, 3);
	assert_members(o, "key kind class zone count bytes born freed resized survived per_unit "
			  "stack lineage");
	assert_members(json_object_get(o, "per_unit"), "count bytes");
	json_decref(o);
	diff_release(&diff);

	o = rows_coverage(m.snapshot);
	assert_members(o, "mode since_s share_of_life blocks_without_stack events_lost "
			  "unknown_frees "
			  "unexplained_bytes");
	assert_true(json_is_array(json_object_get(o, "notes")));
	json_decref(o);
	made_release(&m);
}

static void test_rates_add_up(void **state)
{
	double sum = 0;

	(void)state;
	for (int i = 1; i <= 1000; i++) {
		struct diff diff = {.totals = {.after = {1, 40}}};
		json_t *o = rows_diff_totals(&diff, 7000);

		sum += json_real_value(report_get(o, "per_unit.count"));
		assert_true(fabs(json_real_value(report_get(o, "per_unit.bytes")) - 40 / 7e3) < 1e-12);
		json_decref(o);
	}
	assert_true(fabs(sum - 1.0 / 7) < 1e-9);
}

static void test_strings_that_are_no_utf8(void **state)
{
	static const char *const texts[][2] = {
		{"plain", "plain"},
		{"\xc3\xa4", "\xc3\xa4"},
		{"a\xff"
		 "b",
		 "a\xef\xbf\xbd"
		 "b"},
		{"\xc3", "\xef\xbf\xbd"},
		{"\xed\xa0\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx"},
		{"\xe4\xc3\xa4", "\xef\xbf\xbd\xc3\xa4"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *s = report_string(texts[i][0]);

		assert_string_equal(json_string_value(s), texts[i][1]);
		json_decref(s);
	}
	assert_true(json_is_null(report_string(NULL)));
}

static char *whole_report(struct made *m, bool json, unsigned int width, enum group_by by)
{
	static const struct report_column columns[] = {
		{"BYTES", "bytes", UNIT_BYTES, false},
		{"COUNT", "count", UNIT_COUNT, false},
		{"SITE", "stack", UNIT_CHAIN, false},
	};
	static const struct report_view view = {
		.columns = columns, .nr_columns = 3, .total_key = "total"};
	struct group_options options = {by, false, false, 0};
	static const struct filter none;
	struct report_style style = {.json = json, .width = width};
	struct report report;
	struct heap heap;
	char *text = NULL;
	size_t len;

	style.out = open_memstream(&text, &len);
	heap_build(&heap, m->names, &none, &options, SORT_DEFAULT);
	report_begin(&report, &style, "heap", &view, rows_target(m->snapshot),
		     rows_coverage(m->snapshot),
		     json_pack("{s:I,s:I}", "count", (json_int_t)heap.count, "bytes",
			       (json_int_t)heap.bytes));
	for (size_t i = 0; i < heap.nr_rows; i++)
		report_row(&report, rows_heap(&heap, &heap.rows[i], m->names));
	report_end(&report, 0);
	heap_release(&heap);
	fclose(style.out);
	return text;
}

static void test_whole_json(void **state)
{
	json_error_t error;
	struct made m;
	json_t *o;
	char *text;

	(void)state;
	made_init(&m);
	for (int by = GROUP_SITE; by <= GROUP_AGE; by++) {
		text = whole_report(&m, true, 0, (enum group_by)by);
		o = json_loads(text, JSON_REJECT_DUPLICATES, &error);
		assert_non_null(o);
		assert_members(o, "schema command target coverage totals rows");
		assert_string_equal(json_string_value(json_object_get(o, "schema")), "heapstory/1");
		json_decref(o);
		free(text);
	}
	made_release(&m);
}

/* ---- text -------------------------------------------------------------------------------- */

static void test_text_keeps_to_the_width(void **state)
{
	struct made m;
	char *text;

	(void)state;
	made_init(&m);
	for (unsigned int width = 40; width <= 120; width += 5) {
		text = whole_report(&m, false, width, GROUP_SITE);
		for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
			assert_true(strcspn(line, "\n") <= width);
		assert_null(strchr(text, '\033'));
		free(text);
	}
	made_release(&m);
}

/* The stack f0 <- f1 <- ... of nr frames as text; every fifth is a runtime's. Caller frees. */
static char *stack_text(unsigned int nr, bool all_frames)
{
	struct report r = {.style = {.width = 80, .all_frames = all_frames}};
	json_t *stack = json_array();
	char *text = NULL;
	size_t len;

	for (unsigned int i = 0; i < nr; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		json_array_append_new(stack, json_pack("{s:s,s:b,s:s,s:i}", "function", name,
						       "runtime", i % 5 == 4, "file", "f.c",
						       "line", i + 1));
	}
	r.style.out = open_memstream(&text, &len);
	assert_non_null(r.style.out);
	text_stack(&r, stack, NULL, 4);
	fclose(r.style.out);
	json_decref(stack);
	return text;
}

/* The number of lines, and of that which tells what is left out (from 0; SIZE_MAX: none does). */
static size_t lines_of(const char *text, size_t *ret_left_out, unsigned int *ret_more)
{
	size_t nr = 0;

	*ret_left_out = SIZE_MAX;
	for (; *text; text += strcspn(text, "\n") + 1, nr++)
		if (sscanf(text, "    ... %u more; --all-frames shows them", ret_more) == 1)
			*ret_left_out = nr;
	return nr;
}

/* The middle of a deep stack is left out, and the ends and the number of the others are shown. */
static void test_deep_stacks(void **state)
{
	unsigned int more = 0;
	size_t left_out;
	char *text;

	(void)state;
	text = stack_text(41, false); /* 33 that are not the runtime's */
	assert_int_equal(lines_of(text, &left_out, &more), 33);
	assert_int_equal(left_out, SIZE_MAX);
	free(text);
	for (unsigned int nr = 45; nr < 4000; nr += 321) {
		char innermost[] = "    f0  f.c:1\n", outermost[64];

		text = stack_text(nr, false);
		assert_int_equal(lines_of(text, &left_out, &more), 24 + 1 + 8);
		assert_int_equal(left_out, 24);
		assert_int_equal(more, nr - nr / 5 - 32);
		assert_memory_equal(text, innermost, strlen(innermost));
		snprintf(outermost, sizeof(outermost), "    f%u  f.c:%u\n", nr - 1 - !(nr % 5),
			 nr - !(nr % 5));
		assert_string_equal(text + strlen(text) - strlen(outermost), outermost);
		free(text);
		text = stack_text(nr, true);
		assert_int_equal(lines_of(text, &left_out, &more), nr);
		assert_int_equal(left_out, SIZE_MAX);
		free(text);
	}
}

static void test_elided(void **state)
{
	static const struct {
		const char *text;
		size_t width;
		const char *want;
	} cases[] = {
		{"abcdefghij", 0, "abcdefghij"},
		{"abcdefghij", 10, "abcdefghij"},
		{"abcdefghij", 8, "abc..hij"},
		{"abcdefghij", 7, "ab..hij"},
		{"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 7, "\xc3\xa4..\xc3\xa4"},
		{"", 5, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *s = text_elided(cases[i].text, cases[i].width);

		assert_string_equal(s, cases[i].want);
		free(s);
	}
}

static void test_numbers_for_people(void **state)
{
	char text[REPORT_TEXT_LEN];

	(void)state;
	assert_string_equal(text_bytes(0, text), "0 B");
	assert_string_equal(text_bytes(1023, text), "1023 B");
	assert_string_equal(text_bytes(1024, text), "1.0 KiB");
	assert_string_equal(text_bytes(33554432, text), "32.0 MiB");
	assert_string_equal(text_bytes(1048575, text), "1.0 MiB");
	assert_string_equal(text_bytes(UINT64_MAX, text), "16.0 EiB");
	assert_string_equal(text_moment(0.2, text), "+0.20 s");
	assert_string_equal(text_moment(30.24, text), "+30.2 s");
	assert_string_equal(text_moment(1803.4, text), "+1803 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_of_blocks),
		cmocka_unit_test(test_members_of_groups),
		cmocka_unit_test(test_rates_add_up),
		cmocka_unit_test(test_strings_that_are_no_utf8),
		cmocka_unit_test(test_whole_json),
		cmocka_unit_test(test_text_keeps_to_the_width),
		cmocka_unit_test(test_deep_stacks), cmocka_unit_test(test_elided),
		cmocka_unit_test(test_numbers_for_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
