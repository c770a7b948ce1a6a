/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - opening, writing and checking of snapshots; see snapshot.h.
 */
#include "analysis/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot_internal.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include "util/error.h"
#include "util/name_table.h"

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->modules && i < s->nr_modules; i++)
		free(s->modules[i].path);
	for (size_t i = 0; s->messages && i < s->nr_messages; i++)
		free(s->messages[i]);
	free(s->modules);
	free(s->messages);
	free(s->nodes);
	free(s->stacks);
	free(s->blocks);
	free(s->mappings);
	free(s->lineages);
	free(s->steps);
	free(s->threads);
	free(s->class_words);
	free(s->path);
	free(s->label);
	if (s->names)
		name_table_release(s->names);
	free(s->names);
	free(s->exe);
	free(s->dir);
	if (s->file)
		snapshot_file_close(s->file);
	free(s->file);
	free(s);
}

/* ---- files ------------------------------------------------------------------------------- */

/* The first column makes room; the others have as many items. */
static void decode_column(struct snapshot *s, const struct snap_chunk_kind *kind, struct cursor *c,
			  uint64_t items)
{
	uint64_t carry = 0;

	if (kind->id == SNAP_FIRST_COLUMN) {
		s->blocks = xcalloc(items, sizeof(*s->blocks));
		s->nr_blocks = items;
	}
	if (items != s->nr_blocks)
		cursor_fail(c, 0, "other number of blocks than of addresses");
	else
		kind->column(&carry, c, s->blocks, items);
}

void snapshot_decode_bytes(const struct snap_chunk_kind *kind, struct snapshot *s, struct cursor *c,
			   uint64_t items)
{
	if (kind->column)
		decode_column(s, kind, c, items);
	else
		kind->decode(s, c, items);
	cursor_end(c);
}

int snapshot_decode_chunk(const struct snapshot_file *file, const struct hs_chunk *chunk,
			  const struct snap_chunk_kind *kind, struct snapshot *s,
			  struct hs_error *err)
{
	struct cursor c;
	uint8_t *raw;
	int ret;

	if (chunk->items > chunk->raw_bytes / kind->min_bytes)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: chunk '%.4s' at %" PRIu64 " claims %" PRIu64
				    " items in %" PRIu64 " bytes",
				    file->path, (const char *)chunk->id, chunk->offset,
				    chunk->items, chunk->raw_bytes);
	ret = snapshot_file_load(file, chunk, &raw, err);
	if (ret)
		return ret;
	c = cursor_of(raw, chunk->raw_bytes);
	snapshot_decode_bytes(kind, s, &c, chunk->items);
	if (c.bad)
		ret = hs_error_set(err, HS_E_FORMAT,
				   "'%s' is damaged: chunk '%.4s' at %" PRIu64 ", byte %zu "
				   "unpacked: %s",
				   file->path, (const char *)chunk->id, chunk->offset, c.bad_pos,
				   c.problem);
	free(raw);
	return ret;
}

/* A chunk that is new to us is skipped, unless it says that it must not be. */
static int check_unknown(const struct snapshot_file *file, struct snapshot *s, struct hs_error *err)
{
	for (size_t i = 0; i < file->nr_chunks; i++) {
		const struct hs_chunk *chunk = &file->chunks[i];

		if (snap_chunk_kind(snapshot_chunk_id(chunk)))
			continue;
		s->foreign_chunks = true;
		if (chunk->flags & HS_CHUNK_MUST_KNOW)
			return hs_error_set(err, HS_E_VERSION,
					    "'%s' has a chunk '%.4s' that this heapstory does not "
					    "know",
					    file->path, (const char *)chunk->id);
	}
	return 0;
}

static int missing_chunk(const struct snapshot_file *file, const struct snap_chunk_kind *kind,
			 struct hs_error *err)
{
	char id[5] = {0};

	for (int i = 0; i < 4; i++)
		id[i] = (char)(kind->id >> (8 * i));
	return hs_error_set(err, HS_E_FORMAT, "'%s' is damaged: no chunk '%s' (%s)", file->path, id,
			    kind->name);
}

int snapshot_damaged(const struct snapshot_file *file, const struct snap_problem *problem,
		     struct hs_error *err)
{
	const struct hs_chunk *chunk = snapshot_file_find(file, problem->id);

	return hs_error_set(err, HS_E_FORMAT, "'%s' is damaged: chunk '%.4s' at %" PRIu64 ": %s",
			    file->path, (const char *)chunk->id, chunk->offset, problem->text);
}

/* How much of a file is read. */
enum extent {
	EXTENT_WHOLE,
	EXTENT_STREAMED, /* blocks, lineages and steps stay where they are */
	EXTENT_HEAD, /* who and when */
};

static bool is_read(const struct snap_chunk_kind *kind, enum extent extent)
{
	if (extent == EXTENT_HEAD)
		return kind->id == HS_CHUNK_ID('M', 'E', 'T', 'A');
	if (kind->id == HS_CHUNK_ID('S', 'T', 'E', 'P') ||
	    kind->id == HS_CHUNK_ID('L', 'I', 'N', 'E') ||
	    kind->id == HS_CHUNK_ID('M', 'A', 'P', 'S'))
		return extent == EXTENT_WHOLE;
	return extent == EXTENT_WHOLE || !kind->column;
}

/* How much there is of what stays in the file. */
static void count_unread(struct snapshot *s, const struct hs_chunk *chunk)
{
	switch (snapshot_chunk_id(chunk)) {
	case SNAP_FIRST_COLUMN:
		s->nr_blocks = chunk->items;
		break;
	case HS_CHUNK_ID('S', 'T', 'E', 'P'):
		s->nr_steps = chunk->items;
		break;
	case HS_CHUNK_ID('L', 'I', 'N', 'E'):
		s->nr_lineages = chunk->items;
		break;
	}
}

static int decode(const struct snapshot_file *file, enum extent extent, struct snapshot **ret,
		  struct hs_error *err)
{
	struct snapshot *s = xcalloc(1, sizeof(*s));
	struct snap_problem problem;
	int res = check_unknown(file, s, err);

	s->source = SNAPSHOT_FILE;
	s->totals_only = extent == EXTENT_HEAD;
	s->path = xstrdup(file->path);
	for (const struct snap_chunk_kind *kind = snap_chunk_kinds; !res && kind->id; kind++) {
		const struct hs_chunk *chunk = snapshot_file_find(file, kind->id);

		if (!chunk)
			res = kind->optional ? 0 : missing_chunk(file, kind, err);
		else if (is_read(kind, extent))
			res = snapshot_decode_chunk(file, chunk, kind, s, err);
		else if (extent == EXTENT_STREAMED)
			count_unread(s, chunk);
	}
	if (!res && extent != EXTENT_HEAD &&
	    !(extent == EXTENT_STREAMED ? snapshot_valid_frame : snapshot_valid)(s, &problem))
		res = snapshot_damaged(file, &problem, err);
	if (res)
		snapshot_free(s);
	else
		*ret = s;
	return res;
}

int snapshot_decode(const struct snapshot_file *file, struct snapshot **ret, struct hs_error *err)
{
	return decode(file, EXTENT_WHOLE, ret, err);
}

int snapshot_decode_frame(const struct snapshot_file *file, struct snapshot **ret,
			  struct hs_error *err)
{
	return decode(file, EXTENT_STREAMED, ret, err);
}

static int open_file(const char *path, enum extent extent, struct snapshot **ret,
		     struct hs_error *err)
{
	struct snapshot_file *file = xcalloc(1, sizeof(*file));
	int res = snapshot_file_open(path, file, err);

	if (res) {
		free(file);
		return res;
	}
	res = decode(file, extent, ret, err);
	if (!res && extent == EXTENT_STREAMED) {
		(*ret)->file = file;
		return 0;
	}
	snapshot_file_close(file);
	free(file);
	return res;
}

int snapshot_write(const struct snapshot *snapshot, const char *path, const char *label,
		   struct hs_error *err)
{
	struct snapshot labelled = *snapshot;
	struct buffer b = {NULL, 0, 0};
	struct snapshot_writer w;
	int ret = snapshot_writer_open(&w, path, err);

	if (ret)
		return ret;
	if (label)
		labelled.label = (char *)label;
	for (const struct snap_chunk_kind *kind = snap_chunk_kinds; !ret && kind->id; kind++) {
		uint64_t items = kind->items(&labelled);

		if (kind->optional && !items)
			continue;
		b.len = 0;
		kind->encode(&labelled, &b);
		ret = snapshot_writer_add(&w, kind->id, kind->optional ? 0 : HS_CHUNK_MUST_KNOW,
					  items, b.data, b.len, err);
	}
	buffer_clear(&b);
	if (ret)
		snapshot_writer_abort(&w);
	else
		ret = snapshot_writer_commit(&w, err);
	return ret;
}

/* ---- coverage ---------------------------------------------------------------------------- */

uint64_t snapshot_recorded_ms(const struct snapshot *s)
{
	/* the share is a quotient of whole milliseconds */
	return (uint64_t)(s->coverage.share_of_life * (double)s->taken_ms + 0.5);
}

/* ---- stores ------------------------------------------------------------------------------ */

static int open_store(const char *path, struct snapshot **ret, struct hs_error *err)
{
	struct store_image image;
	int res = store_image_read(path, &image, err);

	if (res)
		return res;
	res = snapshot_from_image(&image, ret, NULL, err);
	if (!res)
		snapshot_read_class_words(*ret, &image);
	store_image_release(&image);
	return res;
}

static int open_either(const char *path, enum extent extent, struct snapshot **ret,
		       struct hs_error *err)
{
	bool is_store = false;
	int res = store_is_store(path, &is_store, err);

	if (res)
		return res;
	if (!is_store)
		return open_file(path, extent, ret, err);
	return open_store(path, ret, err);
}

int snapshot_open(const char *path, struct snapshot **ret, struct hs_error *err)
{
	return open_either(path, EXTENT_WHOLE, ret, err);
}

int snapshot_open_to_stream(const char *path, struct snapshot **ret, struct hs_error *err)
{
	return open_either(path, EXTENT_STREAMED, ret, err);
}

int snapshot_open_head(const char *path, struct snapshot **ret, struct hs_error *err)
{
	return open_file(path, EXTENT_HEAD, ret, err);
}
