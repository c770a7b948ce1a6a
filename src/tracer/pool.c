/* SPDX-License-Identifier: MIT */
/*
 * pool.c - numbers of free records: a list per thread, and a shared list of batches.
 *
 * Runs in the traced program with `in` set.
 */
#include "tracer/pool.h"

#include "store/writer.h"
#include "tracer/freelist.h"

#define BATCH 64u        /* records handed on at once */
#define KEEP (2 * BATCH) /* a thread with more hands a batch on */
#define FRESH 32u        /* never used numbers taken from the array at once */

static uint32_t next_in_list(uint32_t nr)
{
	return (uint32_t)store_record(nr)->serial;
}

static uint32_t *next_batch(uint32_t nr)
{
	return &store_record(nr)->stack;
}

static __attribute__((noinline)) bool refill(struct thread *t)
{
	uint32_t batch = freelist_pop(&store.header->free_records, next_batch);
	uint64_t fresh;

	if (batch) {
		t->free_records = batch;
		t->nr_free = BATCH;
		return true;
	}
	fresh = store_take(HS_ARRAY_RECORDS, FRESH);
	if (!fresh || fresh + FRESH > UINT32_MAX)
		return false;
	t->fresh_record = (uint32_t)fresh;
	t->fresh_end = (uint32_t)fresh + FRESH;
	return true;
}

uint32_t pool_take(struct thread *t)
{
	uint32_t nr;

	for (;;) {
		nr = t->free_records;
		if (nr) {
			t->free_records = next_in_list(nr);
			t->nr_free--;
			if (t->free_records) /* for the next birth */
				__builtin_prefetch(store_record(t->free_records), 1);
			return nr;
		}
		if (t->fresh_record < t->fresh_end)
			return t->fresh_record++;
		if (!refill(t))
			return 0;
	}
}

/* Cuts the first BATCH records off the thread's list. */
static __attribute__((noinline)) void hand_on(struct thread *t)
{
	uint32_t first = t->free_records, last = first;

	for (uint32_t i = 1; i < BATCH; i++)
		last = next_in_list(last);
	t->free_records = next_in_list(last);
	t->nr_free -= BATCH;
	store_record(last)->serial = 0;
	freelist_push(&store.header->free_records, first, next_batch);
}

void pool_give(struct thread *t, uint32_t nr)
{
	store_record(nr)->serial = t->free_records;
	t->free_records = nr;
	if (++t->nr_free > KEEP)
		hand_on(t);
}
