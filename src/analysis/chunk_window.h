/* SPDX-License-Identifier: MIT */
/*
 * chunk_window.h - a chunk of a snapshot file as numbers, unpacked as far as they are needed next.
 */
#ifndef HEAPSTORY_ANALYSIS_CHUNK_WINDOW_H
#define HEAPSTORY_ANALYSIS_CHUNK_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/cursor.h"

struct chunk_stream;
struct hs_chunk;
struct hs_error;
struct snapshot_file;

#define CHUNK_WINDOW_VARINT 10u /* bytes of the longest number */

/* raw[start .. end) is unpacked and not yet read; raw_pos is its place in the unpacked chunk. */
struct chunk_window {
	const struct snapshot_file *file;
	const struct hs_chunk *chunk;
	struct chunk_stream *stream;
	uint64_t raw_pos;
	uint8_t *raw;
	size_t size, start, end;
	bool at_end; /* there is nothing behind raw[end) */
};

/*
 * For reading up to `numbers` varints at a time. The file must outlive it and have the chunk, which
 * must have so many items. 0 or -HS_E_*; chunk_window_close() in any case.
 */
int chunk_window_open(struct chunk_window *w, const struct snapshot_file *file, uint32_t id,
		      uint64_t items, size_t numbers, struct hs_error *err);
/* Harmless on one that is all zero. */
void chunk_window_close(struct chunk_window *w);

/* A cursor over so many varints at least, or over all that are left. 0 or -HS_E_*. */
int chunk_window_begin(struct chunk_window *w, size_t numbers, struct cursor *ret,
		       struct hs_error *err);
/* What the cursor has read is done with. -HS_E_FORMAT if it went bad. */
int chunk_window_done(struct chunk_window *w, const struct cursor *c, struct hs_error *err);
/* Nothing is left, and length and checksum of the chunk are right: 0, or -HS_E_*. */
int chunk_window_end(struct chunk_window *w, struct hs_error *err);

#endif
