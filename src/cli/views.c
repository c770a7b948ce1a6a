/* SPDX-License-Identifier: MIT */
/*
 * views.c - columns and lines that the text of several commands has in common; see views.h.
 */
#include "cli/views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/units.h"

/* ---- groups ------------------------------------------------------------------------------ */

static const struct report_column last_columns[] = {
	[GROUP_SITE] = {"SITE", "stack", UNIT_CHAIN, false},
	[GROUP_STACK] = {"STACK", "stack", UNIT_CHAIN, false},
	[GROUP_CLASS] = {"CLASS", "stack", UNIT_CLASS, false},
	[GROUP_FUNCTION] = {"FUNCTION", "key", UNIT_TEXT, false},
	[GROUP_FILE] = {"FILE", "key", UNIT_TEXT, false},
	[GROUP_MODULE] = {"MODULE", "key", UNIT_TEXT, false},
	[GROUP_ZONE] = {"ZONE", "key", UNIT_TEXT, false},
	[GROUP_THREAD] = {"THREAD", "key", UNIT_TEXT, false},
	[GROUP_SIZE] = {"SIZE", "key", UNIT_TEXT, false},
	[GROUP_AGE] = {"AGE", "key", UNIT_TEXT, false},
};

const struct report_column *view_group_column(enum group_by by)
{
	return &last_columns[by];
}

void view_full_stack(struct report *r, const json_t *row)
{
	text_stack(r, json_object_get(row, "stack"), json_object_get(row, "cut"), 4);
}

void view_zone_title(struct report *r, const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "zone"));
	const json_t *zones = json_object_get(r->totals, "zones"), *zone;
	char bytes[REPORT_TEXT_LEN];
	size_t i;

	name = name ? name : "";
	if (r->zone && !strcmp(r->zone, name))
		return;
	r->zone = name;
	json_array_foreach(zones, i, zone)
	{
		const char *other = json_string_value(json_object_get(zone, "zone"));

		if (strcmp(other ? other : "", name))
			continue;
		r->zone = other ? other : ""; /* lives as long as the totals */
		fprintf(r->style.out, "%szone %s: %" JSON_INTEGER_FORMAT " block%s, %s%s\n",
			text_colour(r, "bold"), *name ? name : "(unknown)",
			json_integer_value(json_object_get(zone, "count")),
			json_integer_value(json_object_get(zone, "count")) == 1 ? "" : "s",
			text_bytes((uint64_t)json_integer_value(json_object_get(zone, "bytes")),
				   bytes),
			text_colour(r, "reset"));
	}
}

/* ---- suspects ---------------------------------------------------------------------------- */

#define SHOWN_SUSPECTS 5u
#define SUSPECT_WIDTH  27 /* of what is before the site */

void view_suspects(struct report *r, const json_t *suspects)
{
	size_t width = r->style.width > SUSPECT_WIDTH + 20 ? r->style.width - SUSPECT_WIDTH : 0;
	size_t nr = json_array_size(suspects), i;
	FILE *out = r->style.out;
	const json_t *row;

	if (!nr)
		return;
	fputc('\n', out);
	text_wrapped(r,
		     "Suspects: blocks of these were made all through the run and are still there, "
		     "as blocks that leak are; 'heapstory trend' tells.",
		     0);
	fprintf(out, "%s%6s  %7s  %8s  SITE%s\n", text_colour(r, "bold"), "SPREAD", "BYTES",
		"COUNT", text_colour(r, "reset"));
	json_array_foreach(suspects, i, row)
	{
		const json_t *stack = json_object_get(row, "stack");
		json_int_t bytes = json_integer_value(json_object_get(row, "bytes"));
		char size[UNITS_LEN], *chain;

		if (i >= SHOWN_SUSPECTS)
			break;
		chain = json_array_size(stack)
				? text_chain(r, stack, width)
				: xstrdup(json_string_value(json_object_get(row, "key")));
		fprintf(out, "%4.0f %%  %7s  %8" JSON_INTEGER_FORMAT "  %s\n",
			100 * json_number_value(json_object_get(row, "age_spread")),
			units_format_size((uint64_t)bytes, size),
			json_integer_value(json_object_get(row, "count")), chain);
		free(chain);
	}
	if (nr > SHOWN_SUSPECTS)
		fprintf(out, "(%zu more; --json has %s)\n", nr - SHOWN_SUSPECTS,
			nr - SHOWN_SUSPECTS == 1 ? "it" : "them");
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* Its number, and its name unless that is the program's, which all threads have at first. */
static void add_thread(struct buffer *b, const struct report *r, const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "thread_name"));
	const char *program = json_string_value(json_object_get(r->target, "name"));

	if (!json_is_integer(json_object_get(row, "thread")))
		return;
	buffer_addf(b, ", thread %" JSON_INTEGER_FORMAT,
		    json_integer_value(json_object_get(row, "thread")));
	if (name && (!program || strncmp(name, program, strlen(name))))
		buffer_addf(b, " (%s)", name);
}

void view_block(struct report *r, const json_t *row)
{
	const char *zone = json_string_value(json_object_get(row, "zone"));
	const json_t *lineage = json_object_get(row, "lineage");
	json_int_t size = json_integer_value(json_object_get(row, "size"));
	json_int_t serial = json_integer_value(json_object_get(row, "serial"));
	json_int_t offset = json_integer_value(json_object_get(row, "contains_offset"));
	double age = json_number_value(json_object_get(row, "age_s"));
	char bytes[REPORT_TEXT_LEN], moment[REPORT_TEXT_LEN], duration[UNITS_LEN];
	FILE *out = r->style.out;
	struct buffer b = {0};

	fputs(r->nr_printed ? "\n" : "", out);
	buffer_addf(&b, "%s#%zu  %s%s at %s", text_colour(r, "bold"), r->nr_printed + 1,
		    text_bytes((uint64_t)size, bytes), text_colour(r, "reset"),
		    json_string_value(json_object_get(row, "address")));
	if (offset)
		buffer_addf(&b, " (asked for: byte %" JSON_INTEGER_FORMAT " of it)", offset);
	buffer_addf(&b, ", zone %s, age %s", zone ? zone : "unknown",
		    units_format_duration_ms((uint64_t)(age * 1000), duration));
	text_wrapped(r, buffer_string(&b), 0);
	b.len = 0;
	buffer_addf(&b,
		    "%" JSON_INTEGER_FORMAT " bytes asked for, %" JSON_INTEGER_FORMAT
		    " usable; serial %" JSON_INTEGER_FORMAT ":%" JSON_INTEGER_FORMAT,
		    size, json_integer_value(json_object_get(row, "usable")), serial >> 48,
		    serial & ((INT64_C(1) << 48) - 1));
	add_thread(&b, r, row);
	text_wrapped(r, buffer_string(&b), 4);
	buffer_clear(&b);
	if (json_is_object(lineage))
		text_lineage(r, lineage, json_object_get(row, "stack"), 4);
	if (json_is_object(lineage))
		fprintf(out, "    present size given at:\n");
	else
		fprintf(out, "    born %s at:\n",
			text_moment(json_number_value(json_object_get(row, "birth_s")), moment));
	text_stack(r, json_object_get(row, "stack"), json_object_get(row, "cut"), 6);
}

/* ---- what is ignored --------------------------------------------------------------------- */

static void print_rule(struct report *r, const json_t *rule)
{
	json_int_t bytes = json_integer_value(report_get(rule, "bytes.delta"));
	json_int_t count = json_integer_value(report_get(rule, "count.delta"));
	char size[UNITS_LEN], *line;

	if (json_is_true(json_object_get(rule, "matched")))
		line = xasprintf("%s in %+" JSON_INTEGER_FORMAT " block%s: %s %s: %s",
				 units_format_size_delta(bytes, size), count,
				 llabs(count) == 1 ? "" : "s",
				 json_string_value(json_object_get(rule, "kind")),
				 json_string_value(json_object_get(rule, "glob")),
				 json_string_value(json_object_get(rule, "reason")));
	else
		line = xasprintf("no block fits line %" JSON_INTEGER_FORMAT ": %s %s",
				 json_integer_value(json_object_get(rule, "line")),
				 json_string_value(json_object_get(rule, "kind")),
				 json_string_value(json_object_get(rule, "glob")));
	text_wrapped(r, line, 4);
	free(line);
}

void view_ignored(struct report *r, const json_t *ignored)
{
	json_int_t bytes = json_integer_value(report_get(ignored, "bytes.delta"));
	json_int_t count = json_integer_value(report_get(ignored, "count.delta"));
	const json_t *rules = json_object_get(ignored, "rules"), *rule;
	char size[UNITS_LEN], *line;
	size_t i;

	line = xasprintf("ignored by %s: %s in %+" JSON_INTEGER_FORMAT " block%s, not in the rows "
			 "and the total",
			 json_string_value(json_object_get(ignored, "file")),
			 units_format_size_delta(bytes, size), count, llabs(count) == 1 ? "" : "s");
	text_wrapped(r, line, 0);
	free(line);
	json_array_foreach(rules, i, rule) print_rule(r, rule);
}
