/* SPDX-License-Identifier: MIT */
/*
 * debuginfo_internal.h - between look-ups (debuginfo.c) and what is read of units for them
 * (debuginfo_units.c).
 */
#ifndef HEAPSTORY_SYMBOLIZER_DEBUGINFO_INTERNAL_H
#define HEAPSTORY_SYMBOLIZER_DEBUGINFO_INTERNAL_H

#include "symbolizer/abbrev.h"
#include "symbolizer/debuginfo.h"
#include "symbolizer/diename.h"
#include "symbolizer/elf.h"
#include "symbolizer/lines.h"
#include "symbolizer/ranges.h"
#include "symbolizer/scan.h"
#include "symbolizer/section.h"
#include "symbolizer/timelimit.h"

struct dwarf_file;

#define UNIT_BYTES_MAX ((size_t)56 << 20)   /* of scopes, and of lines; a real unit takes 1 MB */

/* A file with units: the module's, the one its .gnu_debugaltlink names, or a .dwo. */
struct source {
	struct elf_file *elf;
	struct elf_file own;            /* elf, where it was opened here */
	struct dwarf_sections sections;
	struct dwarf_file *file;
	struct dwarf_unit *units;       /* by offset */
	struct loaded_unit **loaded;    /* by unit; NULL: not read */
	size_t nr_units;
	struct die_source dies;
	struct abbrev_table abbrevs;    /* the last one that was used */
};

/* The unit that a skeleton stands for. */
struct split_unit {
	struct source *source;          /* NULL: none was found */
	size_t nr;                      /* in source->units */
	bool looked_for;
};

struct debuginfo {
	const char *path;
	const struct debug_dirs *dirs;
	struct unit_cache *cache;
	struct strings *strings;
	struct time_limit limit;
	struct source main, alt;
	char *alt_problem;              /* why there is no alt, where there should be one; or NULL */
	struct range_map units;         /* owner: nr_units - 1 - number, so that the first wins */
	struct split_unit *splits;      /* by unit of main */
	struct source **split_sources;  /* .dwo files, and the package if there is one */
	size_t nr_split_sources, alloc_split_sources;
	struct source *package;         /* one of them, or NULL */
	bool looked_for_package;
	const char *lost_split;         /* name of a .dwo file that was not found, or NULL */
	struct debug_frame *frames;     /* of the last look-up */
	size_t nr_frames, alloc_frames;
};

/* What was read of a unit. */
struct loaded_unit {
	struct source *source;
	size_t nr;                      /* in source->units */
	struct scope_tree tree;
	struct line_table lines;
	const char **paths;             /* by file number, in strings; NULL: not made */
	size_t nr_paths;
	bool has_tree, has_places, has_lines;
	size_t bytes;
	struct loaded_unit *prev, *next;
};

/* Where the ranges of the source's units stand. */
struct range_source debuginfo_ranges(struct debuginfo *info, struct source *source);

/*
 * Reads the functions of a unit, if that is not done yet; with all that names of functions need if
 * places is set. The result stays until unit_cache_trim() or the end.
 */
struct loaded_unit *debuginfo_load_tree(struct debuginfo *info, struct source *source, size_t nr,
					bool places);

/* The same for its lines. */
struct loaded_unit *debuginfo_load_lines(struct debuginfo *info, struct source *source, size_t nr);

/* Path of a file of the unit's lines; NULL: unknown. */
const char *debuginfo_path(struct debuginfo *info, struct loaded_unit *unit, uint32_t file);

/* Drops what was not used for the longest time. Between look-ups: one may use several units. */
void unit_cache_trim(struct unit_cache *cache);

/* Drops all that is kept of a source's units. */
void unit_cache_forget(struct unit_cache *cache, struct source *source);

#endif
