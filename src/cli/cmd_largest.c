/* SPDX-License-Identifier: MIT */
/*
 * cmd_largest.c - heapstory largest: the largest live blocks, who made them, how they grew.
 */
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

/* Larger first; of equals the one at the lower address, which is the lower index. */
static int compare(const struct snap_block *blocks, size_t m, size_t n)
{
	if (blocks[m].size != blocks[n].size)
		return blocks[m].size < blocks[n].size ? 1 : -1;
	return (m > n) - (m < n);
}

static int by_size(const void *a, const void *b, void *context)
{
	return compare(context, *(const size_t *)a, *(const size_t *)b);
}

/* Sifts the smallest of a heap of the largest so far down from place i. */
static void sift_down(const struct snap_block *blocks, size_t *top, size_t nr, size_t i)
{
	for (;;) {
		size_t child = 2 * i + 1, other = top[i];

		if (child >= nr)
			return;
		if (child + 1 < nr && compare(blocks, top[child + 1], top[child]) > 0)
			child++;
		if (compare(blocks, top[child], top[i]) <= 0)
			return;
		top[i] = top[child];
		top[child] = other;
		i = child;
	}
}

struct top {
	size_t *blocks, nr,
		nr_alloc; /* at most `want`, the smallest of them first once it is full */
	size_t want;
	uint64_t count, bytes; /* of all that pass */
};

static void find_top(struct top *top, struct source *src, const struct filter *filter)
{
	const struct snapshot *s = src->snapshot;
	struct filter_side side;

	filter_side_init(&side, filter, src->names, s->taken_ms);
	for (size_t i = 0; i < s->nr_blocks; i++) {
		if (!filter_passes(&side, &s->blocks[i]))
			continue;
		top->count++;
		top->bytes += s->blocks[i].size;
		if (top->nr < top->want) {
			top->blocks =
				xgrow(top->blocks, &top->nr_alloc, top->nr + 1, sizeof(size_t));
			top->blocks[top->nr++] = i;
			if (top->nr == top->want) {
				for (size_t k = top->nr / 2 + 1; k-- > 0;)
					sift_down(s->blocks, top->blocks, top->nr, k);
			}
		} else if (top->nr && compare(s->blocks, i, top->blocks[0]) < 0) {
			top->blocks[0] = i;
			sift_down(s->blocks, top->blocks, top->nr, 0);
		}
	}
	filter_side_release(&side);
	if (top->nr)
		qsort_r(top->blocks, top->nr, sizeof(size_t), by_size, s->blocks);
}

static void print(struct source *src, struct read_options *o)
{
	struct report_style style = style_for(o);
	struct report_view view = {.beneath = view_block,
				   .empty = o->kind == KIND_MAPPING ? "no mappings"
								    : "no live blocks"};
	struct top top = {.want = o->nr_rows};
	struct report report;
	char *nothing = NULL;

	find_top(&top, src, &o->filter);
	if (!top.count && !filter_is_empty(&o->filter))
		view.empty = nothing = nothing_passes(o, &src->names, 1);
	progress_stop();
	report_begin(&report, &style, "largest", &view, rows_target(src->snapshot),
		     source_coverage(src, true),
		     json_pack("{s:I,s:I}", "count", (json_int_t)top.count, "bytes",
			       (json_int_t)top.bytes));
	for (size_t i = 0; i < top.nr; i++)
		report_row(&report, rows_block(src->names, &src->snapshot->blocks[top.blocks[i]]));
	report_end(&report, top.nr ? 0 : top.count);
	free(top.blocks);
	free(nothing);
}

static int run(int argc, char **argv)
{
	struct symbolizer *symbolizer = NULL;
	struct source source = {0};
	struct read_options o;
	int status;

	read_options_init(&o);
	status = read_options_parse(&o, argc, argv,
				    READ_STACKS | READ_ROWS | READ_FILTERS | READ_KIND, NULL, NULL);
	if (!status)
		status = need_operands(&o, 1, argv[0], "TARGET");
	if (status)
		goto out;
	symbolizer = symbolizer_for(&o);
	status = source_open(&source, &o, o.operands[0], symbolizer);
	source_choose(&source, o.kind);
	if (!status)
		print(&source, &o);
out:
	source_close(&source);
	symbolizer_free(symbolizer);
	read_options_release(&o);
	return status;
}

const struct command cmd_largest = {
	.name = "largest",
	.summary = "the largest live blocks, who made them, how they grew",
	.usage = "TARGET [-n N] [options]",
	.options = READ_HELP_ROWS READ_HELP_KIND READ_HELP_FILTERS READ_HELP_STACKS READ_HELP_JSON,
	.example = "heapstory largest 4242 -n 3\n",
	.run = run,
};
