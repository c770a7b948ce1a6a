/* SPDX-License-Identifier: MIT */
/*
 * heap.c - live blocks by groups; see heap.h.
 */
#include "analysis/heap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/filter.h"
#include "analysis/names.h"
#include "analysis/pairs.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"

/* What builds the rows: sums by stack, and the largest block of each row. */
struct heap_sums {
	uint64_t *stack_bytes; /* by stack */
	uint64_t *stack_count;
	uint64_t *largest; /* by row: size of its largest block */
	size_t alloc_rows, alloc_largest;
	uint64_t from_ms, to_ms; /* the recorded life */
	bool by_class;
	struct pairs pairs; /* of row and stack, where stacks do not decide about the row */
	uint64_t *pair_bytes; /* by pair */
	size_t nr_pairs, alloc_pairs;
};

static struct heap_row *row_of(struct heap *h, struct heap_sums *sums, uint32_t group)
{
	while (h->nr_rows <= group) {
		h->rows = xgrow(h->rows, &sums->alloc_rows, h->nr_rows + 1, sizeof(*h->rows));
		sums->largest = xgrow(sums->largest, &sums->alloc_largest, h->nr_rows + 1,
				      sizeof(*sums->largest));
		h->rows[h->nr_rows] = (struct heap_row){.group = (uint32_t)h->nr_rows};
		sums->largest[h->nr_rows++] = 0;
	}
	return &h->rows[group];
}

/* Blocks of one stack may be of several classes. */
static void add_to_pair(struct heap_sums *sums, uint32_t group, const struct snap_block *b)
{
	uint32_t pair = pairs_number(&sums->pairs, group, b->stack);

	sums->pair_bytes = xgrow(sums->pair_bytes, &sums->alloc_pairs, pair + 1,
				 sizeof(*sums->pair_bytes));
	if (pair == sums->nr_pairs)
		sums->pair_bytes[sums->nr_pairs++] = 0;
	sums->pair_bytes[pair] += b->size;
}

static void add_block(struct heap *h, struct heap_sums *sums, const struct snap_block *b)
{
	uint32_t group = grouping_of(h->grouping, 0, b);
	struct heap_row *row = row_of(h, sums, group);

	row->count++;
	row->bytes += b->size;
	row->usable += b->usable;
	spread_add(&row->spread, b->birth_ms, sums->from_ms, sums->to_ms);
	if (row->count == 1 || b->size > sums->largest[group]) {
		sums->largest[group] = b->size;
		row->stack = b->stack;
	}
	sums->stack_bytes[b->stack] += b->size;
	sums->stack_count[b->stack]++;
	if (sums->by_class)
		add_to_pair(sums, group, b);
	h->count++;
	h->bytes += b->size;
	h->usable += b->usable;
}

/* Where a group is made of whole stacks: how many, and the one with the most bytes. */
static void choose_stacks(struct heap *h, const struct heap_sums *sums, size_t nr_stacks)
{
	uint64_t *best = xcalloc(h->nr_rows + 1, sizeof(*best));

	for (size_t i = 0; i < nr_stacks; i++) {
		struct heap_row *row;
		uint32_t group;

		if (!sums->stack_count[i])
			continue;
		group = grouping_of_stack(h->grouping, 0, (uint32_t)i);
		row = &h->rows[group];
		if (!row->nr_stacks++ || sums->stack_bytes[i] > best[group]) {
			best[group] = sums->stack_bytes[i];
			row->stack = (uint32_t)i;
		}
	}
	free(best);
}

/* The same for classes. */
static void choose_stacks_of_classes(struct heap *h, const struct heap_sums *sums)
{
	uint64_t *best = xcalloc(h->nr_rows + 1, sizeof(*best));

	for (size_t i = 0; i < sums->nr_pairs; i++) {
		uint32_t group = sums->pairs.all[i].a;
		struct heap_row *row = &h->rows[group];

		if (!row->nr_stacks++ || sums->pair_bytes[i] > best[group]) {
			best[group] = sums->pair_bytes[i];
			row->stack = sums->pairs.all[i].b;
		}
	}
	free(best);
}

struct row_order {
	const struct grouping *grouping;
	enum sort_by sort;
	bool by_age;
};

static int compare_rows(const void *a, const void *b, void *context)
{
	const struct heap_row *x = a, *y = b;
	const struct row_order *order = context;

	if (order->by_age && order->sort == SORT_DEFAULT) {
		uint64_t m = grouping_get(order->grouping, x->group)->order;
		uint64_t n = grouping_get(order->grouping, y->group)->order;

		if (m != n)
			return m < n ? -1 : 1;
	}
	if (order->sort == SORT_COUNT && x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return grouping_compare(order->grouping, x->group, y->group);
}

void heap_build(struct heap *ret, struct names *names, const struct filter *filter,
		const struct group_options *options, enum sort_by sort)
{
	const struct snapshot *s = names_snapshot(names);
	struct row_order order = {NULL, sort, options->by == GROUP_AGE};
	struct heap_sums sums = {0};
	struct filter_side side;
	size_t nr = 0;

	memset(ret, 0, sizeof(*ret));
	ret->grouping = grouping_new(options);
	grouping_add(ret->grouping, names);
	sums.from_ms = s->coverage.since_ms;
	sums.to_ms = s->taken_ms > sums.from_ms ? s->taken_ms : sums.from_ms + 1;
	sums.stack_bytes = xcalloc(s->nr_stacks + 1, sizeof(uint64_t));
	sums.stack_count = xcalloc(s->nr_stacks + 1, sizeof(uint64_t));
	sums.by_class = options->by == GROUP_CLASS && !options->split_sizes &&
			!grouping_by_stack(ret->grouping);
	filter_side_init(&side, filter, names, options->now_ms);
	for (size_t i = 0; i < s->nr_blocks; i++) {
		if (filter_passes(&side, &s->blocks[i]))
			add_block(ret, &sums, &s->blocks[i]);
	}
	if (grouping_by_stack(ret->grouping))
		choose_stacks(ret, &sums, s->nr_stacks);
	if (sums.by_class)
		choose_stacks_of_classes(ret, &sums);
	for (size_t i = 0; i < ret->nr_rows; i++) {
		if (ret->rows[i]
			    .count) /* a base group may be made before the first of its blocks */
			ret->rows[nr++] = ret->rows[i];
	}
	ret->nr_rows = nr;
	order.grouping = ret->grouping;
	if (nr)
		qsort_r(ret->rows, nr, sizeof(*ret->rows), compare_rows, &order);
	filter_side_release(&side);
	free(sums.stack_bytes);
	free(sums.stack_count);
	free(sums.largest);
	free(sums.pair_bytes);
	pairs_release(&sums.pairs);
}

void heap_release(struct heap *h)
{
	grouping_free(h->grouping);
	free(h->rows);
	memset(h, 0, sizeof(*h));
}

/* ---- zones ------------------------------------------------------------------------------- */

struct zone_of_row {
	const char *name;
	size_t row;
	uint64_t zone_bytes;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct zone_of_row *)a)->name, ((const struct zone_of_row *)b)->name);
}

static int by_zone_bytes(const void *a, const void *b)
{
	const struct zone_of_row *x = a, *y = b;
	int order;

	if (x->zone_bytes != y->zone_bytes)
		return x->zone_bytes < y->zone_bytes ? 1 : -1;
	order = strcmp(x->name, y->name);
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

size_t heap_order_by_zone(struct heap *h, struct heap_zone **ret_zones)
{
	struct zone_of_row *of = xmallocarray(h->nr_rows + 1, sizeof(*of));
	struct heap_row *rows = xmallocarray(h->nr_rows + 1, sizeof(*rows));
	struct heap_zone *zones = xcalloc(h->nr_rows + 1, sizeof(*zones));
	size_t nr = 0, end;

	for (size_t i = 0; i < h->nr_rows; i++) {
		const char *zone = grouping_get(h->grouping, h->rows[i].group)->zone;

		of[i] = (struct zone_of_row){zone ? zone : "", i, 0};
	}
	qsort(of, h->nr_rows, sizeof(*of), by_name);
	for (size_t i = 0; i < h->nr_rows; i = end) {
		uint64_t bytes = 0;

		for (end = i; end < h->nr_rows && !strcmp(of[end].name, of[i].name); end++)
			bytes += h->rows[of[end].row].bytes;
		for (size_t k = i; k < end; k++)
			of[k].zone_bytes = bytes;
	}
	qsort(of, h->nr_rows, sizeof(*of), by_zone_bytes);
	for (size_t i = 0; i < h->nr_rows; i++) {
		rows[i] = h->rows[of[i].row];
		if (!i || strcmp(of[i].name, of[i - 1].name))
			zones[nr++].name = of[i].name;
		zones[nr - 1].count += rows[i].count;
		zones[nr - 1].bytes += rows[i].bytes;
	}
	free(h->rows);
	free(of);
	h->rows = rows;
	*ret_zones = zones;
	return nr;
}

/* ---- suspects ---------------------------------------------------------------------------- */

/* A shorter life says nothing: all of it is the start. */
#define SUSPECT_LIFE_MS 1000u
#define SUSPECT_SPREAD	0.5

struct suspect {
	size_t row;
	unsigned int tenths;
	uint64_t bytes;
};

static int most_suspicious(const void *a, const void *b)
{
	const struct suspect *x = a, *y = b;

	if (x->tenths != y->tenths)
		return x->tenths > y->tenths ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

size_t heap_suspects(const struct heap *h, const struct snapshot *s, size_t **ret)
{
	struct suspect *suspects = xcalloc(h->nr_rows + 1, sizeof(*suspects));
	bool lived = s->taken_ms >= s->coverage.since_ms + SUSPECT_LIFE_MS;
	size_t nr = 0;

	for (size_t i = 0; i < h->nr_rows && lived; i++) {
		const struct heap_row *row = &h->rows[i];
		double spread = spread_value(&row->spread);

		if (row->count >= SUSPECT_COUNT && spread >= SUSPECT_SPREAD)
			suspects[nr++] =
				(struct suspect){i, (unsigned int)(spread * 10 + 0.5), row->bytes};
	}
	qsort(suspects, nr, sizeof(*suspects), most_suspicious);
	*ret = xcalloc(nr + 1, sizeof(**ret));
	for (size_t i = 0; i < nr; i++)
		(*ret)[i] = suspects[i].row;
	free(suspects);
	return nr;
}
