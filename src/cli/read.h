/* SPDX-License-Identifier: MIT */
/*
 * read.h - what the reading commands do alike: open targets, find names, begin a report.
 */
#ifndef HEAPSTORY_CLI_READ_H
#define HEAPSTORY_CLI_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/kind.h"
#include "reports/report.h"

struct names;
struct read_options;
struct snapshot;
struct symbolizer;

/* A snapshot with its names. */
struct source {
	struct snapshot *snapshot;
	struct names *names;
	struct lookup *lookup;
	bool borrowed; /* the snapshot is someone else's */
	bool raw_names; /* are shown */
};

/* Opens a TARGET. 0, or EXIT_TROUBLE and said. symbolizer must outlive the source. */
int source_open(struct source *source, const struct read_options *options, const char *target,
		struct symbolizer *symbolizer);
/*
 * Opens a TARGET for its blocks of options->kind. Those of malloc, of which there may be very many,
 * stay in the file: see snapshot_open_to_stream().
 */
int source_open_to_stream(struct source *source, const struct read_options *options,
			  const char *target, struct symbolizer *symbolizer);
/* Names for a snapshot that is there already; it stays the caller's, and has to outlive them. */
void source_name(struct source *source, const struct read_options *options,
		 struct snapshot *snapshot, struct symbolizer *symbolizer);
/* The report is about blocks of this kind; before the names of stacks are asked for. */
void source_choose(struct source *source, enum block_kind kind);
/* Coverage of the report on a source: a new reference. names: tell also which modules have none. */
json_t *source_coverage(struct source *source, bool names);
/* Adds to a coverage a note for each module of the program's own that has no names. */
void source_note_names(struct source *source, json_t *coverage);
/*
 * Adds a note where objects could not be looked at, so that classes come from stacks only. when: the
 * end of that line; NULL: it goes without saying.
 */
void source_note_classes(struct source *source, json_t *coverage, const char *when);
/* Harmless on one that is all zero. */
void source_close(struct source *source);

/* A symbolizer as the options want it; symbolizer_free() takes it back. */
struct symbolizer *symbolizer_for(const struct read_options *options);

/*
 * The whole of a command that takes `nr` operands (called `what`) and no options but --json: parses
 * the words, then calls action. The exit status.
 */
int read_command(int argc, char **argv, size_t nr, const char *what,
		 int (*action)(const struct read_options *options));

/*
 * One line why no block of any of these snapshots passes the filter, for a view's `empty`; for the
 * caller to free. JSON has no place for it: there it goes to standard error.
 */
char *nothing_passes(const struct read_options *options, struct names *const *sides, size_t nr_sides);

/* Standard output, its width and its colours. */
struct report_style style_for(const struct read_options *options);

/* "one TARGET is needed": checks the number of operands. 0, or EXIT_TROUBLE and said. */
int need_operands(const struct read_options *options, size_t nr, const char *command,
		  const char *what);

#endif
