/* SPDX-License-Identifier: MIT */
/*
 * lineage.c - the shape of growth; see lineage.h.
 */
#include "analysis/lineage.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t nr)
{
	if (!nr)
		return 0;
	qsort(values, nr, sizeof(*values), by_double);
	return nr % 2 ? values[nr / 2] : (values[nr / 2 - 1] + values[nr / 2]) / 2;
}

/* The value that at least three quarters share, or 0. */
static uint64_t common_value(uint64_t *values, size_t nr)
{
	size_t same = 0;

	if (nr < 2)
		return 0;
	qsort(values, nr, sizeof(*values), by_u64);
	for (size_t i = 0; i < nr; i++)
		same += values[i] == values[nr / 2];
	return 4 * same >= 3 * nr ? values[nr / 2] : 0;
}

static void measure_steps(struct lineage_shape *shape, const struct snap_lineage *l,
			  const struct snap_step *steps)
{
	double *ratios = xmallocarray(l->nr_kept + 1, sizeof(*ratios));
	uint64_t *jumps = xmallocarray(l->nr_kept + 1, sizeof(*jumps));
	bool gap = l->nr_kept < l->nr_steps;
	size_t nr_ratios = 0, nr_jumps = 0;
	uint64_t before = l->born_size;

	for (uint32_t i = 0; i < l->nr_kept; i++) {
		if (!(gap && i == l->nr_first) && steps[i].size > before) {
			jumps[nr_jumps++] = steps[i].size - before;
			if (before)
				ratios[nr_ratios++] = (double)steps[i].size / (double)before;
		}
		before = steps[i].size;
	}
	shape->factor = median(ratios, nr_ratios);
	shape->increment = common_value(jumps, nr_jumps);
	free(ratios);
	free(jumps);
}

/*
 * Label of the level-th program frame of a stack, from its site outwards; NULL if it has none.
 * Caller frees.
 */
static char *function_at(struct names *names, uint32_t stack, size_t level)
{
	const struct frame *const *frames;
	enum stack_cut cut;
	size_t nr = names_stack(names, stack, &frames, &cut);

	for (size_t i = 0; i < nr; i++) {
		if (!frames[i]->runtime && !frames[i]->wrapper && !level--)
			return frame_label(frames[i]);
	}
	return NULL;
}

static void count_grower(struct lineage_shape *shape, const char *function)
{
	for (size_t i = 0; i < shape->nr_growers; i++) {
		if (!strcmp(shape->growers[i].function, function)) {
			shape->growers[i].count++;
			return;
		}
	}
	shape->growers =
		xreallocarray(shape->growers, shape->nr_growers + 1, sizeof(*shape->growers));
	shape->growers[shape->nr_growers++] = (struct lineage_grower){xstrdup(function), 1};
}

static void clear_growers(struct lineage_shape *shape)
{
	for (size_t i = 0; i < shape->nr_growers; i++)
		free(shape->growers[i].function);
	free(shape->growers);
	shape->growers = NULL;
	shape->nr_growers = 0;
}

/* Counts the functions at a level; false if no stack goes that far out. */
static bool growers_at(struct lineage_shape *shape, const struct snap_step *steps, uint32_t nr,
		       struct names *names, size_t level)
{
	bool any = false;

	clear_growers(shape);
	for (uint32_t i = 0; i < nr; i++) {
		char *function = function_at(names, steps[i].stack, level);

		any |= function != NULL;
		count_grower(shape, function ? function : "?");
		free(function);
	}
	return any;
}

static int by_count(const void *a, const void *b)
{
	const struct lineage_grower *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->function, y->function);
}

/*
 * The innermost level at which the steps' one stack is not that of the birth. False if there is
 * none: then they are the same.
 */
static bool parting_level(struct names *names, uint32_t birth, uint32_t step, size_t *ret_level)
{
	if (birth == step)
		return false;
	for (size_t level = 0;; level++) {
		char *a = function_at(names, birth, level), *b = function_at(names, step, level);
		bool same = a && b && !strcmp(a, b), end = !a && !b;

		free(a);
		free(b);
		if (end)
			return false;
		if (!same) {
			*ret_level = level;
			return true;
		}
	}
}

static bool of_one_stack(const struct snap_step *steps, uint32_t nr)
{
	uint32_t i = 1;

	while (i < nr && steps[i].stack == steps[0].stack)
		i++;
	return i >= nr;
}

void lineage_shape_init(struct lineage_shape *shape, const struct snap_lineage *l,
			struct names *names)
{
	lineage_shape_of(shape, l, names_snapshot(names)->steps + l->first_step, names);
}

void lineage_shape_of(struct lineage_shape *shape, const struct snap_lineage *l,
		      const struct snap_step *steps, struct names *names)
{
	size_t level = 0;

	memset(shape, 0, sizeof(*shape));
	if (!l->nr_kept)
		return;
	measure_steps(shape, l, steps);
	if (!of_one_stack(steps, l->nr_kept))
		while (growers_at(shape, steps, l->nr_kept, names, level) && shape->nr_growers < 2)
			level++;
	shape->elsewhere = shape->nr_growers > 1;
	if (!shape->elsewhere) {
		level = 0;
		shape->elsewhere = parting_level(names, l->born_stack, steps[0].stack, &level);
		growers_at(shape, steps, l->nr_kept, names, level);
	}
	qsort(shape->growers, shape->nr_growers, sizeof(*shape->growers), by_count);
}

void lineage_shape_release(struct lineage_shape *shape)
{
	clear_growers(shape);
}
