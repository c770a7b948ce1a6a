/* SPDX-License-Identifier: MIT */
/*
 * cmd_trend.c - heapstory trend: what grows over three or more snapshots, how surely, how fast, in
 * what shape, and when that ends badly.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "analysis/trend.h"
#include "cli/bake.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/read.h"
#include "cli/samples.h"
#include "cli/views.h"
#include "reports/rows.h"
#include "reports/rows_trend.h"
#include "store/cgroup.h"
#include "store/place.h"
#include "store/summary.h"
#include "symbolizer/symbolizer.h"
#include "util/error.h"
#include "util/units.h"

struct trend_options {
	uint64_t limit_bytes; /* 0: not given */
};

/* All that a report is made of. */
struct job {
	struct read_options *options;
	struct samples samples;
	struct series series;
	struct source all; /* names of the series */
	struct sample *latest_sample; /* the last one that has a snapshot, or NULL */
	struct snapshot *latest; /* that, with its blocks */
	struct source latest_names;
	struct trend trend;
	struct trend_limit limit;
};

static int own(void *context, struct args *a)
{
	struct trend_options *o = context;
	const char *value;

	if (!args_is(a, "--limit", NULL))
		return 0;
	value = args_value(a);
	if (!value)
		return -1;
	if (units_parse_size(value, &o->limit_bytes) || !o->limit_bytes)
		return args_wrong(a, value, UNITS_A_SIZE);
	return 1;
}

/* ---- the limit --------------------------------------------------------------------------- */

/* Whether the process of the series is still there, so that its cgroup can be asked. */
static bool is_running(const struct snapshot *s)
{
	char pid[16], path[4096];
	struct hs_error err;

	snprintf(pid, sizeof(pid), "%" PRIu32, s->pid);
	return s->dir && *s->dir && !target_find(pid, path, sizeof(path), &err) &&
	       store_alive(path);
}

static struct trend_limit find_limit(const struct trend_options *o, const struct snapshot *s)
{
	bool running = !o->limit_bytes && is_running(s);
	uint64_t cgroup = cgroup_limit(running ? (pid_t)s->pid : 0);
	uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	if (o->limit_bytes)
		return (struct trend_limit){o->limit_bytes, "--limit"};
	/* a cgroup may be given more than there is */
	if (cgroup < machine)
		return (struct trend_limit){cgroup, running ? "the limit of its cgroup"
							    : "the limit of this cgroup"};
	return (struct trend_limit){machine, "all memory of this machine"};
}

/* ---- the report -------------------------------------------------------------------------- */

static void beneath_stack(struct report *r, const json_t *row)
{
	text_trend_row(r, row);
	view_full_stack(r, row);
}

/* First and last moment, as a diff has its two sides. */
static json_t *target_of(const struct job *job)
{
	const struct sample *first = &job->samples.samples[0];
	const struct sample *last = &job->samples.samples[job->samples.nr - 1];
	struct snapshot s = *job->series.all;
	json_t *o = json_object();

	s.label = NULL;
	s.number = 0;
	s.source = SNAPSHOT_FILE;
	s.path = first->path ? first->path : first->name;
	s.taken_ms = first->at_ms - s.start_after_ms;
	json_object_set_new(o, "before", rows_target(&s));
	s.path = last->path ? last->path : last->name;
	s.taken_ms = last->at_ms - s.start_after_ms;
	json_object_set_new(o, "after", rows_target(&s));
	return o;
}

static json_t *coverage_of(struct job *job)
{
	const struct samples *s = &job->samples;
	uint64_t off_ms = samples_unrecorded_ms(s), end_ms = samples_unseen_end_ms(s);
	char text[UNITS_LEN];
	json_t *o = job->latest ? rows_coverage(job->latest) : rows_coverage_unknown();

	if (s->nr < TREND_MIN_SURE)
		rows_add_note(o,
			      "%zu snapshot%s too few to be sure of anything: the rows are "
			      "what has grown so far; with %u or more they are tested",
			      s->nr, s->nr == 1 ? " is" : "s are", TREND_MIN_SURE);
	if (s->nr_others)
		rows_add_note(o,
			      "%zu more snapshot%s of other processes, or of what this one was "
			      "before it became another program",
			      s->nr_others, s->nr_others == 1 ? " is" : "s are");
	if (s->nr_left_out)
		rows_add_note(o, "%zu snapshots of %zu are looked at, spread evenly over the time",
			      s->nr, s->nr + s->nr_left_out);
	if (off_ms)
		rows_add_note(o,
			      "recording was off for %s in between: what was born then is not "
			      "seen",
			      units_format_duration_ms(off_ms, text));
	if (end_ms)
		rows_add_note(o,
			      "the program ran on for %s after the last snapshot: whether it went on "
			      "like that is not seen",
			      units_format_duration_ms(end_ms, text));
	if (s->problem)
		rows_add_note(o, "the timeline is not used: %s", s->problem);
	if (!job->latest)
		rows_add_note(o, "the snapshots are gone: how well was recorded, ages and lineages "
				 "are "
				 "not known");
	source_note_names(&job->all, o);
	if (job->latest && (job->options->by == GROUP_CLASS || job->options->filter.has_class))
		source_note_classes(&job->latest_names, o, NULL);
	return o;
}

static void print(struct job *job)
{
	struct read_options *o = job->options;
	struct report_style style = style_for(o);
	const struct report_column columns[] = {
		{"PER HOUR", "slope_bytes_per_hour", UNIT_BYTES_SLOPE, false},
		{"NOW", "last_bytes", UNIT_BYTES, false},
		{"SHAPE", "shape", UNIT_TEXT, false},
		{"SURE", "confidence", UNIT_TEXT, false},
		*view_group_column(o->by),
	};
	struct report_view view = {
		.columns = columns,
		.nr_columns = sizeof(columns) / sizeof(columns[0]),
		.beneath = o->by == GROUP_STACK ? beneath_stack : text_trend_row,
		.empty = "nothing grows for sure",
	};
	struct trend *t = &job->trend;
	json_t *totals = rows_trend_totals(t, job->all.names, &job->limit);
	struct report report;
	size_t shown = 0, left = 0;
	char *nothing = NULL;

	progress_stop();
	if (!t->nr_rows && job->latest && !filter_is_empty(&o->filter))
		view.empty = nothing = nothing_passes(o, &job->latest_names.names, 1);
	report_begin(&report, &style, "trend", &view, target_of(job), coverage_of(job),
		     json_incref(totals));
	for (size_t i = 0; i < t->nr_rows; i++) {
		if (o->nr_rows != SIZE_MAX && !trend_row_shown(t, &t->rows[i]))
			continue;
		if (shown < o->nr_rows && ++shown)
			report_row(&report, rows_trend(t, &t->rows[i], job->all.names,
						       job->latest_names.names, &job->limit));
		else
			left++;
	}
	report_end(&report, left);
	if (!style.json)
		text_trend_end(&report, totals);
	json_decref(totals);
	free(nothing);
}

/* ---- reading ----------------------------------------------------------------------------- */

static struct group_options groups_of(const struct job *job)
{
	const struct sample *last = &job->samples.samples[job->samples.nr - 1];

	return (struct group_options){job->options->by, false, false,
				      last->at_ms - job->series.all->start_after_ms};
}

static void add_blocks_of(struct job *job, size_t sample, const struct snapshot *s)
{
	struct series_map map;

	series_map_init(&map, &job->series, s);
	trend_add_blocks(&job->trend, sample, s, &map);
	series_map_release(&map);
}

/* Adds each snapshot with its blocks, for groups and filters that look at these. */
static int add_blocks(struct job *job, struct hs_error *err)
{
	for (size_t i = 0; i < job->samples.nr; i++) {
		struct sample *sample = &job->samples.samples[i];
		struct snapshot *s;
		int ret;

		if (sample == job->latest_sample) {
			add_blocks_of(job, i, job->latest);
			continue;
		}
		ret = sample_open(sample, job->samples.kind, &s, err);
		if (ret)
			return ret;
		add_blocks_of(job, i, s);
		snapshot_free(s);
	}
	return 0;
}

static void add_latest(struct job *job)
{
	struct series_map map;

	if (!job->latest)
		return;
	series_map_init(&map, &job->series, job->latest);
	trend_add_latest(&job->trend, job->latest, job->latest_names.names, &map);
	series_map_release(&map);
}

/* The totals of stacks are those of malloc, and know nothing of single blocks. */
static bool need_blocks(const struct read_options *o)
{
	struct group_options by = {o->by, false, false, 0};

	return o->kind != KIND_MALLOC || trend_needs_blocks(&by, &o->filter);
}

static int read_all(struct job *job, const struct trend_options *mine,
		    struct symbolizer *symbolizer, struct hs_error *err)
{
	struct read_options *o = job->options;
	struct series_map map;
	int ret;

	progress_start();
	ret = samples_find(&job->samples, o->operands, o->nr_operands, need_blocks(o), o->kind,
			   err);
	if (!ret)
		ret = samples_series(&job->samples, &job->series, &job->latest_sample, err);
	if (!ret && job->latest_sample)
		ret = sample_open(job->latest_sample, o->kind, &job->latest, err);
	if (ret)
		return ret;
	if (job->latest) {
		bake_jit(job->latest);
		series_describe(&job->series, job->latest);
		/* its own have to have numbers before names are made for them */
		series_map_init(&map, &job->series, job->latest);
		series_map_release(&map);
		source_name(&job->latest_names, o, job->latest, symbolizer);
	}
	job->limit = find_limit(mine, job->series.all);
	return 0;
}

static int run_job(struct job *job, const struct trend_options *mine, struct symbolizer *symbolizer,
		   struct hs_error *err)
{
	struct group_options by;
	int ret = read_all(job, mine, symbolizer, err);

	if (ret)
		return ret;
	by = groups_of(job);
	source_name(&job->all, job->options, job->series.all, symbolizer);
	trend_init(&job->trend, &job->series, job->all.names, &job->options->filter, &by);
	if (need_blocks(job->options))
		ret = add_blocks(job, err);
	else
		trend_add_series(&job->trend);
	if (ret)
		return ret;
	add_latest(job);
	trend_finish(&job->trend, job->limit.bytes);
	print(job);
	return 0;
}

static void job_release(struct job *job)
{
	trend_release(&job->trend);
	source_close(&job->latest_names);
	source_close(&job->all);
	snapshot_free(job->latest);
	series_release(&job->series);
	samples_release(&job->samples);
}

static int run(int argc, char **argv)
{
	struct trend_options mine = {0};
	struct symbolizer *symbolizer = NULL;
	struct read_options o;
	struct job job = {.options = &o};
	struct hs_error err = {0};
	int status;

	read_options_init(&o);
	series_init(&job.series);
	status =
		read_options_parse(&o, argc, argv,
				   READ_STACKS | READ_ROWS | READ_GROUPS | READ_FILTERS | READ_KIND,
				   own, &mine);
	if (!status && !o.nr_operands)
		status = say("SNAPSHOT... or DIR is missing; 'heapstory trend --help' shows how it "
			     "is used");
	if (!status && o.has_sort)
		status = say("--sort is not for 'trend': the surest and fastest come first");
	if (status)
		goto out;
	symbolizer = symbolizer_for(&o);
	if (run_job(&job, &mine, symbolizer, &err)) {
		progress_stop();
		status = say_error(&err);
	}
out:
	job_release(&job);
	symbolizer_free(symbolizer);
	read_options_release(&o);
	return status;
}

const struct command cmd_trend = {
	.name = "trend",
	.summary = "what grows over three or more snapshots, how fast, until when",
	.usage = "SNAPSHOT...|DIR [--limit SIZE] [--by WHAT] [options]",
	.options = READ_HELP_BY("site")
	"  --limit SIZE         forecast when this is reached (the cgroup's limit, else\n"
	"                       all memory)\n" READ_HELP_ROWS READ_HELP_KIND READ_HELP_FILTERS
		READ_HELP_STACKS READ_HELP_JSON,
	.example = "heapstory run -o out --every 1m -- ./server\n"
		   "heapstory trend out --limit 4g\n",
	.run = run,
};
