/* SPDX-License-Identifier: MIT */
/*
 * index.c - from the address of a block to the number of its record.
 *
 * Runs on any thread of the traced program with `in` set. Nodes are in the store, although readers
 * do not look at them: private memory would be copied page by page after each fork.
 */
#include "tracer/index.h"

#include "store/format.h"
#include "store/writer.h"

#include <errno.h>
#include <stddef.h>

#define NR_ROOT 4096u
#define MIDDLE_BYTES 2048u
#define PAGES_BYTES 512u
#define WIDE_BYTES 512u
#define FINE_BYTES 2048u
#define SUPPLY_BYTES (16u << 10)

uint32_t *index_root;

long index_start(void)
{
	uint64_t off = store_reserve(NR_ROOT * sizeof(uint32_t), INDEX_UNIT);

	if (!off)
		return -ENOSPC;
	store.header->index_root = off;
	index_root = (uint32_t *)(store.base + off);
	return 0;
}

static uint64_t take_node_room(struct index_cursor *cursor, uint32_t bytes)
{
	uint64_t at = cursor->at;

	if (cursor->end - at < bytes) {
		at = store_reserve(SUPPLY_BYTES, INDEX_UNIT);
		if (!at)
			return 0;
		cursor->end = at + SUPPLY_BYTES;
	}
	cursor->at = at + bytes;
	return at;
}

/* The node of a reference, made if need be; NULL if there is no room. */
static uint32_t *enter(struct index_cursor *cursor, uint32_t *reference, uint32_t bytes)
{
	uint32_t *there = index_node(reference), none = 0;
	uint64_t off;

	if (there)
		return there;
	off = take_node_room(cursor, bytes);
	if (!off)
		return NULL;
	if (__atomic_compare_exchange_n(reference, &none, (uint32_t)(off / INDEX_UNIT), false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return (uint32_t *)(store.base + off);
	cursor->at = off; /* another thread was first; ours was never seen and is still zero */
	return index_node(reference);
}

uint32_t *index_move(struct index_cursor *cursor, uint64_t address)
{
	uint32_t *p;

	if (address & ~HS_RECORD_ADDRESS)
		return NULL;
	p = index_node(index_in_root(address));
	p = p ? index_node(index_in_middle(p, address)) : NULL;
	if (p) {
		cursor->region = 0; /* a signal handler that never comes back leaves all or nothing */
		__atomic_store_n(&cursor->lower, p, __ATOMIC_RELEASE);
		__atomic_store_n(&cursor->region, index_region(address), __ATOMIC_RELEASE);
	}
	return p;
}

uint32_t *index_add(struct index_cursor *cursor, uint64_t address, bool fine)
{
	uint32_t *p;

	if (address & (~HS_RECORD_ADDRESS | 7))
		return NULL;
	p = enter(cursor, index_in_root(address), MIDDLE_BYTES);
	p = p ? enter(cursor, index_in_middle(p, address), MIDDLE_BYTES) : NULL;
	p = p ? enter(cursor, index_in_lower(p, address), PAGES_BYTES) : NULL;
	p = p ? enter(cursor, index_in_pages(p, address, fine), fine ? FINE_BYTES : WIDE_BYTES) :
		NULL;
	return p ? index_in_leaf(p, address, fine) : NULL;
}
