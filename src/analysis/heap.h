/* SPDX-License-Identifier: MIT */
/*
 * heap.h - live blocks of one snapshot, by groups.
 */
#ifndef HEAPSTORY_ANALYSIS_HEAP_H
#define HEAPSTORY_ANALYSIS_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/group.h"
#include "analysis/spread.h"

struct filter;
struct names;
struct snapshot;

/* What rows are ordered by, largest first. Rows that are equal in it are ordered by key. */
enum sort_by {
	SORT_DEFAULT, /* heap: bytes, ages by age; diff: delta */
	SORT_BYTES,
	SORT_COUNT,
	SORT_DELTA,
};

struct heap_row {
	uint32_t group;
	uint64_t count, bytes, usable;
	uint32_t stack; /* the one with the most bytes, or of the largest block */
	uint32_t nr_stacks; /* with live blocks; 0 where the group says nothing of stacks */
	struct spread spread; /* of births over the life that was recorded */
};

/* count, bytes and usable are the sums of all rows. */
struct heap {
	struct grouping *grouping;
	struct heap_row *rows;
	size_t nr_rows;
	uint64_t count, bytes, usable;
};

/* names and filter are borrowed until heap_release(). */
void heap_build(struct heap *ret, struct names *names, const struct filter *filter,
		const struct group_options *options, enum sort_by sort);
void heap_release(struct heap *heap);

/* A zone among the rows of a heap that is split by zones. */
struct heap_zone {
	const char *name; /* "" where it is not known; lives as long as the heap */
	uint64_t count, bytes;
};

/*
 * Brings the rows of each zone together, the zone with the most bytes first, without changing
 * their order within a zone. Returns the number of zones; the caller frees *ret_zones.
 */
size_t heap_order_by_zone(struct heap *heap, struct heap_zone **ret_zones);

/*
 * Rows whose blocks were made all through the recorded life, as those are that leak: at least
 * SUSPECT_COUNT blocks, spread over half of it, and a life of a second or more. The widest spread
 * first, to a tenth, then the most bytes. Returns how many; the caller frees *ret, their places in
 * heap->rows.
 */
#define SUSPECT_COUNT 10u
size_t heap_suspects(const struct heap *heap, const struct snapshot *snapshot, size_t **ret);

#endif
