/* SPDX-License-Identifier: MIT */
/*
 * index.h - from the address of a block to the number of its record.
 *
 * A radix tree over the 48 bits of an address. No lock: the thread that owns a block is the only one
 * that touches its slot; nodes of the tree are added by compare-and-swap and never go away.
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
 *           17..12   pages: 64 pairs of references to leaves
 *           11..5    wide leaf: 128 slots, one for all addresses within 32 bytes
 *           11..3    fine leaf: 512 slots, one for each multiple of 8
 *
 * A block of more than 16 bytes at a multiple of 16 has its slot in the wide leaf: no other such
 * block begins within the same 32 bytes while it lives. All others, which few allocators have, are
 * in the fine one. So 4 bytes of index go with 32 bytes of heap: half of the cold lines count.
 *
 * A reference is the node's offset in the store in units of INDEX_UNIT. A page of blocks costs 512
 * bytes, and a single large block 512 bytes more, and 2 KiB per 128 MiB of address space. A slot is
 * 0 or twice the number of a record, plus bit 4 of the address.
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

static inline uint32_t *index_in_pages(uint32_t *node, uint64_t address, bool fine)
{
	return node + (address >> 12 & 63) * 2 + fine;
}

static inline uint32_t *index_in_wide(uint32_t *leaf, uint64_t address)
{
	return leaf + (address >> 5 & 127);
}

static inline uint32_t *index_in_fine(uint32_t *leaf, uint64_t address)
{
	return leaf + (address >> 3 & 511);
}

static inline uint32_t *index_in_leaf(uint32_t *leaf, uint64_t address, bool fine)
{
	return fine ? index_in_fine(leaf, address) : index_in_wide(leaf, address);
}

/* What a slot holds for the block at address. nr is below 2^31. */
static inline uint32_t index_value(uint32_t nr, uint64_t address)
{
	return nr << 1 | (address >> 4 & 1);
}

static inline uint32_t index_number(uint32_t value)
{
	return value >> 1;
}

/* 1 + number of the region of an address: 128 MiB, which one lower node is for. */
static inline uint64_t index_region(uint64_t address)
{
	return (address >> 27) + 1;
}

/* The lower node of another region, which is then the cursor's. NULL if there never was a block. */
uint32_t *index_move(struct index_cursor *cursor, uint64_t address);

/* The node of the pages around address, NULL if there is none. */
static inline uint32_t *index_pages(struct index_cursor *cursor, uint64_t address)
{
	uint32_t *p = cursor->lower;

	if (__builtin_expect(cursor->region != index_region(address), 0))
		p = index_move(cursor, address);
	return p ? index_node(index_in_lower(p, address)) : NULL;
}

/*
 * The number of the record of the block at address and its slot, or 0. The blocks of a thread lie in
 * few regions, so the first steps of the way are mostly spared.
 */
static inline uint32_t index_find(struct index_cursor *cursor, uint64_t address,
				  uint32_t **ret_slot)
{
	uint32_t *pages = index_pages(cursor, address), *leaf, *slot, value;

	if (__builtin_expect(!pages, 0))
		return 0;
	if (__builtin_expect(!(address & 15), 1)) {
		leaf = index_node(index_in_pages(pages, address, false));
		slot = leaf ? index_in_wide(leaf, address) : NULL;
		value = slot ? __atomic_load_n(slot, __ATOMIC_RELAXED) : 0;
		if (__builtin_expect(value != 0, 1) && (value & 1) == (address >> 4 & 1)) {
			*ret_slot = slot;
			return index_number(value);
		}
	}
	leaf = address & 7 ? NULL : index_node(index_in_pages(pages, address, true));
	*ret_slot = leaf ? index_in_fine(leaf, address) : NULL;
	return leaf ? index_number(__atomic_load_n(*ret_slot, __ATOMIC_RELAXED)) : 0;
}

/* Slow path of index_make(). */
uint32_t *index_add(struct index_cursor *cursor, uint64_t address, bool fine);

/*
 * The slot where a block of so many usable bytes at address goes, made if need be. NULL if there is
 * no room, or the address is above 48 bits or not a multiple of 8. If the slot is taken, then by a
 * block that lay where this one lies; so may one that index_find() still finds at address, if
 * *ret_both says that there is another leaf.
 */
static inline uint32_t *index_make(struct index_cursor *cursor, uint64_t address, uint64_t usable,
				   bool *ret_both)
{
	bool fine = address & 15 || usable <= 16;
	uint32_t *p = index_pages(cursor, address), *leaf;

	leaf = p ? index_node(index_in_pages(p, address, fine)) : NULL;
	*ret_both = p && __atomic_load_n(index_in_pages(p, address, !fine), __ATOMIC_RELAXED);
	if (__builtin_expect(!leaf, 0) || address & 7)
		return index_add(cursor, address, fine);
	return index_in_leaf(leaf, address, fine);
}

#endif
