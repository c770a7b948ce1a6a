/* SPDX-License-Identifier: MIT */
/*
 * diename.h - the names of functions and scopes, by the places of their DIEs.
 *
 * Read here and not by libdwarf: it looks for the unit of a DIE from the first one on, and makes
 * objects of each DIE and attribute. In libc, with 2063 units, that was a sixth of all time.
 */
#ifndef HEAPSTORY_SYMBOLIZER_DIENAME_H
#define HEAPSTORY_SYMBOLIZER_DIENAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/dwarf_unit.h"

struct die_abbrevs;
struct dwarf_sections;
struct time_limit;

/* The DIEs of a file. */
struct die_source {
	struct dwarf_sections *sections;
	const struct dwarf_unit *units; /* by offset */
	size_t nr_units;
	struct time_limit *limit;       /* for what is read of each unit once */
	struct die_source *alt;         /* of .gnu_debugaltlink; NULL: there is none */
	struct die_abbrevs *abbrevs;    /* of the units that were asked for a name */
	size_t abbrev_bytes;            /* that they take */
};

/* A DIE: the key of what is known of it, so there is no padding in it. */
struct die_place {
	struct die_source *source;      /* NULL: none */
	uint64_t die;                   /* in its .debug_info */
};

/* Names of a function. Strings live as long as the sections of their file. */
struct die_names {
	const char *linkage;            /* NULL: it has none */
	const char *name;               /* without scopes; NULL: it has none */
	struct die_place declared;      /* the DIE whose parents are its scopes */
};

/* Only what is kept of abbreviations is its own. */
void die_source_release(struct die_source *source);

/* Number of the unit that has the DIE; nr_units: none. */
size_t die_source_unit(const struct die_source *source, uint64_t die);

/*
 * The names of the function at a DIE, by way of abstract_origin and specification. False where
 * there is no such DIE.
 */
bool die_function_names(struct die_place place, struct die_names *ret);

/* DW_AT_language of a unit's first DIE; 0: unknown. */
uint64_t die_language(struct die_place place);

/* DW_AT_name of a DIE, or NULL. */
const char *die_name(struct die_place place);

#endif
