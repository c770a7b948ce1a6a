/* SPDX-License-Identifier: MIT */
/*
 * report.c - the walk that drives every format, and the values that rows are made of.
 */
#include "reports/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/buffer.h"
#include "util/escape.h"

/* What takes the place of a string with control characters; NULL: it may stay. */
static json_t *escaped(const json_t *value)
{
	const char *text = json_string_value(value);
	json_t *clean = NULL;
	char *escape;

	if (text && has_controls(text)) {
		escape = escape_controls(text);
		clean = report_string(escape);
		free(escape);
	}
	return clean;
}

/* Text goes to terminals: names that a program chose are not to move the cursor there. */
static void escape_strings(json_t *value)
{
	json_t *member, *clean;
	const char *name;
	void *next;
	size_t i;

	json_object_foreach_safe(value, next, name, member)
	{
		escape_strings(member);
		clean = escaped(member);
		if (clean)
			json_object_set_new(value, name, clean);
	}
	json_array_foreach(value, i, member)
	{
		escape_strings(member);
		clean = escaped(member);
		if (clean)
			json_array_set_new(value, i, clean);
	}
}

void report_begin(struct report *r, const struct report_style *style, const char *command,
		  const struct report_view *view, json_t *target, json_t *coverage, json_t *totals)
{
	memset(r, 0, sizeof(*r));
	r->style = *style;
	r->ops = style->json ? &report_json : &report_text;
	r->command = command;
	r->view = view;
	r->target = target ? target : json_object();
	r->coverage = coverage ? coverage : json_object();
	r->totals = totals ? totals : json_object();
	if (!style->json) {
		escape_strings(r->target);
		escape_strings(r->coverage);
		escape_strings(r->totals);
	}
	r->ops->begin(r);
}

void report_suspects(struct report *r, json_t *suspects)
{
	if (!r->style.json)
		escape_strings(suspects);
	r->suspects = suspects;
}

void report_row(struct report *r, json_t *row)
{
	if (!r->style.json)
		escape_strings(row);
	r->ops->row(r, row);
	r->nr_rows++;
	json_decref(row);
}

void report_end(struct report *r, size_t nr_left)
{
	r->ops->end(r, nr_left);
	json_decref(r->target);
	json_decref(r->coverage);
	json_decref(r->totals);
	json_decref(r->suspects);
	json_decref(r->waiting);
	json_decref(r->alike);
	free(r->hidden);
	free(r->widths);
}

/* ---- values ------------------------------------------------------------------------------ */

/* Length of the valid UTF-8 sequence at s, 0 if it is none. */
static size_t sequence_len(const char *s)
{
	json_t *try;
	size_t len;

	if (!(*s & 0x80))
		return 1;
	for (len = 1; len <= 4 && s[len - 1]; len++) {
		try = json_stringn(s, len);
		if (try) {
			json_decref(try);
			return len;
		}
	}
	return 0;
}

char *report_utf8(const char *s)
{
	struct buffer b = {NULL, 0, 0};

	while (*s) {
		size_t len = sequence_len(s);

		if (!len)
			buffer_add_string(&b, "\xef\xbf\xbd");
		for (s += !len; len; len--)
			buffer_add_byte(&b, (uint8_t)*s++);
	}
	return buffer_detach(&b);
}

json_t *report_string(const char *s)
{
	json_t *string = s ? json_string(s) : json_null();
	char *clean;

	if (string)
		return string;
	clean = report_utf8(s);
	string = json_string(clean);
	free(clean);
	return string;
}

json_t *report_address(uint64_t address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	return json_string(text);
}

json_t *report_wall(uint64_t ns)
{
	time_t s = (time_t)(ns / 1000000000);
	char text[64], day[32];
	struct tm tm;

	if (!ns || !gmtime_r(&s, &tm) || !strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm))
		return json_null();
	snprintf(text, sizeof(text), "%s.%03uZ", day, (unsigned int)(ns / 1000000 % 1000));
	return json_string(text);
}

const json_t *report_get(const json_t *object, const char *path)
{
	char name[64];

	while (object && *path) {
		size_t len = strcspn(path, ".");

		if (len >= sizeof(name))
			return NULL;
		memcpy(name, path, len);
		name[len] = 0;
		object = json_object_get(object, name);
		path += len + (path[len] == '.');
	}
	return object;
}
