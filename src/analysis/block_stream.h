/* SPDX-License-Identifier: MIT */
/*
 * block_stream.h - the blocks of a snapshot in the order of their addresses, some at a time: from
 * its array, or from its file if it was opened by snapshot_open_to_stream().
 */
#ifndef HEAPSTORY_ANALYSIS_BLOCK_STREAM_H
#define HEAPSTORY_ANALYSIS_BLOCK_STREAM_H

#include <stddef.h>

struct block_stream;
struct hs_error;
struct snap_block;
struct snapshot;

/* The snapshot must outlive it. 0 or -HS_E_*; on success block_stream_close(). */
int block_stream_open(const struct snapshot *s, struct block_stream **ret, struct hs_error *err);

/*
 * The next blocks, valid until the next call: *ret_nr of them, 0 behind the last one. Every block
 * keeps the promises of snapshot.h. Whether the file as a whole is undamaged is known only at the
 * end: a result counts only if 0 blocks were reached. 0 or -HS_E_*.
 */
int block_stream_next(struct block_stream *stream, const struct snap_block **ret_blocks,
		      size_t *ret_nr, struct hs_error *err);

/* NULL is fine. */
void block_stream_close(struct block_stream *stream);

#endif
