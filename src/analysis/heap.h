/* SPDX-License-Identifier: MIT */
/*
 * heap.h - live blocks of one snapshot, by groups.
 */
#ifndef HEAPSTORY_ANALYSIS_HEAP_H
#define HEAPSTORY_ANALYSIS_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/group.h"

struct filter;
struct names;

/* What rows are ordered by, largest first. Rows that are equal in it are ordered by key. */
enum sort_by {
	SORT_DEFAULT,                   /* heap: bytes, ages by age; diff: delta */
	SORT_BYTES,
	SORT_COUNT,
	SORT_DELTA,
};

struct heap_row {
	uint32_t group;
	uint64_t count, bytes, usable;
	uint32_t stack;                 /* the one with the most bytes, or of the largest block */
	uint32_t nr_stacks;             /* with live blocks; 0 where the group says nothing of stacks */
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

#endif
