/* SPDX-License-Identifier: MIT */
/*
 * cmd_snap.c - heapstory snap: write a snapshot, print its path.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/snapshot.h"
#include "cli/bake.h"
#include "cli/command.h"
#include "cli/numbered.h"
#include "cli/options.h"
#include "cli/read.h"
#include "cli/timeline.h"
#include "reports/rows.h"
#include "store/place.h"
#include "util/alloc.h"
#include "util/error.h"

struct snap_options {
	const char *output, *label;
};

static int own(void *context, struct args *a)
{
	struct snap_options *o = context;
	const char **to = args_is(a, NULL, "-o")	? &o->output
			  : args_is(a, "--label", NULL) ? &o->label
							: NULL;

	if (!to)
		return 0;
	*to = args_value(a);
	return *to ? 1 : -1;
}

/* Whether the snapshot lies in the output folder of the program's run, under the name at *ret. */
static bool in_output_folder(const struct snapshot *s, const char *path, const char **ret)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	struct stat a, b;
	bool same = s->dir && *s->dir && !stat(s->dir, &a) && !stat(folder, &b) &&
		    a.st_dev == b.st_dev && a.st_ino == b.st_ino;

	free(folder);
	*ret = slash ? slash + 1 : path;
	return same;
}

/* Adds the snapshot of a running program to the timeline of its run, if that keeps one. */
static void note_in_timeline(const struct snapshot *s, const char *path)
{
	struct hs_error err = {0};
	struct timeline *timeline;
	const char *name;
	char *file;

	if (s->source != SNAPSHOT_LIVE_STORE || !in_output_folder(s, path, &name))
		return;
	file = xasprintf("%s/timeline", s->dir);
	timeline = timeline_new(file, 0);
	if (!access(file, F_OK) && timeline_add(timeline, s, name, &err))
		say("warning: %s", err.text);
	timeline_free(timeline);
	free(file);
}

static void print(const struct snapshot *s, const char *path, struct read_options *o)
{
	static const struct report_view view = {0};
	struct report_style style = style_for(o);
	struct report report;
	json_t *totals;

	if (!o->json) {
		puts(path);
		return;
	}
	totals = json_object();
	json_object_set_new(totals, "path", report_string(path));
	json_object_set_new(totals, "consistent", json_boolean(s->coverage.consistent));
	json_object_set_new(totals, "in_doubt", json_integer((json_int_t)s->coverage.in_doubt));
	report_begin(&report, &style, "snap", &view, rows_target(s), rows_coverage(s), totals);
	report_end(&report, 0);
}

static int snap(const char *target, const struct snap_options *mine, struct read_options *o)
{
	struct snapshot *s = NULL;
	struct hs_error err = {0};
	char *path = NULL;
	char found[PATH_MAX];
	int status;

	status = target_find(target, found, sizeof(found), &err);
	if (!status)
		status = snapshot_open(found, &s, &err);
	if (status)
		goto out;
	bake_fleeting(s, NULL);
	if (mine->output) {
		path = xstrdup(mine->output);
		status = snapshot_write(s, path, mine->label, &err);
	} else {
		const char *dir = s->dir && *s->dir ? s->dir : ".";
		char name[NUMBERED_NAME_LEN];
		uint32_t number;

		status = numbered_write(s, dir, mine->label, 0, &number, &err);
		if (!status)
			path = xasprintf("%s%s%s", strcmp(dir, ".") ? dir : "",
					 strcmp(dir, ".") ? "/" : "", numbered_name(number, name));
	}
	if (status)
		goto out;
	note_in_timeline(s, path);
	if (!s->coverage.consistent)
		say("warning: the program went on while the snapshot was taken; it is marked as "
		    "inconsistent");
	print(s, path, o);
out:
	if (status)
		say_error(&err);
	snapshot_free(s);
	free(path);
	return status ? EXIT_TROUBLE : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct snap_options mine = {NULL, NULL};
	struct read_options o;
	int status;

	read_options_init(&o);
	status = read_options_parse(&o, argc, argv, 0, own, &mine);
	if (!status)
		status = need_operands(&o, 1, argv[0], "TARGET");
	if (!status)
		status = snap(o.operands[0], &mine, &o);
	read_options_release(&o);
	return status;
}

const struct command cmd_snap = {
	.name = "snap",
	.summary = "write a snapshot, print its path",
	.usage = "TARGET [-o FILE] [--label TEXT]",
	.options = "  -o FILE              where to; else the next free NNNN.hs in the output\n"
		   "                       folder of the program's run, or here if it has none\n"
		   "  --label TEXT         a name that reports show\n" READ_HELP_JSON,
	.example = "heapstory snap 4242 --label 'before the import'\n",
	.run = run,
};
