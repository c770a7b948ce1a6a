/* SPDX-License-Identifier: MIT */
/*
 * cmd_diff.c - heapstory diff: what grew and what shrank between two snapshots.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff.h"
#include "analysis/ignore.h"
#include "analysis/snapshot.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/read.h"
#include "cli/verdict.h"
#include "cli/views.h"
#include "reports/rows.h"
#include "symbolizer/symbolizer.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/units.h"

struct own_options {
	double per; /* 0: not given */
	const char *unit;
	const char *ignore_path; /* NULL: not given */
	struct verdict_options verdict;
};

static int parse_per(struct own_options *o, struct args *a)
{
	const char *value = args_value(a);
	char *end;

	if (!value)
		return -1;
	o->per = strtod(value, &end);
	if (value[0] < '0' || value[0] > '9' || *end || !(o->per > 0) || o->per > 1e18)
		return args_wrong(a, value, "a number of operations above 0");
	return 1;
}

static int parse_limit(struct verdict_options *o, struct args *a)
{
	const char *value = args_value(a);

	if (!value)
		return -1;
	if (units_parse_size(value, &o->limit))
		return args_wrong(a, value, UNITS_A_SIZE);
	o->wanted = o->has_limit = true;
	return 1;
}

static int own(void *context, struct args *a)
{
	struct own_options *o = context;

	if (args_is(a, "--exit-code", NULL)) {
		o->verdict.wanted = true;
		return 1;
	}
	if (args_is(a, "--across", NULL)) {
		o->verdict.across = true;
		return 1;
	}
	if (args_is(a, "--fail-above", NULL))
		return parse_limit(&o->verdict, a);
	if (args_is(a, "--ignore", NULL)) {
		o->ignore_path = args_value(a);
		return o->ignore_path ? 1 : -1;
	}
	if (args_is(a, "--unit", NULL)) {
		o->unit = args_value(a);
		return o->unit ? 1 : -1;
	}
	return args_is(a, "--per", NULL) ? parse_per(o, a) : 0;
}

/* ---- the report -------------------------------------------------------------------------- */

#define CLOCK_S 0.01 /* times of steps are of a coarse clock */

/* Whether the latest step of a buffer lies between the two snapshots. */
static bool is_between(const struct report *r, const json_t *step)
{
	double before = json_number_value(report_get(r->target, "before.taken_s"));
	double after = json_number_value(report_get(r->target, "after.taken_s"));

	return json_number_value(json_object_get(step, "s")) + CLOCK_S >= fmin(before, after);
}

/*
 * Whether the row's largest buffer that was ever resized says how the row grew: it was resized in
 * between, or it was born in between and is a tenth of the growth or more.
 */
static bool lineage_matters(const struct report *r, const json_t *row, const json_t *lineage)
{
	const json_t *steps = json_object_get(lineage, "steps");
	const json_t *latest = json_array_get(steps, json_array_size(steps) - 1);
	json_int_t delta = json_integer_value(report_get(row, "bytes.delta"));

	if (!json_is_object(lineage) || !is_between(r, latest))
		return false;
	return json_integer_value(report_get(row, "resized.count")) > 0 ||
	       (delta > 0 && json_integer_value(json_object_get(latest, "size")) >= delta / 10);
}

/* Beneath a row: its stack where rows are stacks, and how its largest buffer grew. */
static void beneath(struct report *r, const json_t *row, bool with_stack)
{
	const json_t *lineage = json_object_get(row, "lineage");
	json_int_t nr = json_integer_value(report_get(row, "count.after"));

	if (with_stack)
		view_full_stack(r, row);
	if (!lineage_matters(r, row, lineage))
		return;
	if (nr > 1)
		fprintf(r->style.out,
			"    of %" JSON_INTEGER_FORMAT " blocks, the largest that grew:\n", nr);
	text_lineage(r, lineage, with_stack ? json_object_get(row, "stack") : NULL, 4);
}

static void beneath_group(struct report *r, const json_t *row)
{
	beneath(r, row, false);
}

static void beneath_stack(struct report *r, const json_t *row)
{
	beneath(r, row, true);
}

static json_t *coverage_of(const struct diff *diff, struct source *sources, enum group_by by)
{
	const struct snapshot *b = sources[0].snapshot, *a = sources[1].snapshot;
	json_t *o = rows_coverage_of_two(b, a);

	if (!diff->same_image)
		rows_add_note(o, "%s",
			      "the snapshots are of different processes, or of one that became "
			      "another program: all of BEFORE counts as freed, all of AFTER as "
			      "born");
	else if (b->taken_ms > a->taken_ms)
		rows_add_note(o, "BEFORE was taken after AFTER");
	/* what only the older snapshot has no names for is said where that is looked at */
	source_note_names(&sources[1], o);
	if (by == GROUP_CLASS && !b->class_words != !a->class_words)
		source_note_classes(&sources[a->class_words ? 0 : 1], o,
				    a->class_words ? " when BEFORE was made, so on both sides"
						   : " when AFTER was made, so on both sides");
	else if (by == GROUP_CLASS)
		source_note_classes(&sources[1], o, NULL);
	return o;
}

static json_t *target_of(const struct source *sources, const struct own_options *mine)
{
	json_t *o = json_object();

	json_object_set_new(o, "before", rows_target(sources[0].snapshot));
	json_object_set_new(o, "after", rows_target(sources[1].snapshot));
	json_object_set_new(o, "per", mine->per > 0 ? json_real(mine->per) : json_null());
	json_object_set_new(o, "unit", report_string(mine->unit));
	return o;
}

static json_t *totals_of(const struct diff *diff, const struct own_options *mine,
			 enum block_kind kind, const struct ignore *ignore,
			 const struct verdict *verdict)
{
	json_t *o = rows_diff_totals(diff, mine->per), *v = json_null();

	json_object_set_new(o, "kind", json_string(kind_name(kind)));
	json_object_set_new(o, "ignored", rows_diff_ignored(diff, ignore));
	if (mine->verdict.wanted) {
		v = json_object();
		json_object_set_new(v, "failed", json_boolean(verdict->failed));
		json_object_set_new(v, "limit_bytes",
				    mine->verdict.has_limit
					    ? json_integer((json_int_t)mine->verdict.limit)
					    : json_null());
		json_object_set_new(v, "text", report_string(verdict->text));
	}
	json_object_set_new(o, "verdict", v);
	return o;
}

/* With rates, those are what is asked for; where all changes came from is then left to JSON. */
static size_t columns_of(struct report_column columns[static 8], const struct own_options *mine,
			 const char *const titles[2], enum group_by by)
{
	const struct report_column changes[] = {
		{"BORN", "born.bytes", UNIT_BYTES, true},
		{"FREED", "freed.bytes", UNIT_BYTES, true},
		{"RESIZED", "resized.bytes", UNIT_BYTES_DELTA, true},
	};
	const struct report_column rates[] = {
		{titles[0], "per_unit.bytes", UNIT_BYTES_RATE, false},
		{titles[1], "per_unit.count", UNIT_RATE, false},
	};
	bool per = mine->per > 0;
	size_t nr = 0, more = per ? sizeof(rates) : sizeof(changes);

	columns[nr++] = (struct report_column){"DELTA", "bytes.delta", UNIT_BYTES_DELTA, false};
	columns[nr++] = (struct report_column){"BLOCKS", "count.delta", UNIT_COUNT_DELTA, true};
	memcpy(&columns[nr], per ? rates : changes, more);
	nr += more / sizeof(columns[0]);
	columns[nr++] = (struct report_column){"AFTER", "bytes.after", UNIT_BYTES, false};
	columns[nr++] = *view_group_column(by);
	return nr;
}

/* What was ignored, and the verdict, behind the rows. */
static void print_end(struct report *report, const struct own_options *mine)
{
	const json_t *ignored = json_object_get(report->totals, "ignored");
	const json_t *verdict = json_object_get(report->totals, "verdict");
	const char *text = json_string_value(json_object_get(verdict, "text"));

	if (report->style.json) {
		if (text)
			fprintf(stderr, "%s\n", text);
		return;
	}
	if (json_is_object(ignored))
		view_ignored(report, ignored);
	if (mine->verdict.wanted)
		text_wrapped(report, text, 0);
}

/* Prints the rows; unchanged groups are rows only where all are asked for. */
static void print_rows(struct report *report, const struct diff *diff, struct names *const names[2],
		       const struct read_options *o, double per)
{
	size_t shown = 0, left = 0;

	for (size_t i = 0; i < diff->nr_rows; i++) {
		if (o->nr_rows != SIZE_MAX && diff_unchanged(&diff->rows[i].sums))
			continue;
		if (shown < o->nr_rows && ++shown)
			report_row(report, rows_diff(diff, &diff->rows[i], names, per));
		else
			left++;
	}
	report_end(report, left);
}

static void print(struct source *sources, const struct diff *diff, const struct read_options *o,
		  const struct own_options *mine, const struct ignore *ignore,
		  const struct verdict *verdict)
{
	struct names *const names[2] = {sources[0].names, sources[1].names};
	const char *unit = mine->unit ? mine->unit : "OP";
	char *const titles[2] = {xasprintf("BYTES/%s", unit), xasprintf("BLOCKS/%s", unit)};
	struct report_column columns[8];
	struct report_view view = {
		.columns = columns,
		.nr_columns = columns_of(columns, mine,
					 (const char *const[2]){titles[0], titles[1]}, o->by),
		.total_key = "total",
		.beneath = o->by == GROUP_STACK ? beneath_stack : beneath_group,
		.empty = "no difference",
	};
	struct report_style style = style_for(o);
	char *nothing = NULL;
	struct report report;

	if (!diff->nr_rows && !filter_is_empty(&o->filter))
		view.empty = nothing = nothing_passes(o, names, 2);
	report_begin(&report, &style, "diff", &view, target_of(sources, mine),
		     coverage_of(diff, sources, o->by),
		     totals_of(diff, mine, o->kind, ignore, verdict));
	json_incref(report.totals);
	print_rows(&report, diff, names, o, mine->per);
	print_end(&report, mine);
	json_decref(report.totals);
	free(titles[0]);
	free(titles[1]);
	free(nothing);
}

/* ---- the command ------------------------------------------------------------------------- */

/* Takes why. EXIT_TROUBLE. */
static int say_no_verdict(char *why)
{
	int status = say("no verdict is possible: %s", why);

	free(why);
	return status;
}

/*
 * Why a diff without any block allows no verdict: a name that was mistyped would be clean for ever.
 * NULL: it does. Caller frees.
 */
static char *filter_obstacle(const struct diff *diff, struct names *const names[2],
			     const struct read_options *o, const struct ignore *ignore)
{
	for (size_t i = 0; ignore && i < ignore->nr_rules; i++) {
		if (diff->ignored[i].before.count || diff->ignored[i].after.count)
			return NULL;
	}
	return diff->nr_rows ? NULL : filter_misfit(&o->filter, names, 2);
}

static int compare(struct source *sources, const struct read_options *o,
		   const struct own_options *mine, const struct ignore *ignore)
{
	const struct snapshot *b = sources[0].snapshot, *a = sources[1].snapshot;
	struct diff_options options = {
		.group = {o->by, false, false,
			  b->taken_ms > a->taken_ms ? b->taken_ms : a->taken_ms},
		.sort = o->sort,
		.filter = &o->filter,
		.ignore = ignore,
	};
	struct names *const names[2] = {sources[0].names, sources[1].names};
	struct verdict verdict = {false, NULL};
	struct hs_error err = {0};
	char *obstacle = NULL;
	struct diff diff;
	int ret = diff_build(&diff, names[0], names[1], &options, &err);

	progress_stop();
	if (ret)
		return say_error(&err);
	if (mine->verdict.wanted)
		obstacle = filter_obstacle(&diff, names, o, ignore);
	if (obstacle) {
		diff_release(&diff);
		return say_no_verdict(obstacle);
	}
	verdict_init(&verdict, &diff, names, o->by, &mine->verdict);
	print(sources, &diff, o, mine, ignore, &verdict);
	ret = mine->verdict.wanted && verdict.failed ? EXIT_FINDINGS : EXIT_DONE;
	verdict_release(&verdict);
	diff_release(&diff);
	return ret;
}

/* Opens both and compares them. */
static int run_on(const struct read_options *o, const struct own_options *mine,
		  const struct ignore *ignore)
{
	struct symbolizer *symbolizer = symbolizer_for(o);
	struct source sources[2] = {{0}, {0}};
	char *obstacle = NULL;
	int status = source_open_to_stream(&sources[0], o, o->operands[0], symbolizer);

	if (!status)
		status = source_open_to_stream(&sources[1], o, o->operands[1], symbolizer);
	if (!status && mine->verdict.wanted)
		obstacle = verdict_obstacle(sources[0].snapshot, sources[1].snapshot,
					    &mine->verdict);
	if (obstacle)
		status = say_no_verdict(obstacle);
	if (!status)
		status = compare(sources, o, mine, ignore);
	source_close(&sources[0]);
	source_close(&sources[1]);
	symbolizer_free(symbolizer);
	return status;
}

static int run(int argc, char **argv)
{
	const unsigned int takes =
		READ_STACKS | READ_ROWS | READ_GROUPS | READ_FILTERS | READ_KIND;
	struct own_options mine = {.per = 0};
	struct ignore ignore = {.path = NULL};
	struct hs_error err = {0};
	struct read_options o;
	int status;

	read_options_init(&o);
	o.by = GROUP_CLASS;
	status = read_options_parse(&o, argc, argv, takes, own, &mine);
	if (!status)
		status = need_operands(&o, 2, argv[0], o.nr_operands ? "AFTER" : "BEFORE");
	if (!status && mine.unit && !(mine.per > 0))
		status = say("--unit names what --per counts; --per is missing");
	if (!status && mine.verdict.across && !mine.verdict.wanted)
		status = say("--across is about the verdict of --exit-code or --fail-above; "
			     "neither is given");
	if (!status && mine.ignore_path && ignore_load(mine.ignore_path, &ignore, &err))
		status = say_error(&err);
	if (!status)
		status = run_on(&o, &mine, ignore.path ? &ignore : NULL);
	ignore_release(&ignore);
	read_options_release(&o);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "what grew and what shrank between two snapshots",
	.usage = "BEFORE AFTER [--by WHAT] [--per N [--unit NAME]] [options]",
	.options = READ_HELP_BY("class")
	"  --per N              rates per operation, for N operations in between\n"
	"  --unit NAME          what an operation is called\n"
	"  --ignore FILE        leave out what its rules name: growth that is accepted\n"
	"  --exit-code          end with 1 if a group grew\n"
	"  --fail-above SIZE    end with 1 if a group or the whole grew by more than this\n"
	"  --across             a verdict also over two processes, as before and after a restart\n"
	"  --sort delta|bytes|count  order of the rows\n"
		READ_HELP_ROWS READ_HELP_KIND READ_HELP_FILTERS READ_HELP_STACKS READ_HELP_JSON,
	.example = "heapstory diff 0001.hs exit.hs\n"
		   "heapstory diff 0001.hs 0002.hs --by stack --per 2000 --unit post\n"
		   "heapstory diff 0001.hs exit.hs --ignore accepted.txt --fail-above 64k\n",
	.run = run,
};
