/* SPDX-License-Identifier: MIT */
/*
 * stackcache.c - how a stack gets into the cache; see stackcache.h.
 *
 * Runs where the unwinder does.
 */
#include "tracer/stackcache.h"

/* A longer one would drive out too much. */
#define MAX_WORDS (STACK_CACHE_WORDS / 4)

struct stack_word *stack_cache_offer(struct stack_cache *c, uint32_t node, uint32_t max_words)
{
	uint32_t *seen = &c->seen[node % STACK_CACHE_SEEN];
	uint64_t at = (c->taken + 1) % STACK_CACHE_WORDS;

	if (*seen != node) {
		*seen = node;
		return NULL;
	}
	if (max_words > MAX_WORDS)
		return NULL;
	if (at + max_words > STACK_CACHE_WORDS)
		c->taken += STACK_CACHE_WORDS - at;
	at = c->taken + 1;
	if (c->oldest < 1)
		c->oldest = 1;
	if (at + max_words > c->oldest + STACK_CACHE_WORDS)
		c->oldest = at + max_words - STACK_CACHE_WORDS;
	return &c->words[at % STACK_CACHE_WORDS];
}

void stack_cache_put(struct stack_cache *c, const struct unwind_regs *regs, bool needs_fp,
		     uint32_t node, uint32_t nr_words)
{
	uint32_t set = stack_cache_set(regs);
	struct stack_entry *e = &c->entries[set][c->next_way[set]++ % STACK_CACHE_WAYS];

	e->regs = *regs;
	e->needs_fp = needs_fp;
	e->node = node;
	e->nr_words = nr_words;
	e->first = c->taken + 1;
	c->taken += nr_words;
}
