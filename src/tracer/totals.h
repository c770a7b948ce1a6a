/* SPDX-License-Identifier: MIT */
/*
 * totals.h - the per-stack totals and the high-water mark; see struct hs_cell.
 *
 * Called with `in` set, after the table was changed. The mark is exact while one thread allocates;
 * with more, each may hold back up to TOTALS_HOLD_BACK bytes of change, so that they need not
 * meet in one cache line at each event. While live rises above the mark, the mark stays where it
 * was: it is moved when live falls again. A reader that finds more live than at the mark knows that
 * the mark is now.
 */
#ifndef HEAPSTORY_TRACER_TOTALS_H
#define HEAPSTORY_TRACER_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/thread.h"

#define TOTALS_HOLD_BACK 16384

/* True if `more` bytes live may be a new mark, or are by what is not yet told of other deaths. */
static inline bool totals_may_rise(const struct thread *t, uint64_t more)
{
	return t->slot->unflushed_bytes + (int64_t)more > t->calm;
}

/* tick: time of the birth, units of HS_TICK_MS. */
void totals_birth(struct thread *t, uint32_t stack, uint64_t size, uint32_t tick);

/* temporary: the thread made the block itself, and none since. */
void totals_death(struct thread *t, uint32_t stack, uint64_t size, bool temporary);

/* A realloc, which may have changed the stack, too. */
void totals_resize(struct thread *t, uint32_t old_stack, uint64_t old_size, uint32_t stack,
		   uint64_t size, uint32_t tick);

/* Goes from HS_MODE_DRAIN to HS_MODE_OFF if no block is left; t: the calling thread. */
void totals_drained(const struct thread *t);

#endif
