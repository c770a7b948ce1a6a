/* SPDX-License-Identifier: MIT */
/*
 * birth_totals.h - what is live of each stack, a buffer that grew counted where it was born.
 *
 * The stack of a block is that of the call that gave it its present size. A buffer that several
 * callers grow in turn moves from one of their stacks to the next: in a series of snapshots each of
 * them would only vary, however large the buffer gets. The stack of its birth is the one that stays.
 */
#ifndef HEAPSTORY_ANALYSIS_BIRTH_TOTALS_H
#define HEAPSTORY_ANALYSIS_BIRTH_TOTALS_H

#include <stdint.h>

struct hs_error;
struct snap_block;
struct snapshot;

struct birth_total {
	uint64_t count, bytes;
};

/* The stack that a block of the snapshot was born in; its own, if it never grew or shrank. */
uint32_t block_birth_stack(const struct snapshot *s, const struct snap_block *block);

/* Totals by stack, which add up to those of the snapshot. Caller frees. */
struct birth_total *birth_totals_of(const struct snapshot *s);

/*
 * The same of a snapshot whose blocks may still be in its file: only what is needed of them is
 * unpacked and verified. 0 or -HS_E_*; caller frees *ret.
 */
int birth_totals_read(const struct snapshot *s, struct birth_total **ret, struct hs_error *err);

#endif
