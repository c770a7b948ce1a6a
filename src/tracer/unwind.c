/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - the stack of the calling thread, by rows and by the memory of the last stack.
 *
 * Runs on any thread of the traced program, perhaps in a signal handler on a small stack. Takes
 * no lock. Reads memory of the host only within what is known to be mapped of the stack that it
 * walks, see stackbounds.h.
 *
 * The memo. A thread keeps its last stack, outermost frame first; each frame with the slot that
 * its return address was read from, the address, the frame pointer, and its node. A new stack is
 * walked by rows from the inside until a frame equals one of the memo (slot, address, and frame
 * pointer if a frame further out depends on it); then outward each slot must still hold what it
 * held. Why that is what a fresh walk would find: the next frame is a function of (pc, sp, fp) by
 * the row of pc. Under rows relative to sp, equal pc and sp mean an equal next slot, and its
 * content is compared. The frame pointer matters only to rows that are relative to it, so where
 * such a row stands further out (FRAME_NEEDS_FP), the slot that it was restored from is compared
 * as well. Frames that were found by anything else (FRAME_REDO) are found again by rows. Nothing
 * is assumed but that rows do not change, and unwind_forget() drops the memo when they do.
 *
 * Invariants: slots grow outward on one stack; frames [0, nr) of the memo are one whole stack of
 * at most `depth` frames, with end and node of each right; nr = 0 while there is none.
 */
#include "tracer/unwind.h"

#include <pthread.h>

#include "store/format.h"
#include "tracer/fallback.h"
#include "tracer/intern.h"
#include "tracer/rows.h"
#include "tracer/stackbounds.h"
#include "tracer/stackcache.h"
#include "tracer/step.h"
#include "tracer/unwind_internal.h"

/* What is read of a frame of the memo on each capture. */
struct frame_slot {
	uintptr_t slot; /* where pc was read from, | enum frame_flags */
	uint64_t pc; /* return address; | HS_NODE_SIGNAL: interrupted there */
};

/* The rest of it. */
struct frame_rest {
	uintptr_t fp;
	uint32_t node; /* while it is being made: enum step_flags of the step out of it */
	int16_t fp_off; /* of the slot that fp was restored from, from `slot`, units of 8 */
	uint16_t sp_off; /* of sp from `slot`, units of 8 */
};

#define SKIP_ALWAYS UINT32_MAX

struct unwind_thread {
	uint32_t generation; /* of the rows that the memo was made by */
	struct stack_bounds bounds;
	uint32_t nr; /* frames of the memo */
	uint32_t end; /* enum stack_end of the memo */
	uint32_t misses; /* how often of late the memo was of no use */
	uint32_t skip; /* captures still to be made without it */
	uintptr_t self; /* thread pointer of the thread that all this is true of */
	struct stack_cache cache;
	struct frame_slot frames[]; /* depth of them, then depth struct frame_rest */
};

size_t unwind_thread_size(uint32_t depth)
{
	return sizeof(struct unwind_thread) +
	       (size_t)depth * (sizeof(struct frame_slot) + sizeof(struct frame_rest));
}

static struct frame_rest *rest_of(struct unwind_thread *u, uint32_t depth)
{
	return (struct frame_rest *)(u->frames + depth);
}

static inline uintptr_t thread_pointer(void)
{
#if defined(__x86_64__)
	uintptr_t p;

	__asm__("mov %%fs:0, %0" : "=r"(p));
	return p;
#elif defined(__aarch64__)
	uintptr_t p;

	__asm__("mrs %0, tpidr_el0" : "=r"(p));
	return p;
#else
	return (uintptr_t)pthread_self();
#endif
}

/* ---- without the memo -------------------------------------------------------------------- */

static uint32_t base_node(enum stack_end end)
{
	if (end == END_DEPTH)
		return intern_node(0, HS_PC_CUT_DEPTH);
	return end == END_CUT ? intern_node(0, HS_PC_CUT_UNWIND) : 0;
}

static uint64_t cursor_pc(const struct cursor *c)
{
	return c->pc | (c->interrupted ? HS_NODE_SIGNAL : 0);
}

static uint32_t capture_plain(struct unwind_thread *u, uint32_t depth, struct cursor *c,
			      enum stack_end *ret_end)
{
	uint64_t *pcs = (uint64_t *)u->frames;
	enum stack_end end;
	uint32_t n = 0, node;

	for (;;) {
		pcs[n++] = cursor_pc(c);
		end = cursor_step(c);
		if (end != END_NONE)
			break;
		if (n == depth) {
			end = END_DEPTH;
			break;
		}
	}
	*ret_end = end;
	node = base_node(end);
	while (n) {
		node = intern_node(node, pcs[--n]);
		if (!node)
			return 0;
	}
	return node;
}

/* ---- with it ----------------------------------------------------------------------------- */

/* The cursor at frame k of the memo; bounds as they are. */
static void cursor_at(struct cursor *c, struct unwind_thread *u, uint32_t depth, int k)
{
	struct frame_rest *rest = rest_of(u, depth) + k;

	c->pc = u->frames[k].pc & ~HS_NODE_SIGNAL;
	c->interrupted = (u->frames[k].pc & HS_NODE_SIGNAL) != 0;
	c->slot = u->frames[k].slot & ~(uintptr_t)FRAME_FLAGS;
	c->sp = c->slot + rest->sp_off * 8u;
	c->sp_off = rest->sp_off;
	c->fp = rest->fp;
}

static inline bool same_frame(struct unwind_thread *u, uint32_t depth, int k,
			      const struct cursor *c)
{
	const struct frame_slot *f = &u->frames[k];
	const struct frame_rest *rest = rest_of(u, depth) + k;

	return (f->slot & ~(uintptr_t)FRAME_FLAGS) == c->slot && f->pc == cursor_pc(c) &&
	       rest->sp_off == c->sp_off && (!(f->slot & FRAME_NEEDS_FP) || rest->fp == c->fp);
}

/* Finds frame k of the memo anew from the one inside it, and says whether it is the same. */
static __attribute__((noinline)) bool memo_redo(struct unwind_thread *u, uint32_t depth,
						struct cursor *c, int k)
{
	cursor_at(c, u, depth, k + 1);
	return cursor_step(c) == END_NONE && same_frame(u, depth, k, c);
}

/* Whether the stack still ends at frame 0 as it did. */
static __attribute__((noinline)) bool memo_redo_end(struct unwind_thread *u, uint32_t depth,
						    struct cursor *c)
{
	enum stack_end end;

	cursor_at(c, u, depth, 0);
	end = cursor_step(c);
	return end == (u->end == END_DEPTH ? END_NONE : (enum stack_end)u->end);
}

/*
 * Frame j of the memo stands, on a stack of which [lo, hi) may be read. Goes outward as long as
 * frames stand that were found by plain rows; returns the number of the first other one, -1: none.
 */
static inline int verify_plain(const struct unwind_thread *u, uint32_t depth, uintptr_t lo,
			       uintptr_t hi, int j)
{
	const struct frame_rest *rest = (const struct frame_rest *)(u->frames + depth);
	int k;

	for (k = j - 1; k >= 0; k--) {
		uintptr_t slot = u->frames[k].slot;

		if (unlikely(slot & (FRAME_FP | FRAME_REDO))) {
			uintptr_t at;

			if (slot & FRAME_REDO)
				break;
			slot &= ~(uintptr_t)FRAME_FLAGS;
			at = slot + (uintptr_t)(intptr_t)rest[k].fp_off * 8;
			if (at < lo || at + 8 > hi || load(at) != rest[k].fp)
				break;
		}
		slot &= ~(uintptr_t)FRAME_FLAGS;
		if (slot + 8 > hi || strip(load(slot)) != u->frames[k].pc)
			break;
	}
	return k;
}

/*
 * Frame j of the memo is c's. Returns -1 if all frames further out still stand, else the number
 * of the innermost one that does not. c is spoilt.
 */
static __attribute__((noinline)) int memo_verify(struct unwind_thread *u, uint32_t depth,
						 struct cursor *c, int j)
{
	for (;;) {
		int k = verify_plain(u, depth, c->lo, c->hi, j);

		if (k < 0)
			break;
		if (!(u->frames[k].slot & FRAME_REDO) || !memo_redo(u, depth, c, k))
			return k;
		j = k;
	}
	if (u->end != END_OUTER && !memo_redo_end(u, depth, c))
		return 0;
	return -1;
}

/*
 * Frames [depth - nr_new, depth) are new, innermost last: puts them behind the first `kept` ones,
 * and finds out what depends on the frame pointer. Returns the innermost node, or 0.
 */
static uint32_t memo_join(struct unwind_thread *u, uint32_t depth, uint32_t kept, uint32_t nr_new,
			  uint32_t node)
{
	struct frame_rest *rest = rest_of(u, depth);
	uintptr_t needs = 0;

	if (kept) {
		node = rest[kept - 1].node;
		needs = u->frames[kept - 1].slot & FRAME_NEEDS_FP;
	}
	u->nr = 0;
	for (uint32_t to = kept, from = depth - nr_new; from < depth; to++, from++) {
		struct frame_slot f = u->frames[from];
		struct frame_rest r = rest[from];

		if (r.node & STEP_USES_FP)
			needs = FRAME_NEEDS_FP;
		else if (r.node & STEP_SAVES_FP)
			needs = 0;
		node = intern_node(node, f.pc);
		if (!node)
			return 0;
		r.node = node;
		f.slot |= needs;
		if (!needs)
			f.slot &= ~(uintptr_t)FRAME_FP;
		u->frames[to] = f;
		rest[to] = r;
	}
	u->nr = kept + nr_new;
	return node;
}

/* The frame where new and old meet may have been found by another row than last time. */
static void memo_meet(struct unwind_thread *u, uint32_t depth, int j, const struct cursor *c)
{
	struct frame_rest *rest = rest_of(u, depth) + j;
	uintptr_t needs = u->frames[j].slot & FRAME_NEEDS_FP;

	u->frames[j].slot =
		c->slot | needs | (c->made & FRAME_REDO) | (needs ? c->made & FRAME_FP : 0);
	rest->fp = c->fp;
	rest->fp_off = c->fp_off;
}

/* Gives the memo up for a while where most of a stack is new most of the time. */
static void memo_judge(struct unwind_thread *u, uint32_t nr_new)
{
	if (nr_new * 4 <= u->nr * 3) {
		u->misses -= u->misses > 0;
		return;
	}
	if (++u->misses >= 12) {
		u->misses = 8;
		u->skip = 128;
	}
}

static uint32_t capture_memo(struct unwind_thread *u, uint32_t depth, struct cursor *c,
			     enum stack_end *ret_end)
{
	struct frame_rest *rest = rest_of(u, depth);
	enum stack_end end = END_NONE;
	uint32_t nr_new = 0, node;
	int j = (int)u->nr - 1;

	for (;;) {
		uint32_t at;

		while (j >= 0 && (u->frames[j].slot & ~(uintptr_t)FRAME_FLAGS) < c->slot)
			j--;
		if (j >= 0 && same_frame(u, depth, j, c) &&
		    (u->end != END_DEPTH || (uint32_t)j + 1 + nr_new == depth)) {
			struct cursor probe_cursor = *c;
			int k = memo_verify(u, depth, &probe_cursor, j);

			if (k < 0)
				break;
			j = k;
		}
		if (nr_new == depth) {
			end = END_DEPTH;
			j = -1;
			break;
		}
		at = depth - ++nr_new;
		if ((int)at <= j)
			j = -1;
		u->frames[at].slot = c->slot | c->made;
		u->frames[at].pc = cursor_pc(c);
		rest[at].fp = c->fp;
		rest[at].fp_off = c->fp_off;
		rest[at].sp_off = c->sp_off;
		end = cursor_step(c);
		rest[at].node = c->step;
		if (end != END_NONE) {
			j = -1;
			break;
		}
	}
	if (j >= 0) {
		memo_meet(u, depth, j, c);
		end = (enum stack_end)u->end;
	}
	*ret_end = end;
	if (j >= 0 && !nr_new) {
		u->nr = (uint32_t)j + 1;
		u->misses -= u->misses > 0;
		return rest[j].node;
	}
	u->end = end;
	node = memo_join(u, depth, (uint32_t)(j + 1), nr_new, j < 0 ? base_node(end) : 0);
	memo_judge(u, nr_new);
	if (c->no_memo)
		u->nr = 0;
	return node;
}

/*
 * Has the memo's stack, of which node is the inner end, known again as a whole: if it is on the
 * thread's own stack and nothing but plain rows led through it.
 */
static void keep_whole(struct unwind_thread *u, uint32_t depth, const struct unwind_regs *regs,
		       uint32_t node)
{
	const struct frame_rest *rest = rest_of(u, depth);
	uintptr_t needs_fp = u->frames[u->nr - 1].slot & FRAME_NEEDS_FP;
	struct stack_word *words = stack_cache_offer(&u->cache, node, 2 * u->nr);
	uint32_t nr = 0;

	if (!words)
		return;
	for (uint32_t k = u->nr - 1; k-- > 0;) {
		uintptr_t slot = u->frames[k].slot & ~(uintptr_t)FRAME_FLAGS;

		if (u->frames[k].slot & FRAME_REDO)
			return;
		if (u->frames[k].slot & FRAME_FP) {
			uintptr_t at = slot + (uintptr_t)(intptr_t)rest[k].fp_off * 8;

			words[nr++] = (struct stack_word){ at, rest[k].fp };
		}
		words[nr++] = (struct stack_word){ slot, load(slot) };
	}
	stack_cache_put(&u->cache, regs, needs_fp != 0, node, nr);
}

/* ---- the rest ---------------------------------------------------------------------------- */

/* Memory or code went since the last capture, or another thread has u now. */
static __attribute__((noinline)) void thread_refresh(struct unwind_thread *u)
{
	uint32_t generation = __atomic_load_n(&rows_cache.generation, __ATOMIC_ACQUIRE);

	if (u->self != thread_pointer()) {
		u->self = thread_pointer();
		stack_bounds_start(&u->bounds);
		u->nr = u->misses = 0;
		stack_cache_drop(&u->cache);
		if (u->skip != SKIP_ALWAYS)
			u->skip = 0;
	}
	stack_bounds_refresh(&u->bounds);
	if (u->generation != generation) {
		u->generation = generation;
		u->nr = 0;
		stack_cache_drop(&u->cache);
	}
}

static __attribute__((noinline)) uint32_t capture(struct unwind_thread *u, uint32_t depth,
						  const struct unwind_regs *regs,
						  uint32_t *ret_flags)
{
	enum stack_end end;
	struct cursor c;
	uint32_t node;

	c.bounds = &u->bounds;
	c.regs = regs;
	c.pc = regs->pc;
	c.sp = regs->sp;
	c.fp = regs->fp;
	c.slot = regs->sp - 8;
	c.sp_off = 1;
	c.fp_off = 0;
	c.made = 0;
	c.step = 0;
	c.interrupted = false;
	c.unsure = false;
	c.no_memo = false;
	if (unlikely(pc_check(c.pc) != END_NONE || c.sp & 7 || depth == 0))
		return 0;
	cursor_place(&c, c.sp);
	if (u->skip) {
		u->skip -= u->skip != SKIP_ALWAYS;
		u->nr = 0;
		node = capture_plain(u, depth, &c, &end);
	} else {
		node = capture_memo(u, depth, &c, &end);
		if (u->nr && end == END_OUTER && !c.range && stack_own(&u->bounds, regs->sp - 8))
			keep_whole(u, depth, regs, node);
	}
	if (end == END_DEPTH)
		*ret_flags = UNWIND_CUT_DEPTH;
	else if (end == END_CUT)
		*ret_flags = UNWIND_CUT;
	return node;
}

uint32_t unwind_capture(struct unwind_thread *u, uint32_t depth, const struct unwind_regs *regs,
			uint32_t *ret_flags)
{
	uint64_t changes = __atomic_load_n(&stack_changes.count, __ATOMIC_ACQUIRE);
	uint32_t node;

	if (unlikely(u->bounds.seen != changes || u->self != thread_pointer()))
		thread_refresh(u);
	*ret_flags = 0;
	if (likely(stack_own(&u->bounds, regs->sp - 8))) {
		node = stack_cache_find(&u->cache, regs);
		if (likely(node))
			return node;
	}
	return capture(u, depth, regs, ret_flags);
}

void unwind_thread_reset(struct unwind_thread *u)
{
	u->self = 0;
}

void unwind_without_memo(struct unwind_thread *u)
{
	u->skip = SKIP_ALWAYS;
}

void unwind_start(void)
{
	stack_bounds_init();
	rows_start();
}

bool unwind_load(void)
{
	return fallback_start();
}

void unwind_forget(void)
{
	rows_forget();
	stack_memory_changed(0, 0); /* so that threads look at the generation of the rows */
}
