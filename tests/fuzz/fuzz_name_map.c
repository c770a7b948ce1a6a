/* SPDX-License-Identifier: MIT */
/*
 * fuzz_name_map.c - a map of names, as the cache may have it: all that can be found in it is read.
 */
#include "tests/fuzz/fuzz.h"

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/name_map.h"
#include "util/name_table.h"

#include <stdlib.h>
#include <string.h>

void fuzz_one(const uint8_t *data, size_t len)
{
	uint8_t *aligned = xmalloc(len + 1);
	struct buffer b = {NULL, 0, 0};
	struct name_table table = {0};
	struct name_map map;

	memcpy(aligned, data, len);
	if (name_map_open(&map, aligned, len)) {
		for (size_t i = 0; i < map.nr_places; i++) {
			size_t chain = name_map_find(&map, map.addresses[i]);

			if (chain != NAME_MAP_NONE && chain >= map.nr_chains)
				abort();
		}
		name_map_add_to(&map, &table);
		if (!name_map_encode(&table, &b) || !name_map_open(&map, b.data, b.len))
			abort();
	}
	buffer_clear(&b);
	name_table_release(&table);
	free(aligned);
}
