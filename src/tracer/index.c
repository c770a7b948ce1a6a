/* SPDX-License-Identifier: MIT */
/*
 * index.c - from the address of a block to the number of its record.
 *
 * Runs on any thread of the traced program with `in` set.
 *
 *      bits 47..36   root: 4096 references
 *           35..27   middle: 512 references        128 MiB each
 *           26..18   lower: 512 references         256 KiB each
 *           17..12   pages: 64 pairs of references, one leaf for addresses that are a multiple
 *                    of 16, one for those 8 above: some allocators have classes of 8 bytes
 *           11..4    leaf: 256 record numbers
 *
 * A reference is the node's offset in the store in units of 512 bytes. So a page of small blocks
 * costs 1 KiB, and a single large block 1 KiB + 512 B, and 2 KiB per 128 MiB of address space.
 */
#include "tracer/index.h"

#include "store/format.h"
#include "store/writer.h"

#include <errno.h>
#include <stddef.h>

#define UNIT 512u
#define NR_ROOT 4096u
#define MIDDLE_BYTES 2048u
#define PAGES_BYTES 512u
#define LEAF_BYTES 1024u
#define SUPPLY_BYTES (16u << 10)

long index_start(void)
{
	uint64_t off = store_reserve(NR_ROOT * sizeof(uint32_t), UNIT);

	if (!off)
		return -ENOSPC;
	__atomic_store_n(&store.header->index_root, off, __ATOMIC_RELEASE);
	return 0;
}

static uint32_t *node(uint32_t reference)
{
	return (uint32_t *)(store.base + (uint64_t)reference * UNIT);
}

static uint32_t *child_of(const uint32_t *reference)
{
	uint32_t r = __atomic_load_n(reference, __ATOMIC_ACQUIRE);

	return r ? node(r) : NULL;
}

static uint64_t supply_take(struct index_supply *supply, uint32_t bytes)
{
	uint64_t at = supply->at;

	if (supply->end - at < bytes) {
		at = store_reserve(SUPPLY_BYTES, UNIT);
		if (!at)
			return 0;
		supply->end = at + SUPPLY_BYTES;
	}
	supply->at = at + bytes;
	return at;
}

static __attribute__((noinline)) uint32_t *make_child(struct index_supply *supply,
						      uint32_t *reference, uint32_t bytes)
{
	uint64_t off = supply_take(supply, bytes);
	uint32_t none = 0;

	if (!off)
		return NULL;
	if (__atomic_compare_exchange_n(reference, &none, (uint32_t)(off / UNIT), false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return (uint32_t *)(store.base + off);
	supply->at = off; /* another thread was first; ours was never seen and is still zero */
	return node(none);
}

static uint32_t *root_of(uint64_t address)
{
	return (uint32_t *)(store.base + store.header->index_root) + (address >> 36);
}

/* The reference to the leaf within the pages node. */
static uint32_t *leaf_of(uint32_t *pages, uint64_t address)
{
	return pages + (address >> 12 & 63) * 2 + (address >> 3 & 1);
}

uint32_t *index_find(uint64_t address)
{
	uint32_t *p;

	if (address >> 48 || address & 7)
		return NULL;
	p = child_of(root_of(address));
	p = p ? child_of(p + (address >> 27 & 511)) : NULL;
	p = p ? child_of(p + (address >> 18 & 511)) : NULL;
	p = p ? child_of(leaf_of(p, address)) : NULL;
	return p ? p + (address >> 4 & 255) : NULL;
}

void index_prefetch(uint64_t address)
{
	const uint32_t *slot = index_find(address);

	if (slot)
		__builtin_prefetch(slot, 1);
}

static inline uint32_t *enter(struct index_supply *supply, uint32_t *reference, uint32_t bytes)
{
	uint32_t *p = child_of(reference);

	return p ? p : make_child(supply, reference, bytes);
}

uint32_t *index_make(struct index_supply *supply, uint64_t address)
{
	uint32_t *p;

	if (address >> 48 || address & 7)
		return NULL;
	p = enter(supply, root_of(address), MIDDLE_BYTES);
	p = p ? enter(supply, p + (address >> 27 & 511), MIDDLE_BYTES) : NULL;
	p = p ? enter(supply, p + (address >> 18 & 511), PAGES_BYTES) : NULL;
	p = p ? enter(supply, leaf_of(p, address), LEAF_BYTES) : NULL;
	return p ? p + (address >> 4 & 255) : NULL;
}
