/* SPDX-License-Identifier: MIT */
/*
 * diff.c - what happened to the blocks between two snapshots; see diff.h.
 */
#include "analysis/diff.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/filter.h"
#include "analysis/ignore.h"
#include "analysis/lineage_stream.h"
#include "analysis/match.h"
#include "analysis/names.h"
#include "analysis/pairs.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"

/* ---- sums -------------------------------------------------------------------------------- */

struct stack_sums {
	struct diff_amount before, after;
	uint32_t side, stack; /* one of the stacks with this content */
	bool used;
};

/*
 * Blocks that are in both with the same size and stack, by stack of BEFORE, where the stack alone
 * decides about the group. They are most of all, and so the sums of rows, which lie anywhere in
 * memory, are touched once for a stack and not for each block.
 */
struct stayed {
	uint64_t count, bytes;
	uint64_t grown_size; /* of `grown` in stayed_grown[] */
	uint32_t
		after; /* the stack in AFTER that is the same, as far as is known; NO_STACK: none */
};
#define NO_STACK UINT32_MAX

struct build {
	struct diff *diff;
	const struct snapshot *snapshots[2];
	struct filter_side filters[2];
	const struct ignore *ignore;
	uint32_t *ignored[2]; /* by stack: 0 not looked up yet, 1 no, else rule + 2 */
	struct names *names[2];
	bool by_thread, by_class;
	size_t alloc_rows;
	struct stayed *stayed; /* NULL: the stack does not decide alone */
	struct snap_block
		*stayed_grown; /* the largest of them that was ever resized; lineage 0: none */
	struct grouping *contents; /* of stacks */
	struct pairs pairs; /* by class: of group and group of contents */
	struct stack_sums *stacks; /* by group of contents, or by pair */
	size_t nr_stacks, alloc_stacks;
};

static void add(struct diff_amount *amount, int64_t count, uint64_t bytes)
{
	amount->count += count;
	amount->bytes += (int64_t)bytes;
}

static struct diff_row *row_of(struct build *w, uint32_t group)
{
	struct diff *d = w->diff;

	while (d->nr_rows <= group) {
		d->rows = xgrow(d->rows, &w->alloc_rows, d->nr_rows + 1, sizeof(*d->rows));
		d->rows[d->nr_rows] = (struct diff_row){.group = (uint32_t)d->nr_rows};
		d->nr_rows++;
	}
	return &d->rows[group];
}

/* group: of the row. Only where groups are classes may one stack have several. */
static void add_to_stack(struct build *w, uint32_t side, uint32_t group, uint32_t stack,
			 uint64_t count, uint64_t bytes)
{
	uint32_t content = grouping_of_stack(w->contents, side, stack);
	struct stack_sums *s;

	if (w->by_class)
		content = pairs_number(&w->pairs, group, content);

	while (w->nr_stacks <= content) {
		w->stacks =
			xgrow(w->stacks, &w->alloc_stacks, w->nr_stacks + 1, sizeof(*w->stacks));
		w->stacks[w->nr_stacks++] = (struct stack_sums){0};
	}
	s = &w->stacks[content];
	if (!s->used || side > s->side) {
		s->used = true;
		s->side = side;
		s->stack = stack;
	}
	add(side ? &s->after : &s->before, (int64_t)count, bytes);
}

/* Keeps the block of AFTER that says most about how the group grows. */
static void note_grown(struct diff_row *row, const struct snap_block *b, bool between)
{
	if (!b->lineage || (row->grown_between && !between))
		return;
	if (!row->grown.lineage || (between && !row->grown_between) || b->size > row->grown.size) {
		row->grown = *b;
		row->grown_between = between;
	}
}

static bool passes(struct build *w, uint32_t side, const struct snap_block *b)
{
	return filter_passes(&w->filters[side], b);
}

/* The sums that blocks of a stack count in instead of a row, or NULL. */
static struct diff_sums *ignored(struct build *w, uint32_t side, uint32_t stack)
{
	uint32_t *known;

	if (!w->ignore)
		return NULL;
	known = &w->ignored[side][stack];
	if (!*known)
		*known = ignore_rule_of(w->ignore, w->names[side], stack) + 2; /* none: 1 */
	return *known == 1 ? NULL : &w->diff->ignored[*known - 2];
}

static void add_single_to(struct diff_sums *sums, uint32_t side, uint64_t size)
{
	add(side ? &sums->after : &sums->before, 1, size);
	add(side ? &sums->born : &sums->freed, 1, size);
}

/* A block of both, in one group; the difference in size is in resized. */
static void add_both_to(struct diff_sums *sums, uint64_t before, uint64_t after)
{
	add(&sums->before, 1, before);
	add(&sums->after, 1, after);
	if (before == after) {
		add(&sums->survived, 1, after);
		return;
	}
	sums->resized.count++;
	sums->resized.bytes += (int64_t)after - (int64_t)before;
}

static void add_single(struct build *w, uint32_t side, const struct snap_block *b)
{
	struct diff_sums *aside;
	struct diff_row *row;
	uint32_t group;

	if (!passes(w, side, b))
		return;
	aside = ignored(w, side, b->stack);
	if (aside) {
		add_single_to(aside, side, b->size);
		return;
	}
	group = grouping_of(w->diff->grouping, side, b);
	row = row_of(w, group);
	add_single_to(&row->sums, side, b->size);
	add_to_stack(w, side, group, b->stack, 1, b->size);
	if (side)
		note_grown(row, b, true);
}

/* A block that went from one group to another by realloc. */
static void add_moved(struct build *w, uint32_t from, uint32_t to, uint64_t before, uint64_t after)
{
	struct diff_sums *sums = &row_of(w, from)->sums;

	add(&sums->before, 1, before);
	sums->resized.bytes -= (int64_t)before;
	sums = &row_of(w, to)->sums;
	add(&sums->after, 1, after);
	sums->resized.count++;
	sums->resized.bytes += (int64_t)after;
	if (before == after)
		add(&sums->survived, 1, after);
}

/*
 * Whether the group that a block has in this snapshot is more to be trusted than that in the other:
 * which may not know the thread any more, or not yet.
 */
static bool knows_better(const struct build *w, int side, const struct snap_block *b)
{
	return w->by_thread && (side || b->thread);
}

/* A block that stayed as it was counts with the others of its stack. False if it is none. */
static bool add_to_stayed(struct build *w, const struct snap_block *b, const struct snap_block *a)
{
	struct stayed *s;

	if (!w->stayed || a->size != b->size)
		return false;
	s = &w->stayed[b->stack];
	if (s->after != a->stack) {
		if (s->count || grouping_of_stack(w->contents, 0, b->stack) !=
					grouping_of_stack(w->contents, 1, a->stack))
			return false;
		s->after = a->stack;
	}
	s->count++;
	s->bytes += a->size;
	if (a->lineage && a->size >= s->grown_size) {
		s->grown_size = a->size + 1;
		w->stayed_grown[b->stack] = *a;
	}
	return true;
}

/* What stayed, into the rows. */
static void add_stayed(struct build *w)
{
	for (uint32_t i = 0; w->stayed && i < w->snapshots[0]->nr_stacks; i++) {
		const struct stayed *s = &w->stayed[i];
		struct diff_sums *sums;
		uint32_t group;

		if (!s->count)
			continue;
		sums = ignored(w, 1, s->after);
		if (!sums) {
			group = grouping_of_stack(w->diff->grouping, 0, i);
			sums = &row_of(w, group)->sums;
			add_to_stack(w, 0, group, i, s->count, s->bytes);
			add_to_stack(w, 1, group, s->after, s->count, s->bytes);
			note_grown(row_of(w, group), &w->stayed_grown[i], false);
		}
		add(&sums->before, (int64_t)s->count, s->bytes);
		add(&sums->after, (int64_t)s->count, s->bytes);
		add(&sums->survived, (int64_t)s->count, s->bytes);
	}
}

static void add_both(struct build *w, const struct snap_block *b, const struct snap_block *a)
{
	struct diff_sums *aside;
	uint32_t from, to;

	if (!passes(w, 0, b) && !passes(w, 1, a))
		return;
	if (add_to_stayed(w, b, a))
		return;
	aside = ignored(w, 1, a->stack);
	if (aside) {
		add_both_to(aside, b->size, a->size);
		return;
	}
	from = grouping_of(w->diff->grouping, 0, b);
	to = grouping_of(w->diff->grouping, 1, a);
	/* what only one of the snapshots knows of the block is right in the other, too */
	if (knows_better(w, 0, b))
		to = from;
	else if (knows_better(w, 1, a))
		from = to;
	if (from == to)
		add_both_to(&row_of(w, to)->sums, b->size, a->size);
	else
		add_moved(w, from, to, b->size, a->size);
	add_to_stack(w, 0, from, b->stack, 1, b->size);
	add_to_stack(w, 1, to, a->stack, 1, a->size);
	note_grown(row_of(w, to), a, a->size != b->size);
}

static void add_pair(void *context, const struct snap_block *before, const struct snap_block *after)
{
	if (before && after)
		add_both(context, before, after);
	else
		add_single(context, after != NULL, after ? after : before);
}

/* ---- rows -------------------------------------------------------------------------------- */

static uint64_t stack_weight(const struct stack_sums *s)
{
	return (uint64_t)llabs(s->after.bytes - s->before.bytes);
}

/* The stack of each row: whose bytes changed most; of equals the one with more bytes. */
static void choose_stacks(struct build *w)
{
	struct diff *d = w->diff;
	const struct stack_sums **best;

	if (!grouping_by_stack(d->grouping) && !w->by_class)
		return;
	best = xcalloc(d->nr_rows + 1, sizeof(*best));
	for (size_t i = 0; i < w->nr_stacks; i++) {
		const struct stack_sums *s = &w->stacks[i], *old;
		uint32_t group;

		if (!s->used)
			continue;
		group = w->by_class ? w->pairs.all[i].a :
				      grouping_of_stack(d->grouping, s->side, s->stack);
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

void diff_sums_add(struct diff_sums *to, const struct diff_sums *from)
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

uint64_t diff_unrecorded_ms(const struct snapshot *b, const struct snapshot *a)
{
	uint64_t elapsed = a->taken_ms - b->taken_ms;
	uint64_t recorded = snapshot_recorded_ms(a) - snapshot_recorded_ms(b);

	if (!match_same_image(b, a) || a->taken_ms < b->taken_ms)
		return 0;
	return elapsed > recorded ? elapsed - recorded : 0;
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
		       const struct diff_options *options)
{
	struct group_options by_content = {GROUP_STACK, false, false, 0};

	memset(w, 0, sizeof(*w));
	w->diff = d;
	w->by_thread = options->group.by == GROUP_THREAD;
	w->contents = grouping_new(&by_content);
	w->ignore = options->ignore;
	if (w->ignore)
		d->ignored = xcalloc(w->ignore->nr_rules + 1, sizeof(*d->ignored));
	for (int i = 0; i < 2; i++) {
		const struct snapshot *s = names_snapshot(names[i]);

		w->snapshots[i] = s;
		w->names[i] = names[i];
		filter_side_init(&w->filters[i], options->filter, names[i], s->taken_ms);
		w->ignored[i] = xcalloc(s->nr_stacks + 1, sizeof(*w->ignored[i]));
		grouping_add(d->grouping, names[i]);
		grouping_add(w->contents, names[i]);
	}
	w->by_class = options->group.by == GROUP_CLASS && !grouping_by_stack(d->grouping);
	if (grouping_by_stack(d->grouping)) {
		size_t nr = w->snapshots[0]->nr_stacks + 1;

		w->stayed = xcalloc(nr, sizeof(*w->stayed));
		w->stayed_grown = xcalloc(nr, sizeof(*w->stayed_grown));
		for (size_t i = 0; i < nr; i++)
			w->stayed[i].after = NO_STACK;
	}
}

static void build_release(struct build *w)
{
	for (int i = 0; i < 2; i++) {
		filter_side_release(&w->filters[i]);
		free(w->ignored[i]);
	}
	grouping_free(w->contents);
	free(w->stayed);
	free(w->stayed_grown);
	pairs_release(&w->pairs);
	free(w->stacks);
}

/* Adds the rows up and leaves out those that no block came to; then sorts them. */
static void finish_rows(struct diff *d, const struct diff_options *options)
{
	struct row_order order = {d->grouping, options->sort, options->group.by == GROUP_AGE};
	size_t nr = 0;

	for (size_t i = 0; i < d->nr_rows; i++) {
		const struct diff_sums *s = &d->rows[i].sums;

		diff_sums_add(&d->totals, s);
		if (s->before.count || s->after.count)
			d->rows[nr++] = d->rows[i];
	}
	d->nr_rows = nr;
	if (nr)
		qsort_r(d->rows, nr, sizeof(*d->rows), compare_rows, &order);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = ((const struct taken_lineage *)a)->number;
	uint32_t y = ((const struct taken_lineage *)b)->number;

	return (x > y) - (x < y);
}

/* Fetches the lineages that rows tell of: few of those that there may be. */
static int take_lineages(struct diff *d, const struct snapshot *after, struct hs_error *err)
{
	int ret;

	d->lineages = xcalloc(d->nr_rows + 1, sizeof(*d->lineages));
	for (size_t i = 0; i < d->nr_rows; i++) {
		if (d->rows[i].grown.lineage)
			d->lineages[d->nr_lineages++].number = d->rows[i].grown.lineage;
	}
	if (!d->nr_lineages)
		return 0;
	qsort(d->lineages, d->nr_lineages, sizeof(*d->lineages), by_number);
	ret = lineages_take(after, d->lineages, d->nr_lineages, err);
	for (size_t i = 0; i < d->nr_rows && !ret; i++) {
		struct taken_lineage key = {.number = d->rows[i].grown.lineage};

		d->rows[i].lineage =
			bsearch(&key, d->lineages, d->nr_lineages, sizeof(*d->lineages), by_number);
	}
	return ret;
}

int diff_build(struct diff *d, struct names *before, struct names *after,
	       const struct diff_options *options, struct hs_error *err)
{
	struct names *const names[2] = {before, after};
	struct build work;
	int ret;

	memset(d, 0, sizeof(*d));
	d->grouping = grouping_new(&options->group);
	build_init(&work, d, names, options);
	d->same_image = match_same_image(work.snapshots[0], work.snapshots[1]);
	ret = match_blocks(work.snapshots[0], work.snapshots[1], add_pair, &work, err);
	if (!ret) {
		add_stayed(&work);
		choose_stacks(&work);
		finish_rows(d, options);
		ret = take_lineages(d, work.snapshots[1], err);
	}
	build_release(&work);
	if (ret)
		diff_release(d);
	return ret;
}

void diff_release(struct diff *d)
{
	grouping_free(d->grouping);
	free(d->rows);
	free(d->ignored);
	lineages_release(d->lineages, d->nr_lineages);
	free(d->lineages);
	memset(d, 0, sizeof(*d));
}
