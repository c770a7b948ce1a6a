/* SPDX-License-Identifier: MIT */
/*
 * chunk_window.c - a chunk as numbers, unpacked as they are needed; see chunk_window.h.
 */
#include "analysis/chunk_window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/snapshot_file.h"
#include "util/alloc.h"
#include "util/error.h"

static int damaged(const struct chunk_window *w, const char *what, uint64_t where,
		   const char *problem, struct hs_error *err)
{
	return hs_error_set(err, HS_E_FORMAT,
			    "'%s' is damaged: chunk '%.4s' at %" PRIu64 "%s%" PRIu64 "%s",
			    w->file->path, (const char *)w->chunk->id, w->chunk->offset, what,
			    where, problem);
}

int chunk_window_open(struct chunk_window *w, const struct snapshot_file *file, uint32_t id,
		      uint64_t items, size_t numbers, struct hs_error *err)
{
	*w = (struct chunk_window){.file = file, .chunk = snapshot_file_find(file, id)};
	if (w->chunk->items != items)
		return damaged(w, ": ", w->chunk->items, " items, other than were expected", err);
	/* twice, so that what is left over is seldom moved to the front */
	w->size = 2 * numbers * CHUNK_WINDOW_VARINT;
	w->raw = xmalloc(w->size);
	return chunk_stream_open(file, w->chunk, &w->stream, err);
}

void chunk_window_close(struct chunk_window *w)
{
	chunk_stream_close(w->stream);
	free(w->raw);
	w->stream = NULL;
	w->raw = NULL;
}

/* Unpacks until what is there is enough for so many numbers, whatever their length, or is all. */
static int fill(struct chunk_window *w, size_t numbers, struct hs_error *err)
{
	size_t len;
	int ret;

	if (w->at_end || w->end - w->start >= numbers * CHUNK_WINDOW_VARINT)
		return 0;
	memmove(w->raw, w->raw + w->start, w->end - w->start);
	w->end -= w->start;
	w->start = 0;
	ret = chunk_stream_read(w->stream, w->raw + w->end, w->size - w->end, &len, err);
	if (ret)
		return ret;
	w->at_end = len < w->size - w->end;
	w->end += len;
	return 0;
}

int chunk_window_begin(struct chunk_window *w, size_t numbers, struct cursor *ret,
		       struct hs_error *err)
{
	int res = fill(w, numbers, err);

	if (!res)
		*ret = cursor_of(w->raw + w->start, w->end - w->start);
	return res;
}

int chunk_window_done(struct chunk_window *w, const struct cursor *c, struct hs_error *err)
{
	char problem[64];

	if (c->bad) {
		snprintf(problem, sizeof(problem), " unpacked: %s", c->problem);
		return damaged(w, ", byte ", w->raw_pos + c->bad_pos, problem, err);
	}
	w->start += c->pos;
	w->raw_pos += c->pos;
	return 0;
}

int chunk_window_end(struct chunk_window *w, struct hs_error *err)
{
	int ret = fill(w, 1, err);

	if (!ret && (!w->at_end || w->start != w->end))
		ret = damaged(w, ", byte ", w->raw_pos, " unpacked: bytes after the end", err);
	return ret;
}
