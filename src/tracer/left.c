/* SPDX-License-Identifier: MIT */
/*
 * left.c - whether a change that a thread began can still be under way; see left.h.
 *
 * On one stack, what is called from a live hook lies further in: below it. So the hook is gone if
 * the call that asks is not below it, or lies below it but was not called from it: between a hook
 * and what interrupts it there is the frame of a signal. Only the thread's own stack proves
 * something: a coroutine's may lie anywhere, and a signal stack in a frame of the own one.
 */
#include "tracer/left.h"

#include "tracer/stackbounds.h"
#include "tracer/step.h"
#include "tracer/sys.h"
#include "tracer/unwind.h"

#define MAX_STEPS 256 /* frames between the call and the hook; more: not certain */

/* Whether the frames from `now` outward lead past `entered`, without a signal's between. */
static bool leads_past(const struct unwind_regs *now, uintptr_t entered)
{
	struct stack_bounds bounds;
	struct cursor c = {
		.bounds = &bounds,
		.regs = now,
		.pc = now->pc,
		.sp = now->sp,
		.fp = now->fp,
		.slot = now->sp - 8,
		.sp_off = 1,
	};

	stack_bounds_start(&bounds);
	cursor_place(&c, c.sp);
	for (int i = 0; i < MAX_STEPS; i++) {
		if (cursor_step(&c) != END_NONE || c.interrupted || c.unsure || c.range)
			return false;
		if (c.sp > entered)
			return true;
	}
	return false;
}

bool left_behind(uintptr_t entered, const struct unwind_regs *now)
{
	if (!stack_surely_own(entered) || !stack_surely_own(now->sp))
		return false;
	return now->sp >= entered ? !sys_on_signal_stack() : leads_past(now, entered);
}
