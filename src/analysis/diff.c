/* SPDX-License-Identifier: MIT */
/*
 * diff.c - what happened to the blocks between two snapshots; see diff.h.
 */
#include "analysis/diff.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/filter.h"
#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"

/* ---- which block is which ---------------------------------------------------------------- */

struct block_list {
	size_t *blocks;
	size_t nr, alloc;
};

static void list_add(struct block_list *list, size_t block)
{
	list->blocks = xgrow(list->blocks, &list->alloc, list->nr + 1, sizeof(*list->blocks));
	list->blocks[list->nr++] = block;
}

/* Matches what stayed at its address, in one walk through both; the rest goes to the lists. */
static void match_in_place(const struct snapshot *b, const struct snapshot *a, diff_pair pair,
			   void *context, struct block_list *rest_b, struct block_list *rest_a)
{
	size_t i = 0, k = 0;

	while (i < b->nr_blocks || k < a->nr_blocks) {
		const struct snap_block *x = i < b->nr_blocks ? &b->blocks[i] : NULL;
		const struct snap_block *y = k < a->nr_blocks ? &a->blocks[k] : NULL;

		if (x && y && x->address == y->address && x->serial == y->serial)
			pair(context, i++, k++);
		else if (!y || (x && x->address <= y->address))
			list_add(rest_b, i++);
		else
			list_add(rest_a, k++);
	}
}

static size_t slot_of(uint64_t serial, size_t mask)
{
	return (size_t)((serial * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & mask;
}

/* Matches the rest by serial: what realloc moved. Rests are emptied of what is matched. */
static void match_moved(const struct snapshot *b, const struct snapshot *a, diff_pair pair,
			void *context, struct block_list *rest_b, struct block_list *rest_a)
{
	size_t mask = 15, left = 0, *table;

	while (mask < 2 * rest_b->nr)
		mask = 2 * mask + 1;
	table = xcalloc(mask + 1, sizeof(*table)); /* index into rest_b, plus 1 */
	for (size_t i = 0; i < rest_b->nr; i++) {
		size_t slot = slot_of(b->blocks[rest_b->blocks[i]].serial, mask);

		while (table[slot])
			slot = (slot + 1) & mask;
		table[slot] = i + 1;
	}
	for (size_t k = 0; k < rest_a->nr; k++) {
		uint64_t serial = a->blocks[rest_a->blocks[k]].serial;
		size_t slot = slot_of(serial, mask), found = DIFF_NO_BLOCK;

		for (; table[slot] && found == DIFF_NO_BLOCK; slot = (slot + 1) & mask) {
			size_t i = table[slot] - 1, block = rest_b->blocks[i];

			if (block != DIFF_NO_BLOCK && b->blocks[block].serial == serial) {
				found = block;
				rest_b->blocks[i] = DIFF_NO_BLOCK;
			}
		}
		if (found != DIFF_NO_BLOCK)
			pair(context, found, rest_a->blocks[k]);
		else
			rest_a->blocks[left++] = rest_a->blocks[k];
	}
	rest_a->nr = left;
	free(table);
}

static bool same_image(const struct snapshot *b, const struct snapshot *a)
{
	return !memcmp(b->image, a->image, sizeof(b->image));
}

void diff_match(const struct snapshot *before, const struct snapshot *after, diff_pair pair,
		void *context)
{
	struct block_list rest_b = {0}, rest_a = {0};

	if (!same_image(before, after)) {
		for (size_t i = 0; i < before->nr_blocks; i++)
			pair(context, i, DIFF_NO_BLOCK);
		for (size_t i = 0; i < after->nr_blocks; i++)
			pair(context, DIFF_NO_BLOCK, i);
		return;
	}
	match_in_place(before, after, pair, context, &rest_b, &rest_a);
	if (rest_b.nr && rest_a.nr)
		match_moved(before, after, pair, context, &rest_b, &rest_a);
	for (size_t i = 0; i < rest_b.nr; i++) {
		if (rest_b.blocks[i] != DIFF_NO_BLOCK)
			pair(context, rest_b.blocks[i], DIFF_NO_BLOCK);
	}
	for (size_t i = 0; i < rest_a.nr; i++)
		pair(context, DIFF_NO_BLOCK, rest_a.blocks[i]);
	free(rest_b.blocks);
	free(rest_a.blocks);
}

/* ---- sums -------------------------------------------------------------------------------- */

struct stack_sums {
	struct diff_amount before, after;
	uint32_t side, stack; /* one of the stacks with this content */
	bool used;
};

struct build {
	struct diff *diff;
	const struct snapshot *snapshots[2];
	struct filter_side filters[2];
	bool by_thread;
	size_t alloc_rows;
	struct grouping *contents; /* of stacks */
	struct stack_sums *stacks; /* by group of contents */
	size_t nr_stacks, alloc_stacks;
};

static void add(struct diff_amount *amount, int64_t count, uint64_t bytes)
{
	amount->count += count;
	amount->bytes += (int64_t)bytes * count;
}

static struct diff_row *row_of(struct build *w, uint32_t group)
{
	struct diff *d = w->diff;

	while (d->nr_rows <= group) {
		d->rows = xgrow(d->rows, &w->alloc_rows, d->nr_rows + 1, sizeof(*d->rows));
		d->rows[d->nr_rows] =
			(struct diff_row){.group = (uint32_t)d->nr_rows, .grown = DIFF_NO_BLOCK};
		d->nr_rows++;
	}
	return &d->rows[group];
}

static void add_to_stack(struct build *w, uint32_t side, const struct snap_block *b)
{
	uint32_t content = grouping_of_stack(w->contents, side, b->stack);
	struct stack_sums *s;

	while (w->nr_stacks <= content) {
		w->stacks =
			xgrow(w->stacks, &w->alloc_stacks, w->nr_stacks + 1, sizeof(*w->stacks));
		w->stacks[w->nr_stacks++] = (struct stack_sums){0};
	}
	s = &w->stacks[content];
	if (!s->used || side > s->side) {
		s->used = true;
		s->side = side;
		s->stack = b->stack;
	}
	add(side ? &s->after : &s->before, 1, b->size);
}

/* The block of AFTER that says most about how the group grows. */
static void note_grown(struct build *w, struct diff_row *row, size_t block)
{
	const struct snap_block *blocks = w->snapshots[1]->blocks;

	if (blocks[block].lineage &&
	    (row->grown == DIFF_NO_BLOCK || blocks[block].size > blocks[row->grown].size))
		row->grown = block;
}

static void add_single(struct build *w, uint32_t side, size_t block)
{
	const struct snap_block *b = &w->snapshots[side]->blocks[block];
	struct diff_row *row = row_of(w, grouping_of(w->diff->grouping, side, b));

	add(side ? &row->sums.after : &row->sums.before, 1, b->size);
	add(side ? &row->sums.born : &row->sums.freed, 1, b->size);
	add_to_stack(w, side, b);
	if (side)
		note_grown(w, row, block);
}

static void add_both(struct build *w, size_t before, size_t after)
{
	const struct snap_block *b = &w->snapshots[0]->blocks[before];
	const struct snap_block *a = &w->snapshots[1]->blocks[after];
	uint32_t from = grouping_of(w->diff->grouping, 0, b);
	uint32_t to = grouping_of(w->diff->grouping, 1, a);
	struct diff_row *row;

	/* one of the snapshots may not know the thread any more, or not yet */
	if (w->by_thread && b->thread)
		to = from;
	else if (w->by_thread)
		from = to;
	row = row_of(w, from);
	add(&row->sums.before, 1, b->size);
	if (from != to)
		row->sums.resized.bytes -= (int64_t)b->size;
	row = row_of(w, to);
	add(&row->sums.after, 1, a->size);
	if (from != to || a->size != b->size) {
		row->sums.resized.count++;
		row->sums.resized.bytes += (int64_t)a->size - (from == to ? (int64_t)b->size : 0);
	}
	if (a->size == b->size)
		add(&row->sums.survived, 1, a->size);
	add_to_stack(w, 0, b);
	add_to_stack(w, 1, a);
	note_grown(w, row, after);
}

static void add_pair(void *context, size_t before, size_t after)
{
	struct build *w = context;
	bool passes = false;

	if (before != DIFF_NO_BLOCK)
		passes = filter_passes(&w->filters[0], &w->snapshots[0]->blocks[before]);
	if (after != DIFF_NO_BLOCK && !passes)
		passes = filter_passes(&w->filters[1], &w->snapshots[1]->blocks[after]);
	if (!passes)
		return;
	if (before == DIFF_NO_BLOCK)
		add_single(w, 1, after);
	else if (after == DIFF_NO_BLOCK)
		add_single(w, 0, before);
	else
		add_both(w, before, after);
}

static uint64_t stack_weight(const struct stack_sums *s)
{
	return (uint64_t)llabs(s->after.bytes - s->before.bytes);
}

/* The stack of each row: whose bytes changed most; of equals the one with more bytes. */
static void choose_stacks(struct build *w)
{
	struct diff *d = w->diff;
	const struct stack_sums **best;

	if (!grouping_by_stack(d->grouping))
		return;
	best = xcalloc(d->nr_rows + 1, sizeof(*best));
	for (size_t i = 0; i < w->nr_stacks; i++) {
		const struct stack_sums *s = &w->stacks[i], *old;
		uint32_t group;

		if (!s->used)
			continue;
		group = grouping_of_stack(d->grouping, s->side, s->stack);
		old = best[group];
		d->rows[group].nr_stacks++;
		if (!old || stack_weight(s) > stack_weight(old) ||
		    (stack_weight(s) == stack_weight(old) && s->after.bytes > old->after.bytes)) {
			best[group] = s;
			d->rows[group].side = s->side;
			d->rows[group].stack = s->stack;
		}
	}
	free(best);
}

static void add_sums(struct diff_sums *to, const struct diff_sums *from)
{
	/* all members are amounts */
	int64_t *t = (int64_t *)to;
	const int64_t *f = (const int64_t *)from;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*t); i++)
		t[i] += f[i];
}

bool diff_unchanged(const struct diff_sums *s)
{
	return !s->born.count && !s->freed.count && !s->resized.count && !s->resized.bytes;
}

/* ---- order ------------------------------------------------------------------------------- */

struct row_order {
	const struct grouping *grouping;
	enum sort_by sort;
	bool by_age;
};

static int descending(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct diff_sums *x = &((const struct diff_row *)a)->sums;
	const struct diff_sums *y = &((const struct diff_row *)b)->sums;
	const struct row_order *o = context;
	uint32_t m = ((const struct diff_row *)a)->group, n = ((const struct diff_row *)b)->group;
	int order = 0;

	if (o->by_age && o->sort == SORT_DEFAULT)
		order = descending((int64_t)grouping_get(o->grouping, n)->order,
				   (int64_t)grouping_get(o->grouping, m)->order);
	else if (o->sort == SORT_COUNT)
		order = descending(x->after.count - x->before.count,
				   y->after.count - y->before.count);
	else if (o->sort == SORT_BYTES)
		order = descending(x->after.bytes, y->after.bytes);
	if (!order)
		order = descending(x->after.bytes - x->before.bytes,
				   y->after.bytes - y->before.bytes);
	if (!order)
		order = descending(x->after.count - x->before.count,
				   y->after.count - y->before.count);
	if (!order)
		order = descending(x->after.bytes, y->after.bytes);
	return order ? order : grouping_compare(o->grouping, m, n);
}

/* ---- the whole --------------------------------------------------------------------------- */

static void build_init(struct build *w, struct diff *d, struct names *const names[2],
		       const struct filter *filter, const struct group_options *options)
{
	struct group_options by_content = {GROUP_STACK, false, false, 0};

	memset(w, 0, sizeof(*w));
	w->diff = d;
	w->by_thread = options->by == GROUP_THREAD;
	w->contents = grouping_new(&by_content);
	for (int i = 0; i < 2; i++) {
		w->snapshots[i] = names_snapshot(names[i]);
		filter_side_init(&w->filters[i], filter, names[i], options->now_ms);
		grouping_add(d->grouping, names[i]);
		grouping_add(w->contents, names[i]);
	}
}

static void build_release(struct build *w)
{
	filter_side_release(&w->filters[0]);
	filter_side_release(&w->filters[1]);
	grouping_free(w->contents);
	free(w->stacks);
}

void diff_build(struct diff *d, struct names *before, struct names *after,
		const struct filter *filter, const struct group_options *options, enum sort_by sort)
{
	struct names *const names[2] = {before, after};
	struct row_order order = {NULL, sort, options->by == GROUP_AGE};
	struct build work;
	size_t nr = 0;

	memset(d, 0, sizeof(*d));
	d->grouping = grouping_new(options);
	order.grouping = d->grouping;
	build_init(&work, d, names, filter, options);
	d->same_image = same_image(work.snapshots[0], work.snapshots[1]);
	diff_match(work.snapshots[0], work.snapshots[1], add_pair, &work);
	choose_stacks(&work);
	for (size_t i = 0; i < d->nr_rows; i++) {
		const struct diff_sums *s = &d->rows[i].sums;

		add_sums(&d->totals, s);
		if (s->before.count || s->after.count)
			d->rows[nr++] = d->rows[i];
	}
	d->nr_rows = nr;
	if (nr)
		qsort_r(d->rows, nr, sizeof(*d->rows), compare_rows, &order);
	build_release(&work);
}

void diff_release(struct diff *d)
{
	grouping_free(d->grouping);
	free(d->rows);
	memset(d, 0, sizeof(*d));
}
