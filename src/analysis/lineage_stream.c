/* SPDX-License-Identifier: MIT */
/*
 * lineage_stream.c - some lineages of a snapshot; see lineage_stream.h.
 */
#include "analysis/lineage_stream.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/chunk_window.h"
#include "analysis/snapshot_internal.h"
#include "util/alloc.h"

#define NUMBERS 4096u /* that are unpacked at a time */

struct reader {
	const struct snapshot *s;
	struct chunk_window lines, steps;
	uint64_t nr_steps; /* read so far */
};

static int read_lineage(struct reader *r, struct snap_lineage *ret, struct hs_error *err)
{
	struct cursor c;
	int res = chunk_window_begin(&r->lines, SNAP_LINEAGE_NUMBERS, &c, err);

	if (res)
		return res;
	snap_decode_lineage(&c, ret, r->nr_steps, r->s->nr_steps);
	return chunk_window_done(&r->lines, &c, err);
}

/* Reads the steps of a lineage; they are kept if it is wanted. *ret_first: the first one's stack. */
static int read_steps(struct reader *r, const struct snap_lineage *l, struct taken_lineage *wanted,
		      uint32_t *ret_first, struct hs_error *err)
{
	struct snap_problem problem;
	size_t alloc = 0;

	for (uint32_t i = 0; i < l->nr_kept; i++) {
		struct snap_step step;
		struct cursor c;
		int res = chunk_window_begin(&r->steps, SNAP_STEP_NUMBERS, &c, err);

		if (res)
			return res;
		snap_decode_step(&c, &step);
		res = chunk_window_done(&r->steps, &c, err);
		if (!res && !snap_step_valid(r->s, r->nr_steps, &step, &problem))
			res = snapshot_damaged(r->s->file, &problem, err);
		if (res)
			return res;
		r->nr_steps++;
		if (i == 0 && l->nr_first)
			*ret_first = step.stack;
		if (!wanted)
			continue;
		wanted->steps = xgrow(wanted->steps, &alloc, i + 1, sizeof(step));
		wanted->steps[i] = step;
	}
	return 0;
}

static int read_all(struct reader *r, struct taken_lineage *wanted, size_t nr, uint32_t *growth,
		    struct hs_error *err)
{
	struct snap_problem problem;
	size_t next = 0;

	for (size_t i = 0; i < r->s->nr_lineages; i++) {
		bool mine = next < nr && wanted[next].number == i + 1;
		struct snap_lineage l;
		uint32_t first;
		int res = read_lineage(r, &l, err);

		if (!res && !snap_lineage_valid(r->s, i, &l, &problem))
			res = snapshot_damaged(r->s->file, &problem, err);
		if (res)
			return res;
		first = l.born_stack;
		res = read_steps(r, &l, mine ? &wanted[next] : NULL, &first, err);
		if (res)
			return res;
		if (mine)
			wanted[next++].lineage = l;
		if (growth)
			growth[i] = first;
	}
	return 0;
}

/* Nothing is left of either chunk, and there were as many steps as were told. */
static int check_end(struct reader *r, struct hs_error *err)
{
	struct snap_problem problem = {HS_CHUNK_ID('S', 'T', 'E', 'P'),
				       "other number of steps than lineages have"};
	int res = chunk_window_end(&r->lines, err);

	if (!res)
		res = chunk_window_end(&r->steps, err);
	if (!res && r->nr_steps != r->s->nr_steps)
		res = snapshot_damaged(r->s->file, &problem, err);
	return res;
}

static int take_from_file(const struct snapshot *s, struct taken_lineage *wanted, size_t nr,
			  uint32_t *growth, struct hs_error *err)
{
	struct reader r = {.s = s};
	int res = chunk_window_open(&r.lines, s->file, HS_CHUNK_ID('L', 'I', 'N', 'E'),
				    s->nr_lineages, NUMBERS, err);

	if (!res)
		res = chunk_window_open(&r.steps, s->file, HS_CHUNK_ID('S', 'T', 'E', 'P'),
					s->nr_steps, NUMBERS, err);
	if (!res)
		res = read_all(&r, wanted, nr, growth, err);
	if (!res)
		res = check_end(&r, err);
	chunk_window_close(&r.lines);
	chunk_window_close(&r.steps);
	return res;
}

int lineages_take(const struct snapshot *s, struct taken_lineage *wanted, size_t nr,
		  struct hs_error *err)
{
	for (size_t i = 0; i < nr; i++)
		wanted[i].steps = NULL;
	if (s->file)
		return take_from_file(s, wanted, nr, NULL, err);
	for (size_t i = 0; i < nr; i++) {
		const struct snap_lineage *l = &s->lineages[wanted[i].number - 1];

		wanted[i].lineage = *l;
		wanted[i].steps = xmallocarray(l->nr_kept + 1, sizeof(*wanted[i].steps));
		memcpy(wanted[i].steps, s->steps + l->first_step,
		       l->nr_kept * sizeof(*wanted[i].steps));
	}
	return 0;
}

uint32_t lineage_growth_stack(const struct snapshot *s, const struct snap_lineage *l)
{
	return l->nr_first ? s->steps[l->first_step].stack : l->born_stack;
}

int lineages_growth_stacks(const struct snapshot *s, uint32_t *ret, struct hs_error *err)
{
	if (s->file)
		return take_from_file(s, NULL, 0, ret, err);
	for (size_t i = 0; i < s->nr_lineages; i++)
		ret[i] = lineage_growth_stack(s, &s->lineages[i]);
	return 0;
}

void lineages_release(struct taken_lineage *taken, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(taken[i].steps);
}
