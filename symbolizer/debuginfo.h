/* SPDX-License-Identifier: MIT */
/*
 * debuginfo.h - the DWARF of one module: from an address to the functions and lines that are there.
 *
 * Only units that are asked for are read. What was read of a unit stays until all units together
 * take too much memory; then those that were not used for the longest time are dropped.
 */
#ifndef HEAPSTORY_SYMBOLIZER_DEBUGINFO_H
#define HEAPSTORY_SYMBOLIZER_DEBUGINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/diename.h"

struct debug_dirs;
struct elf_file;
struct loaded_unit;
struct strings;

/* What is read of units, of all modules of a symbolizer. All zero but `max` at the start. */
struct unit_cache {
	struct loaded_unit *units;      /* the latest used first */
	size_t bytes, max;              /* max: beyond it the oldest are dropped */
};

struct debuginfo;

/* What stands at an address. */
struct debug_frame {
	struct die_place function;      /* source NULL: unknown */
	bool rust, cplusplus;           /* the language of its unit */
	const char *path;               /* of the source file; in `strings`, or NULL */
	uint32_t line, column;          /* 0: unknown */
	bool inlined;
};

/*
 * Opens the DWARF in elf; NULL: it has none. `path` is the module's, near which .dwo files are
 * looked for. All arguments are kept and outlive the result.
 */
struct debuginfo *debuginfo_open(struct elf_file *elf, const char *path,
				 const struct debug_dirs *dirs, struct unit_cache *cache,
				 struct strings *strings);
void debuginfo_close(struct debuginfo *info);

/* Whether elf has DWARF, as far as its section headers say. */
bool debuginfo_in(struct elf_file *elf);

/*
 * Frames at an address, innermost first; returns how many (0: it is in no unit) and sets *ret,
 * which lives until the next call.
 */
size_t debuginfo_lookup(struct debuginfo *info, uint64_t address, const struct debug_frame **ret);

/*
 * The function at a DIE in its scopes: "a::B<int>::f"; NULL: it has no name. Reads its unit.
 * Caller frees.
 */
char *debuginfo_scope_name(struct debuginfo *info, const struct die_names *names);

/*
 * Why the file that this one shares with others (alt_file_open()) is missing, where it is, so that
 * some names are: one line, or NULL.
 */
const char *debuginfo_alt_problem(const struct debuginfo *info);

/* Whether reading was given up because it took too long: lines and inlined frames are missing. */
bool debuginfo_timed_out(const struct debuginfo *info);

/* A .dwo file that was looked for in vain: its unit's inlined frames are missing; NULL: none. */
const char *debuginfo_lost_split(const struct debuginfo *info);

/* Whether .dwo files were looked for: what was found depends on files that may come and go. */
bool debuginfo_is_split(const struct debuginfo *info);

/* The CPU time that may be spent on one module from now on, in place of the usual one. */
void debuginfo_set_limit(struct debuginfo *info, uint64_t cpu_ns);

#endif
