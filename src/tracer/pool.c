/* SPDX-License-Identifier: MIT */
/*
 * pool.c - the shared lists of free records and lineages; see pool.h.
 *
 * Runs in the traced program with `in` set. In the shared lists elements go in batches: those of
 * one are linked through a word of theirs, the batches through a word of their first elements.
 */
#include "tracer/pool.h"

#include "store/writer.h"
#include "tracer/freelist.h"

#include <stddef.h>

#define BATCH (POOL_KEEP / 2)

/* Never used numbers that are taken from the array at once: about a page of elements. */
static const uint32_t nr_fresh[] = {
	[POOL_RECORDS] = 128,
	[POOL_LINEAGES] = 64,
	[POOL_LONG_LINEAGES] = 8,
};

static const enum hs_array_id arrays[] = {
	[POOL_RECORDS] = HS_ARRAY_RECORDS,
	[POOL_LINEAGES] = HS_ARRAY_LINEAGES,
	[POOL_LONG_LINEAGES] = HS_ARRAY_LONG_LINEAGES,
};

static uint32_t *next_in_batch(enum pool_kind kind, uint32_t nr)
{
	if (kind == POOL_RECORDS)
		return (uint32_t *)&store_record(nr)->serial;
	if (kind == POOL_LINEAGES)
		return &store_lineage(nr)->head.nr_steps;
	return &store_long_lineage(nr)->head.nr_steps;
}

static uint32_t *next_record(uint32_t nr)
{
	return &store_record(nr)->stack;
}

static uint32_t *next_lineage(uint32_t nr)
{
	return &store_lineage(nr)->head.birth;
}

static uint32_t *next_long_lineage(uint32_t nr)
{
	return &store_long_lineage(nr)->head.birth;
}

static const freelist_link next_batch[] = {
	[POOL_RECORDS] = next_record,
	[POOL_LINEAGES] = next_lineage,
	[POOL_LONG_LINEAGES] = next_long_lineage,
};

__attribute__((noinline)) uint32_t pool_refill(struct pool *p, enum pool_kind kind)
{
	uint32_t nr;
	uint64_t fresh;

	if (!p->batch && p->fresh == p->fresh_end)
		p->batch = freelist_pop(&store.header->free_batches[kind], next_batch[kind]);
	nr = p->batch;
	if (nr) {
		p->batch = *next_in_batch(kind, nr);
		if (p->batch) /* for the next one */
			__builtin_prefetch(next_in_batch(kind, p->batch), 1);
		return nr;
	}
	if (p->fresh == p->fresh_end) {
		fresh = store_take(arrays[kind], nr_fresh[kind]);
		if (!fresh || fresh + nr_fresh[kind] > UINT32_MAX)
			return 0;
		p->fresh = (uint32_t)fresh;
		p->fresh_end = (uint32_t)fresh + nr_fresh[kind];
	}
	return p->fresh++;
}

__attribute__((noinline)) void pool_hand_on(struct pool *p, enum pool_kind kind)
{
	for (uint32_t i = 0; i < BATCH; i++)
		__atomic_store_n(next_in_batch(kind, p->free[i]),
				 i + 1 < BATCH ? p->free[i + 1] : 0, __ATOMIC_RELAXED);
	freelist_push(&store.header->free_batches[kind], p->free[0], next_batch[kind]);
	p->nr -= BATCH;
	for (uint32_t i = 0; i < p->nr; i++)
		p->free[i] = p->free[BATCH + i];
}
