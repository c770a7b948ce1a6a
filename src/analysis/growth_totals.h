/* SPDX-License-Identifier: MIT */
/*
 * growth_totals.h - what is live of each stack, a buffer that grew counted where it first did.
 *
 * The stack of a block is that of the call that gave it its present size. A buffer that several
 * callers grow in turn moves from one of their stacks to the next: in a series of snapshots each of
 * them would only vary, however large the buffer gets. The stack by which it first grew stays. (So does
 * that of its birth; but a buffer that main() makes and a worker fills is looked for at the worker.)
 */
#ifndef HEAPSTORY_ANALYSIS_GROWTH_TOTALS_H
#define HEAPSTORY_ANALYSIS_GROWTH_TOTALS_H

#include <stdint.h>

struct hs_error;
struct snap_block;
struct snapshot;

struct growth_total {
	uint64_t count, bytes;
};

/* The stack by which a block of the snapshot first grew; its own, if it never did. */
uint32_t block_growth_stack(const struct snapshot *s, const struct snap_block *block);

/* Totals by stack, which add up to those of the snapshot. Caller frees. */
struct growth_total *growth_totals_of(const struct snapshot *s);

/*
 * The same of a snapshot whose blocks may still be in its file: only what is needed of them is
 * unpacked and verified. 0 or -HS_E_*; caller frees *ret.
 */
int growth_totals_read(const struct snapshot *s, struct growth_total **ret, struct hs_error *err);

#endif
