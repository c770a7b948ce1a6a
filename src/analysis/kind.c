/* SPDX-License-Identifier: MIT */
/*
 * kind.c - blocks of malloc, mappings of the program, or both; see kind.h.
 */
#include "analysis/kind.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/runtime.h"
#include "analysis/snapshot_internal.h"
#include "util/alloc.h"

static const char *const kind_names[] = {"malloc", "mapping", "all"};

const char *kind_name(enum block_kind kind)
{
	return kind_names[kind];
}

bool kind_parse(const char *name, enum block_kind *ret)
{
	for (enum block_kind kind = KIND_MALLOC; kind <= KIND_ALL; kind++) {
		if (!strcmp(name, kind_names[kind])) {
			*ret = kind;
			return true;
		}
	}
	return false;
}

enum block_kind kind_of(const struct snap_block *block)
{
	return block->family >= HS_FAMILY_MMAP ? KIND_MAPPING : KIND_MALLOC;
}

/* ---- whose a mapping is ------------------------------------------------------------------ */

/* Whether a mapping of this stack is the program's own. Without a stack nobody else is known. */
static bool own_stack(const struct snapshot *s, uint32_t stack)
{
	uint32_t node = s->stacks[stack].node;
	const struct snap_module *m = &s->modules[s->nodes[node].module];

	if (runtime_module(m->path))
		return false;
	for (; node; node = s->nodes[node].parent) {
		if (s->modules[s->nodes[node].module].flags & HS_MODULE_TRACER)
			return false;
	}
	return true;
}

void kind_own_mappings(struct snapshot *s)
{
	uint8_t *own = xcalloc(s->nr_stacks, 1); /* by stack: 1 no, 2 yes */
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_mappings; i++) {
		uint32_t stack = s->mappings[i].stack;

		if (!own[stack])
			own[stack] = own_stack(s, stack) ? 2 : 1;
		if (own[stack] == 2)
			s->mappings[nr++] = s->mappings[i];
	}
	s->nr_mappings = nr;
	free(own);
}

/* ---- the choice -------------------------------------------------------------------------- */

/* Both, by address; of one address the mapping first. */
static struct snap_block *merge(const struct snapshot *s)
{
	struct snap_block *all = xmallocarray(s->nr_blocks + s->nr_mappings, sizeof(*all));
	size_t b = 0, m = 0, nr = 0;

	while (b < s->nr_blocks || m < s->nr_mappings) {
		if (m < s->nr_mappings &&
		    (b == s->nr_blocks || s->mappings[m].address <= s->blocks[b].address))
			all[nr++] = s->mappings[m++];
		else
			all[nr++] = s->blocks[b++];
	}
	return all;
}

static void sum_up(struct snapshot *s)
{
	s->live_count = s->live_bytes = s->born_count = s->born_bytes = s->temporary = 0;
	s->peak_bytes = s->peak_count = s->peak_ms = 0;
	for (size_t i = 0; i < s->nr_stacks; i++)
		s->stacks[i] = (struct snap_stack){.node = s->stacks[i].node};
	snapshot_sum_blocks(s);
}

void kind_choose(struct snapshot *s, enum block_kind kind)
{
	struct snap_block *blocks;

	s->kind = kind;
	if (kind == KIND_MALLOC)
		return;
	kind_own_mappings(s);
	if (kind == KIND_MAPPING) {
		blocks = s->mappings;
		s->nr_blocks = s->nr_mappings;
		s->mappings = NULL;
	} else {
		blocks = merge(s);
		s->nr_blocks += s->nr_mappings;
	}
	s->nr_mappings = 0;
	free(s->blocks);
	s->blocks = blocks;
	sum_up(s);
}
