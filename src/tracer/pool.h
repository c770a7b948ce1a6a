/* SPDX-License-Identifier: MIT */
/*
 * pool.h - numbers of free records and lineages: some in each thread, the others in shared lists.
 *
 * A thread keeps the numbers that it was given last and uses them first, while their lines are in
 * the cache; so most come and go without being touched. Where it is given more than it can keep, a
 * batch of the oldest goes to a shared list, for any thread. Runs in the traced program with `in`
 * set.
 */
#ifndef HEAPSTORY_TRACER_POOL_H
#define HEAPSTORY_TRACER_POOL_H

#include <stdint.h>

#include "tracer/thread.h"

/* The slow paths of pool_take() and pool_give(). */
uint32_t pool_refill(struct pool *p, enum pool_kind kind);
void pool_hand_on(struct pool *p, enum pool_kind kind);

/* A free element's number, 0 if there is no room (recording was stopped). */
static inline uint32_t pool_take(struct thread *t, enum pool_kind kind)
{
	struct pool *p = &t->pools[kind];

	return __builtin_expect(p->nr != 0, 1) ? p->free[--p->nr] : pool_refill(p, kind);
}

/*
 * Gives an element back that nobody looks for any more. Its content stays as it is until at least
 * POOL_KEEP / 2 more were given. A record's commit word must be 0.
 */
static inline void pool_give(struct thread *t, enum pool_kind kind, uint32_t nr)
{
	struct pool *p = &t->pools[kind];

	if (__builtin_expect(p->nr == POOL_KEEP, 0))
		pool_hand_on(p, kind);
	p->free[p->nr++] = nr;
}

#endif
