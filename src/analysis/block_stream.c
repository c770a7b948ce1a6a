/* SPDX-License-Identifier: MIT */
/*
 * block_stream.c - the blocks of a snapshot, some at a time; see block_stream.h.
 *
 * In a file the fields of a block lie in different chunks. All of these are unpacked side by side,
 * as far as a batch of blocks needs, so that neither the columns nor the blocks are ever in memory
 * as a whole.
 */
#include "analysis/block_stream.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/chunk_window.h"
#include "analysis/snapshot_internal.h"
#include "util/alloc.h"

#define BATCH 2048u /* blocks: their structs stay in the cache while columns fill them */

struct column {
	const struct snap_chunk_kind *kind;
	struct chunk_window window;
	uint64_t carry;
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

int block_stream_open(const struct snapshot *s, struct block_stream **ret, struct hs_error *err)
{
	struct block_stream *b = xcalloc(1, sizeof(*b));
	size_t nr_kinds = 0;
	int res = 0;

	b->s = s;
	if (s->file) {
		for (const struct snap_chunk_kind *k = snap_chunk_kinds; k->id; k++)
			nr_kinds += k->column != NULL;
		b->columns = xcalloc(nr_kinds, sizeof(*b->columns));
		snap_block_checks_init(&b->checks, s);
		for (const struct snap_chunk_kind *k = snap_chunk_kinds; !res && k->id; k++) {
			struct column *c = &b->columns[b->nr_columns];

			if (!k->column || (k->optional && !snapshot_file_find(s->file, k->id)))
				continue;
			b->nr_columns++;
			c->kind = k;
			res = chunk_window_open(&c->window, s->file, k->id, s->nr_blocks, BATCH,
						err);
		}
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
		chunk_window_close(&b->columns[i].window);
	free(b->columns);
	snap_block_checks_release(&b->checks);
	free(b);
}

static int column_decode(struct block_stream *b, struct column *c, size_t nr, struct hs_error *err)
{
	struct cursor cursor;
	int ret = chunk_window_begin(&c->window, nr, &cursor, err);

	if (ret)
		return ret;
	c->kind->column(&c->carry, &cursor, b->batch, nr);
	return chunk_window_done(&c->window, &cursor, err);
}

/* Behind the last block: nothing must be left, and then the sums must be right. */
static int check_end(struct block_stream *b, struct hs_error *err)
{
	struct snap_problem problem;

	for (size_t i = 0; i < b->nr_columns; i++) {
		int ret = chunk_window_end(&b->columns[i].window, err);

		if (ret)
			return ret;
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
