/* SPDX-License-Identifier: MIT */
/*
 * pool.c - the shared lists of free records and lineages; see pool.h.
 *
 * Runs in the traced program with `in` set. In the shared lists elements go in batches. They have gone
 * cold when somebody takes them, so a batch is a chain of few: each of them carries the numbers of
 * two others, which are fetched while it is used. Batches are linked through their first elements.
 */
#include "tracer/pool.h"

#include "store/writer.h"
#include "tracer/freelist.h"

#include <stddef.h>

#define BATCH (POOL_KEEP / 2)
#define MAX_NUMBER (UINT32_MAX >> 1) /* index.h */
#define CARRIED 2u /* in words that are not links, and that no late thread writes to: record.c */
_Static_assert(offsetof(struct hs_lineage_head, changed) ==
		       offsetof(struct hs_lineage_head, born_stack) + sizeof(uint32_t),
	       "two numbers there");

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

/* The numbers that an element of a batch carries, 0: none. */
static uint32_t *carried(enum pool_kind kind, uint32_t nr)
{
	if (kind == POOL_RECORDS)
		return (uint32_t *)&store_record(nr)->size;
	if (kind == POOL_LINEAGES)
		return &store_lineage(nr)->head.born_stack;
	return &store_long_lineage(nr)->head.born_stack;
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

/* Takes the next of the batch that is being used up, and with it what it carries. */
static uint32_t take_carrier(struct pool *p, enum pool_kind kind)
{
	uint32_t nr = p->batch;
	const uint32_t *others = carried(kind, nr);

	p->batch = *next_in_batch(kind, nr);
	if (p->batch)
		__builtin_prefetch(next_in_batch(kind, p->batch), 1);
	for (uint32_t i = 0; i < CARRIED && others[i]; i++) {
		p->free[p->nr++] = others[i];
		__builtin_prefetch(next_in_batch(kind, others[i]), 1);
	}
	return nr;
}

__attribute__((noinline)) uint32_t pool_refill(struct pool *p, enum pool_kind kind)
{
	uint64_t fresh;

	if (!p->batch && p->fresh == p->fresh_end)
		p->batch = freelist_pop(&store.header->free_batches[kind], next_batch[kind]);
	if (p->batch)
		return take_carrier(p, kind);
	if (p->fresh == p->fresh_end) {
		fresh = store_take(arrays[kind], nr_fresh[kind]);
		if (!fresh || fresh + nr_fresh[kind] > MAX_NUMBER)
			return 0;
		p->fresh = (uint32_t)fresh;
		p->fresh_end = (uint32_t)fresh + nr_fresh[kind];
	}
	return p->fresh++;
}

__attribute__((noinline)) void pool_hand_on(struct pool *p, enum pool_kind kind)
{
	for (uint32_t i = 0; i < BATCH; i += 1 + CARRIED) {
		uint32_t *others = carried(kind, p->free[i]), next = i + 1 + CARRIED;

		for (uint32_t j = 0; j < CARRIED; j++)
			others[j] = i + 1 + j < BATCH ? p->free[i + 1 + j] : 0;
		__atomic_store_n(next_in_batch(kind, p->free[i]), next < BATCH ? p->free[next] : 0,
				 __ATOMIC_RELAXED);
	}
	freelist_push(&store.header->free_batches[kind], p->free[0], next_batch[kind]);
	p->nr -= BATCH;
	for (uint32_t i = 0; i < p->nr; i++)
		p->free[i] = p->free[BATCH + i];
}
