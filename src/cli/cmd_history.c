/* SPDX-License-Identifier: MIT */
/*
 * cmd_history.c - heapstory history: where an address came from and what happened to it since.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/read.h"
#include "cli/views.h"
#include "reports/rows.h"
#include "symbolizer/symbolizer.h"
#include "util/alloc.h"

/* Says that the text is none; of hexadecimal digits what is missing. */
static int say_no_address(const char *text)
{
	if (*text && strspn(text, "0123456789abcdefABCDEF") == strlen(text))
		return say("'%s' is no address; with 0x before it, it is: 0x%s", text, text);
	return say("'%s' is no address; 0x7f1200000010 is one", text);
}

/* "0x7f12", or digits alone. 0 or -1. */
static int parse_address(const char *text, uint64_t *ret)
{
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -1;
	errno = 0;
	value = strtoull(text, &end,
			 text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10);
	if (errno || *end)
		return -1;
	*ret = value;
	return 0;
}

/* Index of the last one that starts at or before the address; SIZE_MAX: none does. */
static size_t block_before(const struct snap_block *blocks, size_t nr, uint64_t address)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (blocks[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low - 1;
}

/* The one of these that contains the address, or NULL. */
static const struct snap_block *find(const struct snap_block *blocks, size_t nr, uint64_t address)
{
	size_t k = block_before(blocks, nr, address);

	if (k == SIZE_MAX || address - blocks[k].address >= snap_block_span(&blocks[k]))
		return NULL;
	return &blocks[k];
}

/* The nearest block of malloc is told; a mapping may be anywhere. */
static void say_none(const struct snapshot *s, const char *text, uint64_t address)
{
	size_t before = block_before(s->blocks, s->nr_blocks, address);
	const struct snap_block *below = before != SIZE_MAX ? &s->blocks[before] : NULL;
	const struct snap_block *above = before + 1 < s->nr_blocks ? &s->blocks[before + 1] : NULL;
	uint64_t down = below ? address - (below->address + snap_block_span(below) - 1) : UINT64_MAX;
	uint64_t up = above ? above->address - address : UINT64_MAX;

	if (!below && !above)
		say("no live block contains '%s'; there are no live blocks", text);
	else if (down <= up)
		say("no live block contains '%s'; the nearest one, of %" PRIu64
		    " bytes at 0x%" PRIx64 ", ends %" PRIu64 " bytes below",
		    text, below->size, below->address, down);
	else
		say("no live block contains '%s'; the nearest one, of %" PRIu64
		    " bytes at 0x%" PRIx64 ", starts %" PRIu64 " bytes above",
		    text, above->size, above->address, up);
}

/* ---- rows -------------------------------------------------------------------------------- */

static void add_event(json_t *events, const char *what, const json_t *step)
{
	json_t *o = json_object();

	json_object_set(o, "s", json_object_get(step, "s"));
	json_object_set_new(o, "what", json_string(what));
	json_object_set(o, "size", json_object_get(step, "size"));
	json_object_set(o, "stack", json_object_get(step, "stack"));
	json_array_append_new(events, o);
}

/* Birth and the steps of growth that are remembered. */
static json_t *events_of(const json_t *row)
{
	const json_t *lineage = json_object_get(row, "lineage"), *step;
	json_t *events = json_array(), *birth;
	size_t i;

	if (json_is_object(lineage)) {
		add_event(events, "born", json_object_get(lineage, "born"));
		json_array_foreach(json_object_get(lineage, "steps"), i, step)
			add_event(events, "grown", step);
		return events;
	}
	birth = json_object();
	json_object_set(birth, "s", json_object_get(row, "birth_s"));
	json_object_set(birth, "size", json_object_get(row, "size"));
	json_object_set(birth, "stack", json_object_get(row, "stack"));
	add_event(events, "born", birth);
	json_decref(birth);
	return events;
}

static json_t *history_row(struct source *src, const struct snap_block *b, uint64_t address)
{
	json_t *row = rows_block(src->names, b);

	json_object_set_new(row, "contains_offset",
			    json_integer((json_int_t)(address - b->address)));
	json_object_set_new(row, "events", events_of(row));
	return row;
}

static void view_history(struct report *r, const json_t *row)
{
	const json_t *events = json_object_get(row, "events"), *event;
	const json_t *lineage = json_object_get(row, "lineage");
	size_t kept = json_array_size(json_object_get(lineage, "steps")), i;
	size_t nr = (size_t)json_integer_value(json_object_get(lineage, "nr_steps"));
	char moment[REPORT_TEXT_LEN], bytes[REPORT_TEXT_LEN];
	unsigned int width = r->style.width;

	view_block(r, row);
	if (!json_is_object(lineage))
		return;
	fprintf(r->style.out, "    steps%s:\n", nr > kept ? " (the first and the latest)" : "");
	json_array_foreach(events, i, event)
	{
		char *chain = text_chain(r, json_object_get(event, "stack"),
					 width > 60 ? width - 36 : width);

		fprintf(r->style.out, "      %10s  %-5s  %10s  %s\n",
			text_moment(json_number_value(json_object_get(event, "s")), moment),
			json_string_value(json_object_get(event, "what")),
			text_bytes((uint64_t)json_integer_value(json_object_get(event, "size")),
				   bytes),
			chain);
		free(chain);
	}
}

/* ---- command ----------------------------------------------------------------------------- */

static int print(struct source *src, struct read_options *o, const uint64_t *addresses)
{
	static const struct report_view view = {.beneath = view_history};
	const struct snapshot *s = src->snapshot;
	struct report_style style = style_for(o);
	size_t nr = o->nr_operands - 1, nr_found = 0;
	const struct snap_block **found = xmallocarray(nr, sizeof(*found));
	struct report report;

	for (size_t i = 0; i < nr; i++) {
		found[i] = find(s->blocks, s->nr_blocks, addresses[i]);
		if (!found[i])
			found[i] = find(s->mappings, s->nr_mappings, addresses[i]);
		if (found[i])
			nr_found++;
		else
			say_none(s, o->operands[i + 1], addresses[i]);
	}
	if (nr_found || o->json) {
		progress_stop();
		report_begin(&report, &style, "history", &view, rows_target(s),
			     source_coverage(src, true),
			     json_pack("{s:I}", "count", (json_int_t)nr_found));
		for (size_t i = 0; i < nr; i++) {
			if (found[i])
				report_row(&report, history_row(src, found[i], addresses[i]));
		}
		report_end(&report, 0);
	}
	free(found);
	return nr_found ? EXIT_DONE : EXIT_TROUBLE;
}

static int run(int argc, char **argv)
{
	struct symbolizer *symbolizer = NULL;
	struct source source = {0};
	uint64_t *addresses = NULL;
	struct read_options o;
	int status;

	read_options_init(&o);
	status = read_options_parse(&o, argc, argv, READ_STACKS, NULL, NULL);
	if (!status && o.nr_operands < 2)
		status = need_operands(&o, 2, argv[0], o.nr_operands ? "ADDR" : "TARGET");
	addresses = xmallocarray(o.nr_operands + 1, sizeof(*addresses));
	for (size_t i = 1; i < o.nr_operands && !status; i++) {
		if (parse_address(o.operands[i], &addresses[i - 1]))
			status = say_no_address(o.operands[i]);
	}
	if (status)
		goto out;
	symbolizer = symbolizer_for(&o);
	status = source_open(&source, &o, o.operands[0], symbolizer);
	if (!status) {
		kind_own_mappings(source.snapshot);
		status = print(&source, &o, addresses);
	}
out:
	source_close(&source);
	symbolizer_free(symbolizer);
	read_options_release(&o);
	free(addresses);
	return status;
}

const struct command cmd_history = {
	.name = "history",
	.summary = "where an address came from and what happened to it since",
	.usage = "TARGET ADDR... [options]",
	.options = READ_HELP_STACKS READ_HELP_JSON,
	.example = "heapstory history 4242 0x7f1200000010\n",
	.run = run,
};
