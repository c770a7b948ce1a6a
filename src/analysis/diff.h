/* SPDX-License-Identifier: MIT */
/*
 * diff.h - what happened to the blocks between two snapshots, to the byte.
 *
 * A block is the same in both if its serial number is, in snapshots of one process image; realloc
 * keeps the serial and may move the address. Snapshots of different images have no block in
 * common: all of BEFORE was freed, all of AFTER born.
 *
 *      bytes:   after - before = born - freed + resized        in each row and in the total
 *      count:   after - before = born - freed                  in the total
 *
 * A block that realloc moved to another group counts in resized.bytes of both, minus and plus, and
 * in resized.count only where it is now. survived: in both with the same size, where it is now.
 * Rows add up to the totals. The diff of AFTER and BEFORE has the negative deltas, and born and
 * freed change places.
 */
#ifndef HEAPSTORY_ANALYSIS_DIFF_H
#define HEAPSTORY_ANALYSIS_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/group.h"
#include "analysis/heap.h"
#include "analysis/snapshot.h"

struct filter;
struct hs_error;
struct ignore;
struct names;
struct taken_lineage;

struct diff_amount {
	int64_t count, bytes;
};

struct diff_sums {
	struct diff_amount before, after, born, freed, resized, survived;
};

struct diff_row {
	uint32_t group;
	struct diff_sums sums;
	uint32_t side, stack; /* the stack whose bytes changed most; 0: none */
	uint32_t nr_stacks; /* 0 where the group says nothing of stacks */
	/*
	 * Of AFTER: the largest ever resized among those that were born or resized in between, else
	 * among all; its lineage is 0: none.
	 */
	struct snap_block grown;
	bool grown_between;
	const struct taken_lineage *lineage; /* of that block; NULL: none */
};

struct diff {
	struct grouping *grouping; /* side 0 is BEFORE, 1 is AFTER */
	struct diff_row *rows; /* unchanged groups too */
	size_t nr_rows;
	struct diff_sums totals; /* of the rows */
	/*
	 * By rule of options->ignore: what fell under it and is in no row. A block falls under a
	 * rule by its stack in AFTER, or in BEFORE if it is gone.
	 */
	struct diff_sums *ignored;
	struct taken_lineage *lineages; /* those of the rows */
	size_t nr_lineages;
	bool same_image;
};

struct diff_options {
	struct group_options group;
	enum sort_by sort;
	const struct filter *filter;
	const struct ignore *ignore; /* NULL: nothing is */
};

/*
 * Reads the blocks of both as streams (block_stream.h): needs memory for those that moved, came and
 * went, not for those that stayed. 0, or -HS_E_* if a file could not be read or is damaged; then
 * there is nothing to release.
 *
 * For GROUP_AGE ages are counted to group.now_ms on both sides, so that a block does not change
 * its group by growing older. For the filter they are counted to the moment of the block's own
 * snapshot; a block that passes in one of the snapshots is looked at in both. So --older leaves out
 * what was young in the only snapshot that has it, and nothing else.
 */
int diff_build(struct diff *ret, struct names *before, struct names *after,
	       const struct diff_options *options, struct hs_error *err);
void diff_release(struct diff *diff);

/*
 * How long recording was off between the two, in ms: what was born then is in neither. 0 for
 * snapshots of different images, or where BEFORE is the later one.
 */
uint64_t diff_unrecorded_ms(const struct snapshot *before, const struct snapshot *after);

void diff_sums_add(struct diff_sums *to, const struct diff_sums *from);

/* No block of the row was born, freed or resized. */
bool diff_unchanged(const struct diff_sums *sums);

#endif
