/* SPDX-License-Identifier: MIT */
/*
 * read.c - opening of targets, and what the reading commands have in common; see read.h.
 */
#include "cli/read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "cli/bake.h"
#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "reports/rows.h"
#include "store/place.h"
#include "symbolizer/symbolizer.h"
#include "util/alloc.h"
#include "util/error.h"

typedef int (*snapshot_opener)(const char *path, struct snapshot **ret, struct hs_error *err);

static void find_names(struct source *source, const struct read_options *options,
		       struct symbolizer *symbolizer)
{
	bake_demangle(source->snapshot);
	source->lookup = lookup_new(source->snapshot, symbolizer);
	source->names = names_new(source->snapshot, lookup_names, source->lookup);
	source->raw_names = options->raw_names;
	if (source->raw_names)
		names_show_raw(source->names);
	names_use_vtables(source->names, lookup_vtable);
}

void source_name(struct source *source, const struct read_options *options,
		 struct snapshot *snapshot, struct symbolizer *symbolizer)
{
	memset(source, 0, sizeof(*source));
	source->snapshot = snapshot;
	source->borrowed = true;
	find_names(source, options, symbolizer);
}

static int open_by(struct source *source, const struct read_options *options, const char *target,
		   struct symbolizer *symbolizer, snapshot_opener opener)
{
	struct hs_error err = {0};
	char path[PATH_MAX];

	memset(source, 0, sizeof(*source));
	progress_start();
	if (target_find(target, path, sizeof(path), &err) || opener(path, &source->snapshot, &err))
		return say_error(&err);
	bake_jit(source->snapshot);
	find_names(source, options, symbolizer);
	return 0;
}

int source_open(struct source *source, const struct read_options *options, const char *target,
		struct symbolizer *symbolizer)
{
	return open_by(source, options, target, symbolizer, snapshot_open);
}

int source_open_to_stream(struct source *source, const struct read_options *options,
			  const char *target, struct symbolizer *symbolizer)
{
	int status;

	if (options->kind == KIND_MALLOC)
		return open_by(source, options, target, symbolizer, snapshot_open_to_stream);
	status = source_open(source, options, target, symbolizer);
	source_choose(source, options->kind);
	return status;
}

void source_choose(struct source *source, enum block_kind kind)
{
	if (source->snapshot)
		kind_choose(source->snapshot, kind);
}

void source_close(struct source *source)
{
	names_free(source->names);
	if (!source->borrowed)
		snapshot_free(source->snapshot);
	lookup_free(source->lookup);
	memset(source, 0, sizeof(*source));
}

/*
 * The store of a program that has ended is read with the files of today; the snapshot that was taken
 * at its end may have names that these have no more.
 */
static void note_exit_snapshot(const struct snapshot *s, json_t *coverage)
{
	const char *slash = s->path ? strrchr(s->path, '/') : NULL;
	struct snapshot *other;
	char *path;

	if (s->source != SNAPSHOT_DEAD_STORE)
		return;
	path = xasprintf("%.*sexit.hs", slash ? (int)(slash - s->path) + 1 : 0, s->path);
	if (!access(path, R_OK) && !snapshot_open_to_stream(path, &other, NULL)) {
		if (other->names && !memcmp(other->image, s->image, sizeof(s->image)))
			rows_add_note(coverage, "'%s' was taken at the end and has names", path);
		snapshot_free(other);
	}
	free(path);
}

void source_note_names(struct source *source, json_t *coverage)
{
	const struct snapshot *s = source->snapshot;
	bool *seen = xcalloc(s->nr_modules + 1, sizeof(*seen)), missing = false;

	for (size_t i = 1; i < s->nr_nodes; i++) {
		uint32_t module = s->nodes[i].module;
		const struct frame *frames;
		const char *problem;

		if (!module || seen[module] || !names_node(source->names, (uint32_t)i, &frames))
			continue;
		seen[module] = true;
		if (frames[0].runtime)
			continue;
		problem = lookup_problem(source->lookup, module);
		if (problem)
			rows_add_note(coverage, "%s", problem);
		missing = missing || problem;
	}
	if (missing)
		note_exit_snapshot(s, coverage);
	if (source->raw_names && s->names && s->names->lacks_raw && s->names->nr_places)
		rows_add_note(coverage, "names that are in the snapshot are not raw: an older "
					"heapstory put them there");
	free(seen);
}

void source_note_classes(struct source *source, json_t *coverage, const char *when)
{
	const struct snapshot *s = source->snapshot;
	bool cplusplus = false;

	/* what C and Rust allocate has no vtable pointer */
	for (size_t i = 1; i < s->nr_modules; i++) {
		const char *name = path_basename(s->modules[i].path);

		cplusplus = cplusplus || !strncmp(name, "libstdc++", 9) ||
			    !strncmp(name, "libc++", 6);
	}
	if (!s->class_words && cplusplus) {
		bool now = s->source == SNAPSHOT_LIVE_STORE;

		if (!when)
			when = now ? "" : " when the snapshot was made";
		rows_add_note(coverage,
			      "classes from stacks only: the objects could not be looked at%s",
			      when);
	}
}

json_t *source_coverage(struct source *source, bool names)
{
	json_t *coverage = rows_coverage(source->snapshot);

	if (names)
		source_note_names(source, coverage);
	return coverage;
}

struct symbolizer *symbolizer_for(const struct read_options *options)
{
	struct symbolizer_options o = {
		.debug_dirs = options->debug_dirs,
		.nr_debug_dirs = options->nr_debug_dirs,
		.debuginfod = options->debuginfod,
	};

	return symbolizer_new(&o);
}

struct report_style style_for(const struct read_options *options)
{
	struct report_style style = {
		.out = stdout, .json = options->json, .all_frames = options->all_frames};
	const char *columns = getenv("COLUMNS"), *no_colour = getenv("NO_COLOR");
	bool terminal = isatty(STDOUT_FILENO);
	struct winsize size;

	style.colour = terminal && !(no_colour && *no_colour);
	if (columns && atoi(columns) > 0)
		style.width = (unsigned int)atoi(columns);
	else if (terminal)
		style.width =
			!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
	return style;
}

char *nothing_passes(const struct read_options *o, struct names *const *sides, size_t nr_sides)
{
	char *text = filter_explain(&o->filter, sides, nr_sides);

	if (o->json)
		say("%s", text);
	return text;
}

int need_operands(const struct read_options *o, size_t nr, const char *command, const char *what)
{
	if (o->nr_operands < nr)
		return say("%s is missing; 'heapstory %s --help' shows how it is used", what,
			   command);
	if (o->nr_operands > nr)
		return say("'%s' is one argument too many; 'heapstory %s --help' shows how it is "
			   "used",
			   o->operands[nr], command);
	return 0;
}

int read_command(int argc, char **argv, size_t nr, const char *what,
		 int (*action)(const struct read_options *options))
{
	struct read_options o;
	int status;

	read_options_init(&o);
	status = read_options_parse(&o, argc, argv, 0, NULL, NULL);
	if (!status)
		status = need_operands(&o, nr, argv[0], what);
	if (!status)
		status = action(&o);
	read_options_release(&o);
	return status;
}
