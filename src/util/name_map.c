/* SPDX-License-Identifier: MIT */
/*
 * name_map.c - names as bytes that are searched where they lie; see name_map.h.
 */
#include "util/name_map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/name_table.h"

#define INLINED (UINT32_C(1) << 31) /* in function: strings do not take so much */

struct counts {
	uint32_t places, chains, frames, shift;
};

/* Numbers that the guide to places from the first address to the last one is asked for. */
static uint64_t guide_length(uint64_t first, uint64_t last, uint32_t shift)
{
	return ((last - first) >> shift) + 1;
}

/* ---- reading ----------------------------------------------------------------------------- */

bool name_map_open(struct name_map *map, const uint8_t *data, size_t len)
{
	const uint64_t *addresses = (const void *)(data + sizeof(struct counts));
	uint64_t bytes, nr_guide;
	struct counts n;

	memset(map, 0, sizeof(*map));
	if (len < sizeof(n))
		return false;
	memcpy(&n, data, sizeof(n));
	/* of 32-bit numbers, so none of this overflows */
	bytes = sizeof(n) + n.places * (sizeof(*map->addresses) + sizeof(*map->chains)) +
		(n.chains + UINT64_C(1)) * sizeof(*map->first) + n.frames * sizeof(*map->frames);
	if (len <= bytes || data[len - 1] || n.shift >= 64)
		return false;
	nr_guide = n.places ? guide_length(addresses[0], addresses[n.places - 1], n.shift) : 0;
	if ((len - bytes) / sizeof(*map->guide) <= nr_guide)
		return false;
	bytes += (nr_guide + 1) * sizeof(*map->guide);
	if (len <= bytes)
		return false;
	map->nr_places = n.places;
	map->nr_guide = nr_guide;
	map->nr_chains = n.chains;
	map->nr_frames = n.frames;
	map->shift = n.shift;
	map->addresses = addresses;
	map->guide = (const void *)(map->addresses + map->nr_places);
	map->chains = map->guide + map->nr_guide + 1;
	map->first = map->chains + map->nr_places;
	map->frames = (const void *)(map->first + map->nr_chains + 1);
	map->strings = (const void *)(map->frames + map->nr_frames);
	map->strings_len = len - bytes;
	return true;
}

/* A damaged map may name a chain that is not there. */
static size_t chain_of(const struct name_map *map, size_t place)
{
	uint32_t chain = map->chains[place];

	return chain < map->nr_chains ? chain : NAME_MAP_NONE;
}

size_t name_map_find(const struct name_map *map, uint64_t address)
{
	const uint64_t *at = map->addresses;
	uint64_t guide = map->nr_places ? (address - at[0]) >> map->shift : 0;
	size_t start, end;

	if (guide >= map->nr_guide)
		return NAME_MAP_NONE;
	start = map->guide[guide];
	end = map->guide[guide + 1];
	if (end > map->nr_places)
		return NAME_MAP_NONE;
	while (start < end) {
		size_t middle = start + (end - start) / 2;

		if (at[middle] == address)
			return chain_of(map, middle);
		if (at[middle] < address)
			start = middle + 1;
		else
			end = middle;
	}
	return NAME_MAP_NONE;
}

size_t name_map_chain(const struct name_map *map, size_t chain, size_t *ret_first)
{
	size_t first = map->first[chain], end = map->first[chain + 1];

	if (first > end || end > map->nr_frames)
		return 0;
	*ret_first = first;
	return end - first;
}

static const char *string_at(const struct name_map *map, uint32_t at)
{
	return at && at < map->strings_len ? map->strings + at : NULL;
}

struct name_frame name_map_frame(const struct name_map *map, size_t frame)
{
	const struct name_map_frame *f = &map->frames[frame];

	return (struct name_frame){
		.function = string_at(map, f->function & ~INLINED),
		.scope = string_at(map, f->scope),
		.raw = string_at(map, f->raw),
		.file = string_at(map, f->file),
		.line = f->line,
		.column = f->column,
		.inlined = f->function & INLINED,
	};
}

void name_map_add_to(const struct name_map *map, struct name_table *table)
{
	struct buffer b = {NULL, 0, 0};

	for (size_t i = 0; i < map->nr_places; i++) {
		size_t chain = chain_of(map, i), first = 0, nr;

		if (chain == NAME_MAP_NONE)
			continue;
		nr = name_map_chain(map, chain, &first);
		b.len = 0;
		for (size_t k = 0; k < nr; k++) {
			struct name_frame frame = name_map_frame(map, first + k);

			buffer_add(&b, &frame, sizeof(frame));
		}
		name_table_add(table, 0, map->addresses[i], (const void *)b.data, nr);
	}
	buffer_clear(&b);
}

/* ---- writing ----------------------------------------------------------------------------- */

/* A map that is written, in parts. */
struct writing {
	struct buffer first, frames, strings;
	uint32_t *table; /* chains by their bytes: 1 more than the number, 0: free */
	size_t mask; /* its size less 1 */
	uint32_t nr_chains, nr_frames;
};

/* Where a string of the table begins among those written; it is written if it was not yet. */
static uint32_t place_string(const char *string, struct buffer *strings)
{
	uint32_t *at;

	if (!string)
		return 0;
	at = name_table_mark(string);
	if (!*at) {
		*at = (uint32_t)strings->len;
		buffer_add(strings, string, strlen(string) + 1);
	}
	return *at;
}

/* The frames at the end of w->frames as a chain: taken back where there is such a one. */
static uint32_t place_chain(struct writing *w, uint32_t nr_frames)
{
	const size_t len = nr_frames * sizeof(struct name_map_frame);
	const uint8_t *added = w->frames.data + w->frames.len - len;
	size_t at = (len ? (size_t)XXH3_64bits(added, len) : 0) & w->mask;
	const uint32_t *first = (const void *)w->first.data;

	for (; w->table[at]; at = (at + 1) & w->mask) {
		uint32_t chain = w->table[at] - 1;
		uint32_t end = chain + 1 < w->nr_chains ? first[chain + 1] : w->nr_frames;

		if (end - first[chain] == nr_frames &&
		    (!len || !memcmp(w->frames.data + first[chain] * sizeof(struct name_map_frame),
				     added, len))) {
			w->frames.len -= len;
			return chain;
		}
	}
	buffer_add(&w->first, &w->nr_frames, sizeof(w->nr_frames));
	w->nr_frames += nr_frames;
	w->table[at] = ++w->nr_chains;
	return w->nr_chains - 1;
}

static uint32_t write_place(struct writing *w, const struct name_frame *f, uint32_t nr_frames)
{
	for (uint32_t k = 0; k < nr_frames; k++, f++) {
		struct name_map_frame frame = {
			.function = place_string(f->function, &w->strings) |
				    (f->inlined ? INLINED : 0),
			.scope = place_string(f->scope, &w->strings),
			.raw = place_string(f->raw, &w->strings),
			.file = place_string(f->file, &w->strings),
			.line = f->line,
			.column = f->column,
		};

		buffer_add(&w->frames, &frame, sizeof(frame));
	}
	return place_chain(w, nr_frames);
}

/* Whether all numbers of a table have room in 32 bits. */
static bool is_small(const struct name_table *table)
{
	return table->nr_places < INLINED && table->nr_frames < INLINED;
}

/* The guide to places, of which there is one at least; about as long as there are places. */
static uint32_t write_guide(const struct name_table_place *places, uint32_t nr, struct buffer *b)
{
	uint64_t first = places[0].address, last = places[nr - 1].address;
	uint32_t shift = 0, place = 0;

	while (guide_length(first, last, shift) > 2 * (uint64_t)nr)
		shift++;
	for (uint64_t i = 0; i < guide_length(first, last, shift); i++) {
		while ((places[place].address - first) >> shift < i)
			place++;
		buffer_add(b, &place, sizeof(place));
	}
	return shift;
}

bool name_map_encode(struct name_table *table, struct buffer *b)
{
	struct writing w = {.mask = 1};
	struct counts n = {0};
	bool fits;

	name_table_sort(table);
	name_table_clear_marks(table);
	if (!is_small(table))
		return false;
	n.places = (uint32_t)table->nr_places;
	while (w.mask < 2 * table->nr_places)
		w.mask = 2 * w.mask + 1;
	w.table = xcalloc(w.mask + 1, sizeof(*w.table));
	buffer_add_byte(&w.strings, 0);
	buffer_add(b, &n, sizeof(n));
	for (size_t i = 0; i < table->nr_places; i++)
		buffer_add(b, &table->places[i].address, sizeof(table->places[i].address));
	if (n.places)
		n.shift = write_guide(table->places, n.places, b);
	buffer_add(b, &n.places, sizeof(n.places));
	for (size_t i = 0; i < table->nr_places; i++) {
		const struct name_table_place *p = &table->places[i];
		uint32_t chain = write_place(&w, table->frames + p->first_frame, p->nr_frames);

		buffer_add(b, &chain, sizeof(chain));
	}
	n.chains = w.nr_chains;
	n.frames = w.nr_frames;
	memcpy(b->data, &n, sizeof(n));
	buffer_add(&w.first, &w.nr_frames, sizeof(w.nr_frames));
	buffer_add(b, w.first.data, w.first.len);
	buffer_add(b, w.frames.data, w.frames.len);
	buffer_add(b, w.strings.data, w.strings.len);
	fits = w.strings.len < INLINED;
	buffer_clear(&w.first);
	buffer_clear(&w.frames);
	buffer_clear(&w.strings);
	free(w.table);
	return fits;
}
