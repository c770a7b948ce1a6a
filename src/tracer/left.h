/* SPDX-License-Identifier: MIT */
/*
 * left.h - whether a change that a thread began can still be under way.
 *
 * Runs in any thread of the traced program, perhaps in a signal handler inside that change.
 */
#ifndef HEAPSTORY_TRACER_LEFT_H
#define HEAPSTORY_TRACER_LEFT_H

#include <stdbool.h>
#include <stdint.h>

struct unwind_regs;

/*
 * True if a hook of the calling thread that had its stack pointer at `entered` can't go on any more:
 * a call at `now` runs over its frame. False where that is not certain.
 */
bool left_behind(uintptr_t entered, const struct unwind_regs *now);

#endif
