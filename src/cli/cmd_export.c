/* SPDX-License-Identifier: MIT */
/*
 * cmd_export.c - heapstory export: live bytes or growth by stack, for other tools.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff.h"
#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/read.h"
#include "reports/export.h"
#include "reports/rows.h"
#include "symbolizer/symbolizer.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/error.h"
#include "util/tempfile.h"

enum format {
	FORMAT_NONE,
	FORMAT_FOLDED,
	FORMAT_PPROF,
};

struct export_options {
	enum format format;
	const char *output;
};

static int parse_format(struct export_options *o, struct args *a)
{
	static const char *const later[] = {"speedscope", "csv", "ndjson"};
	const char *value = args_value(a);

	if (!value)
		return -1;
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		if (!strcmp(value, later[i])) {
			say("--format %s is not in this version", value);
			return -1;
		}
	}
	if (!strcmp(value, "folded"))
		o->format = FORMAT_FOLDED;
	else if (!strcmp(value, "pprof"))
		o->format = FORMAT_PPROF;
	else
		return args_wrong(a, value, "pprof or folded");
	return 1;
}

static int own(void *context, struct args *a)
{
	struct export_options *o = context;

	if (args_is(a, "--format", NULL))
		return parse_format(o, a);
	if (!args_is(a, NULL, "-o"))
		return 0;
	o->output = args_value(a);
	return o->output ? 1 : -1;
}

/* ---- samples ----------------------------------------------------------------------------- */

/* The file is written all the same, and has nothing in it. */
static void say_nothing_passes(const struct read_options *o, struct names *const *sides, size_t nr)
{
	char *text = filter_explain(&o->filter, sides, nr);

	say("%s", text);
	free(text);
}

static void take_heap(struct source *src, const struct read_options *o, struct export_profile *p)
{
	struct group_options by = {GROUP_STACK, false, false, src->snapshot->taken_ms};
	struct heap heap;

	heap_build(&heap, src->names, &o->filter, &by, SORT_DEFAULT);
	p->samples = xcalloc(heap.nr_rows + 1, sizeof(*p->samples));
	if (!heap.count && !filter_is_empty(&o->filter))
		say_nothing_passes(o, &src->names, 1);
	for (size_t i = 0; i < heap.nr_rows; i++)
		p->samples[p->nr_samples++] = (struct export_sample){src->names, heap.rows[i].stack,
								     (int64_t)heap.rows[i].count,
								     (int64_t)heap.rows[i].bytes};
	heap_release(&heap);
}

/* Stacks of which there is neither more nor less are left out. */
static int take_diff(struct source *sources, const struct read_options *o, struct export_profile *p,
		     struct hs_error *err)
{
	struct diff_options options = {
		{GROUP_STACK, false, false, 0}, SORT_DEFAULT, &o->filter, NULL};
	struct names *const sides[] = {sources[0].names, sources[1].names};
	struct diff diff;
	int ret = diff_build(&diff, sources[0].names, sources[1].names, &options, err);

	if (ret)
		return ret;
	if (!diff.nr_rows && !filter_is_empty(&o->filter))
		say_nothing_passes(o, sides, 2);
	p->samples = xcalloc(diff.nr_rows + 1, sizeof(*p->samples));
	for (size_t i = 0; i < diff.nr_rows; i++) {
		const struct diff_row *row = &diff.rows[i];
		int64_t count = row->sums.after.count - row->sums.before.count;
		int64_t bytes = row->sums.after.bytes - row->sums.before.bytes;

		if (count || bytes)
			p->samples[p->nr_samples++] = (struct export_sample){
				sources[row->side].names, row->stack, count, bytes};
	}
	diff_release(&diff);
	return 0;
}

/* ---- the file ---------------------------------------------------------------------------- */

/* What was and was not seen, as far as people have to know: comments of the profile. */
static const char **comments_of(const json_t *coverage, size_t *ret_nr)
{
	const json_t *notes = json_object_get(coverage, "notes"), *note;
	const char **comments = xcalloc(json_array_size(notes) + 1, sizeof(*comments));
	size_t i, nr = 0;

	json_array_foreach(notes, i, note) comments[nr++] = json_string_value(note);
	*ret_nr = nr;
	return comments;
}

/* path "-": standard output, whose errors main.c looks for. */
static int write_file(const char *path, const struct buffer *b, struct hs_error *err)
{
	struct tempfile file = TEMPFILE_INIT;
	int ret;

	if (!strcmp(path, "-")) {
		if (b->len)
			fwrite(b->data, 1, b->len, stdout);
		return 0;
	}
	ret = tempfile_open(&file, path, err);
	if (ret)
		return ret;
	ret = tempfile_write(&file, b->data, b->len, err);
	if (!ret)
		return tempfile_commit(&file, err);
	tempfile_abort(&file);
	return ret;
}

static json_t *coverage_of(struct source *sources, bool two)
{
	json_t *o = two ? rows_coverage_of_two(sources[0].snapshot, sources[1].snapshot)
			: rows_coverage(sources[0].snapshot);

	source_note_names(&sources[two], o);
	return o;
}

static int write_export(struct source *sources, bool two, const struct read_options *o,
			const struct export_options *mine)
{
	const struct snapshot *s = sources[two].snapshot;
	struct export_profile profile = {
		.all_frames = o->all_frames,
		.time_ns = s->start_real_ns ? s->start_real_ns + s->taken_ms * 1000000 : 0,
	};
	struct hs_error err = {0};
	struct buffer b = {0};
	const char **comments;
	json_t *coverage;
	int ret = 0;

	if (two && s->taken_ms > sources[0].snapshot->taken_ms)
		profile.duration_ns = (s->taken_ms - sources[0].snapshot->taken_ms) * 1000000;
	if (two)
		ret = take_diff(sources, o, &profile, &err);
	else
		take_heap(&sources[0], o, &profile);
	if (ret)
		return say_error(&err);
	coverage = coverage_of(sources, two);
	profile.comments = comments = comments_of(coverage, &profile.nr_comments);
	if (mine->format == FORMAT_FOLDED)
		export_folded(&profile, &b);
	else
		ret = export_pprof(&profile, &b, &err);
	if (!ret)
		ret = write_file(mine->output, &b, &err);
	progress_stop();
	buffer_clear(&b);
	free(comments);
	free(profile.samples);
	json_decref(coverage);
	return ret ? say_error(&err) : EXIT_DONE;
}

static int open_one(struct source *source, const struct read_options *o, const char *target,
		    struct symbolizer *symbolizer, bool two)
{
	int status;

	if (two)
		return source_open_to_stream(source, o, target, symbolizer);
	status = source_open(source, o, target, symbolizer);
	source_choose(source, o->kind);
	return status;
}

static int run(int argc, char **argv)
{
	struct export_options mine = {FORMAT_NONE, NULL};
	struct symbolizer *symbolizer = NULL;
	struct source sources[2] = {{0}, {0}};
	struct read_options o;
	bool two;
	int status;

	read_options_init(&o);
	status = read_options_parse(&o, argc, argv, READ_STACKS | READ_FILTERS | READ_KIND, own,
				    &mine);
	two = o.nr_operands > 1;
	if (!status)
		status = need_operands(&o, two ? 2 : 1, argv[0], "TARGET");
	if (!status && o.json)
		status = say("export writes the format of another tool and has no --json; "
			     "'heapstory heap' and 'heapstory diff' have");
	if (!status && !mine.format)
		status = say("--format is missing: pprof or folded");
	if (!status && !mine.output)
		status = say("-o is missing: the file to write");
	if (status)
		goto out;
	symbolizer = symbolizer_for(&o);
	status = open_one(&sources[0], &o, o.operands[0], symbolizer, two);
	if (!status && two)
		status = open_one(&sources[1], &o, o.operands[1], symbolizer, two);
	if (!status)
		status = write_export(sources, two, &o, &mine);
out:
	source_close(&sources[0]);
	source_close(&sources[1]);
	symbolizer_free(symbolizer);
	read_options_release(&o);
	return status;
}

const struct command cmd_export = {
	.name = "export",
	.summary = "live bytes or growth by stack, for other tools",
	.usage = "TARGET [AFTER] --format pprof|folded -o FILE [options]",
	.options = "  --format FORMAT      pprof: for pprof and what reads its files\n"
		   "                       folded: a line a stack, for flame graphs\n"
		   "  -o FILE              where to; - is standard output\n" READ_HELP_KIND
			   READ_HELP_FILTERS READ_HELP_STACKS,
	.example = "heapstory export before.hs after.hs --format pprof -o growth.pb.gz\n"
		   "heapstory export server --format folded -o - | flamegraph.pl >live.svg\n",
	.run = run,
};
