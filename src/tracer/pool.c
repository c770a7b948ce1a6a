/* SPDX-License-Identifier: MIT */
/*
 * pool.c - numbers of free records: a list per thread, and a shared list of batches.
 *
 * Runs in the traced program with `in` set. The shared list is a stack by compare-and-swap whose
 * head carries a count in its upper half, so that a head which comes back is told from one that
 * never left (the ABA problem).
 */
#include "tracer/pool.h"

#include "store/writer.h"

#define BATCH 64u        /* records handed on at once */
#define KEEP (2 * BATCH) /* a thread with more hands a batch on */
#define FRESH 32u        /* never used numbers taken from the array at once */

static uint32_t next_in_list(uint32_t nr)
{
	return (uint32_t)store_record(nr)->serial;
}

static void push_batch(uint32_t first)
{
	uint64_t *head = &store.header->free_records;
	uint64_t old = __atomic_load_n(head, __ATOMIC_RELAXED), new;

	do {
		store_record(first)->size = (uint32_t)old;
		new = (old & ~(uint64_t)UINT32_MAX) + (UINT64_C(1) << 32) + first;
	} while (!__atomic_compare_exchange_n(head, &old, new, true, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

static uint32_t pop_batch(void)
{
	uint64_t *head = &store.header->free_records;
	uint64_t old = __atomic_load_n(head, __ATOMIC_ACQUIRE), new;

	do {
		if (!(uint32_t)old)
			return 0;
		/* May read a record that another thread has just taken: then the swap fails. */
		new = (old & ~(uint64_t)UINT32_MAX) + (UINT64_C(1) << 32) +
		      (uint32_t)__atomic_load_n(&store_record((uint32_t)old)->size,
						__ATOMIC_RELAXED);
	} while (!__atomic_compare_exchange_n(head, &old, new, true, __ATOMIC_ACQUIRE,
					      __ATOMIC_ACQUIRE));
	return (uint32_t)old;
}

static __attribute__((noinline)) bool refill(struct thread *t)
{
	uint32_t batch = pop_batch();
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
	push_batch(first);
}

void pool_give(struct thread *t, uint32_t nr)
{
	store_record(nr)->serial = t->free_records;
	t->free_records = nr;
	if (++t->nr_free > KEEP)
		hand_on(t);
}
