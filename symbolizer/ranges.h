/* SPDX-License-Identifier: MIT */
/*
 * ranges.h - address ranges of units and functions, and the one that has an address.
 */
#ifndef HEAPSTORY_SYMBOLIZER_RANGES_H
#define HEAPSTORY_SYMBOLIZER_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/dwarf_unit.h"
#include "symbolizer/form.h"
#include "symbolizer/section.h"

struct range {
	uint64_t start, end;            /* [start, end) */
	uint32_t owner;
};

/* A list that is added to; all zero is an empty one. */
struct ranges {
	struct range *all;
	size_t nr, alloc;
	size_t max;                     /* more are not taken: damaged; 0: no limit */
};

void ranges_release(struct ranges *ranges);
void ranges_add(struct ranges *ranges, uint64_t start, uint64_t end, uint32_t owner);

/* Where the ranges and addresses of a unit stand. For a split unit addr is the executable's. */
struct range_source {
	struct bytes ranges, rnglists, addr;
	bool split;                     /* no rnglists_base: the offsets follow the first header */
};

/* An address in .debug_addr; false where there is none. */
bool range_address(const struct range_source *source, const struct dwarf_unit *unit,
		   uint64_t index, uint64_t *ret);

/*
 * Adds the ranges that a value of DW_AT_ranges refers to. What was discarded by the linker (starts
 * at 0 or 1, or at the end of all addresses) is left out. Of a damaged list the part before the
 * damage is taken.
 */
void ranges_read(struct ranges *ranges, const struct range_source *source,
		 const struct dwarf_unit *unit, struct form_value value, uint32_t owner);

#define RANGE_NOBODY UINT32_MAX

/* The address space in pieces: owners[i] has it from starts[i] to the next start. */
struct range_map {
	uint64_t *starts;               /* ascending */
	uint32_t *owners;               /* RANGE_NOBODY: a gap */
	size_t nr, alloc;
};

#define RANGE_PIECE_BYTES (sizeof(uint64_t) + sizeof(uint32_t))

/*
 * Lays the ranges out flat: where several have an address, the highest owner gets it. Sorts
 * ranges. O(n log n).
 */
void range_map_init(struct range_map *map, struct ranges *ranges);
void range_map_release(struct range_map *map);

/* RANGE_NOBODY: nobody has it. */
uint32_t range_map_find(const struct range_map *map, uint64_t address);

#endif
