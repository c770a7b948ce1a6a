/* SPDX-License-Identifier: MIT */
/*
 * totals.c - the per-stack totals and the high-water mark.
 *
 * Runs in the traced program with `in` set. A shard has one owner, who adds plainly; shard 0 is
 * shared and added to atomically. header.live_* and peak_* are shared by all threads and changed
 * atomically.
 */
#include "tracer/totals.h"

#include "store/writer.h"
#include "tracer/stackbounds.h"

/* The cell is about to change: if that is the first time since the mark, what it was is kept. */
static inline void keep_mark(struct hs_cell *cell)
{
	uint64_t epoch = __atomic_load_n(&store.header->peak_epoch, __ATOMIC_RELAXED);

	if (__builtin_expect(__atomic_load_n(&cell->epoch, __ATOMIC_RELAXED) != epoch, 0)) {
		cell->peak_count = __atomic_load_n(&cell->live_count, __ATOMIC_RELAXED);
		cell->peak_bytes = __atomic_load_n(&cell->live_bytes, __ATOMIC_RELAXED);
		__atomic_store_n(&cell->epoch, epoch, __ATOMIC_RELAXED);
	}
}

static __attribute__((noinline)) void add_shared(struct hs_cell *cell, int64_t count, int64_t bytes,
						 uint64_t born_bytes, bool temporary)
{
	__atomic_fetch_add(&cell->live_count, count, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cell->live_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cell->born_count, count > 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cell->born_bytes, born_bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cell->temporary, temporary, __ATOMIC_RELAXED);
}

static inline void add_born(struct thread *t, uint32_t stack, uint64_t size)
{
	struct hs_cell *cell = store_cell(t->shard, stack);

	if (__builtin_expect(!cell, 0))
		return;
	keep_mark(cell);
	if (__builtin_expect(!t->shard, 0)) {
		add_shared(cell, 1, (int64_t)size, size, false);
		return;
	}
	cell->live_count++;
	cell->live_bytes += (int64_t)size;
	cell->born_count++;
	cell->born_bytes += size;
}

static inline void add_gone(struct thread *t, uint32_t stack, uint64_t size, bool temporary)
{
	struct hs_cell *cell = store_cell(t->shard, stack);

	if (__builtin_expect(!cell, 0))
		return;
	keep_mark(cell);
	if (__builtin_expect(!t->shard, 0)) {
		add_shared(cell, -1, -(int64_t)size, 0, temporary);
		return;
	}
	cell->live_count--;
	cell->live_bytes -= (int64_t)size;
	cell->temporary += temporary;
}

/* ---- the high-water mark ---- */

/* A new maximum, reached at `ms`: cells that change from now on keep what they were. */
static void raise_mark(struct hs_header *h, int64_t bytes, int64_t count, uint64_t ms)
{
	int64_t peak = __atomic_load_n(&h->peak_bytes, __ATOMIC_RELAXED);

	while (bytes > peak) {
		if (!__atomic_compare_exchange_n(&h->peak_bytes, &peak, bytes, true,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&h->peak_count, count, __ATOMIC_RELAXED);
		__atomic_store_n(&h->peak_ms, ms, __ATOMIC_RELAXED);
		__atomic_fetch_add(&h->peak_epoch, 1, __ATOMIC_RELAXED);
		return;
	}
}

/* True while there is no other thread: what it holds back is all there is, and the mark exact. */
static bool alone(void)
{
	return __atomic_load_n(&store.header->arrays[HS_ARRAY_THREADS].count, __ATOMIC_RELAXED) == 2;
}

/* Calls of flush(), for totals_drained(). */
static uint64_t flushes_begun, flushes_ended;

/* Tells the header what the thread held back. */
static void flush(struct hs_thread *s)
{
	struct hs_header *h = store.header;

	__atomic_fetch_add(&flushes_begun, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&h->live_bytes, s->unflushed_bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&h->live_count, s->unflushed_count, __ATOMIC_RELAXED);
	s->unflushed_bytes = 0;
	__atomic_store_n(&s->unflushed_count, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&flushes_ended, 1, __ATOMIC_SEQ_CST);
}

/* The mark is what is live now, if that is more than ever. */
static void mark_now(const struct hs_thread *s, uint64_t ms)
{
	struct hs_header *h = store.header;

	raise_mark(h, __atomic_load_n(&h->live_bytes, __ATOMIC_RELAXED) + s->unflushed_bytes,
		   __atomic_load_n(&h->live_count, __ATOMIC_RELAXED) + s->unflushed_count, ms);
}

/* How much the thread may hold back before risen() has to look at it. */
static void set_calm(struct thread *t)
{
	int64_t room = TOTALS_HOLD_BACK;

	if (alone()) {
		room = __atomic_load_n(&store.header->peak_bytes, __ATOMIC_RELAXED) -
		       __atomic_load_n(&store.header->live_bytes, __ATOMIC_RELAXED);
		room = room < TOTALS_HOLD_BACK ? room : TOTALS_HOLD_BACK;
	}
	t->calm = room;
}

/* More is held back than `calm`: a thread that is alone is above the mark, others may be. */
static __attribute__((noinline)) void risen(struct thread *t, uint32_t tick)
{
	if (t->slot->unflushed_bytes > TOTALS_HOLD_BACK) {
		flush(t->slot);
		if (!alone())
			mark_now(t->slot, store_now_ms());
	}
	t->rising = alone();
	t->risen_tick = tick;
	set_calm(t);
}

/* Live is about to fall, from where the mark should be. */
static __attribute__((noinline)) void leave_mark(struct thread *t)
{
	t->rising = false;
	mark_now(t->slot, (uint64_t)t->risen_tick * HS_TICK_MS);
	set_calm(t);
}

/* Much less is live than the header knows; what it knows may be the mark by another thread. */
static __attribute__((noinline)) void fallen(struct thread *t)
{
	struct hs_header *h = store.header;

	raise_mark(h, __atomic_load_n(&h->live_bytes, __ATOMIC_RELAXED),
		   __atomic_load_n(&h->live_count, __ATOMIC_RELAXED), store_now_ms());
	flush(t->slot);
	set_calm(t);
}

static inline void rise(struct thread *t, uint64_t bytes, int64_t count, uint32_t tick)
{
	struct hs_thread *s = t->slot;

	s->unflushed_bytes += (int64_t)bytes;
	s->unflushed_count += count;
	if (__builtin_expect(s->unflushed_bytes > t->calm, 0))
		risen(t, tick);
}

static inline void fall(struct thread *t, uint64_t bytes, int64_t count)
{
	struct hs_thread *s = t->slot;

	s->unflushed_bytes -= (int64_t)bytes;
	s->unflushed_count -= count;
	if (__builtin_expect(s->unflushed_bytes < -TOTALS_HOLD_BACK, 0))
		fallen(t);
}

/* ---- events ---- */

void totals_birth(struct thread *t, uint32_t stack, uint64_t size, uint32_t tick)
{
	add_born(t, stack, size);
	rise(t, size, 1, tick);
}

void totals_death(struct thread *t, uint32_t stack, uint64_t size, bool temporary)
{
	if (__builtin_expect(t->rising, 0))
		leave_mark(t);
	add_gone(t, stack, size, temporary);
	if (temporary)
		t->newest = 0;
	fall(t, size, 1);
}

void totals_resize(struct thread *t, uint32_t old_stack, uint64_t old_size, uint32_t stack,
		   uint64_t size, uint32_t tick)
{
	if (__builtin_expect(t->rising, 0) && size < old_size)
		leave_mark(t);
	add_gone(t, old_stack, old_size, false);
	add_born(t, stack, size);
	if (size < old_size)
		fall(t, old_size - size, 0);
	else
		rise(t, size - old_size, 0, tick);
}

/*
 * Live blocks by what slot s has not told the header: the change that it holds back, and deaths
 * that wait. The latter are looked at only where no event is under way after the former were read,
 * else a block might be taken off twice; to find too many only delays the end.
 */
static int64_t untold(const struct thread *t, const struct hs_thread *s)
{
	int64_t count = __atomic_load_n(&s->unflushed_count, __ATOMIC_ACQUIRE);

	if (s != t->slot && __atomic_load_n(&s->in, __ATOMIC_ACQUIRE) &&
	    __atomic_load_n(&s->state, __ATOMIC_RELAXED) != HS_THREAD_LEFT)
		return count;
	for (uint32_t i = 0; i < HS_NR_PENDING; i++)
		count -= __atomic_load_n(&s->pending[i], __ATOMIC_RELAXED) != 0;
	return count;
}

/* What a flush moves from a slot to the header meanwhile could be missed in both. */
void totals_drained(const struct thread *t)
{
	uint64_t ended = __atomic_load_n(&flushes_ended, __ATOMIC_SEQ_CST);
	int64_t count = __atomic_load_n(&store.header->live_count, __ATOMIC_ACQUIRE);
	uint64_t nr = store.header->arrays[HS_ARRAY_THREADS].count;
	uint32_t drain = HS_MODE_DRAIN;

	for (uint64_t i = 0; i < nr; i++)
		count += untold(t, store_place(HS_ARRAY_THREADS, i));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (count == 0 && __atomic_load_n(&flushes_begun, __ATOMIC_SEQ_CST) == ended &&
	    __atomic_compare_exchange_n(&store.control->word, &drain, HS_MODE_OFF, false,
					__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		stack_memory_changed(0, UINTPTR_MAX); /* from now on blocks come and go unseen */
}
