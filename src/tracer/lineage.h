/* SPDX-License-Identifier: MIT */
/*
 * lineage.h - what a block that realloc resized remembers; see struct hs_lineage_head.
 */
#ifndef HEAPSTORY_TRACER_LINEAGE_H
#define HEAPSTORY_TRACER_LINEAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "store/format.h"
#include "store/writer.h"
#include "tracer/pool.h"
#include "tracer/thread.h"

/* The lineage of a record that has one. */
static inline struct hs_lineage_head *lineage_head(const struct hs_record *r)
{
	return r->word & HS_RECORD_LONG ? &store_long_lineage(r->birth)->head :
					  &store_lineage(r->birth)->head;
}

/*
 * Gives the block of r (not committed; its stack and time of birth are set) a long lineage without
 * steps, for a size that its record can't hold. r->size is left alone. False: no room; r is as it
 * was.
 */
bool lineage_start_long(struct thread *t, struct hs_record *r, uint64_t size, uint64_t usable);

/* The size field of a record: saturated where the block is too large for it. */
static inline uint64_t lineage_pack(uint64_t size, uint64_t usable)
{
	uint64_t slack = usable - size;

	if (__builtin_expect(size > HS_SIZE_MAX, 0))
		size = HS_SIZE_MAX;
	if (__builtin_expect(slack > HS_SLACK_MAX, 0))
		slack = HS_SLACK_MAX;
	return size | slack << HS_SIZE_BITS;
}

/* True if a size field says that the true size is in the lineage alone. */
static inline bool lineage_holds_size(uint64_t packed)
{
	return (packed & HS_SIZE_MAX) == HS_SIZE_MAX || packed >> HS_SIZE_BITS == HS_SLACK_MAX;
}

/*
 * The block of r (a copy, not committed) now has this size, by this stack, at this time. Makes
 * its lineage at the first resizing and a long one when the short one is full. False: no room; its
 * size and stack are as they were, but it may have a lineage now.
 */
bool lineage_step(struct thread *t, struct hs_record *r, uint64_t size, uint64_t usable, uint32_t stack,
		  uint32_t tick);

/* Size before the latest step; 0 if there was none. r has a lineage. */
uint64_t lineage_before(const struct hs_record *r);

/*
 * Gives r, a copy of a record without one, the lineage of a buffer that was born with this size, by
 * that stack, and came to what r is in one step. False: no room; r is as it was.
 */
bool lineage_restore(struct thread *t, struct hs_record *r, uint64_t size, uint32_t stack,
		     uint32_t birth);

/*
 * The buffer of r (a copy of a record that was taken out) goes on in the block whose record was
 * `heir` at its birth: r->birth and the flags in r->word are then those of a lineage for that
 * block. False: no room; r may have a lineage all the same.
 */
bool lineage_inherit(struct thread *t, struct hs_record *r, const struct hs_record *heir);

/* Gives a lineage back. */
static inline void lineage_give(struct thread *t, bool is_long, uint32_t nr)
{
	pool_give(t, is_long ? POOL_LONG_LINEAGES : POOL_LINEAGES, nr);
}

#endif
