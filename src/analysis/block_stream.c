/* SPDX-License-Identifier: MIT */
/*
 * block_stream.c - the blocks of a snapshot, some at a time; see block_stream.h.
 *
 * In a file the fields of a block lie in different chunks. All of these are unpacked side by side,
 * as far as a batch of blocks needs, so that neither the columns nor the blocks are ever in memory
 * as a whole.
 */
#include "analysis/block_stream.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot_internal.h"
#include "util/alloc.h"
#include "util/cursor.h"
#include "util/error.h"

#define BATCH	   2048u /* blocks: their structs stay in the cache while columns fill them */
#define MAX_VARINT 10u /* bytes */
#define WINDOW	   (2 * BATCH * MAX_VARINT)

/* A column on its way: raw[start .. end) is unpacked and not yet decoded. */
struct column {
	const struct snap_chunk_kind *kind;
	const struct hs_chunk *chunk;
	struct chunk_stream *stream;
	uint64_t carry;
	uint64_t raw_pos; /* of raw[start] in the unpacked chunk */
	size_t start, end;
	bool at_end; /* there is nothing behind raw[end) */
	uint8_t raw[WINDOW];
};

struct block_stream {
	const struct snapshot *s;
	size_t nr_done; /* blocks handed over */
	bool ended; /* all were, and the end has been checked */
	struct column *columns; /* NULL: from the array */
	size_t nr_columns;
	struct snap_block_checks checks;
	struct snap_block batch[BATCH];
};

static int column_open(struct block_stream *b, const struct snap_chunk_kind *kind,
		       struct hs_error *err)
{
	const struct snapshot_file *file = b->s->file;
	struct column *c = &b->columns[b->nr_columns];

	memset(c, 0, offsetof(struct column, raw));
	c->kind = kind;
	c->chunk = snapshot_file_find(file, kind->id);
	if (c->chunk->items != b->s->nr_blocks)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: chunk '%.4s' at %" PRIu64 ": %" PRIu64 " bloc"
											     "ks, "
											     "expec"
											     "ted "
											     "%zu",
				    file->path, (const char *)c->chunk->id, c->chunk->offset,
				    c->chunk->items, b->s->nr_blocks);
	b->nr_columns++;
	return chunk_stream_open(file, c->chunk, &c->stream, err);
}

int block_stream_open(const struct snapshot *s, struct block_stream **ret, struct hs_error *err)
{
	struct block_stream *b = xcalloc(1, sizeof(*b));
	size_t nr_kinds = 0;
	int res = 0;

	b->s = s;
	if (s->file) {
		for (const struct snap_chunk_kind *k = snap_chunk_kinds; k->id; k++)
			nr_kinds += k->column != NULL;
		b->columns = xmallocarray(nr_kinds, sizeof(*b->columns));
		snap_block_checks_init(&b->checks, s);
		for (const struct snap_chunk_kind *k = snap_chunk_kinds; !res && k->id; k++)
			res = k->column && (!k->optional || snapshot_file_find(s->file, k->id)) ?
				      column_open(b, k, err) : 0;
	}
	if (res)
		block_stream_close(b);
	else
		*ret = b;
	return res;
}

void block_stream_close(struct block_stream *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->nr_columns; i++)
		chunk_stream_close(b->columns[i].stream);
	free(b->columns);
	snap_block_checks_release(&b->checks);
	free(b);
}

/* Unpacks until what is there is enough for nr blocks whatever their values, or all. */
static int column_fill(struct column *c, size_t nr, struct hs_error *err)
{
	size_t len;
	int ret;

	if (c->at_end || c->end - c->start >= nr * MAX_VARINT)
		return 0;
	memmove(c->raw, c->raw + c->start, c->end - c->start);
	c->end -= c->start;
	c->start = 0;
	ret = chunk_stream_read(c->stream, c->raw + c->end, WINDOW - c->end, &len, err);
	if (ret)
		return ret;
	c->at_end = len < WINDOW - c->end;
	c->end += len;
	return 0;
}

static int column_malformed(const struct block_stream *b, const struct column *c, uint64_t at,
			    const char *problem, struct hs_error *err)
{
	return hs_error_set(err, HS_E_FORMAT,
			    "'%s' is damaged: chunk '%.4s' at %" PRIu64 ", byte %" PRIu64 " unpacke"
											  "d: %s",
			    b->s->file->path, (const char *)c->chunk->id, c->chunk->offset, at,
			    problem);
}

static int column_decode(struct block_stream *b, struct column *c, size_t nr, struct hs_error *err)
{
	int ret = column_fill(c, nr, err);
	struct cursor cursor;

	if (ret)
		return ret;
	cursor = cursor_of(c->raw + c->start, c->end - c->start);
	c->kind->column(&c->carry, &cursor, b->batch, nr);
	if (cursor.bad)
		return column_malformed(b, c, c->raw_pos + cursor.bad_pos, cursor.problem, err);
	c->start += cursor.pos;
	c->raw_pos += cursor.pos;
	return 0;
}

/* Behind the last block: nothing must be left, and then the sums must be right. */
static int check_end(struct block_stream *b, struct hs_error *err)
{
	struct snap_problem problem;

	for (size_t i = 0; i < b->nr_columns; i++) {
		struct column *c = &b->columns[i];
		int ret = column_fill(c, 1, err);

		if (ret)
			return ret;
		if (!c->at_end || c->start != c->end)
			return column_malformed(b, c, c->raw_pos, "bytes after the end", err);
	}
	if (!snap_block_checks_end(&b->checks, &problem))
		return snapshot_damaged(b->s->file, &problem, err);
	return 0;
}

int block_stream_next(struct block_stream *b, const struct snap_block **ret_blocks, size_t *ret_nr,
		      struct hs_error *err)
{
	size_t left = b->s->nr_blocks - b->nr_done, nr = left < BATCH ? left : BATCH;
	struct snap_problem problem;
	int ret = 0;

	if (b->ended) {
		*ret_nr = 0;
		return 0;
	}
	if (!b->columns) {
		*ret_blocks = b->s->blocks + b->nr_done;
		*ret_nr = left;
		b->nr_done += left;
		b->ended = !left;
		return 0;
	}
	for (size_t i = 0; nr && !ret && i < b->nr_columns; i++)
		ret = column_decode(b, &b->columns[i], nr, err);
	if (!ret && !snap_block_checks_add(&b->checks, b->batch, nr, &problem))
		ret = snapshot_damaged(b->s->file, &problem, err);
	if (!ret && !nr)
		ret = check_end(b, err);
	if (ret)
		return ret;
	*ret_blocks = b->batch;
	*ret_nr = nr;
	b->nr_done += nr;
	b->ended = !nr;
	return 0;
}
