/* SPDX-License-Identifier: MIT */
/*
 * intern.c - the trie of stacks: gives each (caller's node, return address) one number.
 *
 * Runs in the traced program with `in` set. Lock-free but for making a table.
 * The hash index is open addressing over 64-bit words: 32 bits of hash above, the node's number
 * below. Words are set once, by compare-and-swap. When a table is half full, one of four times
 * its size is put in front of it; look-ups go through the tables from the newest to the oldest and
 * copy what they find further back to the front, so nothing is ever moved under a reader. Two
 * threads may make the same node in two tables; readers of the store merge such nodes.
 */
#include "tracer/intern.h"

#include "store/format.h"
#include "store/writer.h"
#include "tracer/module.h"
#include "tracer/sys.h"

#include <stddef.h>

#define FIRST_BITS 12u
#define MAX_TABLES 12u /* 2^12 .. 2^34 words */

struct table {
	uint64_t *words;
	uint32_t bits;
	uint64_t used;
};

static struct {
	struct table tables[MAX_TABLES];
	uint32_t nr;      /* tables that may be read */
	uint32_t making;  /* 1: a thread makes the next one */
} interned;

static uint64_t hash_of(uint32_t parent, uint64_t pc)
{
	uint64_t h = (pc ^ (uint64_t)parent << 40 ^ parent) * UINT64_C(0x9e3779b97f4a7c15);

	h ^= h >> 29;
	h *= UINT64_C(0xbf58476d1ce4e5b9);
	return h ^ h >> 32;
}

static bool same(uint32_t nr, uint32_t parent, uint64_t pc)
{
	const struct hs_node *n = store_node(nr);
	uint64_t there;

	if (__atomic_load_n(&n->parent, __ATOMIC_ACQUIRE) != parent)
		return false;
	there = __atomic_load_n(&n->pc, __ATOMIC_RELAXED);
	return (there & (HS_NODE_ADDRESS | HS_NODE_SIGNAL)) == pc &&
	       module_alive(HS_NODE_MODULE(there));
}

/* A table of the next size in front, if nobody else is at it. */
static __attribute__((noinline)) void add_table(void)
{
	uint32_t nr = __atomic_load_n(&interned.nr, __ATOMIC_ACQUIRE);
	struct table *t = &interned.tables[nr];

	if (nr == MAX_TABLES || __atomic_exchange_n(&interned.making, 1, __ATOMIC_ACQUIRE))
		return;
	if (nr == interned.nr) {
		t->bits = FIRST_BITS + 2 * nr;
		t->used = 0;
		t->words = sys_map(sizeof(*t->words) << t->bits);
		if (t->words)
			__atomic_store_n(&interned.nr, nr + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&interned.making, 0, __ATOMIC_RELEASE);
}

static uint32_t find_in(const struct table *t, uint64_t hash, uint32_t parent, uint64_t pc)
{
	uint64_t mask = (UINT64_C(1) << t->bits) - 1;

	for (uint64_t i = hash >> 20, left = mask; left; i++, left--) {
		uint64_t word = __atomic_load_n(&t->words[i & mask], __ATOMIC_ACQUIRE);

		if (!word)
			return 0;
		if (word >> 32 == (uint32_t)hash && same((uint32_t)word, parent, pc))
			return (uint32_t)word;
	}
	return 0;
}

/* Puts node nr into the table; returns it, or an equal node that was there first. */
static uint32_t put_in(struct table *t, uint64_t hash, uint32_t nr, uint32_t parent, uint64_t pc)
{
	uint64_t mask = (UINT64_C(1) << t->bits) - 1;
	uint64_t new = (uint64_t)(uint32_t)hash << 32 | nr;

	for (uint64_t i = hash >> 20, left = mask; left; i++, left--) {
		uint64_t *word = &t->words[i & mask];
		uint64_t old = 0;

		if (__atomic_compare_exchange_n(word, &old, new, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE)) {
			if (__atomic_add_fetch(&t->used, 1, __ATOMIC_RELAXED) > mask / 2)
				add_table();
			return nr;
		}
		if (old >> 32 == (uint32_t)hash && same((uint32_t)old, parent, pc))
			return (uint32_t)old;
	}
	return nr;
}

static uint32_t make_node(uint32_t parent, uint64_t pc)
{
	uint64_t nr = store_take(HS_ARRAY_NODES, 1);
	uint64_t module = 0;
	struct module_unwind found;
	struct hs_node *n;

	if (!nr || nr > UINT32_MAX)
		return 0;
	if ((pc & HS_NODE_ADDRESS) >= HS_PC_FIRST_REAL &&
	    module_find((pc & HS_NODE_ADDRESS) - !(pc & HS_NODE_SIGNAL), &found))
		module = found.module;
	n = store_node((uint32_t)nr);
	/* in this order for is_next(), which may look at a node whose number nobody knows yet */
	__atomic_store_n(&n->pc, pc | module << HS_NODE_MODULE_SHIFT, __ATOMIC_RELAXED);
	__atomic_store_n(&n->parent, parent, __ATOMIC_RELEASE);
	return (uint32_t)nr;
}

static __attribute__((noinline)) uint32_t intern_slow(uint64_t hash, uint32_t parent, uint64_t pc)
{
	uint32_t nr = 0, top = __atomic_load_n(&interned.nr, __ATOMIC_ACQUIRE);

	if (!top) {
		add_table();
		top = __atomic_load_n(&interned.nr, __ATOMIC_ACQUIRE);
		if (!top)
			return 0;
	}
	for (uint32_t i = top - 1; i-- > 0 && !nr;)
		nr = find_in(&interned.tables[i], hash, parent, pc);
	if (!nr)
		nr = make_node(parent, pc);
	return nr ? put_in(&interned.tables[top - 1], hash, nr, parent, pc) : 0;
}

/*
 * Whether the node after its parent is the one: the frames of a stack that was new got numbers in a
 * row, so that mostly there is nothing to look up, and the nodes of a stack share lines.
 */
static inline bool is_next(uint32_t parent, uint64_t pc)
{
	const struct hs_array *a = &store.header->arrays[HS_ARRAY_NODES];

	return parent + UINT64_C(1) < __atomic_load_n(&a->ready, __ATOMIC_ACQUIRE) &&
	       same(parent + 1, parent, pc);
}

uint32_t intern_node(uint32_t parent, uint64_t pc)
{
	uint64_t hash;
	uint32_t top, nr;

	if (is_next(parent, pc))
		return parent + 1;
	hash = hash_of(parent, pc);
	top = __atomic_load_n(&interned.nr, __ATOMIC_ACQUIRE);
	nr = top ? find_in(&interned.tables[top - 1], hash, parent, pc) : 0;
	return nr ? nr : intern_slow(hash, parent, pc);
}

static __attribute__((noinline)) uint32_t make_stack(struct hs_node *n, uint32_t node)
{
	uint64_t nr = store_take(HS_ARRAY_STACKS, 1);
	uint32_t none = 0;

	if (!nr || nr > UINT32_MAX)
		return 0;
	store_stack((uint32_t)nr)->node = node;
	if (__atomic_compare_exchange_n(&n->stack, &none, (uint32_t)nr, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return (uint32_t)nr;
	return none;
}

uint32_t intern_stack(uint32_t node)
{
	struct hs_node *n = store_node(node);
	uint32_t nr = __atomic_load_n(&n->stack, __ATOMIC_ACQUIRE);

	return nr ? nr : make_stack(n, node);
}
