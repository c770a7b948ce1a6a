/* SPDX-License-Identifier: MIT */
/*
 * ranges.c - address ranges of units and functions; see ranges.h.
 *
 * Offline only. DWARF 5, sections 2.17.3 and 7.25; DWARF 4, section 2.17.3.
 */
#include "symbolizer/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/dwarf_cursor.h"
#include "symbolizer/dwarf_names.h"
#include "util/alloc.h"

void ranges_release(struct ranges *ranges)
{
	free(ranges->all);
	memset(ranges, 0, sizeof(*ranges));
}

void ranges_add(struct ranges *ranges, uint64_t start, uint64_t end, uint32_t owner)
{
	/* 0 and 1 are what linkers put in place of code that they left out. */
	if (start >= end || start <= 1 || (ranges->max && ranges->nr >= ranges->max))
		return;
	ranges->all = xgrow(ranges->all, &ranges->alloc, ranges->nr + 1, sizeof(*ranges->all));
	ranges->all[ranges->nr++] = (struct range){ start, end, owner };
}

/* Addresses that stand for "none": the end of all addresses and what lies just before it. */
static bool is_tombstone(uint64_t address, const struct dwarf_unit *unit)
{
	uint64_t last = unit->format.address_size == 4 ? UINT32_MAX : UINT64_MAX;

	return address >= last - 1;
}

bool range_address(const struct range_source *source, const struct dwarf_unit *unit,
		   uint64_t index, uint64_t *ret)
{
	uint64_t base = unit->addr_base == DWARF_NONE ? 0 : unit->addr_base;
	struct dwarf_cursor c = dwarf_cursor_at(source->addr, base);

	if (index > SIZE_MAX / 8)
		return false;
	dwarf_skip(&c, index * unit->format.address_size);
	*ret = dwarf_fixed(&c, unit->format.address_size);
	return !c.bad;
}

/* DWARF 2 to 4: pairs of addresses from a base; all ones and an address: a new base. */
static void read_ranges(struct ranges *ranges, const struct range_source *source,
			const struct dwarf_unit *unit, uint64_t offset, uint32_t owner)
{
	uint64_t base = unit->low_pc == DWARF_NONE ? 0 : unit->low_pc;
	uint8_t size = unit->format.address_size;
	uint64_t highest = size == 4 ? UINT32_MAX : UINT64_MAX;
	struct dwarf_cursor c = dwarf_cursor_at(source->ranges, offset);

	while (!c.bad && (!ranges->max || ranges->nr < ranges->max)) {
		uint64_t start = dwarf_fixed(&c, size), end = dwarf_fixed(&c, size);

		if (c.bad || (!start && !end))
			return;
		if (start == highest)
			base = end;
		else if (!is_tombstone(base, unit) && !is_tombstone(start, unit))
			ranges_add(ranges, base + start, base + end, owner);
	}
}

/* Reads one entry of a .debug_rnglists list; false at its end. */
static bool read_entry(struct dwarf_cursor *c, const struct range_source *source,
		       const struct dwarf_unit *unit, uint64_t *base, struct range *ret)
{
	uint8_t size = unit->format.address_size, kind = dwarf_u8(c);
	uint64_t start = 0, end = 0;
	bool is_range = true, known = true;

	switch (kind) {
	case DW_RLE_base_addressx:
		if (!range_address(source, unit, dwarf_uleb(c), base))
			*base = 0;
		is_range = false;
		break;
	case DW_RLE_base_address:
		*base = dwarf_fixed(c, size);
		is_range = false;
		break;
	case DW_RLE_startx_endx:
		known = range_address(source, unit, dwarf_uleb(c), &start);
		known &= range_address(source, unit, dwarf_uleb(c), &end);
		break;
	case DW_RLE_startx_length:
		known = range_address(source, unit, dwarf_uleb(c), &start);
		end = start + dwarf_uleb(c);
		break;
	case DW_RLE_offset_pair:
		start = *base + dwarf_uleb(c);
		end = *base + dwarf_uleb(c);
		known = !is_tombstone(*base, unit);
		break;
	case DW_RLE_start_end:
		start = dwarf_fixed(c, size);
		end = dwarf_fixed(c, size);
		break;
	case DW_RLE_start_length:
		start = dwarf_fixed(c, size);
		end = start + dwarf_uleb(c);
		break;
	default: /* DW_RLE_end_of_list, or a kind of which the length is not known */
		return false;
	}
	if (c->bad)
		return false;
	*ret = (struct range){ 0, 0, 0 };
	if (is_range && known && !is_tombstone(start, unit))
		*ret = (struct range){ start, end, 0 };
	return true;
}

static void read_rnglist(struct ranges *ranges, const struct range_source *source,
			 const struct dwarf_unit *unit, uint64_t offset, uint32_t owner)
{
	uint64_t base = unit->low_pc == DWARF_NONE ? 0 : unit->low_pc;
	struct dwarf_cursor c = dwarf_cursor_at(source->rnglists, offset);
	struct range entry;

	while (!c.bad && (!ranges->max || ranges->nr < ranges->max) &&
	       read_entry(&c, source, unit, &base, &entry))
		ranges_add(ranges, entry.start, entry.end, owner);
}

/*
 * Place of list number `index`: offsets stand at the unit's base, relative to it. A split unit has
 * no base: they follow the one header of its section (of 12 bytes, or 20 with 64-bit offsets).
 */
static bool rnglist_offset(const struct range_source *source, const struct dwarf_unit *unit,
			   uint64_t index, uint64_t *ret)
{
	uint8_t size = unit->format.offset_size;
	uint64_t base = unit->rnglists_base;
	struct dwarf_cursor c;

	if (base == DWARF_NONE) {
		if (!source->split)
			return false;
		base = size == 8 ? 20 : 12;
	}
	c = dwarf_cursor_at(source->rnglists, base);
	if (index > SIZE_MAX / 8)
		return false;
	dwarf_skip(&c, index * size);
	*ret = base + dwarf_fixed(&c, size);
	return !c.bad;
}

void ranges_read(struct ranges *ranges, const struct range_source *source,
		 const struct dwarf_unit *unit, struct form_value value, uint32_t owner)
{
	uint64_t offset = value.value;

	if (value.kind == FORM_RANGES_INDEX) {
		if (rnglist_offset(source, unit, value.value, &offset))
			read_rnglist(ranges, source, unit, offset, owner);
	} else if (value.kind == FORM_SECTION_OFFSET || value.kind == FORM_CONSTANT) {
		/* a constant: DWARF 2 and 3 had no form of its own for an offset */
		if (unit->format.version >= 5)
			read_rnglist(ranges, source, unit, offset, owner);
		else
			read_ranges(ranges, source, unit,
				    (source->split ? unit->ranges_base : 0) + offset, owner);
	}
}

/* ---- one owner for each address ---------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->owner < y->owner ? -1 : x->owner > y->owner;
}

/* Binary heap of ranges that are open at the place reached: the highest owner on top. */
struct heap {
	const struct range **all;
	size_t nr;
};

static void heap_push(struct heap *heap, const struct range *range)
{
	size_t at = heap->nr++;

	while (at && heap->all[(at - 1) / 2]->owner < range->owner) {
		heap->all[at] = heap->all[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->all[at] = range;
}

static void heap_pop(struct heap *heap)
{
	const struct range *last = heap->all[--heap->nr];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->nr) {
		if (child + 1 < heap->nr && heap->all[child]->owner < heap->all[child + 1]->owner)
			child++;
		if (heap->all[child]->owner <= last->owner)
			break;
		heap->all[at] = heap->all[child];
		at = child;
	}
	heap->all[at] = last;
}

static void add_piece(struct range_map *map, uint64_t start, uint32_t owner)
{
	if (map->nr && map->owners[map->nr - 1] == owner)
		return;
	if (map->nr && map->starts[map->nr - 1] == start) {
		map->owners[map->nr - 1] = owner;
		if (map->nr > 1 && map->owners[map->nr - 2] == owner)
			map->nr--;
		return;
	}
	if (map->nr == map->alloc) {
		map->starts = xgrow(map->starts, &map->alloc, map->nr + 1, sizeof(*map->starts));
		map->owners = xreallocarray(map->owners, map->alloc, sizeof(*map->owners));
	}
	map->starts[map->nr] = start;
	map->owners[map->nr++] = owner;
}

/* Ends what is over before `until`, and gives the space in between to what is still open. */
static void close_ranges(struct range_map *map, struct heap *heap, uint64_t until)
{
	while (heap->nr && heap->all[0]->end <= until) {
		uint64_t end = heap->all[0]->end;

		/* Others that ended meanwhile lay below it. */
		while (heap->nr && heap->all[0]->end <= end)
			heap_pop(heap);
		add_piece(map, end, heap->nr ? heap->all[0]->owner : RANGE_NOBODY);
	}
}

void range_map_init(struct range_map *map, struct ranges *ranges)
{
	struct heap heap = { .all = xmallocarray(ranges->nr + 1, sizeof(*heap.all)) };
	size_t i;

	memset(map, 0, sizeof(*map));
	for (i = 1; i < ranges->nr; i++)
		if (by_start(&ranges->all[i - 1], &ranges->all[i]) > 0)
			break;
	if (i < ranges->nr)
		qsort(ranges->all, ranges->nr, sizeof(*ranges->all), by_start);
	for (i = 0; i < ranges->nr; i++) {
		const struct range *r = &ranges->all[i];

		close_ranges(map, &heap, r->start);
		heap_push(&heap, r);
		add_piece(map, r->start, heap.all[0]->owner);
	}
	close_ranges(map, &heap, UINT64_MAX);
	free(heap.all);
	map->alloc = map->nr + 1;
	map->starts = xreallocarray(map->starts, map->alloc, sizeof(*map->starts));
	map->owners = xreallocarray(map->owners, map->alloc, sizeof(*map->owners));
}

void range_map_release(struct range_map *map)
{
	free(map->starts);
	free(map->owners);
	memset(map, 0, sizeof(*map));
}

uint32_t range_map_find(const struct range_map *map, uint64_t address)
{
	size_t low = 0, high = map->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->starts[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? map->owners[low - 1] : RANGE_NOBODY;
}
