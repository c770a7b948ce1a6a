/* SPDX-License-Identifier: MIT */
/*
 * bake.h - puts names into a snapshot, so that it can be read where they cannot be found.
 */
#ifndef HEAPSTORY_CLI_BAKE_H
#define HEAPSTORY_CLI_BAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct held_files;
struct snapshot;
struct symbolizer;

/*
 * Names of code that the program made at run time, from its perf map file as it is now. Nothing
 * happens with a snapshot that was read from a file: that one has them already, or never will.
 */
void bake_jit(struct snapshot *snapshot);

/*
 * What is only to be had now, for a snapshot that is about to be written: names of code made at
 * run time, and of modules whose file was deleted or replaced. A running program has these mapped;
 * of one that is gone they are found in the files that were held (NULL: none).
 */
void bake_fleeting(struct snapshot *snapshot, const struct held_files *held);

/*
 * In a snapshot of an older version all names may be raw; makes them the raw ones beside those that
 * people read, by which everything is judged.
 */
void bake_demangle(struct snapshot *snapshot);

struct bake_result {
	size_t nr_places, nr_named; /* places in code that stacks go through, and those with names */
	size_t nr_modules, nr_modules_named;
};

/* All names that the symbolizer can find. Names that the snapshot has stay where there are none. */
void bake_all(struct snapshot *snapshot, struct symbolizer *symbolizer, struct bake_result *ret);

#endif
