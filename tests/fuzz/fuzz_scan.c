/* SPDX-License-Identifier: MIT */
/*
 * fuzz_scan.c - the DIEs of a unit that may be anything.
 *
 * Input: length of .debug_abbrev (4 bytes), that, then .debug_info, of which the first unit is
 * read. Lists of ranges and addresses are read from the same bytes.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "symbolizer/abbrev.h"
#include "symbolizer/dwarf_cursor.h"
#include "symbolizer/dwarf_unit.h"
#include "symbolizer/scan.h"
#include "symbolizer/timelimit.h"

/* What scan.h promises: parents come first, places are sorted, pieces are too. */
static void check_tree(const struct scope_tree *t)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->scopes[i].parent != SCOPE_NONE && t->scopes[i].parent >= i)
			abort();
	for (size_t i = 0; i < t->nr_places; i++) {
		if (t->places[i].parent != SCOPE_NONE && t->places[i].parent >= i)
			abort();
		if (scope_place_find(t, t->places[i].die) != i)
			abort();
	}
	for (size_t i = 0; i < t->map.nr; i++) {
		const uint64_t *start = &t->map.starts[i];
		const uint32_t *owner = &t->map.owners[i];
		const struct scope *found = scope_tree_find(t, *start);

		if ((i && start[-1] >= *start) || (i && owner[-1] == *owner) ||
		    (found ? found != &t->scopes[*owner] : *owner != RANGE_NOBODY))
			abort();
	}
}

void fuzz_one(const uint8_t *data, size_t len)
{
	struct dwarf_cursor c = dwarf_cursor_at((struct bytes){data, len}, 0);
	uint64_t abbrev_len = dwarf_u32(&c);
	struct dwarf_unit unit = {
		.low_pc = 0x1000, .addr_base = 8, .rnglists_base = 12, .line = DWARF_NONE,
	};
	struct time_limit limit = {.left_ns = UINT64_C(200000000)};
	struct scan_source source = {.with_places = len & 1, .max_bytes = 1 << 20};
	struct abbrev_table table;
	struct scope_tree tree;
	struct bytes abbrev;

	if (c.bad || abbrev_len > dwarf_left(&c))
		return;
	abbrev = (struct bytes){c.at, (size_t)abbrev_len};
	dwarf_skip(&c, abbrev_len);
	source.info = (struct bytes){c.at, dwarf_left(&c)};
	source.ranges = (struct range_source){source.info, source.info, source.info, len & 2};
	dwarf_initial_length(&c, &unit.format.offset_size);
	unit.end = (uint64_t)(c.end - source.info.data);
	unit.format.version = dwarf_u16(&c);
	if (unit.format.version >= 5)
		unit.type = dwarf_u8(&c);
	else
		dwarf_fixed(&c, unit.format.offset_size);
	unit.format.address_size = dwarf_u8(&c) == 4 ? 4 : 8;
	if (unit.format.version >= 5)
		dwarf_fixed(&c, unit.format.offset_size);
	if (c.bad || unit.format.version < 2 || unit.format.version > 5)
		return;
	unit.die = (uint64_t)(c.at - source.info.data);
	if (!abbrev_table_init(&table, abbrev, 0, unit.format))
		return;
	source.abbrevs = &table;
	time_limit_start(&limit);
	scope_tree_init(&tree, &source, &unit, &limit);
	check_tree(&tree);
	scope_tree_release(&tree);
	abbrev_table_release(&table);
}
