/* SPDX-License-Identifier: MIT */
/*
 * trend.c - groups over many snapshots; see trend.h.
 *
 * While samples are added, a row has in each sample what was added to it (from the totals of
 * stacks: what changed since the sample before, and trend_finish() adds that up).
 */
#include "analysis/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/growth_totals.h"
#include "analysis/filter.h"
#include "analysis/lineage.h"
#include "analysis/names.h"
#include "analysis/series.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"

/* Nobody plans further ahead. */
#define FORESEEN_S (10.0 * 365 * 86400)

/* A buffer stands for its group if it has this share of its bytes. */
#define BUFFER_SHARE 0.5
#define MIN_STEPS    2u

/* Of what a buffer gained: so much may be gained beside it without being growth. */
#define REST_SHARE 0.05

/* A stack of the series, in the sample at hand. */
struct stack_state {
	uint64_t count, bytes, first_bytes;
	bool live; /* ever */
};

struct trend_work {
	const struct series *series;
	struct names *names;
	struct group_options options;
	struct filter_side filter;
	bool differences; /* samples hold what changed */
	struct stack_state *stacks;
	struct trend_times *times;
};

bool trend_needs_blocks(const struct group_options *options, const struct filter *f)
{
	struct grouping *grouping = grouping_new(options);
	bool by_stack = grouping_by_stack(grouping);

	grouping_free(grouping);
	return !by_stack || f->has_class || f->thread || f->min_size || f->has_older ||
	       f->has_younger;
}

void trend_init(struct trend *t, const struct series *series, struct names *names,
		const struct filter *filter, const struct group_options *options)
{
	struct trend_work *w = xcalloc(1, sizeof(*w));

	memset(t, 0, sizeof(*t));
	t->work = w;
	w->series = series;
	w->names = names;
	w->options = *options;
	w->stacks = xcalloc(series->all->nr_stacks + 1, sizeof(*w->stacks));
	filter_side_init(&w->filter, filter, names, options->now_ms);
	t->grouping = grouping_new(options);
	grouping_add(t->grouping, names);
	t->nr_samples = series->nr_samples;
	t->at_s = xcalloc(t->nr_samples, 3 * sizeof(*t->at_s));
	t->bytes = t->at_s + t->nr_samples;
	t->count = t->bytes + t->nr_samples;
	for (size_t i = 0; i < t->nr_samples; i++)
		t->at_s[i] = (double)series->samples[i].at_ms / 1000;
	w->times = trend_times_new(t->at_s, t->nr_samples);
}

void trend_release(struct trend *t)
{
	if (!t->work)
		return;
	for (size_t i = 0; i < t->nr_rows; i++) {
		free(t->rows[i].bytes);
		free(t->rows[i].ages);
	}
	free(t->rows);
	free(t->at_s);
	grouping_free(t->grouping);
	filter_side_release(&t->work->filter);
	trend_times_free(t->work->times);
	free(t->work->stacks);
	free(t->work);
	memset(t, 0, sizeof(*t));
}

/* ---- samples ----------------------------------------------------------------------------- */

static struct trend_row *row_of(struct trend *t, uint32_t group)
{
	while (t->nr_rows <= group) {
		struct trend_row *row;

		t->rows = xgrow(t->rows, &t->alloc_rows, t->nr_rows + 1, sizeof(*t->rows));
		row = &t->rows[t->nr_rows];
		memset(row, 0, sizeof(*row));
		row->group = (uint32_t)t->nr_rows++;
		row->bytes = xcalloc(t->nr_samples, 2 * sizeof(*row->bytes));
		row->count = row->bytes + t->nr_samples;
		row->grown = TREND_NO_BLOCK;
	}
	return &t->rows[group];
}

/* A stack as a block of it, for filters that look at nothing else. */
static bool stack_passes(struct trend_work *w, uint32_t stack)
{
	struct snap_block block = {.stack = stack};

	return filter_passes(&w->filter, &block);
}

/* Of its stacks, the one that gained most. */
static void choose_stacks(struct trend *t)
{
	struct trend_work *w = t->work;
	int64_t *best = xcalloc(t->nr_rows + 1, sizeof(*best));

	for (uint32_t i = 1; i < w->series->all->nr_stacks; i++) {
		const struct stack_state *s = &w->stacks[i];
		int64_t gained = (int64_t)(s->bytes - s->first_bytes);
		struct trend_row *row;
		uint32_t group;

		if (!s->live)
			continue;
		group = grouping_of_stack(t->grouping, 0, i);
		row = row_of(t, group);
		row->nr_stacks++;
		if (!row->stack || gained > best[group]) {
			row->stack = i;
			best[group] = gained;
		}
	}
	free(best);
}

void trend_add_series(struct trend *t)
{
	struct trend_work *w = t->work;
	const struct series *series = w->series;

	w->differences = true;
	for (size_t k = 0; k < t->nr_samples; k++) {
		const struct series_sample *sample = &series->samples[k];

		for (size_t i = sample->first; i < sample->first + sample->nr; i++) {
			const struct series_change *c = &series->changes[i];
			struct stack_state *s = &w->stacks[c->stack];
			struct trend_row *row;

			if (!stack_passes(w, c->stack))
				continue;
			row = row_of(t, grouping_of_stack(t->grouping, 0, c->stack));
			row->bytes[k] += (double)c->bytes - (double)s->bytes;
			row->count[k] += (double)c->count - (double)s->count;
			s->bytes = c->bytes;
			s->count = c->count;
			s->first_bytes = k ? s->first_bytes : c->bytes;
			s->live = true;
		}
	}
	choose_stacks(t);
}

/*
 * The block in the numbers of the series, in the stack by which it first grew, its age counted to
 * the trend's now.
 */
static struct snap_block translated(const struct trend_work *w, const struct snap_block *b,
				    const struct snapshot *s, const struct series_map *map)
{
	struct snap_block block = series_block(map, b);
	uint64_t age = s->taken_ms > b->birth_ms ? s->taken_ms - b->birth_ms : 0;

	block.stack = map->stacks[block_growth_stack(s, b)];
	block.birth_ms = w->options.now_ms > age ? w->options.now_ms - age : 0;
	return block;
}

void trend_add_blocks(struct trend *t, size_t sample, const struct snapshot *s,
		      const struct series_map *map)
{
	struct trend_work *w = t->work;
	bool last = sample + 1 == t->nr_samples;

	for (size_t i = 0; i < s->nr_blocks; i++) {
		struct snap_block b = translated(w, &s->blocks[i], s, map);
		struct trend_row *row;

		if (!filter_passes(&w->filter, &b))
			continue;
		row = row_of(t, grouping_of(t->grouping, 0, &b));
		row->bytes[sample] += (double)b.size;
		row->count[sample] += 1;
		if (last && (!row->stack || b.size > row->stack_size)) {
			row->stack = b.stack;
			row->stack_size = b.size;
		}
	}
}

/* The staircase that the lineage of a block tells of, as far as the samples reach back. */
static struct trend_stairs stairs_of(const struct trend *t, const struct snapshot *s,
				     const struct snap_block *block, struct names *names)
{
	const struct snap_lineage *lineage = &s->lineages[block->lineage - 1];
	struct trend_stairs stairs = {.size = (double)block->size};
	double *step_s = xmallocarray(lineage->nr_kept + 1, sizeof(*step_s));
	struct lineage_shape shape;
	uint64_t before = 0;
	size_t run = 0;

	lineage_shape_init(&shape, lineage, names);
	for (uint32_t i = 0; i < lineage->nr_kept; i++) {
		const struct snap_step *step = &s->steps[lineage->first_step + i];
		bool gap = i == lineage->nr_first && lineage->nr_kept < lineage->nr_steps;

		if (gap || step->size <= before) /* steps that are not kept, or it had shrunk */
			run = 0;
		before = step->size;
		step_s[run++] = (double)(s->start_after_ms + step->ms) / 1000;
		stairs.nr += step_s[run - 1] > t->at_s[0];
	}
	stairs.factor = shape.factor;
	if (shape.increment || shape.factor < TREND_MIN_FACTOR || shape.factor > TREND_MAX_FACTOR ||
	    run < MIN_STEPS || stairs.nr < MIN_STEPS || !(step_s[run - 1] > step_s[run - 2]))
		stairs.nr = 0;
	else
		trend_stairs_expect(&stairs, step_s, run);
	lineage_shape_release(&shape);
	free(step_s);
	return stairs;
}

static double first_step_s(const struct snapshot *s, const struct snap_block *block)
{
	const struct snap_lineage *lineage = &s->lineages[block->lineage - 1];
	uint64_t ms = lineage->nr_kept ? s->steps[lineage->first_step].ms : lineage->changed_ms;

	return (double)(s->start_after_ms + ms) / 1000;
}

void trend_add_latest(struct trend *t, const struct snapshot *s, struct names *own,
		      const struct series_map *map)
{
	struct trend_work *w = t->work;
	uint64_t from = s->coverage.since_ms, to = s->taken_ms > from ? s->taken_ms : from + 1;

	for (size_t i = 0; i < s->nr_blocks; i++) {
		struct snap_block b = translated(w, &s->blocks[i], s, map);
		const struct snap_block *block = &s->blocks[i];
		struct trend_row *row;
		struct trend_age *age;

		if (!filter_passes(&w->filter, &b))
			continue;
		row = row_of(t, grouping_of(t->grouping, 0, &b));
		if (!row->ages)
			row->ages = xcalloc(group_age_count(), sizeof(*row->ages));
		age = &row->ages[group_age_of(to > block->birth_ms ? to - block->birth_ms : 0)];
		age->count++;
		age->bytes += block->size;
		spread_add(&row->spread, block->birth_ms, from, to);
		if (block->lineage && s->lineages[block->lineage - 1].nr_steps &&
		    block->size > row->grown_size) {
			row->grown = i;
			row->grown_size = block->size;
		}
	}
	for (size_t i = 0; i < t->nr_rows; i++) {
		struct trend_row *row = &t->rows[i];

		if (row->grown == TREND_NO_BLOCK)
			continue;
		row->stairs = stairs_of(t, s, &s->blocks[row->grown], own);
		row->grew_s = first_step_s(s, &s->blocks[row->grown]);
	}
}

/* ---- forecasts --------------------------------------------------------------------------- */

void trend_next_step(const struct trend *t, const struct trend_row *row, double *ret_bytes,
		     double *ret_at_s)
{
	const struct trend_stairs *stairs = &row->view.stairs;
	double now_s = t->at_s[t->nr_samples - 1], next_s = trend_stairs_next(stairs);

	*ret_bytes = stairs->size * stairs->factor;
	*ret_at_s = next_s > now_s ? next_s : now_s; /* overdue: any moment */
}

/*
 * How fast the rest of a row grows, which is not the buffer: what the row gained in the samples less
 * what the buffer's steps gained it. What is next to nothing beside the buffer is nothing.
 */
static double rest_slope(const struct trend *t, const struct trend_row *row)
{
	const struct trend_stairs *stairs = &row->view.stairs;
	size_t last = t->nr_samples - 1;
	double by_steps = stairs->size * (1 - pow(stairs->factor, -(double)stairs->nr));
	double rest = row->bytes[last] - row->bytes[0] - by_steps;

	return rest > REST_SHARE * by_steps ? rest / (t->at_s[last] - t->at_s[0]) : 0;
}

/* A buffer that goes on up its staircase. */
struct climber {
	double size, factor;
	double next_s, level_s; /* when its next step is due, and how long the level there lasts */
	double slower; /* so many times as long as that the next one */
};

static struct climber climber_of(const struct trend *t, const struct trend_row *row)
{
	const struct trend_stairs *stairs = &row->view.stairs;
	struct climber c = {
		.size = stairs->size,
		.factor = stairs->factor,
		.level_s = stairs->level_s * stairs->slower,
		.slower = stairs->slower,
	};
	double size;

	trend_next_step(t, row, &size, &c.next_s);
	return c;
}

static struct climber *first_to_step(struct climber *climbers, size_t nr)
{
	struct climber *first = NULL;

	for (size_t i = 0; i < nr; i++)
		if (!first || climbers[i].next_s < first->next_s)
			first = &climbers[i];
	return first;
}

/*
 * When the whole process gets to the limit, if these rows, which grow, go on and nothing else does:
 * lines all the time, and buffers in steps. Each step multiplies a buffer, so they are few.
 */
static struct trend_forecast reaches(const struct trend *t, const struct trend_row *rows, size_t nr,
				     double limit)
{
	double bytes = (double)t->work->series->samples[t->nr_samples - 1].bytes, slope = 0;
	double now_s = t->at_s[t->nr_samples - 1], at_s = now_s, left = limit - bytes, so_far = 0;
	struct climber *climbers = xcalloc(nr + 1, sizeof(*climbers)), *next;
	size_t nr_climbers = 0;
	bool accelerates = false;

	for (size_t i = 0; i < nr; i++) {
		if (!trend_row_grows(t, &rows[i]))
			continue;
		so_far += fmax(0, rows[i].view.slope);
		if (rows[i].belief.shape == TREND_DOUBLING) {
			next = &climbers[nr_climbers++];
			*next = climber_of(t, &rows[i]);
			accelerates |= next->slower < next->factor;
			slope += rest_slope(t, &rows[i]);
		} else {
			slope += fmax(0, rows[i].view.slope);
		}
	}
	while (bytes < limit && at_s - now_s < FORESEEN_S) {
		double line_s = slope > 0 ? at_s + (limit - bytes) / slope : INFINITY;

		next = first_to_step(climbers, nr_climbers);
		if (!next || next->next_s > line_s) {
			at_s = line_s;
			break;
		}
		bytes += slope * (next->next_s - at_s) + next->size * (next->factor - 1);
		at_s = next->next_s;
		next->size *= next->factor;
		next->next_s += next->level_s;
		next->level_s *= next->slower;
	}
	free(climbers);
	return (struct trend_forecast){
		.reached = at_s - now_s < FORESEEN_S,
		.faster = accelerates && (at_s - now_s) * so_far < left / 2,
		.at_s = at_s,
	};
}

static void forecast(struct trend *t, double limit)
{
	for (size_t i = 0; i < t->nr_rows; i++) {
		struct trend_row *row = &t->rows[i];

		if (!trend_row_grows(t, row))
			continue;
		t->slope += fmax(0, row->view.slope);
		if (limit > 0)
			row->limit = reaches(t, row, 1, limit);
	}
	if (limit > 0)
		t->limit = reaches(t, t->rows, t->nr_rows, limit);
}

/* ---- judgement --------------------------------------------------------------------------- */

bool trend_row_is_buffer(const struct trend *t, const struct trend_row *row)
{
	return row->grown != TREND_NO_BLOCK && !grouping_is_passed_through(t->grouping) &&
	       (double)row->grown_size >= BUFFER_SHARE * row->bytes[t->nr_samples - 1];
}

bool trend_first_growth(const struct trend *t, const struct trend_row *row, double *ret_s)
{
	double seen_s = t->at_s[row->view.first_growth];

	if (!row->view.first_growth)
		return false;
	*ret_s = trend_row_is_buffer(t, row) ? fmin(row->grew_s, seen_s) : seen_s;
	return true;
}

bool trend_row_grows(const struct trend *t, const struct trend_row *row)
{
	bool looks = row->belief.shape == TREND_LINEAR || row->belief.shape == TREND_DOUBLING;

	return looks && (row->belief.confidence > TREND_LOW || t->nr_samples < TREND_MIN_SURE);
}

bool trend_row_shown(const struct trend *t, const struct trend_row *row)
{
	if (t->nr_samples < TREND_MIN_SURE && row->bytes[t->nr_samples - 1] > row->bytes[0])
		return true;
	return trend_row_grows(t, row);
}

static void add_up(struct trend *t)
{
	for (size_t i = 0; i < t->nr_rows; i++) {
		struct trend_row *row = &t->rows[i];

		for (size_t k = 0; k < t->nr_samples; k++) {
			if (k && t->work->differences) {
				row->bytes[k] += row->bytes[k - 1];
				row->count[k] += row->count[k - 1];
			}
			if (k && row->bytes[k] != row->bytes[k - 1])
				row->changed = true;
			t->bytes[k] += row->bytes[k];
			t->count[k] += row->count[k];
		}
	}
}

static void look(struct trend *t, struct trend_row *row)
{
	const struct trend_times *times = t->work->times;

	trend_look(times, row->bytes, &row->view);
	if (row->stairs.nr && trend_row_is_buffer(t, row))
		row->view.stairs = row->stairs;
}

/* What never changed cannot be growth, and is not counted among what could have been. */
static void judge(struct trend *t)
{
	struct trend_view *views = xcalloc(t->nr_rows + 1, sizeof(*views));
	struct trend_belief *beliefs = xcalloc(t->nr_rows + 1, sizeof(*beliefs));
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_rows; i++) {
		t->rows[i].view.not_growing = t->rows[i].view.not_shrinking = 1;
		t->rows[i].belief = (struct trend_belief){TREND_NOISE, TREND_LOW};
		if (!t->rows[i].changed)
			continue;
		look(t, &t->rows[i]);
		views[nr++] = t->rows[i].view;
	}
	trend_believe(t->work->times, views, nr, beliefs);
	nr = 0;
	for (size_t i = 0; i < t->nr_rows; i++) {
		struct trend_row *row = &t->rows[i];

		if (!row->changed)
			continue;
		row->belief = beliefs[nr++];
		/* most pairs of a staircase lie on one step: their median slope is 0 */
		if (row->belief.shape == TREND_DOUBLING)
			row->view.slope = (row->bytes[t->nr_samples - 1] - row->bytes[0]) /
					  (t->at_s[t->nr_samples - 1] - t->at_s[0]);
	}
	free(views);
	free(beliefs);
}

/* Growing, stopped, varying, shrinking, unchanged. */
static int class_of(const struct trend_row *row)
{
	static const int classes[] = {
		[TREND_LINEAR] = 0,  [TREND_DOUBLING] = 0, [TREND_STEP] = 1,
		[TREND_PLATEAU] = 1, [TREND_NOISE] = 2,	   [TREND_SHRINKING] = 3,
	};

	return row->changed ? classes[row->belief.shape] : 4;
}

static int surest_first(const void *a, const void *b, void *context)
{
	const struct trend_row *x = a, *y = b;
	const struct trend *t = context;
	size_t last = t->nr_samples - 1;
	double gained;

	if (x->belief.confidence != y->belief.confidence)
		return x->belief.confidence > y->belief.confidence ? -1 : 1;
	if (class_of(x) != class_of(y))
		return class_of(x) < class_of(y) ? -1 : 1;
	if (class_of(x) == 0 && x->view.slope != y->view.slope)
		return x->view.slope > y->view.slope ? -1 : 1;
	gained = (x->bytes[last] - x->bytes[0]) - (y->bytes[last] - y->bytes[0]);
	if (gained > 0 || gained < 0)
		return gained > 0 ? -1 : 1;
	if (x->bytes[last] != y->bytes[last])
		return x->bytes[last] > y->bytes[last] ? -1 : 1;
	return grouping_compare(t->grouping, x->group, y->group);
}

void trend_finish(struct trend *t, uint64_t limit_bytes)
{
	add_up(t);
	judge(t);
	if (t->nr_rows)
		qsort_r(t->rows, t->nr_rows, sizeof(*t->rows), surest_first, t);
	forecast(t, (double)limit_bytes);
}
