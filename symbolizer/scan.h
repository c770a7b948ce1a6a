/* SPDX-License-Identifier: MIT */
/*
 * scan.h - the functions of a unit and what is inlined into them, by address.
 *
 * One pass over the unit's DIEs that decodes only subprograms and inlined subroutines; names are
 * left to whoever is asked for one.
 */
#ifndef HEAPSTORY_SYMBOLIZER_SCAN_H
#define HEAPSTORY_SYMBOLIZER_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/ranges.h"
#include "symbolizer/section.h"

struct abbrev_table;
struct dwarf_unit;
struct time_limit;

#define SCOPE_NONE UINT32_MAX

struct scope {
	uint64_t die;           /* its own, or if it is inlined that of the abstract function */
	uint32_t parent;        /* in scopes[]; SCOPE_NONE: it is outermost */
	uint32_t call_file, call_line; /* where it was inlined */
	uint32_t call_column : 30;
	uint32_t inlined : 1;
	uint32_t alt : 1;       /* die is in the file that .gnu_debugaltlink names */
};

/* A function, type or namespace, for the names of those in it. */
struct scope_place {
	uint64_t die;
	uint32_t parent;        /* in places[]; SCOPE_NONE: the unit */
	uint32_t tag;           /* DW_TAG_* */
};

struct scope_tree {
	struct scope *scopes;   /* parents before children */
	size_t nr, alloc;
	struct range_map map;   /* to the innermost scope of an address */
	struct scope_place *places; /* by die; only where they were asked for */
	size_t nr_places, alloc_places;
};

struct scan_source {
	struct bytes info;
	struct range_source ranges;
	const struct abbrev_table *abbrevs; /* of the unit */
	bool with_places;       /* costs more: no type is jumped over */
	size_t max_bytes;       /* of memory for one unit; what is beyond it is not read */
};

/* Of a damaged unit the part before the damage is kept. Returns false if it was damaged. */
bool scope_tree_init(struct scope_tree *tree, const struct scan_source *source,
		     const struct dwarf_unit *unit, struct time_limit *limit);
void scope_tree_release(struct scope_tree *tree);

/* Bytes of memory that it takes. */
size_t scope_tree_size(const struct scope_tree *tree);

/* Innermost scope that has the address; NULL: none. */
const struct scope *scope_tree_find(const struct scope_tree *tree, uint64_t address);

/* The place of a DIE in places[]; SCOPE_NONE: it is none. */
uint32_t scope_place_find(const struct scope_tree *tree, uint64_t die);

/* The scope that this one is in; NULL: none. */
const struct scope *scope_parent(const struct scope_tree *tree, const struct scope *scope);

#endif
