/* SPDX-License-Identifier: MIT */
/*
 * cmd_diff.c - heapstory diff: what grew and what shrank between two snapshots.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/diff.h"
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

struct diff_options {
	double per; /* 0: not given */
	const char *unit;
};

static int own(void *context, struct args *a)
{
	static const char *const later[] = {"--exit-code", "--fail-above", "--ignore"};
	struct diff_options *o = context;
	const char *value;
	char *end;

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		if (args_is(a, later[i], NULL))
			return args_not_yet(later[i]);
	}
	if (args_is(a, "--unit", NULL)) {
		o->unit = args_value(a);
		return o->unit ? 1 : -1;
	}
	if (!args_is(a, "--per", NULL))
		return 0;
	value = args_value(a);
	if (!value)
		return -1;
	o->per = strtod(value, &end);
	if (value[0] < '0' || value[0] > '9' || *end || !(o->per > 0) || o->per > 1e18)
		return args_wrong(a, value, "a number of operations above 0");
	return 1;
}

/* Beneath a row that grew: its stack where rows are stacks, and how its largest buffer grew. */
static void beneath(struct report *r, const json_t *row, bool with_stack)
{
	const json_t *lineage = json_object_get(row, "lineage");

	if (with_stack)
		view_full_stack(r, row);
	if (json_is_object(lineage) && json_integer_value(report_get(row, "resized.count")))
		text_lineage(r, lineage, 4);
}

static void beneath_group(struct report *r, const json_t *row)
{
	beneath(r, row, false);
}

static void beneath_stack(struct report *r, const json_t *row)
{
	beneath(r, row, true);
}

static json_t *coverage_of(const struct diff *diff, struct source *sources)
{
	const struct snapshot *b = sources[0].snapshot, *a = sources[1].snapshot;
	json_t *o = rows_coverage_of_two(b, a);

	if (!diff->same_image)
		rows_add_note(o, "the snapshots are of different processes, or of one that became "
				 "another "
				 "program: all of BEFORE counts as freed, all of AFTER as born");
	else if (b->taken_ms > a->taken_ms)
		rows_add_note(o, "BEFORE was taken after AFTER");
	/* what only the older snapshot has no names for is said where that is looked at */
	source_note_names(&sources[1], o);
	return o;
}

static json_t *target_of(const struct source *sources, const struct diff_options *mine)
{
	json_t *o = json_object();

	json_object_set_new(o, "before", rows_target(sources[0].snapshot));
	json_object_set_new(o, "after", rows_target(sources[1].snapshot));
	json_object_set_new(o, "per", mine->per > 0 ? json_real(mine->per) : json_null());
	json_object_set_new(o, "unit", report_string(mine->unit));
	return o;
}

static int print(struct source *sources, struct read_options *o, const struct diff_options *mine)
{
	struct names *const names[2] = {sources[0].names, sources[1].names};
	uint64_t taken[2] = {sources[0].snapshot->taken_ms, sources[1].snapshot->taken_ms};
	struct group_options by = {o->by, false, false, taken[0] > taken[1] ? taken[0] : taken[1]};
	struct report_style style = style_for(o);
	char *title = xasprintf("BYTES/%s", mine->unit ? mine->unit : "OP");
	struct report_column columns[] = {
		{"DELTA", "bytes.delta", UNIT_BYTES_DELTA, false},
		{"BLOCKS", "count.delta", UNIT_COUNT_DELTA, true},
		{"BORN", "born.bytes", UNIT_BYTES, true},
		{"FREED", "freed.bytes", UNIT_BYTES, true},
		{"RESIZED", "resized.bytes", UNIT_BYTES_DELTA, true},
		{"AFTER", "bytes.after", UNIT_BYTES, false},
		{title, "per_unit.bytes", UNIT_BYTES_RATE, true},
		*view_group_column(o->by),
	};
	struct report_view view = {
		.columns = columns,
		.nr_columns = sizeof(columns) / sizeof(columns[0]),
		.total_key = "total",
		.beneath = o->by == GROUP_STACK ? beneath_stack : beneath_group,
		.empty = "no difference",
	};
	struct hs_error err = {0};
	struct report report;
	struct diff diff;
	size_t shown = 0, left = 0;
	int ret = diff_build(&diff, names[0], names[1], &o->filter, &by, o->sort, &err);

	progress_stop();
	if (ret) {
		free(title);
		return say_error(&err);
	}
	report_begin(&report, &style, "diff", &view, target_of(sources, mine),
		     coverage_of(&diff, sources), rows_diff_totals(&diff, mine->per));
	for (size_t i = 0; i < diff.nr_rows; i++) {
		/* unchanged groups are rows only where all are asked for */
		if (o->nr_rows != SIZE_MAX && diff_unchanged(&diff.rows[i].sums))
			continue;
		if (shown < o->nr_rows && ++shown)
			report_row(&report, rows_diff(&diff, &diff.rows[i], names, mine->per));
		else
			left++;
	}
	report_end(&report, left);
	diff_release(&diff);
	free(title);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct diff_options mine = {0, NULL};
	struct symbolizer *symbolizer = NULL;
	struct source sources[2] = {{0}, {0}};
	struct read_options o;
	int status;

	read_options_init(&o);
	status = read_options_parse(
		&o, argc, argv, READ_STACKS | READ_ROWS | READ_GROUPS | READ_FILTERS, own, &mine);
	if (!status)
		status = need_operands(&o, 2, argv[0], o.nr_operands ? "AFTER" : "BEFORE");
	if (!status && mine.unit && !(mine.per > 0))
		status = say("--unit names what --per counts; --per is missing");
	if (status)
		goto out;
	symbolizer = symbolizer_for(&o);
	status = source_open_to_stream(&sources[0], o.operands[0], symbolizer);
	if (!status)
		status = source_open_to_stream(&sources[1], o.operands[1], symbolizer);
	if (!status)
		status = print(sources, &o, &mine);
out:
	source_close(&sources[0]);
	source_close(&sources[1]);
	symbolizer_free(symbolizer);
	read_options_release(&o);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "what grew and what shrank between two snapshots",
	.usage = "BEFORE AFTER [--by WHAT] [--per N [--unit NAME]] [options]",
	.options = READ_HELP_BY
	"  --per N              rates per operation, for N operations in between\n"
	"  --unit NAME          what an operation is called\n"
	"  --sort delta|bytes|count  order of the rows\n" READ_HELP_ROWS READ_HELP_FILTERS
		READ_HELP_STACKS READ_HELP_JSON,
	.example = "heapstory diff 0001.hs exit.hs\n"
		   "heapstory diff 0001.hs 0002.hs --by stack --per 2000 --unit post\n",
	.run = run,
};
