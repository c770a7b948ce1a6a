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

/* The lineage of a record that has one. */
static inline struct hs_lineage_head *lineage_head(const struct hs_record *r)
{
	uint32_t id = r->word & HS_RECORD_LONG ? HS_ARRAY_LONG_LINEAGES : HS_ARRAY_LINEAGES;

	return store_place(id, r->stack);
}

/* Gives a new block a lineage without steps: its size does not fit a record. False: no room. */
bool lineage_start(struct hs_record *r, uint64_t size, uint64_t usable, uint32_t stack);

/*
 * The block of r (a copy, not committed) now has this size, by this stack, at this time. Makes
 * its lineage at the first resizing and a long one when the short one is full. False: no room;
 * r is as it was.
 */
bool lineage_step(struct hs_record *r, uint64_t size, uint64_t usable, uint32_t stack,
		  uint32_t tick);

/* Gives a lineage back. */
void lineage_give(bool is_long, uint32_t nr);

#endif
