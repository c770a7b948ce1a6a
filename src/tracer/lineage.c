/* SPDX-License-Identifier: MIT */
/*
 * lineage.c - what a block that realloc resized remembers.
 *
 * Runs in the traced program with `in` set. A lineage belongs to the block's owner. A thread keeps
 * the numbers of a few free ones, so that most come and go without being touched; the others are
 * in two shared lists.
 */
#include "tracer/lineage.h"

#include "tracer/freelist.h"

#include <stddef.h>
#include <string.h>

static struct hs_lineage_head *head_of(bool is_long, uint32_t nr)
{
	return store_place(is_long ? HS_ARRAY_LONG_LINEAGES : HS_ARRAY_LINEAGES, nr);
}

static uint32_t *next_short(uint32_t nr)
{
	return &head_of(false, nr)->birth;
}

static uint32_t *next_long(uint32_t nr)
{
	return &head_of(true, nr)->birth;
}

static __attribute__((noinline)) void push_shared(bool is_long, uint32_t nr)
{
	freelist_push(&store.header->free_lineages[is_long], nr, is_long ? next_long : next_short);
}

static __attribute__((noinline)) uint32_t pop_shared(bool is_long)
{
	uint32_t nr = freelist_pop(&store.header->free_lineages[is_long],
				   is_long ? next_long : next_short);

	return nr ? nr :
		    (uint32_t)store_take(is_long ? HS_ARRAY_LONG_LINEAGES : HS_ARRAY_LINEAGES, 1);
}

void lineage_give(struct thread *t, bool is_long, uint32_t nr)
{
	if (t->nr_lineages[is_long] < THREAD_LINEAGES)
		t->lineages[is_long][t->nr_lineages[is_long]++] = nr;
	else
		push_shared(is_long, nr);
}

static uint32_t lineage_take(struct thread *t, bool is_long)
{
	if (t->nr_lineages[is_long])
		return t->lineages[is_long][--t->nr_lineages[is_long]];
	return pop_shared(is_long);
}

/* Atomic, because a thread that lost the race for a free lineage may just be reading its link. */
static void set_birth(struct hs_lineage_head *l, uint32_t birth)
{
	__atomic_store_n(&l->birth, birth, __ATOMIC_RELAXED);
}

bool lineage_start(struct thread *t, struct hs_record *r, uint64_t size, uint64_t usable)
{
	uint32_t nr = lineage_take(t, false);
	struct hs_lineage_head *l;

	if (!nr)
		return false;
	l = head_of(false, nr);
	l->size = size;
	l->usable = usable;
	l->born_size = size;
	l->born_stack = r->stack;
	l->stack = r->stack;
	l->nr_steps = 0;
	l->nr_shrinks = 0;
	l->changed = r->birth;
	l->peak_size = size;
	l->flags = 0;
	set_birth(l, r->birth);
	r->birth = nr;
	r->word |= HS_RECORD_LINEAGE;
	return true;
}

/* Moves a full short lineage into a long one. */
static bool lengthen(struct thread *t, struct hs_record *r)
{
	uint32_t nr = lineage_take(t, true);
	const struct hs_lineage *from;
	struct hs_long_lineage *to;

	if (!nr)
		return false;
	to = (struct hs_long_lineage *)head_of(true, nr);
	from = (const struct hs_lineage *)lineage_head(r);
	memcpy(&to->head, &from->head, offsetof(struct hs_lineage_head, birth));
	set_birth(&to->head, from->head.birth);
	to->head.flags = from->head.flags;
	memcpy(to->steps, from->steps, sizeof(from->steps));
	lineage_give(t, false, r->birth);
	r->birth = nr;
	r->word |= HS_RECORD_LONG;
	return true;
}

static struct hs_step *step_place(const struct hs_record *r, struct hs_lineage_head *l)
{
	uint64_t n = l->nr_steps;

	if (!(r->word & HS_RECORD_LONG))
		return &((struct hs_lineage *)l)->steps[n];
	if (n >= HS_FIRST_STEPS)
		n = HS_FIRST_STEPS + (n - HS_FIRST_STEPS) % HS_LAST_STEPS;
	return &((struct hs_long_lineage *)l)->steps[n];
}

bool lineage_step(struct thread *t, struct hs_record *r, uint64_t size, uint64_t usable,
		  uint32_t stack, uint32_t tick)
{
	struct hs_lineage_head *l;
	uint64_t now = r->size & HS_SIZE_MAX;

	if (!(r->word & HS_RECORD_LINEAGE) &&
	    !lineage_start(t, r, now, now + (r->size >> HS_SIZE_BITS)))
		return false;
	l = lineage_head(r);
	if (size > l->size) {
		if (!(r->word & HS_RECORD_LONG) && l->nr_steps == HS_SHORT_STEPS) {
			if (!lengthen(t, r))
				return false;
			l = lineage_head(r);
		}
		*step_place(r, l) = (struct hs_step){ size, stack, tick };
		__atomic_store_n(&l->nr_steps, l->nr_steps + 1, __ATOMIC_RELEASE);
	} else if (size < l->size) {
		l->nr_shrinks++;
	}
	l->size = size;
	l->usable = usable;
	l->stack = stack;
	l->changed = tick;
	if (size > l->peak_size)
		l->peak_size = size;
	r->size = lineage_pack(size, usable);
	r->stack = stack;
	return true;
}
