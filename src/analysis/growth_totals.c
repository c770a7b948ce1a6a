/* SPDX-License-Identifier: MIT */
/*
 * growth_totals.c - live totals by stack of first growth; see growth_totals.h.
 *
 * They are the totals that stacks have anyway, less what buffers have where they grew last, plus
 * the same where they grew first: so only blocks with a lineage matter.
 */
#include "analysis/growth_totals.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analysis/chunk_window.h"
#include "analysis/lineage_stream.h"
#include "analysis/snapshot_internal.h"
#include "util/alloc.h"

#define BATCH 2048u /* blocks unpacked at a time */

uint32_t block_growth_stack(const struct snapshot *s, const struct snap_block *b)
{
	return b->lineage ? lineage_growth_stack(s, &s->lineages[b->lineage - 1]) : b->stack;
}

static struct growth_total *present_totals(const struct snapshot *s)
{
	struct growth_total *totals = xcalloc(s->nr_stacks + 1, sizeof(*totals));

	for (size_t i = 0; i < s->nr_stacks; i++) {
		totals[i].count = s->stacks[i].live_count;
		totals[i].bytes = s->stacks[i].live_bytes;
	}
	return totals;
}

static void move(struct growth_total *totals, const struct snap_block *b, uint32_t to)
{
	totals[b->stack].count--;
	totals[b->stack].bytes -= b->size;
	totals[to].count++;
	totals[to].bytes += b->size;
}

struct growth_total *growth_totals_of(const struct snapshot *s)
{
	struct growth_total *totals = present_totals(s);

	for (size_t i = 0; i < s->nr_blocks; i++)
		if (s->blocks[i].lineage)
			move(totals, &s->blocks[i], block_growth_stack(s, &s->blocks[i]));
	return totals;
}

/* ---- from a file ------------------------------------------------------------------------- */

/* What has to be known of a block. */
static const uint32_t columns[] = {
	HS_CHUNK_ID('B', 'S', 'I', 'Z'),
	HS_CHUNK_ID('B', 'S', 'T', 'K'),
	HS_CHUNK_ID('B', 'L', 'I', 'N'),
};

#define NR_COLUMNS (sizeof(columns) / sizeof(columns[0]))

struct reader {
	const struct snapshot *s;
	struct chunk_window windows[NR_COLUMNS];
	uint64_t carry[NR_COLUMNS];
	const uint32_t *growth; /* by lineage */
	struct growth_total *totals;
	struct snap_block batch[BATCH];
};

static int read_batch(struct reader *r, size_t nr, struct hs_error *err)
{
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		struct cursor c;
		int res = chunk_window_begin(&r->windows[i], nr, &c, err);

		if (res)
			return res;
		snap_chunk_kind(columns[i])->column(&r->carry[i], &c, r->batch, nr);
		res = chunk_window_done(&r->windows[i], &c, err);
		if (res)
			return res;
	}
	return 0;
}

/* False if its stack does not have so much. */
static bool move_checked(struct reader *r, const struct snap_block *b)
{
	const struct growth_total *from;

	if (b->stack >= r->s->nr_stacks || b->lineage > r->s->nr_lineages)
		return false;
	from = &r->totals[b->stack];
	if (!from->count || from->bytes < b->size)
		return false;
	move(r->totals, b, r->growth[b->lineage - 1]);
	return true;
}

static int read_blocks(struct reader *r, struct hs_error *err)
{
	struct snap_problem problem = {HS_CHUNK_ID('B', 'L', 'I', 'N'),
				       "a block whose stack or lineage cannot be right"};
	int res = 0;

	for (size_t i = 0; !res && i < NR_COLUMNS; i++)
		res = chunk_window_open(&r->windows[i], r->s->file, columns[i], r->s->nr_blocks,
					BATCH, err);
	for (size_t left = r->s->nr_blocks, nr; !res && left; left -= nr) {
		nr = left < BATCH ? left : BATCH;
		res = read_batch(r, nr, err);
		for (size_t i = 0; !res && i < nr; i++)
			if (r->batch[i].lineage && !move_checked(r, &r->batch[i]))
				res = snapshot_damaged(r->s->file, &problem, err);
	}
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		if (!res)
			res = chunk_window_end(&r->windows[i], err);
		chunk_window_close(&r->windows[i]);
	}
	return res;
}

int growth_totals_read(const struct snapshot *s, struct growth_total **ret, struct hs_error *err)
{
	struct reader *r;
	uint32_t *growth;
	int res;

	if (!s->file) {
		*ret = growth_totals_of(s);
		return 0;
	}
	growth = xcalloc(s->nr_lineages + 1, sizeof(*growth));
	r = xcalloc(1, sizeof(*r));
	r->s = s;
	r->growth = growth;
	r->totals = present_totals(s);
	res = s->nr_lineages ? lineages_growth_stacks(s, growth, err) : 0;
	if (!res && s->nr_lineages)
		res = read_blocks(r, err);
	if (res)
		free(r->totals);
	else
		*ret = r->totals;
	free(growth);
	free(r);
	return res;
}
