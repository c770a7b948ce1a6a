/* SPDX-License-Identifier: MIT */
/*
 * freelist.h - a shared list of free numbers: a stack by compare-and-swap.
 *
 * The head holds a number below and a count above, which goes up with each change, so that a
 * number that left and came back is told from one that never left (the ABA problem). A free
 * element holds the number of the next one in a word of its own, which `link` finds; 0 ends the
 * list. Whoever takes an element stores to that word atomically, for a thread that was slower may
 * still be reading it. Lock-free; runs in the traced program with `in` set.
 */
#ifndef HEAPSTORY_TRACER_FREELIST_H
#define HEAPSTORY_TRACER_FREELIST_H

#include <stdbool.h>
#include <stdint.h>

/* The word of free element nr that holds the next one's number. */
typedef uint32_t *(*freelist_link)(uint32_t nr);

/* The head after `old` with nr on top. */
static inline uint64_t freelist_next(uint64_t old, uint32_t nr)
{
	return (old & ~(uint64_t)UINT32_MAX) + (UINT64_C(1) << 32) + nr;
}

static inline void freelist_push(uint64_t *head, uint32_t nr, freelist_link link)
{
	uint64_t old = __atomic_load_n(head, __ATOMIC_RELAXED);

	do
		__atomic_store_n(link(nr), (uint32_t)old, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(head, &old, freelist_next(old, nr), true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/*
 * The number on top, 0 if the list is empty. May read the word of an element that another thread
 * has just taken: then the swap fails.
 */
static inline uint32_t freelist_pop(uint64_t *head, freelist_link link)
{
	uint64_t old = __atomic_load_n(head, __ATOMIC_ACQUIRE), new;

	do {
		if (!(uint32_t)old)
			return 0;
		new = freelist_next(old, __atomic_load_n(link((uint32_t)old), __ATOMIC_RELAXED));
	} while (!__atomic_compare_exchange_n(head, &old, new, true, __ATOMIC_ACQUIRE,
					      __ATOMIC_ACQUIRE));
	return (uint32_t)old;
}

#endif
