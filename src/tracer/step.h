/* SPDX-License-Identifier: MIT */
/*
 * step.h - one step outward over a stack: from a frame to its caller's.
 *
 * Runs where the unwinder does. Steps by rows that are offsets from a register are here, inline,
 * as nearly all are; step.c has the others.
 */
#ifndef HEAPSTORY_TRACER_STEP_H
#define HEAPSTORY_TRACER_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "store/format.h"
#include "tracer/rows.h"
#include "tracer/stackbounds.h"
#include "tracer/unwind_internal.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* How a walk ended. */
enum stack_end {
	END_NONE, /* not yet: there is a next frame */
	END_OUTER, /* at the outermost frame, as its row says */
	END_ZERO, /* at a return address or frame pointer of 0, or an alike mark */
	END_CUT, /* the next frame could not be found */
	END_DEPTH, /* the depth limit */
};

/* How a frame was found; low bits of struct frame_slot.slot. */
enum frame_flags {
	FRAME_FP = 1, /* its frame pointer was restored from memory, and is needed */
	FRAME_REDO = 2, /* found other than by a plain row: find it anew */
	FRAME_NEEDS_FP = 4, /* this frame or one further out depends on the frame pointer */
	FRAME_FLAGS = 7,
};

/* The slow steps, see cursor_step(). */
enum stack_end step_special(struct cursor *c, row_t row);
enum stack_end step_signal(struct cursor *c);
#ifdef __aarch64__
/* Out of a frame whose return address is in its register: a leaf, and only if interrupted. */
enum stack_end step_leaf(struct cursor *c, uintptr_t cfa);
/* Whether c stands in the kernel's own code by which a signal handler returns. */
bool step_at_sigreturn(struct cursor *c);
#endif

static inline uintptr_t load(uintptr_t at)
{
	return *(const uintptr_t *)at;
}

/* Whether [at, at + size) may be read. */
static inline bool readable(struct cursor *c, uintptr_t at, uintptr_t size)
{
	return at >= c->lo && !(at & 7) && at + size > at &&
	       (at + size <= c->hi || cursor_extend(c, at + size));
}

/* Return addresses as they are in memory, without what aarch64 signs them with. */
static inline uintptr_t strip(uintptr_t pc)
{
#ifdef __aarch64__
	return pc & HS_NODE_ADDRESS;
#else
	return pc;
#endif
}

static inline enum stack_end pc_check(uintptr_t pc)
{
	if (likely(pc >= HS_PC_FIRST_REAL && pc <= HS_NODE_ADDRESS))
		return END_NONE;
	return pc == 0 ? END_ZERO : END_CUT;
}

#ifdef __aarch64__

static inline enum stack_end step_to(struct cursor *c, row_t row, uintptr_t cfa)
{
	uintptr_t ra = row_ra(row), fp_code = row_fp(row), slot = cfa - ra * 8;

	if (unlikely(!ra))
		return step_leaf(c, cfa);
	if (cfa <= c->sp || slot - 8 < c->lo || cfa & 7 || slot + 16 > c->hi)
		if (cfa <= c->sp || slot - 8 < c->lo || cfa & 7 || !readable(c, slot, 16))
			return END_CUT;
	c->pc = strip(load(slot));
	c->slot = slot;
	c->sp_off = (uint16_t)ra;
	c->sp = cfa;
	c->made = 0;
	c->interrupted = false;
	if (fp_code) {
		c->fp_off = fp_code == 1 ? -1 : 1;
		c->fp = load(slot + (uintptr_t)c->fp_off * 8);
		c->made = FRAME_FP;
		c->step |= STEP_SAVES_FP;
	}
	return pc_check(c->pc);
}

/* A frame record: fp points to the caller's frame pointer and the return address. */
#define ROW_RECORD                                                        \
	((row_t)ROW_FP | (row_t)2 << 3 | (row_t)1 << (3 + ROW_CFA_BITS) | \
	 (row_t)1 << (3 + ROW_CFA_BITS + ROW_RA_BITS))

#else

/* The rest of a step by an offset row: everything is at fixed places below the CFA. */
static inline enum stack_end step_to(struct cursor *c, row_t row, uintptr_t cfa)
{
	uintptr_t fp_units = row_fp(row);

	if (unlikely(cfa > c->hi) && !cursor_extend(c, cfa))
		return END_CUT;
	c->made = 0;
	c->pc = load(cfa - 8);
	if (fp_units) {
		uintptr_t at = cfa - fp_units * 8;

		if (unlikely(at < c->lo))
			return END_CUT;
		c->fp = load(at);
		c->fp_off = (int16_t)(1 - (int)fp_units);
		c->made = FRAME_FP;
		c->step |= STEP_SAVES_FP;
	}
	c->sp = cfa;
	c->slot = cfa - 8;
	c->interrupted = false;
	return pc_check(c->pc);
}

/* A frame record: fp points to the caller's frame pointer and the return address. */
#define ROW_RECORD ((row_t)ROW_FP | (row_t)2 << 3 | (row_t)2 << (3 + ROW_CFA_BITS + ROW_RA_BITS))

#endif

/*
 * Moves c to the caller's frame; c->made says how it was found, c->step what of the old frame
 * mattered. Anything but END_NONE: there is none, and c is of no more use.
 */
static inline enum stack_end cursor_step(struct cursor *c)
{
	row_t row = rows_get(c->pc - !c->interrupted);
	uintptr_t cfa;

	switch (row_type(row)) {
	case ROW_SP:
		c->step = 0;
		return step_to(c, row, c->sp + (uintptr_t)row_cfa_offset(row));
	case ROW_FP:
		c->step = STEP_USES_FP;
		cfa = c->fp + (uintptr_t)row_cfa_offset(row);
		if (cfa <= c->sp || cfa & 7)
			return END_CUT;
		return step_to(c, row, cfa);
	case ROW_NONE:
#ifdef __aarch64__
		if (step_at_sigreturn(c))
			return step_signal(c);
#endif
		/* code without unwind data, most of it made at run time: it may keep a record */
		c->step = STEP_USES_FP;
		if (c->fp & 7 || c->fp < c->sp)
			return c->fp ? END_CUT : END_ZERO;
		if (c->fp + 16 < c->fp)
			return END_CUT;
		c->unsure = true;
		if (unlikely(c->range))
			stack_distrust(c);
		return step_to(c, ROW_RECORD, c->fp + 16);
	default:
		return step_special(c, row);
	}
}

#endif
