/* SPDX-License-Identifier: MIT */
/*
 * stackbounds.h - where a thread's stacks lie: what the unwinder may read of them.
 *
 * Runs where the unwinder does: in any thread of the traced program, with `in` set. No lock, no
 * malloc; a system call (sys_probe_read()) only where a stack is met for the first time or reaches
 * further than ever.
 */
#ifndef HEAPSTORY_TRACER_STACKBOUNDS_H
#define HEAPSTORY_TRACER_STACKBOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor;

#define STACK_NR_RANGES 8

/* Memory of a stack that is not the thread's own, known to be readable. */
struct stack_range {
	uintptr_t lo, hi;
	bool final; /* it ends at hi */
};

/*
 * What one thread knows. The thread's own stack: [own_lo, own_hi); own_hi is where the stack
 * starts (main thread) or the thread's descriptor above it, own_lo the deepest page that was
 * probed, contiguous up to own_hi, and never below own_min. Other stacks (of signals,
 * coroutines): ranges, which grow page by page as far as reads need.
 */
struct stack_bounds {
	uintptr_t own_min; /* where the own stack ends; 0: not known */
	uintptr_t own_lo, own_hi;
	struct stack_range ranges[STACK_NR_RANGES];
	uint32_t next_range;
	uint64_t seen; /* of stack_changes.count: up to there it is heeded */
};

/* Once, from the first thread. */
void stack_bounds_init(void);

/* b becomes the calling thread's, which knows nothing of its stacks yet. */
void stack_bounds_start(struct stack_bounds *b);

/* Forgets what has changed; see stack_memory_changed(). Before b is used, if b->seen is old. */
void stack_bounds_refresh(struct stack_bounds *b);

/*
 * Whether the word at this address lies on a stack that is known to be readable and on the way
 * from c's first frame to c: the thread's own, or the innermost.
 */
bool stack_known(const struct cursor *c, uintptr_t at);

/* Whether `at` lies on the thread's own stack, as far as that is known. */
static inline bool stack_own(const struct stack_bounds *b, uintptr_t at)
{
	return at - b->own_lo < b->own_hi - b->own_lo;
}

/*
 * Whether `at` lies in what is set aside for the calling thread's own stack, used by now or not.
 * False also where that is not known.
 */
bool stack_surely_own(uintptr_t at);

/* The slow way of cursor_place(): sp is not where the thread's own stack is known to be. */
void stack_place_slow(struct cursor *c, uintptr_t sp);

/* Makes c->hi at least `need` by probing upward, if it is a foreign stack. */
bool cursor_extend(struct cursor *c, uintptr_t need);

/* c is on a foreign stack, and where it goes next is a guess: not beyond the page that it is on. */
void stack_distrust(struct cursor *c);

/* ---- memory that comes and goes ---- */

/*
 * Changes of memory in which threads know stacks: all that ever were, and the hull of all foreign
 * stacks that any thread ever knew.
 */
extern struct stack_changes {
	uint64_t count;
	uintptr_t lo, hi;
} stack_changes;

/*
 * The pages of [start, end) are not what they were: unmapped, mapped anew, protected, or of a block
 * that came or went. Any thread, any time; each thread forgets what it knows of that memory at its
 * next capture.
 */
void stack_memory_changed(uintptr_t start, uintptr_t end);

/* In a forked child: another thread may have been in stack_memory_changed(). */
void stack_changes_reset(void);

/* A smaller block is no stack: our own hooks would overrun it. */
#define STACK_LEAST 2048u

/* False if no block at or above this address can be a stack that is known. */
static inline bool stack_may_be_at(uintptr_t start)
{
	return start < __atomic_load_n(&stack_changes.hi, __ATOMIC_RELAXED);
}

/* The same for a block of the heap: that it came, or went. Nearly always a comparison or two. */
static inline void stack_block_changed(uintptr_t start, size_t size)
{
	if (__builtin_expect(size >= STACK_LEAST, 0) &&
	    start < __atomic_load_n(&stack_changes.hi, __ATOMIC_RELAXED) &&
	    start + size > __atomic_load_n(&stack_changes.lo, __ATOMIC_RELAXED))
		stack_memory_changed(start, start + size);
}

#endif
