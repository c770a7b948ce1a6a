/* SPDX-License-Identifier: MIT */
/*
 * mapping.h - what the program itself got from mmap, mremap and brk: HS_ARRAY_MAPPINGS.
 *
 * All but mapping_clock() and mapping_any() are called between entering and leaving, after the real
 * call. In between another thread may already have got the same addresses and recorded that. So a
 * caller asks mapping_clock() before the real call, and what is recorded as gone is only what was
 * there at that time.
 */
#ifndef HEAPSTORY_TRACER_MAPPING_H
#define HEAPSTORY_TRACER_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "store/format.h"
#include "tracer/thread.h"

/* Mappings recorded now have a later time than this. */
uint64_t mapping_clock(void);

/* Whether any mapping is known. */
bool mapping_any(void);

/*
 * [start, start + size) was mapped, by this stack; family: HS_FAMILY_MMAP or HS_FAMILY_MMAP_FILE.
 * What was there before is gone. Not recorded while draining.
 */
void mapping_born(struct thread *t, uint64_t start, uint64_t size, enum hs_family family,
		  uint32_t stack);

/* [start, start + size) was unmapped; a mapping may lose its head, its tail, or become two. */
void mapping_gone(struct thread *t, uint64_t start, uint64_t size, uint64_t clock);

struct mapping_move {
	uint64_t old, old_size;
	uint64_t start, size;
	uint64_t clock;
};

/*
 * mremap: what was at `old` is now at `start`, by this stack. It stays the same mapping, if all of
 * it, or its end in place, was resized; a part that moved away is a new one.
 */
void mapping_moved(struct thread *t, const struct mapping_move *m, uint32_t stack);

/*
 * The break of the process went from old_end to new_end. A growth right behind the last one, by the
 * same module, is of the same mapping.
 */
void mapping_break(struct thread *t, uint64_t old_end, uint64_t new_end, uint32_t stack);

#endif
