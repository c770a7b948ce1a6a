/* SPDX-License-Identifier: MIT */
/*
 * test_trend_text.c - what is said beneath a row of `trend`, line by line.
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
#include "reports/rows_trend.h"

/* A row that grew from 1 to 100 KiB in 100 s. */
static json_t *row_of(void)
{
	return json_pack("{s:b,s:b,s:[i,i,i],s:[f,f,f],s:n,s:n,s:n,s:[]}", "changed", 1, "grows", 1,
			 "bytes", 1024, 50000, 102400, "at_s", 10.0, 60.0, 110.0, "first_growth_s",
			 "next_step", "forecast", "survivors");
}

static void add_survivors(json_t *row, const char *age, json_int_t bytes)
{
	json_array_append_new(json_object_get(row, "survivors"),
			      json_pack("{s:s,s:i,s:I}", "age", age, "count", 1, "bytes", bytes));
}

/* Takes the row. */
static char *text_of(json_t *row)
{
	struct report r = {.style = {.width = 0}};
	char *text = NULL;
	size_t len;

	r.style.out = open_memstream(&text, &len);
	assert_non_null(r.style.out);
	text_trend_row(&r, row);
	fclose(r.style.out);
	json_decref(row);
	return text;
}

/* Takes the row. */
static void says(json_t *row, const char *expected)
{
	char *text = text_of(row);

	assert_string_equal(text, expected);
	free(text);
}

/* The shares that are named and the rest are the whole. */
static void test_survivors(void **state)
{
	json_t *row = row_of();

	(void)state;
	add_survivors(row, "under 1s", 70);
	add_survivors(row, "1s to 10s", 730);
	add_survivors(row, "10s to 1m", 200);
	says(row, "    1.0 KiB to 100.0 KiB in 1 min\n"
		  "    its live bytes: 20 % 10s to 1m old, 73 % 1s to 10s old, 7 % of other ages\n");
	row = row_of();
	add_survivors(row, "under 1s", 333);
	add_survivors(row, "1s to 10s", 333);
	add_survivors(row, "10s to 1m", 333);
	says(row, "    1.0 KiB to 100.0 KiB in 1 min\n"
		  "    its live bytes: 33 % 10s to 1m old, 34 % 1s to 10s old, 33 % under 1s old\n");
	row = row_of();
	add_survivors(row, "under 1s", 4);
	add_survivors(row, "10s to 1m", 996);
	says(row, "    1.0 KiB to 100.0 KiB in 1 min\n"
		  "    its live bytes: 100 % 10s to 1m old\n");
}

static json_t *step_of(double s, int size)
{
	return json_pack("{s:f,s:i,s:[]}", "s", s, "size", size, "stack");
}

static void set_next_step(json_t *row, double at_s)
{
	json_object_set_new(row, "next_step",
			    json_pack("{s:i,s:f,s:f,s:i}", "bytes", 204800, "at_s", at_s, "factor",
				      2.0, "steps", 5));
}

/* A buffer's own account takes the place of what the samples saw of it. */
static void test_buffer(void **state)
{
	json_t *row = row_of(), *lineage;

	(void)state;
	json_object_set_new(row, "first_growth_s", json_real(60));
	set_next_step(row, 150);
	says(json_copy(row), "    1.0 KiB to 100.0 KiB in 1 min; growth first seen at +60.0 s\n"
			     "    grew in 5 steps, each by a factor of 2; the next step, to 200.0 KiB, "
			     "in about 40 s\n");
	lineage = json_pack("{s:o,s:[o,o],s:i,s:i,s:f,s:n,s:[],s:b,s:b}", "born", step_of(0.5, 64),
			    "steps", step_of(1, 128), step_of(90, 102400), "nr_steps", 11,
			    "nr_shrinks", 0, "factor", 2.0, "increment", "growers", "inferred", 0,
			    "elsewhere", 0);
	json_object_set_new(row, "lineage", lineage);
	json_object_set_new(row, "buffer", json_false()); /* one of many */
	says(json_copy(row), "    1.0 KiB to 100.0 KiB in 1 min; growth first seen at +60.0 s\n"
			     "    grew in 5 steps, each by a factor of 2; the next step, to 200.0 KiB, "
			     "in about 40 s\n");
	json_object_set_new(row, "buffer", json_true());
	set_next_step(row, 110);
	says(row, "    1.0 KiB to 100.0 KiB in 1 min\n"
		  "    born +0.50 s, 64 B, in (no stack)\n"
		  "    doubled 11 times to 100.0 KiB; first grew +1.0 s; latest +90.0 s\n"
		  "    the next step, to 200.0 KiB, is due at any moment\n");
}

/* A rate by which it would take longer is explained. */
static void test_forecast(void **state)
{
	json_t *row = row_of();

	(void)state;
	json_object_set_new(row, "forecast",
			    json_pack("{s:I,s:f,s:b}", "limit_bytes", (json_int_t)1 << 30, "at_s",
				      230.0, "accelerates", 0));
	says(json_deep_copy(row), "    1.0 KiB to 100.0 KiB in 1 min\n"
				  "    reaches 1.0 GiB by itself in 2 min\n");
	json_object_set_new(json_object_get(row, "forecast"), "accelerates", json_true());
	says(row, "    1.0 KiB to 100.0 KiB in 1 min\n"
		  "    reaches 1.0 GiB by itself in 2 min, since it grows ever faster\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_survivors),
		cmocka_unit_test(test_buffer),
		cmocka_unit_test(test_forecast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
