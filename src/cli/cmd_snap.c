/* SPDX-License-Identifier: MIT */
/*
 * cmd_snap.c - heapstory snap: write a snapshot, print its path.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/snapshot.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/read.h"
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
	const char **to = args_is(a, NULL, "-o") ? &o->output : args_is(a, "--label", NULL) ? &o->label : NULL;

	if (!to)
		return 0;
	*to = args_value(a);
	return *to ? 1 : -1;
}

/* Gives a file its name unless that is taken. 0, or -1 with errno. */
static int rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (link(from, to))
		return -1;
	return unlink(from);
}

/*
 * Writes the snapshot as the next free NNNN.hs of the folder. Another snap or the supervisor may
 * be after the same number: the name is taken only if nobody else has it.
 */
static int write_numbered(const struct snapshot *s, const char *dir, const char *label, char **ret_path,
			  struct hs_error *err)
{
	char *aside = xasprintf("%s/.snap.%d.tmp", dir, (int)getpid()), *path = NULL;
	int status = snapshot_write(s, aside, label, err);

	if (status) {
		/* the name of the file aside means nothing to anybody */
		hs_error_set(err, err->code, "cannot write a snapshot to '%s': %s", dir,
			     strrchr(err->text, ':') ? strrchr(err->text, ':') + 2 : err->text);
		goto out;
	}
	for (unsigned int nr = 1; nr; nr++) {
		path = xasprintf("%s/%04u.hs", dir, nr);
		if (!rename_new(aside, path))
			break;
		if (errno != EEXIST) {
			status = hs_error_system(err, "write", path);
			unlink(aside);
			break;
		}
		free(path);
		path = NULL;
	}
out:
	if (status) {
		free(path);
		path = NULL;
	}
	*ret_path = path;
	free(aside);
	return status;
}

static void print(const struct snapshot *s, const char *path, struct read_options *o)
{
	static const struct report_view view = { 0 };
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
	struct hs_error err = { 0 };
	char *path = NULL;
	char found[PATH_MAX];
	int status;

	status = target_find(target, found, sizeof(found), &err);
	if (!status)
		status = snapshot_open(found, &s, &err);
	if (status)
		goto out;
	if (mine->output) {
		path = xstrdup(mine->output);
		status = snapshot_write(s, path, mine->label, &err);
	} else {
		status = write_numbered(s, s->dir && *s->dir ? s->dir : ".", mine->label, &path, &err);
	}
	if (status)
		goto out;
	if (!s->coverage.consistent)
		say("warning: the program went on while the snapshot was taken; it is marked as inconsistent");
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
	struct snap_options mine = { NULL, NULL };
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
	.options =
		"  -o FILE              where to; else the next free NNNN.hs in the output folder of\n"
		"                       the program's run, or here if it has none\n"
		"  --label TEXT         a name that reports show\n"
		READ_HELP_JSON,
	.example = "heapstory snap 4242 --label 'before the import'\n",
	.run = run,
};
