/* SPDX-License-Identifier: MIT */
/*
 * cmd_heap.c - heapstory heap: groups of live blocks, or the blocks themselves by address.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/names.h"
#include "analysis/pattern.h"
#include "analysis/snapshot.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/read.h"
#include "cli/views.h"
#include "reports/rows.h"
#include "symbolizer/symbolizer.h"
#include "util/alloc.h"
#include "util/error.h"

struct heap_options {
	const char *addresses;
	bool show_sizes, zones;
};

static int own(void *context, struct args *a)
{
	struct heap_options *o = context;

	if (args_is(a, "--addresses", NULL)) {
		o->addresses = args_value(a);
		return o->addresses ? 1 : -1;
	}
	if (args_is(a, "--show-sizes", NULL)) {
		o->show_sizes = true;
		return 1;
	}
	if (args_is(a, "--zones", NULL)) {
		o->zones = true;
		return 1;
	}
	return 0;
}

/* ---- groups ------------------------------------------------------------------------------ */

/* The value, or null where the report is not about malloc alone. Takes it. */
static json_t *malloc_only(const struct snapshot *s, json_t *value)
{
	if (s->kind == KIND_MALLOC)
		return value;
	json_decref(value);
	return json_null();
}

static json_t *heap_totals(const struct heap *h, const struct snapshot *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "count", json_integer((json_int_t)h->count));
	json_object_set_new(o, "bytes", json_integer((json_int_t)h->bytes));
	json_object_set_new(o, "usable", json_integer((json_int_t)h->usable));
	/* of mappings there is no count of those that are gone */
	json_object_set_new(o, "peak_bytes",
			    malloc_only(s, json_integer((json_int_t)s->peak_bytes)));
	json_object_set_new(o, "peak_count",
			    malloc_only(s, json_integer((json_int_t)s->peak_count)));
	json_object_set_new(o, "peak_s", malloc_only(s, json_real(rows_seconds(s, s->peak_ms))));
	json_object_set_new(o, "allocations",
			    malloc_only(s, json_integer((json_int_t)s->born_count)));
	json_object_set_new(o, "temporary", malloc_only(s, json_integer((json_int_t)s->temporary)));
	json_object_set_new(o, "rows", json_integer((json_int_t)h->nr_rows));
	return o;
}

/* Brings the rows of each zone together, largest zone first; returns the zones for the totals. */
static json_t *order_by_zone(struct heap *h)
{
	struct heap_zone *zones;
	size_t nr = heap_order_by_zone(h, &zones);
	json_t *list = json_array();

	for (size_t i = 0; i < nr; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "zone",
				    *zones[i].name ? report_string(zones[i].name) : json_null());
		json_object_set_new(o, "count", json_integer((json_int_t)zones[i].count));
		json_object_set_new(o, "bytes", json_integer((json_int_t)zones[i].bytes));
		json_array_append_new(list, o);
	}
	free(zones);
	return list;
}

/* Rows whose blocks were made all through the life. */
static json_t *suspects_among(const struct heap *h, struct source *src, size_t most)
{
	json_t *list = json_array();
	size_t *rows, nr = heap_suspects(h, src->snapshot, &rows);

	for (size_t i = 0; i < nr && i < most; i++) {
		const struct heap_row *row = &h->rows[rows[i]];
		json_t *value = rows_heap(h, row, src->names);

		json_object_set_new(value, "age_spread", json_real(spread_value(&row->spread)));
		json_array_append_new(list, value);
	}
	free(rows);
	return list;
}

/* Of sites, whatever the groups of the report are: it is a place in the code that leaks. */
static json_t *suspects_of(const struct heap *h, struct source *src, const struct read_options *o,
			   const struct group_options *groups)
{
	struct group_options by = {GROUP_SITE, false, false, groups->now_ms};
	struct heap sites;
	json_t *list;

	if (groups->by == GROUP_SITE && !groups->split_sizes && !groups->split_zones)
		return suspects_among(h, src, o->nr_rows);
	heap_build(&sites, src->names, &o->filter, &by, SORT_DEFAULT);
	list = suspects_among(&sites, src, o->nr_rows);
	heap_release(&sites);
	return list;
}

static int print_groups(struct source *src, struct read_options *o, const struct heap_options *mine)
{
	struct group_options by = {o->by, mine->show_sizes, mine->zones, src->snapshot->taken_ms};
	struct report_style style = style_for(o);
	struct report_column columns[] = {
		{"BYTES", "bytes", UNIT_BYTES, false},
		{"SHARE", "bytes", UNIT_SHARE, false},
		{"COUNT", "count", UNIT_COUNT, false},
		{"AVG", "avg", UNIT_AVERAGE, false},
		*view_group_column(o->by),
	};
	struct report_view view = {
		.columns = columns,
		.nr_columns = sizeof(columns) / sizeof(columns[0]),
		.total_key = "total",
		.above = mine->zones ? view_zone_title : NULL,
		.beneath = o->by == GROUP_STACK ? view_full_stack : NULL,
		.empty = o->kind == KIND_MAPPING ? "no mappings" : "no live blocks",
	};
	struct report report;
	struct heap heap;
	json_t *totals, *coverage, *suspects;
	char *nothing = NULL;
	size_t nr;

	if (mine->show_sizes)
		columns[3] = (struct report_column){"SIZE", "size", UNIT_COUNT, false};
	heap_build(&heap, src->names, &o->filter, &by, o->sort);
	if (!heap.count && !filter_is_empty(&o->filter))
		view.empty = nothing = nothing_passes(o, &src->names, 1);
	totals = heap_totals(&heap, src->snapshot);
	if (mine->zones)
		json_object_set_new(totals, "zones", order_by_zone(&heap));
	progress_stop();
	coverage = source_coverage(src, o->by <= GROUP_FILE);
	if (o->by == GROUP_CLASS || o->filter.has_class)
		source_note_classes(src, coverage, NULL);
	report_begin(&report, &style, "heap", &view, rows_target(src->snapshot), coverage, totals);
	suspects = suspects_of(&heap, src, o, &by);
	report_suspects(&report, json_incref(suspects));
	nr = heap.nr_rows < o->nr_rows ? heap.nr_rows : o->nr_rows;
	for (size_t i = 0; i < nr; i++)
		report_row(&report, rows_heap(&heap, &heap.rows[i], src->names));
	report_end(&report, heap.nr_rows - nr);
	if (!style.json)
		view_suspects(&report, suspects);
	json_decref(suspects);
	heap_release(&heap);
	free(nothing);
	return EXIT_DONE;
}

/* ---- blocks ------------------------------------------------------------------------------ */

/* What is said of a pattern that fits nothing. Caller frees. */
static char *nothing_matches(struct names *names, const struct pattern *pattern, const char *text)
{
	struct pattern_nearest n = {.fits = false};
	char *line;

	pattern_nearest_add(pattern, names, &n);
	line = pattern_nearest_text(&n, text);
	nearest_release(&n.classes);
	return line;
}

struct block_order {
	const struct snap_block *blocks;
};

static int by_size(const void *a, const void *b, void *context)
{
	const struct snap_block *blocks = ((struct block_order *)context)->blocks;
	size_t m = *(const size_t *)a, n = *(const size_t *)b;

	if (blocks[m].size != blocks[n].size)
		return blocks[m].size < blocks[n].size ? 1 : -1;
	return (m > n) - (m < n);
}

/* The blocks that are asked for, by their numbers in the snapshot. */
struct chosen_blocks {
	size_t *nrs;
	size_t nr, alloc;
	uint64_t bytes;
	char *nothing; /* what to say if there are none */
};

static void choose_blocks(struct chosen_blocks *ret, struct source *src,
			  const struct read_options *o, const struct pattern *pattern,
			  const char *text)
{
	const struct snapshot *s = src->snapshot;
	struct block_order order = {s->blocks};
	struct pattern_verdicts verdicts = {NULL};
	struct filter_side side;
	bool any = false;

	*ret = (struct chosen_blocks){.nrs = NULL};
	filter_side_init(&side, &o->filter, src->names, s->taken_ms);
	for (size_t i = 0; i < s->nr_blocks; i++) {
		if (!pattern_matches(pattern, &verdicts, src->names, &s->blocks[i]))
			continue;
		any = true;
		if (!filter_passes(&side, &s->blocks[i]))
			continue;
		ret->nrs = xgrow(ret->nrs, &ret->alloc, ret->nr + 1, sizeof(*ret->nrs));
		ret->nrs[ret->nr++] = i;
		ret->bytes += s->blocks[i].size;
	}
	filter_side_release(&side);
	pattern_verdicts_release(&verdicts);
	if (!any)
		ret->nothing = nothing_matches(src->names, pattern, text);
	if (!any && o->json)
		say("%s", ret->nothing);
	if (any && !ret->nr)
		ret->nothing = nothing_passes(o, &src->names, 1);
	if (o->sort == SORT_BYTES && ret->nr)
		qsort_r(ret->nrs, ret->nr, sizeof(*ret->nrs), by_size, &order);
}

static int print_blocks(struct source *src, struct read_options *o, const char *text)
{
	static const struct report_column columns[] = {
		{"ADDRESS", "address", UNIT_TEXT, false}, {"SIZE", "size", UNIT_COUNT, false},
		{"USABLE", "usable", UNIT_COUNT, false},  {"AGE", "age_s", UNIT_AGO, false},
		{"ZONE", "zone", UNIT_TEXT, true},	  {"CLASS", "stack", UNIT_CLASS, false},
	};
	struct report_view view = {
		.columns = columns,
		.nr_columns = sizeof(columns) / sizeof(columns[0]),
	};
	const struct snapshot *s = src->snapshot;
	struct report_style style = style_for(o);
	struct chosen_blocks chosen;
	struct pattern pattern;
	struct report report;
	json_t *coverage;
	struct hs_error err = {0};
	size_t nr_shown;

	if (pattern_parse(text, &pattern, &err))
		return say_error(&err);
	choose_blocks(&chosen, src, o, &pattern, text);
	pattern_release(&pattern);
	view.empty = chosen.nothing;
	progress_stop();
	coverage = source_coverage(src, true);
	source_note_classes(src, coverage, NULL);
	report_begin(&report, &style, "heap", &view, rows_target(s), coverage,
		     json_pack("{s:I,s:I}", "count", (json_int_t)chosen.nr, "bytes",
			       (json_int_t)chosen.bytes));
	report_suspects(&report, json_null());
	nr_shown = chosen.nr < o->nr_rows ? chosen.nr : o->nr_rows;
	for (size_t i = 0; i < nr_shown; i++)
		report_row(&report, rows_block(src->names, &s->blocks[chosen.nrs[i]]));
	report_end(&report, chosen.nr - nr_shown);
	free(chosen.nrs);
	free(chosen.nothing);
	return EXIT_DONE;
}

/* ---- command ----------------------------------------------------------------------------- */

static int run(int argc, char **argv)
{
	const unsigned int takes =
		READ_STACKS | READ_ROWS | READ_GROUPS | READ_FILTERS | READ_KIND;
	struct heap_options mine = {NULL, false, false};
	struct symbolizer *symbolizer = NULL;
	struct source source = {0};
	struct read_options o;
	int status;

	read_options_init(&o);
	o.by = GROUP_CLASS;
	status = read_options_parse(&o, argc, argv, takes, own, &mine);
	if (!status)
		status = need_operands(&o, 1, argv[0], "TARGET");
	if (!status && mine.zones && (o.by == GROUP_THREAD || o.by == GROUP_AGE))
		status = say("--zones does not go with --by thread and --by age");
	if (!status && mine.addresses && (o.has_by || mine.show_sizes || mine.zones))
		status = say("--addresses lists blocks, not groups: %s does not go with it",
			     o.has_by ? "--by" : mine.show_sizes ? "--show-sizes" : "--zones");
	if (!status && mine.addresses && o.sort == SORT_COUNT)
		status = say("--addresses lists blocks, which have no count to sort by");
	if (!status && o.sort == SORT_DELTA)
		status = say("--sort delta is for 'heapstory diff'; here it is bytes or count");
	if (status)
		goto out;
	symbolizer = symbolizer_for(&o);
	status = source_open(&source, &o, o.operands[0], symbolizer);
	if (status)
		goto out;
	source_choose(&source, o.kind);
	status = mine.addresses ? print_blocks(&source, &o, mine.addresses)
				: print_groups(&source, &o, &mine);
out:
	source_close(&source);
	symbolizer_free(symbolizer);
	read_options_release(&o);
	return status;
}

const struct command cmd_heap = {
	.name = "heap",
	.summary = "live blocks by groups, or one by one",
	.usage = "TARGET [--by WHAT] [--addresses PATTERN] [options]",
	.options = READ_HELP_BY("class")
	"  --addresses PATTERN  list the blocks: 'all', '[1m+]', 'Visitor', '.*[-64]'\n"
	"  --show-sizes         a row for each size of block\n"
	"  --zones              a table for each zone\n"
	"  --sort bytes|count   order of the rows\n" READ_HELP_ROWS READ_HELP_KIND READ_HELP_FILTERS
		READ_HELP_STACKS READ_HELP_JSON,
	.example = "heapstory heap 4242 --by module\n"
		   "heapstory heap exit.hs --addresses '[1m+]'\n",
	.run = run,
};
