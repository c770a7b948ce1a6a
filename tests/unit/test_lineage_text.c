/* SPDX-License-Identifier: MIT */
/*
 * test_lineage_text.c - what is said of a buffer that grew, line by line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "util/alloc.h"

/* "f g h": a stack of these functions, innermost first. */
static json_t *stack_of(const char *functions)
{
	char *copy = xstrdup(functions), *save = NULL;
	json_t *stack = json_array();

	for (char *f = strtok_r(copy, " ", &save); f; f = strtok_r(NULL, " ", &save))
		json_array_append_new(stack, json_pack("{s:s,s:b}", "function", f, "runtime", 0));
	free(copy);
	return stack;
}

static json_t *step_of(double s, json_int_t size, const char *functions)
{
	return json_pack("{s:f,s:I,s:o}", "s", s, "size", size, "stack", stack_of(functions));
}

/* Born with 64 bytes in make <- open <- main; nr steps are kept, each twice as large. */
static json_t *lineage_of(int nr, const char *functions)
{
	json_t *l = json_object(), *steps = json_array();

	json_object_set_new(l, "born", step_of(0.2, 64, "make open main"));
	for (int i = 0; i < nr; i++)
		json_array_append_new(steps, step_of(0.4 + 100 * i, 128 << i, functions));
	json_object_set_new(l, "steps", steps);
	json_object_set_new(l, "nr_steps", json_integer(nr));
	json_object_set_new(l, "nr_shrinks", json_integer(0));
	json_object_set_new(l, "factor", nr ? json_real(2) : json_null());
	json_object_set_new(l, "increment", json_null());
	json_object_set_new(l, "growers", json_array());
	json_object_set_new(l, "inferred", json_false());
	json_object_set_new(l, "elsewhere", json_false());
	return l;
}

static void add_grower(json_t *l, const char *function, int count)
{
	json_object_set_new(l, "elsewhere", json_true());
	json_array_append_new(json_object_get(l, "growers"),
			      json_pack("{s:s,s:i}", "function", function, "count", count));
}

/* Takes the lineage. */
static void says(json_t *l, unsigned int width, const char *expected)
{
	struct report r = {.style = {.width = width}};
	char *text = NULL;
	size_t len;

	r.style.out = open_memstream(&text, &len);
	assert_non_null(r.style.out);
	text_lineage(&r, l, NULL, 4);
	fclose(r.style.out);
	assert_string_equal(text, expected);
	free(text);
	json_decref(l);
}

static void test_doubled(void **state)
{
	(void)state;
	says(lineage_of(10, "make open main"), 80,
	     "    born +0.20 s, 64 B, in make <- open <- main\n"
	     "    doubled 10 times to 64.0 KiB; first grew +0.40 s; latest +900.4 s\n");
	says(lineage_of(1, "make open main"), 80,
	     "    born +0.20 s, 64 B, in make <- open <- main\n"
	     "    doubled once to 128 B, +0.40 s\n");
}

static void test_other_shapes(void **state)
{
	json_t *l = lineage_of(7, "make open main");

	(void)state;
	json_object_set_new(l, "increment", json_integer(4096));
	json_object_set_new(l, "nr_shrinks", json_integer(2));
	json_object_set_new(l, "peak_size", json_integer(20480));
	says(l, 80,
	     "    born +0.20 s, 64 B, in make <- open <- main\n"
	     "    grew 7 times by 4.0 KiB and shrank twice, at most 20.0 KiB; first grew\n"
	     "    +0.40 s; latest +600.4 s\n");
	l = lineage_of(3, "make open main");
	json_object_set_new(l, "factor", json_real(1.13));
	says(l, 80,
	     "    born +0.20 s, 64 B, in make <- open <- main\n"
	     "    grew 3 times by x1.13 to 512 B; first grew +0.40 s; latest +200.4 s\n");
	l = lineage_of(0, "");
	json_object_set_new(l, "nr_shrinks", json_integer(1));
	says(l, 80,
	     "    born +0.20 s, 64 B, in make <- open <- main\n"
	     "    shrank once\n");
}

static void test_inferred(void **state)
{
	json_t *l = lineage_of(4, "make open main");

	(void)state;
	json_object_set_new(l, "inferred", json_true());
	says(l, 80,
	     "    born +0.20 s, 64 B, in make <- open <- main\n"
	     "    doubled 4 times to 1.0 KiB (inferred); first grew +0.40 s; latest +300.4 s\n");
}

static void test_growers(void **state)
{
	json_t *l = lineage_of(4, "put draw main");

	(void)state;
	add_grower(l, "put", 4);
	says(l, 80,
	     "    born +0.20 s, 64 B, in make <- open <- main\n"
	     "    doubled 4 times to 1.0 KiB; first grew +0.40 s; latest +300.4 s\n"
	     "    latest at put <- draw <- main\n"
	     "    all 4 steps came through put (who happens to grow a buffer is often\n"
	     "    innocent: ask who fills it and does not empty it)\n");
	l = lineage_of(4, "make draw main");
	json_object_set_new(l, "nr_steps", json_integer(900));
	add_grower(l, "void app::draw<int>(int)", 3);
	add_grower(l, "open", 1);
	says(l, 80,
	     "    born +0.20 s, 64 B, in make <- open <- main\n"
	     "    doubled 900 times to 1.0 KiB; first grew +0.40 s; latest +300.4 s\n"
	     "    latest at make <- draw <- main\n"
	     "    3 of the 4 steps kept came through app::draw, 1 through open (who happens to\n"
	     "    grow a buffer is often innocent: ask who fills it and does not empty it)\n");
}

/* Where it first grew, if that is neither where it was born nor where it grew last. */
static void test_places(void **state)
{
	json_t *l = lineage_of(4, "put put put put draw main"), *steps = json_object_get(l, "steps");
	char *text = NULL;
	size_t len;
	struct report r = {.style = {.width = 80}};

	(void)state;
	json_array_set_new(steps, 0, step_of(0.4, 128, "put load main"));
	says(json_deep_copy(l), 80,
	     "    born +0.20 s, 64 B, in make <- open <- main\n"
	     "    doubled 4 times to 1.0 KiB; first grew +0.40 s; latest +300.4 s\n"
	     "    first at put <- load <- main\n"
	     "    latest at put (4 times) <- draw <- main\n");
	json_array_set_new(steps, 0, step_of(0.4, 128, "make open main"));
	says(json_deep_copy(l), 80,
	     "    born +0.20 s, 64 B, in make <- open <- main\n"
	     "    doubled 4 times to 1.0 KiB; first grew +0.40 s; latest +300.4 s\n"
	     "    latest at put (4 times) <- draw <- main\n");
	r.style.out = open_memstream(&text, &len);
	text_stack(&r, json_object_get(json_array_get(steps, 3), "stack"), NULL, 4);
	fclose(r.style.out);
	assert_non_null(strstr(text, "    put  ?  (4 times)\n    draw  ?\n    main  ?\n"));
	free(text);
	json_decref(l);
}

static void test_many_growers(void **state)
{
	json_t *l = lineage_of(9, "make draw main");
	struct report r = {.style = {.width = 60}};
	char *text = NULL, *line, *save = NULL;
	size_t len;

	(void)state;
	for (int i = 0; i < 5; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%d", i);
		add_grower(l, name, 9 - i);
	}
	r.style.out = open_memstream(&text, &len);
	text_lineage(&r, l,
		     json_object_get(json_array_get(json_object_get(l, "steps"), 8), "stack"), 4);
	fclose(r.style.out);
	assert_non_null(strstr(text, "11 through 2 others (who"));
	assert_null(strstr(text, "latest at"));
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		assert_true(strlen(line) <= 60);
	free(text);
	json_decref(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doubled),	     cmocka_unit_test(test_other_shapes),
		cmocka_unit_test(test_inferred),     cmocka_unit_test(test_growers),
		cmocka_unit_test(test_many_growers), cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
