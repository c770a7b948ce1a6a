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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/writer.h"

/* What a thread has of its own. Zeroed is ready. */
struct index_cursor {
	uint64_t at, end; /* byte offsets of a piece of the store from which it takes new nodes */
	uint64_t region;  /* 1 + number of the region where it looked last, 0: nowhere yet */
	uint32_t *lower;  /* its node */
};

/* Makes the root, once. 0 or -ENOSPC. */
long index_start(void);

/*
 *      bits 47..36   root: 4096 references
 *           35..27   middle: 512 references        128 MiB each
 *           26..18   lower: 512 references         256 KiB each
 *           17..12   pages: 64 pairs of references, one leaf for addresses that are a multiple
 *                    of 16, one for those 8 above: some allocators have classes of 8 bytes
 *           11..4    leaf: 256 record numbers
 *
 * A reference is the node's offset in the store in units of INDEX_UNIT. So a page of small blocks
 * costs 1 KiB, and a single large block 1 KiB + 512 B, and 2 KiB per 128 MiB of address space.
 */
#define INDEX_UNIT 512u

extern uint32_t *index_root;

/* The node that a reference names, NULL if there is none. */
static inline uint32_t *index_node(const uint32_t *reference)
{
	uint64_t r = __atomic_load_n(reference, __ATOMIC_ACQUIRE);

	return r ? (uint32_t *)(store.base + r * INDEX_UNIT) : NULL;
}

/* Places within the nodes. */
static inline uint32_t *index_in_root(uint64_t address)
{
	return index_root + (address >> 36);
}

static inline uint32_t *index_in_middle(uint32_t *node, uint64_t address)
{
	return node + (address >> 27 & 511);
}

static inline uint32_t *index_in_lower(uint32_t *node, uint64_t address)
{
	return node + (address >> 18 & 511);
}

static inline uint32_t *index_in_pages(uint32_t *node, uint64_t address)
{
	return node + (address >> 12 & 63) * 2 + (address >> 3 & 1);
}

static inline uint32_t *index_in_leaf(uint32_t *node, uint64_t address)
{
	return node + (address >> 4 & 255);
}

/* 1 + number of the region of an address: 128 MiB, which one lower node is for. */
static inline uint64_t index_region(uint64_t address)
{
	return (address >> 27) + 1;
}

/* The lower node of another region, which is then the cursor's. NULL if there never was a block. */
uint32_t *index_move(struct index_cursor *cursor, uint64_t address);

/*
 * The slot of address, or NULL if there never was a block near it. A slot holds 0 or a number. The
 * blocks of a thread lie in few regions, so the first steps of the way are mostly spared.
 */
static inline uint32_t *index_find(struct index_cursor *cursor, uint64_t address)
{
	uint32_t *p = cursor->lower;

	if (__builtin_expect(cursor->region != index_region(address), 0))
		p = index_move(cursor, address);
	if (__builtin_expect(!p || address & 7, 0))
		return NULL;
	p = index_node(index_in_lower(p, address));
	p = p ? index_node(index_in_pages(p, address)) : NULL;
	return p ? index_in_leaf(p, address) : NULL;
}

/* Slow path of index_make(). */
uint32_t *index_add(struct index_cursor *cursor, uint64_t address);

/*
 * The slot of address, made if need be. NULL if there is no room, or the address is above 48 bits
 * or not a multiple of 8.
 */
static inline uint32_t *index_make(struct index_cursor *cursor, uint64_t address)
{
	uint32_t *slot = index_find(cursor, address);

	return __builtin_expect(slot != NULL, 1) ? slot : index_add(cursor, address);
}

#endif
