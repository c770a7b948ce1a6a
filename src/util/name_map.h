/* SPDX-License-Identifier: MIT */
/*
 * name_map.h - the names of one module as bytes that are searched where they lie: a file of them is
 * mapped and nothing of it is read that is not asked for.
 *
 *      0   u32 numbers of places, of chains, of frames; u32 shift
 *      16  u64 addresses of places, ascending
 *          u32 guide: for each value of (address - first address) >> shift the first place that
 *          has it or a larger one, and behind the last one the number of places
 *          u32 of each place its chain
 *          u32 of each chain its first frame, and behind the last one the number of frames
 *          frames: u32 function, scope, raw, file, line, column; top bit of function: inlined
 *          strings, each with a 0 behind it; the first is empty and stands for none
 *
 * A chain is the frames of a place, innermost first: places within one line have the same.
 * Strings are told by where they begin. Numbers are in the byte order of the machine.
 */
#ifndef HEAPSTORY_UTIL_NAME_MAP_H
#define HEAPSTORY_UTIL_NAME_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct name_frame;
struct name_table;

struct name_map_frame {
	uint32_t function, scope, raw, file, line, column;
};

/* All zero is an empty map. What it points into is the caller's. */
struct name_map {
	const uint64_t *addresses;
	const uint32_t *guide, *chains, *first;
	const struct name_map_frame *frames;
	const char *strings;
	size_t nr_places, nr_guide, nr_chains, nr_frames, strings_len;
	uint32_t shift;
};

#define NAME_MAP_NONE SIZE_MAX

/* False if there can't be a map in these bytes, which must be aligned to 8. */
bool name_map_open(struct name_map *map, const uint8_t *data, size_t len);

/* The chain of the place with this address; NAME_MAP_NONE: there is no such place. */
size_t name_map_find(const struct name_map *map, uint64_t address);

/* Number of frames of a chain, and of the first of them; none where the bytes are damaged. */
size_t name_map_chain(const struct name_map *map, size_t chain, size_t *ret_first);

/* The frame of a number that name_map_chain() gave; its strings lie in the map. */
struct name_frame name_map_frame(const struct name_map *map, size_t frame);

/* Adds all places to a table, under module 0. */
void name_map_add_to(const struct name_map *map, struct name_table *table);

/* Adds the bytes of a table's places of module 0 to an empty buffer; false: too many for them. */
bool name_map_encode(struct name_table *table, struct buffer *b);

#endif
