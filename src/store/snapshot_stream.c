/* SPDX-License-Identifier: MIT */
/*
 * snapshot_stream.c - a chunk of a snapshot file piece by piece, in little memory; see
 * snapshot_file.h. Checksum and length are compared when the last byte has been unpacked: whoever
 * reads must not believe the content before that.
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "store/snapshot_file.h"
#include "util/alloc.h"
#include "util/error.h"

#define PIECE 65536u

struct chunk_stream {
	const struct snapshot_file *file;
	const struct hs_chunk *chunk;
	ZSTD_DStream *zstd; /* NULL: the chunk is not packed */
	XXH3_state_t *sum;
	size_t more; /* what zstd last returned: 0 where a frame ended */
	uint64_t nr_read; /* bytes of the chunk that came into `piece` so far */
	uint64_t nr_raw; /* unpacked bytes handed over so far */
	bool whole; /* the end was reached and was right */
	ZSTD_inBuffer in;
	uint8_t piece[PIECE];
};

int chunk_stream_open(const struct snapshot_file *file, const struct hs_chunk *chunk,
		      struct chunk_stream **ret, struct hs_error *err)
{
	struct chunk_stream *s;

	if (chunk->codec != HS_CODEC_STORED && chunk->codec != HS_CODEC_ZSTD)
		return snapshot_file_damaged(file, chunk, "coding", chunk->codec, HS_CODEC_ZSTD,
					     err);
	if (chunk->codec == HS_CODEC_STORED && chunk->bytes != chunk->raw_bytes)
		return snapshot_file_damaged(file, chunk, "length", chunk->bytes, chunk->raw_bytes,
					     err);
	s = xmalloc(sizeof(*s));
	memset(s, 0, offsetof(struct chunk_stream, piece));
	s->file = file;
	s->chunk = chunk;
	s->in.src = s->piece;
	s->sum = XXH3_createState();
	if (chunk->codec == HS_CODEC_ZSTD)
		s->zstd = ZSTD_createDStream();
	if (!s->sum || (chunk->codec == HS_CODEC_ZSTD && !s->zstd)) {
		chunk_stream_close(s);
		return hs_error_set(err, HS_E_SYSTEM, "out of memory");
	}
	XXH3_64bits_reset(s->sum);
	*ret = s;
	return 0;
}

void chunk_stream_close(struct chunk_stream *s)
{
	if (!s)
		return;
	ZSTD_freeDStream(s->zstd);
	XXH3_freeState(s->sum);
	free(s);
}

/* The next piece of the chunk, if there is one. */
static int read_piece(struct chunk_stream *s, struct hs_error *err)
{
	uint64_t left = s->chunk->bytes - s->nr_read;
	size_t len = left < PIECE ? (size_t)left : PIECE;
	int ret = snapshot_file_read(s->file, s->piece, len, s->chunk->offset + s->nr_read, err);

	if (ret)
		return ret;
	XXH3_64bits_update(s->sum, s->piece, len);
	s->nr_read += len;
	s->in.pos = 0;
	s->in.size = len;
	return 0;
}

/* Unpacks what is in `piece` as far as there is room. 0 or -HS_E_FORMAT. */
static int unpack(struct chunk_stream *s, ZSTD_outBuffer *out, struct hs_error *err)
{
	size_t len = s->in.size - s->in.pos, in_before = s->in.pos, out_before = out->pos, more;

	if (s->zstd) {
		more = ZSTD_decompressStream(s->zstd, out, &s->in);
		if (ZSTD_isError(more))
			return snapshot_file_damaged(s->file, s->chunk, "unpacked length",
						     s->nr_raw, s->chunk->raw_bytes, err);
		/* with nothing to do it asks for another frame */
		if (s->in.pos != in_before || out->pos != out_before)
			s->more = more;
		return 0;
	}
	if (len > out->size - out->pos)
		len = out->size - out->pos;
	memcpy((uint8_t *)out->dst + out->pos, s->piece + s->in.pos, len);
	s->in.pos += len;
	out->pos += len;
	return 0;
}

/* All has been read and unpacked: is it what was written? */
static int check_end(struct chunk_stream *s, struct hs_error *err)
{
	uint64_t sum = XXH3_64bits_digest(s->sum);

	if (sum != s->chunk->checksum)
		return snapshot_file_damaged(s->file, s->chunk, "checksum", sum, s->chunk->checksum,
					     err);
	if (s->nr_raw != s->chunk->raw_bytes || s->more)
		return snapshot_file_damaged(s->file, s->chunk, "unpacked length", s->nr_raw,
					     s->chunk->raw_bytes, err);
	s->whole = true;
	return 0;
}

int chunk_stream_read(struct chunk_stream *s, void *buf, size_t len, size_t *ret_len,
		      struct hs_error *err)
{
	ZSTD_outBuffer out = {buf, len, 0};
	int ret = 0;

	while (!ret && out.pos < len) {
		size_t before = out.pos;

		if (s->in.pos == s->in.size && s->nr_read < s->chunk->bytes)
			ret = read_piece(s, err);
		if (!ret)
			ret = unpack(s, &out, err);
		s->nr_raw += out.pos - before;
		if (!ret && s->nr_raw > s->chunk->raw_bytes)
			ret = snapshot_file_damaged(s->file, s->chunk, "unpacked length", s->nr_raw,
						    s->chunk->raw_bytes, err);
		/* nothing left to read and nothing left inside zstd */
		if (out.pos == before && s->in.pos == s->in.size && s->nr_read == s->chunk->bytes)
			break;
	}
	if (!ret && out.pos < len && !s->whole)
		ret = check_end(s, err);
	if (!ret)
		*ret_len = out.pos;
	return ret;
}
