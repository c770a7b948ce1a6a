/* SPDX-License-Identifier: MIT */
/*
 * record.h - puts births, deaths and resizings of blocks into the live table.
 *
 * All are called between tracer_enter() and tracer_leave() by the thread that owns the block: a
 * birth after the allocator gave it, a death before the allocator gets it back.
 */
#ifndef HEAPSTORY_TRACER_RECORD_H
#define HEAPSTORY_TRACER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/thread.h"

/* A block as its hook knows it. */
struct block {
	uint64_t address;
	uint64_t size;    /* bytes asked for */
	uint64_t usable;  /* bytes given, >= size */
	uint32_t family;  /* enum hs_family */
};

/* Unwinds from regs; the number of the stack, 0 (counted) if none could be kept. */
uint32_t record_stack(struct thread *t, const struct unwind_regs *regs);

/* A new block, by the stack at regs. Not recorded (counted where that is a loss) while draining or
 * stopped. */
void record_birth(struct thread *t, const struct block *b, const struct unwind_regs *regs);

/* Finishes what the thread's latest death left for later; before the thread ends. */
void record_settle(struct thread *t);

/* The block at address is about to be freed. False, counted, if it is not known. */
bool record_death(struct thread *t, uint64_t address);

/* Takes the block out of the table without ending it; see record_resize_*(). */
struct resize {
	uint32_t nr;           /* of its record; 0: block not known */
	bool nested;           /* the in-flight slot was taken: the record stays, but unindexed */
	struct hs_thread *slot; /* where it is in flight; the thread may have another one by the end */
	struct hs_record copy;
};

/* Before the real realloc of address: moves its record into the thread's in-flight slot. */
void record_resize_begin(struct thread *t, uint64_t address, struct resize *ret);

/*
 * After it: the block is now b (b->family is ignored where the block was known), by the stack at
 * regs; or a birth, where it was not known. A block that keeps its size keeps its stack.
 */
void record_resize_end(struct thread *t, struct resize *r, const struct block *b,
		       const struct unwind_regs *regs);

/* After it, where it failed: the block is as it was. */
void record_resize_undo(struct thread *t, struct resize *r);

/* After it, where it freed the block (size 0). */
void record_resize_free(struct thread *t, struct resize *r);

#endif
