/* SPDX-License-Identifier: MIT */
/*
 * index.h - from the address of a block to the number of its record.
 *
 * A radix tree over the 48 bits of an address with 4 bytes per 16 bytes of heap at its leaves.
 * No lock: the thread that owns a block is the only one that touches its slot; nodes of the tree
 * are added by compare-and-swap and never go away.
 */
#ifndef HEAPSTORY_TRACER_INDEX_H
#define HEAPSTORY_TRACER_INDEX_H

#include <stdint.h>

/* Where a thread takes new nodes from: a piece of the store. Zeroed is ready. */
struct index_supply {
	uint64_t at, end; /* byte offsets in the store */
};

/* Makes the root, once. 0 or -ENOSPC. */
long index_start(void);

/* The slot of address, or NULL if there never was a block near it. A slot holds 0 or a number. */
uint32_t *index_find(uint64_t address);

/* Has the slot of address fetched, if there is one: for use a little later. */
void index_prefetch(uint64_t address);

/*
 * The slot of address, made if need be. NULL if there is no room, or the address is above 48 bits
 * or not a multiple of 8.
 */
uint32_t *index_make(struct index_supply *supply, uint64_t address);

#endif
