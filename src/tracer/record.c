/* SPDX-License-Identifier: MIT */
/*
 * record.c - puts births, deaths and resizings of blocks into the live table.
 *
 * Runs on any thread of the traced program, perhaps in a signal handler. Takes no lock.
 * Invariants: a record's commit word is written last; a reader that sees it sees the whole
 * record. A slot of the index and the record it names are touched only by the thread that owns
 * the block. The totals of a stack change after the table, and `op` says so beforehand.
 * Orders matter only towards readers after a kill: within a process the owner's program order is
 * enough, and what hands a block from one thread to another orders its record as well.
 */
#include "tracer/record.h"

#include "tracer/copygrow.h"
#include "tracer/index.h"
#include "tracer/intern.h"
#include "tracer/lineage.h"
#include "tracer/module.h"
#include "tracer/pool.h"
#include "tracer/stackbounds.h"
#include "tracer/sys.h"
#include "tracer/totals.h"

static uint64_t address_of(const struct hs_record *r)
{
	return __atomic_load_n(&r->word, __ATOMIC_RELAXED) & HS_RECORD_ADDRESS;
}

uint32_t record_stack(struct thread *t, const struct unwind_regs *regs)
{
	uint32_t flags = 0, node, stack;

	module_poll();
	node = unwind_capture(t->unwind, store.header->depth, regs, &flags);
	stack = node ? intern_stack(node) : 0;
	if (!stack)
		store_lost(HS_LOST_NO_STACK);
	else if (flags & UNWIND_CUT)
		store_lost(HS_LOST_CUT);
	return stack;
}

/* Bytes that a record's block was asked for. */
static inline uint64_t size_of(const struct hs_record *r)
{
	return __builtin_expect(lineage_holds_size(r->size), 0) ? store_long_lineage(r->birth)->size :
								   r->size & HS_SIZE_MAX;
}

/* Bytes that its block has: also of one whose true sizes are in its lineage, no less than these. */
static inline uint64_t usable_of(const struct hs_record *r)
{
	return (r->size & HS_SIZE_MAX) + (r->size >> HS_SIZE_BITS);
}

static void begin_op(struct thread *t, enum hs_op op, uint32_t stack, uint32_t from)
{
	t->slot->op_stack = stack;
	t->slot->op_stack_from = from;
	__atomic_store_n(&t->slot->op, (uint32_t)op, __ATOMIC_RELEASE);
}

/* Writes a record whole and commits it. */
static void commit(struct hs_record *r, const struct hs_record *from)
{
	r->size = from->size;
	/* these two are links while the record is free; serial is what claim() looks at, late */
	__atomic_store_n(&r->serial, from->serial, __ATOMIC_RELAXED);
	__atomic_store_n(&r->stack, from->stack, __ATOMIC_RELAXED);
	r->birth = from->birth;
	__atomic_store_n(&r->word, from->word, __ATOMIC_RELEASE);
}

#define HOLD_SPINS 100u
#define HOLD_WAITS 2000u /* of a millisecond */

/* The thread that made the block was taken out of what it was in: the record stays as it is. */
static bool maker_left(const struct hs_record *r)
{
	const struct hs_thread *s = store_place(HS_ARRAY_THREADS,
						r->serial >> HS_SERIAL_SLOT_SHIFT);

	return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == HS_THREAD_LEFT;
}

/*
 * Makes the record of a block of ours, which another thread made, busy: then that thread leaves it
 * alone. It may be holding it for a few instructions, in the midst of which it can lose its
 * processor; or for good, if it jumped away and has not been in a hook since. The bound is for that
 * alone, and is long: to go on too early could give this block another's birth, unnoticed, to go on
 * too late costs time once.
 */
static __attribute__((noinline)) void hold_foreign(struct hs_record *r)
{
	uint32_t never = 0;

	for (unsigned spins = 0; spins < HOLD_SPINS + HOLD_WAITS; spins++) {
		uint64_t word = __atomic_load_n(&r->word, __ATOMIC_RELAXED);

		if (!(word & HS_RECORD_BUSY) &&
		    __atomic_compare_exchange_n(&r->word, &word, word | HS_RECORD_BUSY, true,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
		if (spins <= HOLD_SPINS)
			continue;
		if (maker_left(r))
			return;
		sys_futex_wait(&never, 0, 1000000);
	}
}

/* From here until its word is stored, no other thread hands a lineage to this block of ours. */
static inline void hold(const struct thread *t, struct hs_record *r)
{
	if (__builtin_expect(r->serial >> HS_SERIAL_SLOT_SHIFT != t->slot_nr, 0))
		hold_foreign(r);
}

/* A copy of a record of ours. Atomic: a thread that is late may try to claim() it, in vain. */
static inline struct hs_record read_record(const struct hs_record *r)
{
	struct hs_record copy = {
		.word = __atomic_load_n(&r->word, __ATOMIC_RELAXED) & ~HS_RECORD_BUSY,
		.size = r->size,
		.serial = r->serial,
		.stack = r->stack,
		.birth = r->birth,
	};

	return copy;
}

/* Takes record nr, which the index does not name any more, out of the table and the totals. */
static inline struct hs_record take_out(struct thread *t, uint32_t nr, bool temporary)
{
	struct hs_record *r = store_record(nr), copy;

	hold(t, r);
	copy = read_record(r);
	stack_block_changed(copy.word & HS_RECORD_ADDRESS, size_of(&copy));
	begin_op(t, HS_OP_DEATH, copy.stack, 0);
	__atomic_store_n(&r->word, 0, __ATOMIC_RELEASE);
	totals_death(t, copy.stack, size_of(&copy), temporary);
	return copy;
}

/* Ends the block whose record is nr; the index does not name it any more. */
static void end_record(struct thread *t, uint32_t nr, bool temporary)
{
	struct hs_record r = take_out(t, nr, temporary);

	if (r.word & HS_RECORD_LINEAGE)
		lineage_give(t, r.word & HS_RECORD_LONG, r.birth);
	pool_give(t, POOL_RECORDS, nr);
}

/* ---- growth by copying ---- */

/* Makes the record nr busy if it still is that of the block that was `born`. */
static bool claim(uint32_t nr, const struct hs_record *born)
{
	struct hs_record *r = store_record(nr);
	uint64_t word = born->word;

	if (!__atomic_compare_exchange_n(&r->word, &word, word | HS_RECORD_BUSY, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	if (__atomic_load_n(&r->serial, __ATOMIC_RELAXED) == born->serial)
		return true;
	/* Another block at the same address: busy was in nobody's way, as we did not make it. */
	word |= HS_RECORD_BUSY;
	__atomic_compare_exchange_n(&r->word, &word, born->word, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
	return false;
}

/* Ends what claim() began: the block has the lineage of `old`, if that has one. */
static void let_go(struct thread *t, uint32_t nr, const struct hs_record *born,
		   const struct hs_record *old)
{
	uint64_t lineage = old->word & (HS_RECORD_LINEAGE | HS_RECORD_LONG);
	uint64_t word = born->word | HS_RECORD_BUSY;
	struct hs_record *r = store_record(nr);

	if (lineage)
		__atomic_store_n(&r->birth, old->birth, __ATOMIC_RELAXED);
	if (!__atomic_compare_exchange_n(&r->word, &word, born->word | lineage, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED) && lineage)
		lineage_give(t, !!(lineage & HS_RECORD_LONG), old->birth);
	__atomic_store_n(&t->slot->inflight_nr, 0, __ATOMIC_RELEASE);
}

/*
 * If the block of record nr, at slot of the index, is about to be freed because it was copied to a
 * larger one, that one has its lineage. Where records are changed for it the block ends now: true.
 */
static __attribute__((noinline)) bool hand_down(struct thread *t, uint32_t *slot, uint32_t nr)
{
	struct hs_thread *s = t->slot;
	struct copy_link link;
	struct hs_record old;

	if (!copygrow_heir(t, nr, &link))
		return false;
	if (link.is_note) {
		old = read_record(store_record(nr));
		copygrow_inherit(t, &old, &link);
		return false;
	}
	if (link.shows) {
		if (s->inflight_nr || !claim(link.heir_nr, &link.heir))
			return false;
		s->inflight = link.heir;
		__atomic_store_n(&s->inflight_nr, link.heir_nr, __ATOMIC_RELEASE);
	}
	__atomic_store_n(slot, 0, __ATOMIC_RELAXED);
	old = take_out(t, nr, false);
	pool_give(t, POOL_RECORDS, nr);
	copygrow_inherit(t, &old, &link);
	if (link.shows)
		let_go(t, link.heir_nr, &link.heir, &old);
	return true;
}

/* ---- births and deaths ---- */

/* Ends the block whose death waits at this place. */
static void end_pending(struct thread *t, uint32_t place)
{
	uint32_t nr = t->slot->pending[place];

	end_record(t, nr, t->pending_temporary >> place & 1);
	__atomic_store_n(&t->slot->pending[place], 0, __ATOMIC_RELEASE);
}

void record_settle(struct thread *t)
{
	for (uint32_t i = 0; i < HS_NR_PENDING; i++)
		if (t->slot->pending[i])
			end_pending(t, i);
}

/* Ends the block whose record is nr, at slot of the index, now. */
static void end_block(struct thread *t, uint32_t *slot, uint32_t nr)
{
	__atomic_store_n(slot, 0, __ATOMIC_RELAXED);
	end_record(t, nr, t->newest == address_of(store_record(nr)));
}

/*
 * The same, but the record is read only some deaths later: it is cold, unlike the slot's line,
 * which is fetched together with the allocator's own header of the block.
 */
static void end_block_later(struct thread *t, uint32_t *slot, uint32_t nr, uint64_t address)
{
	uint32_t place = t->next_pending++ % HS_NR_PENDING, bit = 1u << place;

	if (t->slot->pending[place])
		end_pending(t, place);
	t->pending_temporary &= ~bit;
	if (t->newest == address) {
		t->pending_temporary |= bit;
		t->newest = 0;
	}
	__atomic_store_n(&t->slot->pending[place], nr, __ATOMIC_RELEASE);
	__atomic_store_n(slot, 0, __ATOMIC_RELAXED);
	__builtin_prefetch(store_record(nr), 1);
}

/*
 * Whether the death of a block has to be told at once: before its memory goes, if that is a stack
 * that the unwinder knows; or because it may be large, by the looks of its address, and others
 * would take it for live until this thread's next events.
 */
static inline bool is_urgent(uint64_t address)
{
	return (address & 4095) <= 16 || stack_may_be_at(address);
}

/* Ends a block that lay at a slot that is now another's: nobody saw its free. */
static inline void end_stale(struct thread *t, uint32_t *slot)
{
	uint32_t old = index_number(__atomic_load_n(slot, __ATOMIC_RELAXED));

	if (__builtin_expect(old != 0, 0)) {
		store_lost(HS_LOST_STALE);
		end_block(t, slot, old);
	}
}

/* The same for a block that lay at the address and has its slot in the other leaf. */
static __attribute__((noinline)) void end_stale_twin(struct thread *t, uint64_t address)
{
	uint32_t *slot;

	if (index_find(&t->index, address, &slot))
		end_stale(t, slot);
}

/* The slot where a block at address goes, made and on its way to the cache; NULL (counted): none. */
static uint32_t *slot_for(struct thread *t, uint64_t address, uint64_t usable)
{
	bool both;
	uint32_t *slot = index_make(&t->index, address, usable, &both);

	if (__builtin_expect(!slot, 0))
		store_lost(store_recording() ? HS_LOST_ADDRESS : HS_LOST_STOPPED);
	else if (__builtin_expect(both, 0))
		end_stale_twin(t, address);
	else
		__builtin_prefetch(slot, 1);
	return slot;
}

/* Room for a lineage that holds the size of a huge block; false (counted): none. */
static __attribute__((noinline)) bool huge_birth(struct thread *t, struct hs_record *r, uint32_t nr,
						 const struct block *b)
{
	if (lineage_start_long(t, r, b->size, b->usable))
		return true;
	pool_give(t, POOL_RECORDS, nr);
	store_lost(HS_LOST_STOPPED);
	return false;
}

/* The rest of a birth. A function of its own: its frame need not lie below the unwinder's. */
static __attribute__((noinline)) void put_birth(struct thread *t, const struct block *b,
						uint32_t *slot, uint32_t stack)
{
	struct hs_record fresh;
	uint32_t nr, tick;

	if (__builtin_expect(totals_may_rise(t, b->size), 0))
		record_settle(t); /* what waits still counts as live and must not make a mark */
	nr = pool_take(t, POOL_RECORDS);
	if (__builtin_expect(!nr, 0)) {
		store_lost(HS_LOST_STOPPED);
		return;
	}
	tick = store_tick();
	fresh = (struct hs_record){
		.word = b->address | (uint64_t)b->family << HS_RECORD_FAMILY_SHIFT,
		.size = lineage_pack(b->size, b->usable),
		.serial = (uint64_t)t->slot_nr << HS_SERIAL_SLOT_SHIFT | t->slot->next_serial++,
		.stack = stack,
		.birth = tick,
	};
	if (__builtin_expect(lineage_holds_size(fresh.size), 0) && !huge_birth(t, &fresh, nr, b))
		return;
	end_stale(t, slot);
	begin_op(t, HS_OP_BIRTH, stack, 0);
	commit(store_record(nr), &fresh);
	__atomic_store_n(slot, index_value(nr, b->address), __ATOMIC_RELAXED);
	totals_birth(t, stack, b->size, tick);
	t->newest = b->address;
	if (!(t->special & THREAD_ORPHAN))
		copygrow_birth(&t->copygrow, nr, &fresh);
}

/* There may be no block whose death would end the drain: births look now and then. */
static __attribute__((noinline)) void look_drained(struct thread *t)
{
	uint32_t tick = store_tick();

	if (tick == t->drain_tick)
		return;
	t->drain_tick = tick;
	totals_drained(t);
}

void record_birth(struct thread *t, const struct block *b, const struct unwind_regs *regs)
{
	uint32_t *slot;

	if (__builtin_expect(t->special & THREAD_DRAINING || !store_recording(), 0)) {
		if (!store_recording())
			store_lost(HS_LOST_STOPPED);
		if (t->special & THREAD_DRAINING)
			look_drained(t);
		return;
	}
	slot = slot_for(t, b->address, b->usable);
	if (slot)
		put_birth(t, b, slot, record_stack(t, regs));
}

bool record_death(struct thread *t, uint64_t address)
{
	uint32_t *slot, nr = index_find(&t->index, address, &slot);

	if (__builtin_expect(!nr, 0)) {
		if (!(t->special & THREAD_DRAINING))
			store_lost(HS_LOST_UNKNOWN_FREE);
		return false;
	}
	if (__builtin_expect(t->special & (THREAD_DRAINING | THREAD_ORPHAN), 0)) {
		end_block(t, slot, nr);
		if (t->special & THREAD_DRAINING)
			totals_drained(t);
	} else if (copygrow_any(&t->copygrow) && hand_down(t, slot, nr)) {
		return true;
	} else if (__builtin_expect(is_urgent(address), 0)) {
		end_block(t, slot, nr);
	} else {
		end_block_later(t, slot, nr, address);
	}
	return true;
}

/* ---- resizing ---- */

/*
 * Where the thread's slot holds another block in flight (a signal handler in the real realloc), or
 * is shared by several threads, the record stays where it is: only the index does not name it. If
 * its place goes to another block before the record is written anew, a reader finds two blocks
 * there and drops the older one, counted.
 */

void record_resize_begin(struct thread *t, uint64_t address, struct resize *ret)
{
	struct hs_thread *s = t->slot;
	struct hs_record *r;
	uint32_t *slot;

	ret->nr = index_find(&t->index, address, &slot);
	ret->nested = false;
	if (!ret->nr) {
		if (!(t->special & THREAD_DRAINING))
			store_lost(HS_LOST_UNKNOWN_FREE);
		return;
	}
	r = store_record(ret->nr);
	hold(t, r);
	ret->copy = read_record(r);
	if (ret->copy.word & HS_RECORD_LINEAGE)
		__builtin_prefetch(lineage_head(&ret->copy), 1);
	ret->nested = s->inflight_nr != 0 || t->special & THREAD_ORPHAN;
	__atomic_store_n(slot, 0, __ATOMIC_RELAXED);
	if (ret->nested)
		return;
	ret->slot = s;
	s->inflight = ret->copy;
	__atomic_store_n(&s->inflight_nr, ret->nr, __ATOMIC_RELEASE);
	__atomic_store_n(&r->word, 0, __ATOMIC_RELEASE);
}

static void leave_flight(const struct resize *r)
{
	if (r->nested)
		__atomic_store_n(&store_record(r->nr)->word, 0, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&r->slot->inflight_nr, 0, __ATOMIC_RELEASE);
}

/* Ends the block in flight: it was freed, or can't be kept. */
void record_resize_free(struct thread *t, struct resize *r)
{
	uint64_t size = r->nr ? size_of(&r->copy) : 0;
	uint32_t stack = r->copy.stack;

	if (!r->nr)
		return;
	begin_op(t, HS_OP_DEATH, stack, 0);
	leave_flight(r);
	totals_death(t, stack, size, t->newest == address_of(&r->copy));
	if (r->copy.word & HS_RECORD_LINEAGE)
		lineage_give(t, r->copy.word & HS_RECORD_LONG, r->copy.birth);
	pool_give(t, POOL_RECORDS, r->nr);
}

static void put_back(struct resize *r, uint32_t *slot)
{
	if (r->nested)
		leave_flight(r); /* a record is changed while nobody reads it */
	commit(store_record(r->nr), &r->copy);
	__atomic_store_n(slot, index_value(r->nr, address_of(&r->copy)), __ATOMIC_RELAXED);
	if (!r->nested)
		leave_flight(r);
}

void record_resize_undo(struct thread *t, struct resize *r)
{
	uint32_t *slot;

	if (!r->nr)
		return;
	slot = slot_for(t, address_of(&r->copy), usable_of(&r->copy));
	if (slot) {
		end_stale(t, slot);
		put_back(r, slot);
	} else {
		record_resize_free(t, r);
	}
}

/* An inner hook of the allocator's own realloc may have recorded the new place as a birth. */
static void drop_inner_birth(struct thread *t, uint64_t address)
{
	uint32_t *slot;
	uint32_t nr = t->newest == address ? index_find(&t->index, address, &slot) : 0;

	if (nr)
		end_block(t, slot, nr);
}

void record_resize_end(struct thread *t, struct resize *r, const struct block *b,
		       const struct unwind_regs *regs)
{
	uint32_t old_stack = r->copy.stack, stack = old_stack, tick = 0, *slot;
	uint64_t old_size;

	drop_inner_birth(t, b->address);
	if (!r->nr) {
		record_birth(t, b, regs);
		return;
	}
	slot = slot_for(t, b->address, b->usable);
	old_size = size_of(&r->copy);
	stack_block_changed(address_of(&r->copy), old_size);
	if (b->size != old_size) {
		stack = record_stack(t, regs);
		tick = store_tick();
	}
	if (slot)
		end_stale(t, slot);
	if (__builtin_expect(b->size > old_size && totals_may_rise(t, b->size - old_size), 0))
		record_settle(t);
	begin_op(t, HS_OP_RESIZE, stack, old_stack);
	if (!slot || (b->size != old_size &&
		      !lineage_step(t, &r->copy, b->size, b->usable, stack, tick))) {
		record_resize_free(t, r);
		return;
	}
	r->copy.word = (r->copy.word & ~HS_RECORD_ADDRESS) | b->address;
	put_back(r, slot);
	if (b->size != old_size)
		totals_resize(t, old_stack, old_size, stack, b->size, tick);
	t->newest = 0;
}
