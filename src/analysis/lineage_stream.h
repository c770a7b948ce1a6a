/* SPDX-License-Identifier: MIT */
/*
 * lineage_stream.h - some lineages of a snapshot, without having all of them in memory.
 */
#ifndef HEAPSTORY_ANALYSIS_LINEAGE_STREAM_H
#define HEAPSTORY_ANALYSIS_LINEAGE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot.h"

struct hs_error;

struct taken_lineage {
	uint32_t number; /* as in struct snap_block: its index + 1 */
	struct snap_lineage lineage; /* first_step is that of the snapshot, not of steps */
	struct snap_step *steps; /* lineage.nr_kept of them */
};

/*
 * Fills in what belongs to the numbers, which ascend: from the snapshot's arrays, or from its file,
 * which is then read and verified to its end. 0 or -HS_E_*; lineages_release() in any case.
 */
int lineages_take(const struct snapshot *s, struct taken_lineage *wanted, size_t nr,
		  struct hs_error *err);
/* Frees their steps. */
void lineages_release(struct taken_lineage *taken, size_t nr);

/*
 * The stack by which a buffer first grew, which stays the same however often and by whom it is grown
 * later; that of its birth, if it only ever shrank.
 */
uint32_t lineage_growth_stack(const struct snapshot *s, const struct snap_lineage *lineage);

/*
 * The same of all lineages, into an array of s->nr_lineages: from the snapshot's arrays, or from its
 * file, which is then read and verified to its end. 0 or -HS_E_*.
 */
int lineages_growth_stacks(const struct snapshot *s, uint32_t *ret, struct hs_error *err);

#endif
