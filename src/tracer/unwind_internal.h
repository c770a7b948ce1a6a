/* SPDX-License-Identifier: MIT */
/*
 * unwind_internal.h - the cursor that unwind.c and fallback.c move outward over a stack.
 */
#ifndef HEAPSTORY_TRACER_UNWIND_INTERNAL_H
#define HEAPSTORY_TRACER_UNWIND_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/stackbounds.h"

struct unwind_regs;
struct unwind_thread;

/* What of a frame's registers the step out of it depended on or restored. */
enum step_flags {
	STEP_USES_FP = 1,
	STEP_SAVES_FP = 2,
};

/* A frame, and the bounds of the stack that it is on. */
struct cursor {
	uintptr_t pc;
	uintptr_t sp, fp;
	uintptr_t slot; /* where pc was read from; of the innermost frame: sp - 8 */
	uintptr_t lo, hi; /* of the stack; [lo, hi) may be read */
	struct stack_bounds *bounds; /* of the thread */
	struct stack_range *range; /* NULL: its own stack, or one that could not be read */
	const struct unwind_regs *regs; /* where the walk began */
#ifdef __aarch64__
	uintptr_t ra; /* x30, of an interrupted frame only */
#endif
	uint32_t made; /* FRAME_FP, FRAME_REDO: how this frame was found */
	uint32_t step; /* enum step_flags of the latest step */
	int16_t fp_off; /* of the slot that fp was restored from, from `slot`, units of 8 */
	uint16_t sp_off; /* of sp from `slot`, units of 8 */
	bool interrupted;
	bool unsure; /* some frame was found by a guess */
	bool no_memo; /* found by what a memo does not keep */
};

/* Sets the bounds of c to those of the stack that sp is on; to nothing if that is not mapped. */
static inline void cursor_place(struct cursor *c, uintptr_t sp)
{
	if (__builtin_expect(!stack_own(c->bounds, sp - 8), 0)) {
		stack_place_slow(c, sp);
		return;
	}
	c->lo = c->bounds->own_lo;
	c->hi = c->bounds->own_hi;
	c->range = NULL;
}

/* For tests: u never uses the memo. */
void unwind_without_memo(struct unwind_thread *u);

#endif
