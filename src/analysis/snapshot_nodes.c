/* SPDX-License-Identifier: MIT */
/*
 * snapshot_nodes.c - finding nodes of the trie by parent, pc and module: a table of node numbers
 * with open addressing.
 */
#include "analysis/snapshot_internal.h"

#include <stdlib.h>

#include "util/alloc.h"

void node_table_init(struct node_table *t, uint64_t nr)
{
	uint64_t size = 64;

	while (size < nr * 2)
		size *= 2;
	t->slots = xcalloc(size, sizeof(*t->slots));
	t->mask = size - 1;
}

void node_table_release(struct node_table *t)
{
	free(t->slots);
	t->slots = NULL;
}

static uint64_t node_hash(const struct snap_node *node)
{
	uint64_t h = node->pc * UINT64_C(0x9e3779b97f4a7c15);

	h ^= (uint64_t)node->parent << 20 ^ node->module;
	h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return h ^ h >> 32;
}

uint32_t node_table_add(struct node_table *t, const struct snap_node *nodes, uint32_t nr)
{
	const struct snap_node *node = &nodes[nr];
	uint64_t i = node_hash(node) & t->mask;

	for (; t->slots[i]; i = (i + 1) & t->mask) {
		const struct snap_node *other = &nodes[t->slots[i]];

		if (other->pc == node->pc && other->parent == node->parent &&
		    other->module == node->module)
			return t->slots[i];
	}
	t->slots[i] = nr;
	return nr;
}
