/* SPDX-License-Identifier: MIT */
/*
 * abbrev.h - the abbreviations of a unit, decoded once, with what a reader needs to skip a DIE.
 */
#ifndef HEAPSTORY_SYMBOLIZER_ABBREV_H
#define HEAPSTORY_SYMBOLIZER_ABBREV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/dwarf_unit.h"
#include "symbolizer/section.h"

struct abbrev_attribute {
	uint16_t attribute, form;       /* DW_AT_*, DW_FORM_* */
	int32_t size;                   /* bytes of the value; -1: differs */
	int64_t implicit;               /* the value, if form is DW_FORM_implicit_const */
};

struct abbrev {
	uint64_t code;
	uint32_t tag;                   /* DW_TAG_* */
	uint32_t first, nr;             /* in attributes[] */
	int32_t size;                   /* bytes of all values; -1: differs */
	bool children;
	bool sibling;                   /* has DW_AT_sibling */
};

/* For units of one format that have one table. */
struct abbrev_table {
	uint64_t offset;                /* in .debug_abbrev */
	struct dwarf_format format;
	struct abbrev *abbrevs;         /* by code */
	size_t nr, alloc;
	struct abbrev_attribute *attributes;
	size_t nr_attributes, alloc_attributes;
	bool dense;                     /* abbrevs[i].code == i + 1 */
};

/* False where it is damaged: table is empty then. */
bool abbrev_table_init(struct abbrev_table *table, struct bytes section, uint64_t offset,
		       struct dwarf_format format);
void abbrev_table_release(struct abbrev_table *table);

/* NULL: no such code. */
const struct abbrev *abbrev_find_slow(const struct abbrev_table *table, uint64_t code);

/*
 * Where each abbreviation of a table stands: eight bytes each, so that those of all units can be
 * kept, for whoever reads a DIE here and there.
 */
struct abbrev_place {
	uint32_t code, at;              /* at: of its tag, from the table's start */
};

struct abbrev_index {
	struct abbrev_place *places;    /* by code */
	size_t nr, alloc;
};

/* Of a damaged table the part before the damage. */
void abbrev_index_init(struct abbrev_index *index, struct bytes section, uint64_t offset);
void abbrev_index_release(struct abbrev_index *index);

/* Place of a code in places[]; NULL: there is none. */
const struct abbrev_place *abbrev_index_find(const struct abbrev_index *index, uint64_t code);

static inline const struct abbrev *abbrev_find(const struct abbrev_table *table, uint64_t code)
{
	if (table->dense)
		return code - 1 < table->nr ? &table->abbrevs[code - 1] : NULL;
	return abbrev_find_slow(table, code);
}

#endif
