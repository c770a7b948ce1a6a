/* SPDX-License-Identifier: MIT */
/*
 * cmd_symbolize.c - heapstory symbolize: put the names into a snapshot, to read it elsewhere.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/snapshot.h"
#include "cli/bake.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/read.h"
#include "reports/rows.h"
#include "symbolizer/symbolizer.h"
#include "util/error.h"

static int own(void *context, struct args *a)
{
	const char **output = context;

	if (!args_is(a, NULL, "-o"))
		return 0;
	*output = args_value(a);
	return *output ? 1 : -1;
}

static void print(struct source *src, const char *path, const struct bake_result *result,
		  const struct read_options *o)
{
	static const struct report_view view = {0};
	struct report_style style = style_for(o);
	json_t *coverage, *totals, *note;
	struct report report;
	size_t i;

	if (!o->json) {
		coverage = json_pack("{s:[]}", "notes");
		source_note_names(src, coverage);
		printf("%s: names of %zu of %zu places in code, of %zu of %zu modules\n", path,
		       result->nr_named, result->nr_places, result->nr_modules_named,
		       result->nr_modules);
		json_array_foreach(json_object_get(coverage, "notes"), i, note)
			say("%s", json_string_value(note));
		json_decref(coverage);
		return;
	}
	totals = json_pack("{s:o,s:I,s:I,s:I,s:I}", "path", report_string(path), "places",
			   (json_int_t)result->nr_places, "named", (json_int_t)result->nr_named,
			   "modules", (json_int_t)result->nr_modules, "modules_named",
			   (json_int_t)result->nr_modules_named);
	report_begin(&report, &style, "symbolize", &view, rows_target(src->snapshot),
		     source_coverage(src, true), totals);
	report_end(&report, 0);
}

static int symbolize(struct source *src, struct symbolizer *symbolizer, const char *output,
		     const struct read_options *o)
{
	struct snapshot *s = src->snapshot;
	struct hs_error err = {0};
	struct bake_result result;

	if (s->source != SNAPSHOT_FILE)
		return say("'%s' is no snapshot file; 'heapstory snap' makes one", s->path);
	if (s->foreign_chunks)
		return say("'%s' has chunks of a newer heapstory, which would be lost", s->path);
	bake_all(s, symbolizer, &result);
	progress_stop();
	if (snapshot_write(s, output ? output : s->path, NULL, &err))
		return say_error(&err);
	print(src, output ? output : s->path, &result, o);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct symbolizer *symbolizer = NULL;
	struct source source = {0};
	const char *output = NULL;
	struct read_options o;
	int status;

	read_options_init(&o);
	status = read_options_parse(&o, argc, argv, READ_FILES, own, &output);
	if (!status)
		status = need_operands(&o, 1, argv[0], "FILE");
	if (status)
		goto out;
	symbolizer = symbolizer_for(&o);
	status = source_open(&source, &o, o.operands[0], symbolizer);
	if (!status)
		status = symbolize(&source, symbolizer, output, &o);
out:
	source_close(&source);
	symbolizer_free(symbolizer);
	read_options_release(&o);
	return status;
}

const struct command cmd_symbolize = {
	.name = "symbolize",
	.summary = "put the names into a snapshot, to read it elsewhere",
	.usage = "FILE [-o FILE] [--debug-dir DIR]...",
	.options =
		"  -o FILE              write another file; FILE stays as it is\n"
		READ_HELP_FILES READ_HELP_JSON,
	.example = "heapstory symbolize exit.hs --debug-dir ~/debug\n",
	.run = run,
};
