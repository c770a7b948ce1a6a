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

/* What a stack's totals change by. */
struct change {
	int64_t live_count, live_bytes;
	uint64_t born_count, born_bytes, temporary;
};

static void add_shared(struct hs_cell *cell, const struct change *c, uint64_t epoch)
{
	if (__atomic_load_n(&cell->epoch, __ATOMIC_RELAXED) != epoch) {
		cell->peak_count = __atomic_load_n(&cell->live_count, __ATOMIC_RELAXED);
		cell->peak_bytes = __atomic_load_n(&cell->live_bytes, __ATOMIC_RELAXED);
		__atomic_store_n(&cell->epoch, epoch, __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&cell->live_count, c->live_count, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cell->live_bytes, c->live_bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cell->born_count, c->born_count, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cell->born_bytes, c->born_bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cell->temporary, c->temporary, __ATOMIC_RELAXED);
}

static inline void add(struct thread *t, uint32_t stack, struct change c)
{
	struct hs_cell *cell = store_cell(t->shard, stack);
	uint64_t epoch = __atomic_load_n(&store.header->peak_epoch, __ATOMIC_RELAXED);

	if (!cell)
		return;
	if (__builtin_expect(!t->shard, 0)) {
		add_shared(cell, &c, epoch);
		return;
	}
	if (cell->epoch != epoch) {
		cell->peak_count = cell->live_count;
		cell->peak_bytes = cell->live_bytes;
		cell->epoch = epoch;
	}
	cell->live_count += c.live_count;
	cell->live_bytes += c.live_bytes;
	cell->born_count += c.born_count;
	cell->born_bytes += c.born_bytes;
	cell->temporary += c.temporary;
}

/* A new maximum: cells that change from now on keep what they were. */
static void raise_peak(struct hs_header *h, int64_t bytes, int64_t count)
{
	int64_t peak = __atomic_load_n(&h->peak_bytes, __ATOMIC_RELAXED);

	while (bytes > peak) {
		if (!__atomic_compare_exchange_n(&h->peak_bytes, &peak, bytes, true,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&h->peak_count, count, __ATOMIC_RELAXED);
		__atomic_store_n(&h->peak_ms, store_now_ms(), __ATOMIC_RELAXED);
		__atomic_fetch_add(&h->peak_epoch, 1, __ATOMIC_RELAXED);
		return;
	}
}

static void flush(struct hs_thread *s)
{
	struct hs_header *h = store.header;
	int64_t bytes = __atomic_add_fetch(&h->live_bytes, s->unflushed_bytes, __ATOMIC_RELAXED);
	int64_t count = __atomic_add_fetch(&h->live_count, s->unflushed_count, __ATOMIC_RELAXED);

	s->unflushed_bytes = 0;
	s->unflushed_count = 0;
	if (bytes > __atomic_load_n(&h->peak_bytes, __ATOMIC_RELAXED))
		raise_peak(h, bytes, count);
}

static inline void change_live(struct thread *t, int64_t bytes, int64_t count)
{
	struct hs_thread *s = t->slot;
	struct hs_header *h = store.header;

	s->unflushed_bytes += bytes;
	s->unflushed_count += count;
	if (s->unflushed_bytes > TOTALS_HOLD_BACK || s->unflushed_bytes < -TOTALS_HOLD_BACK) {
		flush(s);
	} else if (__atomic_load_n(&h->arrays[HS_ARRAY_THREADS].count, __ATOMIC_RELAXED) == 2) {
		/* the only thread so far: what it holds back is all there is, so the mark is exact */
		int64_t live = __atomic_load_n(&h->live_bytes, __ATOMIC_RELAXED) +
			       s->unflushed_bytes;

		if (live > __atomic_load_n(&h->peak_bytes, __ATOMIC_RELAXED))
			raise_peak(h, live, __atomic_load_n(&h->live_count, __ATOMIC_RELAXED) +
						    s->unflushed_count);
	}
}

void totals_birth(struct thread *t, uint32_t stack, uint64_t size)
{
	add(t, stack, (struct change){ 1, (int64_t)size, 1, size, 0 });
	change_live(t, (int64_t)size, 1);
}

void totals_death(struct thread *t, uint32_t stack, uint64_t size, bool temporary)
{
	add(t, stack, (struct change){ -1, -(int64_t)size, 0, 0, temporary });
	if (temporary)
		t->newest = 0;
	change_live(t, -(int64_t)size, -1);
}

void totals_resize(struct thread *t, uint32_t old_stack, uint64_t old_size, uint32_t stack,
		   uint64_t size)
{
	add(t, old_stack, (struct change){ -1, -(int64_t)old_size, 0, 0, 0 });
	add(t, stack, (struct change){ 1, (int64_t)size, 1, size, 0 });
	change_live(t, (int64_t)size - (int64_t)old_size, 0);
}

void totals_drained(void)
{
	int64_t count = __atomic_load_n(&store.header->live_count, __ATOMIC_RELAXED);
	uint64_t nr = store.header->arrays[HS_ARRAY_THREADS].count;
	uint32_t drain = HS_MODE_DRAIN;

	for (uint64_t i = 0; i < nr; i++) {
		struct hs_thread *s = store_place(HS_ARRAY_THREADS, i);

		count += __atomic_load_n(&s->unflushed_count, __ATOMIC_RELAXED);
	}
	if (count == 0 &&
	    __atomic_compare_exchange_n(&store.control->word, &drain, HS_MODE_OFF, false,
					__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		stack_memory_changed(0, UINTPTR_MAX); /* from now on blocks come and go unseen */
}
