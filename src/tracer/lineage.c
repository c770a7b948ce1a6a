/* SPDX-License-Identifier: MIT */
/*
 * lineage.c - what a block that realloc resized remembers.
 *
 * Runs in the traced program with `in` set. A lineage belongs to the block's owner. Records here
 * are copies that are not committed: a reader finds the block in flight, with what its record was.
 */
#include "tracer/lineage.h"

#include "tracer/pool.h"

/* Atomic, because a thread that lost the race for a free lineage may just be reading its link. */
static void set_birth(struct hs_lineage_head *l, uint32_t birth)
{
	__atomic_store_n(&l->birth, birth, __ATOMIC_RELAXED);
}

static void begin(struct hs_lineage_head *l, uint32_t stack, uint32_t birth)
{
	l->born_stack = stack;
	l->changed = birth;
	l->nr_steps = 0;
	l->nr_shrinks = 0;
	l->flags = 0;
	set_birth(l, birth);
}

static void begin_long(struct hs_long_lineage *l, uint64_t size, uint64_t usable)
{
	l->born_size = size;
	l->size = size;
	l->usable = usable;
	l->peak_size = size;
	l->nr_shrinks = 0;
}

bool lineage_start_long(struct thread *t, struct hs_record *r, uint64_t size, uint64_t usable)
{
	uint32_t nr = pool_take(t, POOL_LONG_LINEAGES);
	struct hs_long_lineage *l;

	if (!nr)
		return false;
	l = store_long_lineage(nr);
	begin(&l->head, r->stack, r->birth);
	begin_long(l, size, usable);
	r->birth = nr;
	r->word |= HS_RECORD_LINEAGE | HS_RECORD_LONG;
	return true;
}

/* Gives the block of r, which has none, a lineage without steps. False: no room. */
static bool start(struct thread *t, struct hs_record *r)
{
	uint64_t size = r->size & HS_SIZE_MAX;
	struct hs_lineage *l;
	uint32_t nr;

	if (__builtin_expect(size > UINT32_MAX, 0))
		return lineage_start_long(t, r, size, size + (r->size >> HS_SIZE_BITS));
	nr = pool_take(t, POOL_LINEAGES);
	if (!nr)
		return false;
	l = store_lineage(nr);
	begin(&l->head, r->stack, r->birth);
	l->born_size = (uint32_t)size;
	r->birth = nr;
	r->word |= HS_RECORD_LINEAGE;
	return true;
}

/* Moves a short lineage into a long one. The short one is left as it is: see pool_give(). */
static __attribute__((noinline)) bool lengthen(struct thread *t, struct hs_record *r)
{
	uint64_t size = r->size & HS_SIZE_MAX;
	const struct hs_lineage *from = store_lineage(r->birth);
	uint32_t nr = pool_take(t, POOL_LONG_LINEAGES);
	struct hs_long_lineage *to;

	if (!nr)
		return false;
	to = store_long_lineage(nr);
	begin(&to->head, from->head.born_stack, from->head.birth);
	begin_long(to, from->born_size, 0);
	for (uint32_t i = 0; i < from->head.nr_steps; i++) {
		const struct hs_short_step *s = &from->steps[i];

		to->steps[i] = (struct hs_step){ s->size, s->stack, s->time };
		if (s->size > to->peak_size)
			to->peak_size = s->size;
	}
	to->head.changed = from->head.changed;
	to->head.nr_steps = from->head.nr_steps;
	to->head.flags = from->head.flags;
	to->nr_shrinks = from->head.nr_shrinks;
	to->size = size;
	to->usable = size + (r->size >> HS_SIZE_BITS);
	lineage_give(t, false, r->birth);
	r->birth = nr;
	r->word |= HS_RECORD_LONG;
	return true;
}

static void count_step(struct hs_lineage_head *l)
{
	if (l->nr_steps < UINT32_MAX)
		__atomic_store_n(&l->nr_steps, l->nr_steps + 1, __ATOMIC_RELEASE);
}

static struct hs_step *long_step(struct hs_long_lineage *l, uint32_t n)
{
	if (n >= HS_FIRST_STEPS)
		n = HS_FIRST_STEPS + (n - HS_FIRST_STEPS) % HS_LAST_STEPS;
	return &l->steps[n];
}

static __attribute__((noinline)) void step_long(struct hs_long_lineage *l, uint64_t size,
						uint64_t usable, uint32_t stack, uint32_t tick)
{
	if (size > l->size) {
		*long_step(l, l->head.nr_steps) = (struct hs_step){ size, stack, tick };
		count_step(&l->head);
	} else if (size < l->size) {
		l->nr_shrinks++;
	}
	l->size = size;
	l->usable = usable;
	if (size > l->peak_size)
		l->peak_size = size;
	l->head.changed = tick;
}

/* False, and nothing changed, if the short lineage has no room for this. */
static inline bool step_short(struct hs_lineage *l, uint64_t now, uint64_t size, uint64_t usable,
			      uint32_t stack, uint32_t tick)
{
	if (__builtin_expect(size > UINT32_MAX || usable - size >= HS_SLACK_MAX, 0))
		return false;
	if (size > now) {
		if (l->head.nr_steps >= HS_SHORT_STEPS)
			return false;
		l->steps[l->head.nr_steps] = (struct hs_short_step){ (uint32_t)size, stack, tick };
		count_step(&l->head);
	} else if (size < now) {
		if (l->head.nr_shrinks == UINT16_MAX)
			return false;
		l->head.nr_shrinks++;
	}
	l->head.changed = tick;
	return true;
}

bool lineage_step(struct thread *t, struct hs_record *r, uint64_t size, uint64_t usable,
		  uint32_t stack, uint32_t tick)
{
	if (!(r->word & HS_RECORD_LINEAGE) && !start(t, r))
		return false;
	if (r->word & HS_RECORD_LONG ||
	    !step_short(store_lineage(r->birth), r->size & HS_SIZE_MAX, size, usable, stack, tick)) {
		if (!(r->word & HS_RECORD_LONG) && !lengthen(t, r))
			return false;
		step_long(store_long_lineage(r->birth), size, usable, stack, tick);
	}
	r->size = lineage_pack(size, usable);
	r->stack = stack;
	return true;
}

/* ---- growth by copying ---- */

uint64_t lineage_before(const struct hs_record *r)
{
	uint32_t nr = lineage_head(r)->nr_steps;

	if (!nr)
		return 0;
	if (r->word & HS_RECORD_LONG) {
		struct hs_long_lineage *l = store_long_lineage(r->birth);

		return nr > 1 ? long_step(l, nr - 2)->size : l->born_size;
	}
	return nr > 1 ? store_lineage(r->birth)->steps[nr - 2].size :
			store_lineage(r->birth)->born_size;
}

bool lineage_restore(struct thread *t, struct hs_record *r, uint64_t size, uint32_t stack,
		     uint32_t birth)
{
	uint64_t now = r->size & HS_SIZE_MAX;
	struct hs_record born = { .size = size, .stack = stack, .birth = birth };

	if (!lineage_step(t, &born, now, now + (r->size >> HS_SIZE_BITS), r->stack, r->birth))
		return false;
	r->word |= born.word;
	r->birth = born.birth;
	return true;
}

bool lineage_inherit(struct thread *t, struct hs_record *r, const struct hs_record *heir)
{
	uint64_t size = heir->size & HS_SIZE_MAX;

	if (!lineage_step(t, r, size, size + (heir->size >> HS_SIZE_BITS), heir->stack,
			  heir->birth))
		return false;
	lineage_head(r)->flags |= HS_LINEAGE_INFERRED;
	return true;
}
