/* SPDX-License-Identifier: MIT */
/*
 * stackcache.h - whole stacks that a thread was at before, each by the words that decide it.
 *
 * A stack is known again by the registers at its inner end and by words in memory: the slots of
 * its return addresses, and those of the frame pointers that frames further out depend on. If all
 * of them hold what they held, a fresh walk would read nothing else and so find the same stack; why
 * that is so stands in unwind.c. Programs come back to few stacks in turn, so a look-up is mostly
 * all that a capture takes: a compare for each word.
 *
 * Runs where the unwinder does. A cache belongs to one thread; zeroed is ready.
 */
#ifndef HEAPSTORY_TRACER_STACKCACHE_H
#define HEAPSTORY_TRACER_STACKCACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/unwind.h"

#define STACK_CACHE_SET_BITS 5
#define STACK_CACHE_WAYS 4u
#define STACK_CACHE_WORDS 1024u
#define STACK_CACHE_SEEN 256u

/* A word of the stack, and what it has to hold. */
struct stack_word {
	uintptr_t at;
	uintptr_t is;
};

struct stack_entry {
	struct unwind_regs regs;
	uint32_t node;
	uint32_t nr_words;
	uint64_t first; /* of its words: counts all that the cache ever took, from 1 */
	bool needs_fp;  /* regs.fp matters */
};

/*
 * Words lie in a ring, at their count modulo its size; those of an entry one after the other. An
 * entry is good while its first word is not below `oldest`; so one of zeroes is not.
 */
struct stack_cache {
	uint64_t taken;  /* the latest word */
	uint64_t oldest; /* words before it were overwritten, or dropped; above 0 where one is there */
	uint8_t next_way[1u << STACK_CACHE_SET_BITS];
	struct stack_entry entries[1u << STACK_CACHE_SET_BITS][STACK_CACHE_WAYS];
	uint32_t seen[STACK_CACHE_SEEN]; /* nodes that were met once, by their lower bits */
	struct stack_word words[STACK_CACHE_WORDS];
};

static inline uint32_t stack_cache_set(const struct unwind_regs *regs)
{
	return (uint32_t)(((regs->pc ^ regs->sp << 20) * UINT64_C(0x9e3779b97f4a7c15)) >>
			  (64 - STACK_CACHE_SET_BITS));
}

/*
 * The node of the stack at regs, 0 if it is not known. What can be read of the stack that regs->sp
 * is on must be at least what it was when its entries were made.
 */
static inline uint32_t stack_cache_find(const struct stack_cache *c, const struct unwind_regs *regs)
{
	const struct stack_entry *e = c->entries[stack_cache_set(regs)];

	for (uint32_t i = 0; i < STACK_CACHE_WAYS; i++, e++) {
		const struct stack_word *w, *end;

		if (e->regs.sp != regs->sp || e->regs.pc != regs->pc || e->first < c->oldest ||
		    (e->needs_fp && e->regs.fp != regs->fp))
			continue;
		w = &c->words[e->first % STACK_CACHE_WORDS];
		end = w + e->nr_words;
		while (w < end && *(const uintptr_t *)w->at == w->is)
			w++;
		if (w == end)
			return e->node;
	}
	return 0;
}

/*
 * Offers the stack at regs, of which stack_cache_find() knew nothing. Returns where to write its
 * words, innermost first and max_words at most, before stack_cache_put(); NULL if it is not wanted:
 * a stack is worth the work once it was met twice.
 */
struct stack_word *stack_cache_offer(struct stack_cache *c, uint32_t node, uint32_t max_words);
void stack_cache_put(struct stack_cache *c, const struct unwind_regs *regs, bool needs_fp,
		     uint32_t node, uint32_t nr_words);

/* Drops all entries. */
static inline void stack_cache_drop(struct stack_cache *c)
{
	c->oldest = c->taken + 1;
}

#endif
