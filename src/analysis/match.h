/* SPDX-License-Identifier: MIT */
/*
 * match.h - which block of one snapshot is which of another.
 *
 * In snapshots of one process image a block is the same if its serial is; realloc keeps the serial
 * and may move the address. Snapshots of different images have no block in common.
 */
#ifndef HEAPSTORY_ANALYSIS_MATCH_H
#define HEAPSTORY_ANALYSIS_MATCH_H

#include <stdbool.h>

struct hs_error;
struct snap_block;
struct snapshot;

/* A block as it is in both snapshots; NULL where it is not. Valid during the call. */
typedef void (*match_pair)(void *context, const struct snap_block *before,
			   const struct snap_block *after);

/* Whether they are of one process image, so that serials name the same blocks. */
bool match_same_image(const struct snapshot *before, const struct snapshot *after);

/*
 * Calls back for each block once, in no order that anyone should rely on. Reads both as streams:
 * needs memory for the blocks that went and those that moved, not for those that stayed or came.
 * 0, or -HS_E_* if a file cannot be read or is damaged; then the calls so far mean nothing.
 */
int match_blocks(const struct snapshot *before, const struct snapshot *after, match_pair pair,
		 void *context, struct hs_error *err);

#endif
