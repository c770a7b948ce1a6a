/* SPDX-License-Identifier: MIT */
/*
 * snapshot_file.h - snapshot files as a table of checked, packed chunks; what is in a chunk is the
 * business of src/analysis. See snapshot_format.h.
 */
#ifndef HEAPSTORY_STORE_SNAPSHOT_FILE_H
#define HEAPSTORY_STORE_SNAPSHOT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/snapshot_format.h"
#include "util/tempfile.h"

struct hs_error;

/* ---- reading ---- */

struct snapshot_file {
	int fd; /* -1: the bytes are in `data` */
	const uint8_t *data; /* borrowed */
	char *path;
	uint64_t size;
	struct hs_file_header header;
	struct hs_chunk *chunks; /* by offset, without gaps */
	size_t nr_chunks;
};

/*
 * Opens a file and checks its header, table and trailer (not yet the chunks). A foreign or
 * truncated file is -HS_E_FORMAT. On success the caller closes *ret.
 */
int snapshot_file_open(const char *path, struct snapshot_file *ret, struct hs_error *err);
/* The same of len bytes in memory, which stay the caller's; `name` stands for them in messages. */
int snapshot_file_open_data(const uint8_t *data, size_t len, const char *name,
			    struct snapshot_file *ret, struct hs_error *err);
void snapshot_file_close(struct snapshot_file *file);

/* The chunk with this id (HS_CHUNK_ID), or NULL. */
const struct hs_chunk *snapshot_file_find(const struct snapshot_file *file, uint32_t id);
uint32_t snapshot_chunk_id(const struct hs_chunk *chunk);
/*
 * Reads, checks and unpacks a chunk: raw_bytes bytes at *ret for free(). 0 or -HS_E_*; the text
 * says chunk, offset, what was found and expected.
 */
int snapshot_file_load(const struct snapshot_file *file, const struct hs_chunk *chunk,
		       uint8_t **ret, struct hs_error *err);

/* len bytes at an offset. 0 or -HS_E_*. */
int snapshot_file_read(const struct snapshot_file *file, void *buf, uint64_t len, uint64_t off,
		       struct hs_error *err);
/* "chunk '....' at N: PROBLEM found, expected expected"; -HS_E_FORMAT. */
int snapshot_file_damaged(const struct snapshot_file *file, const struct hs_chunk *chunk,
			  const char *problem, uint64_t found, uint64_t expected,
			  struct hs_error *err);

/* ---- reading of a chunk piece by piece: snapshot_stream.c ---- */

struct chunk_stream;

/* file and chunk must outlive it. 0 or -HS_E_*; on success chunk_stream_close(). */
int chunk_stream_open(const struct snapshot_file *file, const struct hs_chunk *chunk,
		      struct chunk_stream **ret, struct hs_error *err);
/*
 * The next len unpacked bytes, or so many as there are: *ret_len < len only behind the last one,
 * and then length and checksum of the chunk were found right. What came before has not been
 * checked until then. 0 or -HS_E_*.
 */
int chunk_stream_read(struct chunk_stream *stream, void *buf, size_t len, size_t *ret_len,
		      struct hs_error *err);
/* NULL is fine. */
void chunk_stream_close(struct chunk_stream *stream);

/* ---- writing ---- */

struct snapshot_writer {
	struct tempfile out;
	struct hs_file_header header;
	struct hs_chunk *chunks;
	size_t nr_chunks, alloc;
	uint64_t offset;
	void *zstd; /* ZSTD_CCtx */
};

/* Starts a file that will appear at path. Then _commit() or _abort(), each of which releases w. */
int snapshot_writer_open(struct snapshot_writer *w, const char *path, struct hs_error *err);
/* Packs and writes one chunk. */
int snapshot_writer_add(struct snapshot_writer *w, uint32_t id, uint32_t flags, uint64_t items,
			const void *data, size_t len, struct hs_error *err);
int snapshot_writer_commit(struct snapshot_writer *w, struct hs_error *err);
/* Harmless after commit. */
void snapshot_writer_abort(struct snapshot_writer *w);

#endif
