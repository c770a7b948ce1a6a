/* SPDX-License-Identifier: MIT */
/*
 * spread.h - over how much of the recorded life the births of living blocks are spread.
 *
 * What leaks leaves survivors in all of it. A cache that replaces its entries has young ones only,
 * what was loaded at the start old ones only.
 */
#ifndef HEAPSTORY_ANALYSIS_SPREAD_H
#define HEAPSTORY_ANALYSIS_SPREAD_H

#include <stdint.h>

#define SPREAD_SLICES 20u

/* All zero is empty. */
struct spread {
	uint64_t born[SPREAD_SLICES]; /* blocks, by equal slices of the life */
};

/* Counts a block; births are between from_ms and to_ms, from_ms < to_ms. */
void spread_add(struct spread *spread, uint64_t birth_ms, uint64_t from_ms, uint64_t to_ms);

/*
 * The share of the slices that the births are spread over: exp(entropy) / slices, so 1 where each
 * slice has as many, k / slices where k of them have as many and the others none; 0 without blocks.
 */
double spread_value(const struct spread *spread);

#endif
