/* SPDX-License-Identifier: MIT */
/*
 * made_up_blocks.h - events of blocks at addresses that nobody maps, as hooks record them, and what
 * a reader then finds. The tracer is set up by tracer_fixture.h.
 *
 * A test that uses these defines contents_alike(), as there are no contents to compare.
 */
#ifndef HEAPSTORY_TESTS_MADE_UP_BLOCKS_H
#define HEAPSTORY_TESTS_MADE_UP_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot.h"

/* Each by the stack of its caller. `known`: whether a block has to be there. */
void birth(uint64_t address, uint64_t size);
void death(uint64_t address, bool known);
void resize(uint64_t from, uint64_t to, uint64_t size);

/* A snapshot whose sums are right. Caller: snapshot_free(). */
struct snapshot *look(void);
/* NULL if there is none. */
const struct snap_block *block_at(const struct snapshot *s, uint64_t address);
/*
 * Sum of the shards' cells: what the writer's own totals say. A thread's latest death is settled
 * at its next event or its end; this thread's is settled here.
 */
void writer_totals(int64_t *ret_count, int64_t *ret_bytes);

/* A thread that takes snapshots from now on, whose sums have to be right; one at least. */
void reader_begin(void);
void reader_end(void);

#endif
