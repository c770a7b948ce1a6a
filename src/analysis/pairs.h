/* SPDX-License-Identifier: MIT */
/*
 * pairs.h - pairs of numbers, numbered in the order in which they are first met.
 */
#ifndef HEAPSTORY_ANALYSIS_PAIRS_H
#define HEAPSTORY_ANALYSIS_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct pair {
	uint32_t a, b;
};

/* All zero is empty. */
struct pairs {
	struct pair *all; /* by number */
	size_t nr, alloc;
	uint32_t *table; /* number + 1, by hash; 0: empty */
	size_t mask;
};

/* The number of a pair, which is new (all[nr - 1]) if it was not met before. */
uint32_t pairs_number(struct pairs *pairs, uint32_t a, uint32_t b);
void pairs_release(struct pairs *pairs);

#endif
