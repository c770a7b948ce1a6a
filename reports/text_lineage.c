/* SPDX-License-Identifier: MIT */
/*
 * text_lineage.c - how a buffer came to its size, for people: a fact a line.
 *
 *      born +0.20 s, 64 B, in assign <- open_window <- main
 *      doubled 19 times to 32.0 MiB; first grew +0.40 s; latest +1803 s
 *      latest at assign <- render <- main
 *      14 of the 19 steps came through render, 5 through open_window (who happens to grow ...)
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function_path.h"
#include "reports/report.h"
#include "util/alloc.h"
#include "util/buffer.h"

#define MAX_GROWERS 3u /* callers that are named */

static json_int_t int_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static void add_moment(struct buffer *b, const json_t *step)
{
	char moment[REPORT_TEXT_LEN];

	buffer_add_string(b, text_moment(json_number_value(json_object_get(step, "s")), moment));
}

static void add_size(struct buffer *b, json_int_t bytes)
{
	char size[REPORT_TEXT_LEN];

	buffer_add_string(b, text_bytes((uint64_t)bytes, size));
}

static void add_times(struct buffer *b, json_int_t nr)
{
	if (nr == 1 || nr == 2)
		buffer_add_string(b, nr == 1 ? "once" : "twice");
	else
		buffer_addf(b, "%" JSON_INTEGER_FORMAT " times", nr);
}

/* The steps that came through the callers from `first` on, as one: "5 through 1 other". */
static void add_other_growers(struct buffer *b, const json_t *growers, size_t first)
{
	size_t nr = json_array_size(growers);
	json_int_t count = 0;

	for (size_t i = first; i < nr; i++)
		count += int_of(json_array_get(growers, i), "count");
	buffer_addf(b, ", %" JSON_INTEGER_FORMAT " through %zu other%s", count, nr - first,
		    nr - first > 1 ? "s" : "");
}

/* Prints what has been gathered, and empties it. */
static void flush(struct report *r, struct buffer *b, int indent)
{
	text_wrapped(r, buffer_string(b), indent);
	b->len = 0;
}

/* The stack behind what has been gathered, as much of it as fits on the line. */
static void add_chain(const struct report *r, struct buffer *b, const json_t *stack, int indent)
{
	size_t used = b->len + (size_t)indent, width = r->style.width;
	char *chain;

	chain = text_chain(r, stack, !width ? 0 : width > used + 20 ? width - used : 20);
	buffer_add_string(b, *chain ? chain : "(no stack)");
	free(chain);
}

/*
 * "doubled 19 times to 32.0 MiB", "grew 7 times by 4.0 KiB to ...", "grew once to 96 B"; of a buffer
 * that shrank as well, "doubled 50 times and shrank 10 times, at most 4.0 KiB".
 */
static void add_growth(struct buffer *b, const json_t *lineage, const json_t *latest)
{
	json_int_t nr = int_of(lineage, "nr_steps"), increment = int_of(lineage, "increment");
	double factor = json_number_value(json_object_get(lineage, "factor"));
	bool doubled = !increment && factor > 1.98 && factor < 2.02;
	json_int_t shrinks = int_of(lineage, "nr_shrinks");

	buffer_add_string(b, doubled ? "doubled " : "grew ");
	add_times(b, nr);
	if (increment) {
		buffer_add_string(b, " by ");
		add_size(b, increment);
	} else if (!doubled && factor > 0 && nr > 1) {
		buffer_addf(b, " by x%.2f", factor);
	}
	if (shrinks) {
		buffer_add_string(b, " and shrank ");
		add_times(b, shrinks);
		buffer_add_string(b, ", at most ");
		add_size(b, int_of(lineage, "peak_size"));
	} else if (latest) {
		buffer_add_string(b, " to ");
		add_size(b, int_of(latest, "size"));
	}
	if (json_is_true(json_object_get(lineage, "inferred")))
		buffer_add_string(b, " (inferred)");
}

static void print_growth(struct report *r, const json_t *lineage, int indent)
{
	const json_t *steps = json_object_get(lineage, "steps");
	size_t nr = json_array_size(steps);
	json_int_t shrinks = int_of(lineage, "nr_shrinks");
	const json_t *latest = nr ? json_array_get(steps, nr - 1) : NULL;
	struct buffer b = {0};

	if (int_of(lineage, "nr_steps")) {
		add_growth(&b, lineage, latest);
	} else if (shrinks) {
		buffer_add_string(&b, "shrank ");
		add_times(&b, shrinks);
	}
	if (nr > 1) {
		buffer_add_string(&b, "; first grew ");
		add_moment(&b, json_array_get(steps, 0));
	}
	if (nr) {
		buffer_add_string(&b, nr > 1 ? "; latest " : ", ");
		add_moment(&b, latest);
	}
	if (b.len)
		flush(r, &b, indent);
	buffer_clear(&b);
}

/*
 * Who grew it, where that is not who made it, or not always the same. The last step is made by
 * whoever comes when the buffer is full, so it says little about who filled it.
 */
static void print_growers(struct report *r, const json_t *lineage, int indent)
{
	const json_t *growers = json_object_get(lineage, "growers"), *one;
	size_t nr = json_array_size(growers), i;
	size_t kept = json_array_size(json_object_get(lineage, "steps"));
	bool some = int_of(lineage, "nr_steps") > (json_int_t)kept;
	struct buffer b = {0};

	json_array_foreach(growers, i, one)
	{
		json_int_t count = int_of(one, "count");
		char *name;

		if (i == MAX_GROWERS) {
			add_other_growers(&b, growers, i);
			break;
		}
		name = function_short(json_string_value(json_object_get(one, "function")));
		if (i)
			buffer_addf(&b, ", %" JSON_INTEGER_FORMAT " through %s", count, name);
		else if (nr == 1 && kept == 1)
			buffer_addf(&b, "the step%s came through %s", some ? " kept" : "", name);
		else if (nr == 1)
			buffer_addf(&b, "all %zu steps%s came through %s", kept,
				    some ? " kept" : "", name);
		else
			buffer_addf(&b,
				    "%" JSON_INTEGER_FORMAT " of the %zu steps%s came through %s",
				    count, kept, some ? " kept" : "", name);
		free(name);
	}
	buffer_add_string(&b, " (who happens to grow a buffer is often innocent: ask who fills it "
			      "and does not empty it)");
	flush(r, &b, indent);
	buffer_clear(&b);
}

/* "latest at f <- g", unless it reads like where it was born. */
static void print_place(struct report *r, const char *what, const json_t *step,
			const json_t *lineage, int indent)
{
	const json_t *stack = json_object_get(step, "stack");
	char *birth = text_chain(r, report_get(lineage, "born.stack"), 0);
	char *growth = text_chain(r, stack, 0);
	struct buffer b = {0};

	if (strcmp(birth, growth)) {
		buffer_add_string(&b, what);
		add_chain(r, &b, stack, indent);
		flush(r, &b, indent);
	}
	buffer_clear(&b);
	free(birth);
	free(growth);
}

/* Where it grew first and last, what is not told elsewhere, and neither twice. */
static void print_places(struct report *r, const json_t *lineage, const json_t *shown, int indent)
{
	const json_t *steps = json_object_get(lineage, "steps");
	size_t nr = json_array_size(steps);
	const json_t *first = json_array_get(steps, 0), *latest;
	char *begun, *ended;

	if (!nr)
		return;
	latest = json_array_get(steps, nr - 1);
	begun = text_chain(r, json_object_get(first, "stack"), 0);
	ended = text_chain(r, json_object_get(latest, "stack"), 0);
	if (strcmp(begun, ended) && !json_equal(json_object_get(first, "stack"), shown))
		print_place(r, "first at ", first, lineage, indent);
	if (!json_equal(json_object_get(latest, "stack"), shown))
		print_place(r, "latest at ", latest, lineage, indent);
	free(begun);
	free(ended);
}

void text_lineage(struct report *r, const json_t *lineage, const json_t *shown, int indent)
{
	const json_t *born = json_object_get(lineage, "born");
	struct buffer b = {0};

	buffer_add_string(&b, "born ");
	add_moment(&b, born);
	buffer_add_string(&b, ", ");
	add_size(&b, int_of(born, "size"));
	buffer_add_string(&b, ", in ");
	add_chain(r, &b, json_object_get(born, "stack"), indent);
	flush(r, &b, indent);
	buffer_clear(&b);
	print_growth(r, lineage, indent);
	print_places(r, lineage, shown, indent);
	if (json_is_true(json_object_get(lineage, "elsewhere")))
		print_growers(r, lineage, indent);
}
