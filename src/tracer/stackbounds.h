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
 * probed, contiguous up to own_hi. Other stacks (of signals, coroutines): ranges, which grow page
 * by page as far as reads need.
 */
struct stack_bounds {
	uintptr_t own_lo, own_hi;
	struct stack_range ranges[STACK_NR_RANGES];
	uint32_t next_range;
};

/* Once, from the first thread. */
void stack_bounds_init(void);

/* b becomes the calling thread's; what it knew of its own stack before goes. */
void stack_bounds_start(struct stack_bounds *b);

/* Forgets all stacks but the thread's own. */
void stack_bounds_forget(struct stack_bounds *b);

/* Whether the word at this address lies on a stack of the thread that is known to be readable. */
bool stack_known(const struct stack_bounds *b, uintptr_t at);

/* Whether `at` lies on the thread's own stack, as far as that is known. */
static inline bool stack_own(const struct stack_bounds *b, uintptr_t at)
{
	return at - b->own_lo < b->own_hi - b->own_lo;
}

/* The slow way of cursor_place(): sp is not where the thread's own stack is known to be. */
void stack_place_slow(struct cursor *c, uintptr_t sp);

/* Makes c->hi at least `need` by probing upward, if it is a foreign stack. */
bool cursor_extend(struct cursor *c, uintptr_t need);

#endif
