/* SPDX-License-Identifier: MIT */
/*
 * text_trend.c - what `trend` says to people beneath its rows and behind its table.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "reports/rows_trend.h"
#include "util/alloc.h"
#include "util/buffer.h"

static double real_of(const json_t *object, const char *path)
{
	return json_number_value(report_get(object, path));
}

static uint64_t bytes_of(const json_t *object, const char *path)
{
	double value = real_of(object, path);

	return value > 0 ? (uint64_t)value : 0;
}

static double last_of(const json_t *object, const char *name)
{
	const json_t *list = json_object_get(object, name);
	size_t nr = json_array_size(list);

	return nr ? json_number_value(json_array_get(list, nr - 1)) : 0;
}

static double first_of(const json_t *object, const char *name)
{
	return json_number_value(json_array_get(json_object_get(object, name), 0));
}

/* Each of these is a line beneath the row, a fact a line. */

static bool is_buffer(const json_t *row)
{
	return json_is_true(json_object_get(row, "buffer"));
}

static void print_range(struct report *r, const json_t *row)
{
	char from[REPORT_TEXT_LEN], to[REPORT_TEXT_LEN], took[REPORT_TEXT_LEN];
	struct buffer b = {NULL, 0, 0};

	buffer_addf(&b, "%s to %s in %s", text_bytes((uint64_t)first_of(row, "bytes"), from),
		    text_bytes((uint64_t)last_of(row, "bytes"), to),
		    text_duration(last_of(row, "at_s") - first_of(row, "at_s"), took));
	/* of a buffer its lineage tells */
	if (!is_buffer(row) && json_is_number(json_object_get(row, "first_growth_s")))
		buffer_addf(&b, "; growth first seen at %s",
			    text_moment(real_of(row, "first_growth_s"), from));
	text_wrapped(r, buffer_string(&b), 4);
	buffer_clear(&b);
}

static void print_next_step(struct report *r, const json_t *row)
{
	double left = real_of(row, "next_step.at_s") - last_of(row, "at_s");
	char size[REPORT_TEXT_LEN], when[REPORT_TEXT_LEN];
	struct buffer b = {NULL, 0, 0};

	if (!json_is_object(json_object_get(row, "next_step")))
		return;
	if (!is_buffer(row))
		buffer_addf(&b, "grew in %.0f steps, each by a factor of %.2g; ",
			    real_of(row, "next_step.steps"), real_of(row, "next_step.factor"));
	buffer_addf(&b, "the next step, to %s, %s%s",
		    text_bytes(bytes_of(row, "next_step.bytes"), size),
		    left >= 1 ? "in about " : "is due at any moment",
		    left >= 1 ? text_duration(left, when) : "");
	text_wrapped(r, buffer_string(&b), 4);
	buffer_clear(&b);
}

/*
 * The ages that a tenth of what lives has at least, oldest first, and what is left. Shares are
 * rounded so that they add up to 100.
 */
static void print_survivors(struct report *r, const json_t *row)
{
	const json_t *list = json_object_get(row, "survivors"), *age;
	struct buffer b = {NULL, 0, 0};
	double all = 0, told = 0;
	long rounded = 0;
	size_t i;

	json_array_foreach(list, i, age) all += real_of(age, "bytes");
	for (i = json_array_size(list); i-- > 0;) {
		double share;
		long now;

		age = json_array_get(list, i);
		share = all > 0 ? 100 * real_of(age, "bytes") / all : 0;
		if (share < 10)
			continue;
		told += share;
		now = lround(told);
		buffer_addf(&b, "%s%ld %% %s old", b.len ? ", " : "its live bytes: ", now - rounded,
			    json_string_value(json_object_get(age, "age")));
		rounded = now;
	}
	if (b.len && rounded < 100)
		buffer_addf(&b, ", %ld %% of other ages", 100 - rounded);
	if (b.len)
		text_wrapped(r, buffer_string(&b), 4);
	buffer_clear(&b);
}

/* What makes up for two numbers that seem to differ: the rate so far, and how soon it is reached. */
static const char *faster_text(const json_t *object)
{
	return json_is_true(report_get(object, "forecast.accelerates"))
		       ? ", since it grows ever faster"
		       : "";
}

static void print_forecast(struct report *r, const json_t *row)
{
	char limit[REPORT_TEXT_LEN], when[REPORT_TEXT_LEN], *text;

	if (!json_is_object(json_object_get(row, "forecast")))
		return;
	/* all live bytes are above it already: that is said once, beneath the table */
	if (real_of(row, "forecast.at_s") <= last_of(row, "at_s"))
		return;
	text = xasprintf("reaches %s by itself in %s%s",
			 text_bytes(bytes_of(row, "forecast.limit_bytes"), limit),
			 text_duration(real_of(row, "forecast.at_s") - last_of(row, "at_s"), when),
			 faster_text(row));
	text_wrapped(r, text, 4);
	free(text);
}

void text_trend_row(struct report *r, const json_t *row)
{
	if (!json_is_true(json_object_get(row, "changed")))
		return;
	print_range(r, row);
	if (!json_is_true(json_object_get(row, "grows")))
		return;
	if (is_buffer(row))
		text_lineage(r, json_object_get(row, "lineage"),
			     json_object_get(row, "stack"), 4);
	print_next_step(r, row);
	print_survivors(r, row);
	print_forecast(r, row);
}

static void add_rest(struct buffer *b, const json_t *totals, const char *name, const char *what)
{
	const json_t *rest = json_object_get(totals, name);
	json_int_t nr = json_integer_value(json_object_get(rest, "rows"));
	const char *key = json_string_value(json_object_get(rest, "largest"));
	char bytes[REPORT_TEXT_LEN];

	if (!nr)
		return;
	buffer_addf(b, "%s%" JSON_INTEGER_FORMAT " %s", b->len ? "; " : "", nr, what);
	if (key && (!strcmp(name, "stopped") || !strcmp(name, "shrinking")))
		buffer_addf(b, " (%s%s, %s)", nr > 1 ? "the largest: " : "", key,
			    text_bytes(bytes_of(rest, "largest_bytes"), bytes));
}

/* All that grows in one number, and what that leads to. Caller frees. */
static char *all_that_grows(const json_t *totals)
{
	double slope = real_of(totals, "slope_bytes_per_hour");
	bool foreseen = json_is_object(json_object_get(totals, "forecast"));
	double at_s = foreseen ? real_of(totals, "forecast.at_s") : 0;
	char rate[REPORT_TEXT_LEN], limit[REPORT_TEXT_LEN], when[REPORT_TEXT_LEN];
	struct buffer b = {NULL, 0, 0};

	if (slope > 0)
		buffer_addf(&b, "What grows gains %s an hour%s", text_bytes((uint64_t)slope, rate),
			    foreseen ? ": " : ".");
	if (slope > 0 && foreseen && at_s <= last_of(totals, "at_s"))
		buffer_addf(&b, "the program is already above %s (%s).",
			    text_bytes(bytes_of(totals, "forecast.limit_bytes"), limit),
			    json_string_value(json_object_get(totals, "limit_of")));
	else if (slope > 0 && foreseen)
		buffer_addf(&b, "%s (%s) will be reached in %s%s.",
			    text_bytes(bytes_of(totals, "forecast.limit_bytes"), limit),
			    json_string_value(json_object_get(totals, "limit_of")),
			    text_duration(at_s - last_of(totals, "at_s"), when),
			    faster_text(totals));
	return buffer_detach(&b);
}

/* What the table does not have. Caller frees. */
static char *what_does_not_grow(const json_t *totals)
{
	bool any = json_integer_value(json_object_get(totals, "growing"));
	struct buffer b = {NULL, 0, 0};
	char *text;

	add_rest(&b, totals, "stopped", "grew and stopped");
	add_rest(&b, totals, "varying", "only varied");
	add_rest(&b, totals, "shrinking", "shrank");
	add_rest(&b, totals, "unchanged", "never changed");
	text = b.len ? xasprintf("Of the %sgroups: %s.", any ? "other " : "", buffer_string(&b))
		     : xstrdup("");
	buffer_clear(&b);
	return text;
}

void text_trend_end(struct report *r, const json_t *totals)
{
	char *grows = all_that_grows(totals), *rest = what_does_not_grow(totals);

	if (*grows || *rest)
		fputc('\n', r->style.out);
	text_wrapped(r, grows, 0);
	text_wrapped(r, rest, 0);
	free(grows);
	free(rest);
}
