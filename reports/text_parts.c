/* SPDX-License-Identifier: MIT */
/*
 * text_parts.c - pieces that the text of several reports has: header, stacks, lineages.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function_path.h"
#include "analysis/names.h"
#include "reports/report.h"
#include "reports/text_internal.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/units.h"

#define ARROW	     " <- "
#define CHAIN_FRAMES 6u /* callers that a chain names where there is no width */

const char *text_colour(const struct report *r, const char *name)
{
	static const struct {
		const char *name, *code;
	} codes[] = {
		{"reset", "\033[0m"}, {"bold", "\033[1m"},   {"dim", "\033[2m"},
		{"red", "\033[31m"},  {"green", "\033[32m"},
	};

	for (size_t i = 0; r->style.colour && i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (!strcmp(codes[i].name, name))
			return codes[i].code;
	}
	return "";
}

char *text_bytes(uint64_t bytes, char ret[static REPORT_TEXT_LEN])
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	int i = -1;

	if (bytes < 1024) {
		snprintf(ret, REPORT_TEXT_LEN, "%" PRIu64 " B", bytes);
		return ret;
	}
	while (i < 0 || (value >= 1023.95 && i < 5)) {
		value /= 1024;
		i++;
	}
	snprintf(ret, REPORT_TEXT_LEN, "%.1f %s", value, units[i]);
	return ret;
}

char *text_moment(double s, char ret[static REPORT_TEXT_LEN])
{
	snprintf(ret, REPORT_TEXT_LEN, "+%.*f s", s < 1 ? 2 : s < 1000 ? 1 : 0, s);
	return ret;
}

char *text_duration(double s, char ret[static REPORT_TEXT_LEN])
{
	static const struct {
		double s;
		const char *large, *small;
		double small_s;
	} units[] = {
		{365 * 86400.0, "y", "d", 86400},
		{86400, "d", "h", 3600},
		{3600, "h", "min", 60},
		{60, "min", NULL, 0},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double large = floor(s / units[i].s), rest = s - large * units[i].s;
		double small = units[i].small ? floor(rest / units[i].small_s) : 0;

		if (large < 1)
			continue;
		if (small >= 1)
			snprintf(ret, REPORT_TEXT_LEN, "%.0f %s %.0f %s", fmin(large, 1e9),
				 units[i].large, small, units[i].small);
		else
			snprintf(ret, REPORT_TEXT_LEN, "%.0f %s", fmin(large, 1e9), units[i].large);
		return ret;
	}
	snprintf(ret, REPORT_TEXT_LEN, "%.*f s", s < 1 ? 2 : s < 10 ? 1 : 0, s);
	return ret;
}

/* ---- lines ------------------------------------------------------------------------------- */

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80; /* inside a UTF-8 sequence */
}

char *text_elided(const char *s, size_t width)
{
	size_t len = s ? strlen(s) : 0, head, tail;

	if (!width || len <= width || width < 4)
		return xstrdup(s ? s : "");
	head = (width - 2) / 2;
	tail = len - (width - 2 - head);
	while (head && continues(s[head]))
		head--;
	while (continues(s[tail]))
		tail++;
	return xasprintf("%.*s..%s", (int)head, s, s + tail);
}

/* Whether a line may end before the blank at text[at]: a number stays with its unit. */
static bool may_break(const char *text, size_t at)
{
	size_t unit = strspn(text + at + 1, "ABGKMTabcdefghijklmnopqrstuvwxyz%");

	if (text[at] != ' ')
		return false;
	return !at || text[at - 1] < '0' || text[at - 1] > '9' || !unit || unit > 3;
}

void text_wrapped(struct report *r, const char *text, int indent)
{
	size_t width = r->style.width, room;
	FILE *out = r->style.out;

	room = width > (size_t)indent + 20 ? width - (size_t)indent : width ? 20 : SIZE_MAX;
	while (*text) {
		size_t len = strlen(text), cut;

		if (len > room) {
			for (cut = room; cut && !may_break(text, cut); cut--)
				;
			len = cut ? cut : strcspn(text, " ");
		}
		fprintf(out, "%*s%.*s\n", indent, "", (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
}

/* ---- stacks ------------------------------------------------------------------------------ */

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static char *place_of(const json_t *frame)
{
	const char *file = text_of(frame, "file"), *module = text_of(frame, "module");
	json_int_t line = json_integer_value(json_object_get(frame, "line"));

	if (file && line)
		return xasprintf("%s:%" JSON_INTEGER_FORMAT, path_basename(file), line);
	if (module)
		return xasprintf("%s+0x%" PRIx64, path_basename(module),
				 (uint64_t)json_integer_value(json_object_get(frame, "offset")));
	return xstrdup(text_of(frame, "address") ? text_of(frame, "address") : "?");
}

static char *short_of(const json_t *frame)
{
	const char *function = text_of(frame, "function");

	return function ? function_short(function) : place_of(frame);
}

/* Of a deeper stack, text shows so many frames: who asked, and how the program came there. */
#define INNER_FRAMES 24u
#define OUTER_FRAMES 8u

/*
 * Whether a frame is left out of text. The program's entry is no caller that anyone asks for; a
 * stack of nothing but runtime frames is shown whole.
 */
static bool is_folded(const struct report *r, const json_t *frame)
{
	const char *function = text_of(frame, "function");

	if (r->style.all_frames)
		return false;
	return json_is_true(json_object_get(frame, "runtime")) ||
	       (function && !strcmp(function, "_start"));
}

/* A chain begins with its site, so wrappers around the allocator are left out of it, too. */
static bool is_off_chain(const struct report *r, const json_t *frame)
{
	return is_folded(r, frame) ||
	       (!r->style.all_frames && json_is_true(json_object_get(frame, "wrapper")));
}

static bool all_frames_are(const struct report *r, const json_t *stack,
			   bool (*left_out)(const struct report *r, const json_t *frame))
{
	const json_t *frame;
	size_t i;

	json_array_foreach(stack, i, frame)
	{
		if (!left_out(r, frame))
			return false;
	}
	return true;
}

/* The name in as many of its last parts as fit into width; NULL if none do. Caller frees. */
static char *fitted(const char *name, size_t width)
{
	const char *part = name;

	while (width && strlen(part) > width) {
		part = strstr(part, "::");
		if (!part)
			return NULL;
		part += 2;
	}
	return xstrdup(part);
}

/*
 * Name of the frame at *i, in as many bytes as fit into width (0: no limit), or NULL; *i goes on to
 * the last frame in a row of that name, as of a function that calls itself. Caller frees.
 */
static char *link_of_chain(const struct report *r, const json_t *stack, size_t *i, bool all,
			   size_t width)
{
	char *name = short_of(json_array_get(stack, *i)), *again, *cell;
	size_t times = 1, k;

	for (k = *i + 1; k < json_array_size(stack); k++) {
		const json_t *frame = json_array_get(stack, k);

		if (is_off_chain(r, frame) && !all)
			continue;
		again = short_of(frame);
		if (strcmp(again, name)) {
			free(again);
			break;
		}
		free(again);
		times++;
		*i = k;
	}
	cell = times > 1 ? xasprintf("%s (%zu times)", name, times) : xstrdup(name);
	free(name);
	name = fitted(cell, width);
	free(cell);
	return name;
}

char *text_named_chain(const struct report *r, const char *first, const json_t *stack, size_t width)
{
	bool all = all_frames_are(r, stack, is_off_chain);
	struct buffer b = {0};
	size_t nr = 0;

	for (size_t i = 0; i < json_array_size(stack); i++) {
		size_t used = b.len + (nr ? strlen(ARROW) : 0);
		const json_t *frame = json_array_get(stack, i);
		char *cell = NULL;

		if (is_off_chain(r, frame) && !all)
			continue;
		if (nr && !width && nr >= CHAIN_FRAMES) {
			buffer_add_string(&b, ARROW "..");
			break;
		}
		if (!nr && first)
			cell = text_elided(first, width);
		else if (!width || used < width)
			cell = link_of_chain(r, stack, &i, all, width ? width - used : 0);
		if (!nr && !cell) {
			char *name = short_of(frame);

			cell = text_elided(name, width);
			free(name);
		}
		if (!cell)
			break; /* further out, a name that does not fit says less than none */
		buffer_add_string(&b, nr ? ARROW : "");
		buffer_add_string(&b, cell);
		nr++;
		free(cell);
	}
	return buffer_detach(&b);
}

char *text_chain(const struct report *r, const json_t *stack, size_t width)
{
	return text_named_chain(r, NULL, stack, width);
}

/* times: so many frames in a row are the same, as those of a function that calls itself. */
static void print_frame(const struct report *r, const json_t *frame, size_t times, int indent)
{
	const char *function = text_of(frame, "function");
	char *place = place_of(frame), again[48] = "";

	if (times > 1)
		snprintf(again, sizeof(again), "  (%zu times)", times);
	if (function)
		fprintf(r->style.out, "%*s%s  %s%s%s%s%s\n", indent, "", function,
			text_colour(r, "dim"), place,
			json_is_true(json_object_get(frame, "inlined")) ? " (inlined)" : "", again,
			text_colour(r, "reset"));
	else
		fprintf(r->style.out, "%*s%s%s\n", indent, "", place, again);
	free(place);
}

static bool same_place(const json_t *a, const json_t *b)
{
	static const char *const members[] = {"function", "file", "line", "module", "inlined"};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const json_t *x = json_object_get(a, members[i]);
		const json_t *y = json_object_get(b, members[i]);

		if (x != y && !json_equal(x, y))
			return false;
	}
	return text_of(a, "function");
}

/* The first frame from i on that text shows, or one past the end. */
static size_t next_shown(const struct report *r, const json_t *stack, size_t i, bool all)
{
	while (i < json_array_size(stack) && !all && is_folded(r, json_array_get(stack, i)))
		i++;
	return i;
}

/* How many frames in a row from this one on are the same; *ret_next is the one behind them. */
static size_t run_length(const struct report *r, const json_t *stack, size_t i, bool all,
			 size_t *ret_next)
{
	size_t times = 1, next = next_shown(r, stack, i + 1, all);

	while (!r->style.all_frames && next < json_array_size(stack) &&
	       same_place(json_array_get(stack, i), json_array_get(stack, next))) {
		next = next_shown(r, stack, next + 1, all);
		times++;
	}
	*ret_next = next;
	return times;
}

static void print_frames(struct report *r, const json_t *stack, int indent)
{
	size_t last = INNER_FRAMES + OUTER_FRAMES, nr_lines = 0, nr = 0, next, times;
	bool all = all_frames_are(r, stack, is_folded);
	size_t begin = next_shown(r, stack, 0, all);

	for (size_t i = begin; i < json_array_size(stack); i = next, nr_lines++)
		run_length(r, stack, i, all, &next);
	for (size_t i = begin; i < json_array_size(stack); i = next, nr++) {
		bool middle = !r->style.all_frames && nr_lines > last + 1 && nr >= INNER_FRAMES &&
			      nr + OUTER_FRAMES < nr_lines;

		times = run_length(r, stack, i, all, &next);
		if (!middle)
			print_frame(r, json_array_get(stack, i), times, indent);
		else if (nr == INNER_FRAMES)
			fprintf(r->style.out, "%*s... %zu more lines; --all-frames shows them\n",
				indent, "", nr_lines - last);
	}
}

void text_stack(struct report *r, const json_t *stack, const json_t *cut, int indent)
{
	const char *why = json_string_value(cut);
	FILE *out = r->style.out;

	if (!json_array_size(stack)) {
		fprintf(out, "%*s(no stack)\n", indent, "");
		return;
	}
	print_frames(r, stack, indent);
	if (why)
		fprintf(out, "%*s%s\n", indent, "",
			!strcmp(why, "depth") ? "(stack cut at the depth limit)"
					      : "(cut: caller not found)");
}

/* ---- header ------------------------------------------------------------------------------ */

static void add_program(struct buffer *b, const json_t *target)
{
	const char *name = text_of(target, "name");

	buffer_addf(b, "%s (pid %" JSON_INTEGER_FORMAT ")", name && *name ? name : "?",
		    json_integer_value(json_object_get(target, "pid")));
}

static void add_moment(struct buffer *b, const json_t *target)
{
	const char *path = text_of(target, "path"), *label = text_of(target, "label");
	const char *source = text_of(target, "source");
	char moment[REPORT_TEXT_LEN];

	if (source && !strcmp(source, "snapshot") && path)
		buffer_add_string(b, path_basename(path));
	else if (source)
		buffer_add_string(b, source);
	if (label)
		buffer_addf(b, " '%s'", label);
	buffer_addf(b, ", %s",
		    text_moment(json_number_value(json_object_get(target, "taken_s")), moment));
}

static void print_coverage(struct report *r)
{
	const json_t *c = r->coverage, *note;
	json_int_t without = json_integer_value(json_object_get(c, "blocks_without_stack"));
	json_int_t lost = json_integer_value(json_object_get(c, "events_lost"));
	json_int_t unknown = json_integer_value(json_object_get(c, "unknown_frees"));
	const json_t *known_share = json_object_get(c, "share_of_life");
	double share = json_number_value(known_share);
	char moment[REPORT_TEXT_LEN];
	struct buffer b = {0};
	size_t i;

	if (text_of(c, "mode")) { /* else it is not known */
		buffer_addf(&b, "mode %s since %s", text_of(c, "mode"),
			    text_moment(json_number_value(json_object_get(c, "since_s")), moment));
		if (json_is_number(known_share))
			buffer_addf(&b, ", %.*f %% of the life%s",
				    share < 0.9995 && share > 0 ? 1 : 0, 100 * share,
				    strcmp(text_of(c, "mode"), "stopped") ? "" : " recorded");
		buffer_addf(&b, "; %" JSON_INTEGER_FORMAT " events lost", lost);
	}
	if (without)
		buffer_addf(&b, "; %" JSON_INTEGER_FORMAT " blocks without a stack", without);
	if (unknown)
		buffer_addf(&b, "; %" JSON_INTEGER_FORMAT " frees of unknown blocks", unknown);
	text_wrapped(r, buffer_string(&b), 0);
	buffer_clear(&b);
	json_array_foreach(json_object_get(c, "notes"), i, note)
	{
		char *line = xasprintf("note: %s", json_string_value(note));

		text_wrapped(r, line, 0);
		free(line);
	}
}

void text_header(struct report *r)
{
	const json_t *before = json_object_get(r->target, "before");
	const json_t *after = json_object_get(r->target, "after");
	struct buffer b = {0};

	buffer_addf(&b, "%s: ", r->command);
	add_program(&b, before ? before : r->target);
	buffer_add_string(&b, ", ");
	add_moment(&b, before ? before : r->target);
	if (before) {
		buffer_add_string(&b, " -> ");
		if (!json_equal(json_object_get(before, "pid"), json_object_get(after, "pid"))) {
			add_program(&b, after);
			buffer_add_string(&b, ", ");
		}
		add_moment(&b, after);
	}
	fputs(text_colour(r, "bold"), r->style.out);
	text_wrapped(r, buffer_string(&b), 0);
	fputs(text_colour(r, "reset"), r->style.out);
	buffer_clear(&b);
	print_coverage(r);
	fputc('\n', r->style.out);
}
