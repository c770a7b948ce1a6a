/* SPDX-License-Identifier: MIT */
/*
 * snapshot_validate.c - that a snapshot read from a file keeps every promise of snapshot.h, so
 * that what uses it need not look again.
 */
#include "analysis/snapshot_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/alloc.h"

#define ADDRESS_END (UINT64_C(1) << 56)

static bool bad(struct snap_problem *p, uint32_t id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Always false. */
static bool bad(struct snap_problem *p, uint32_t id, const char *format, ...)
{
	va_list args;

	p->id = id;
	va_start(args, format);
	vsnprintf(p->text, sizeof(p->text), format, args);
	va_end(args);
	return false;
}

static bool valid_meta(const struct snapshot *s, struct snap_problem *p)
{
	uint32_t id = HS_CHUNK_ID('M', 'E', 'T', 'A');

	if (s->arch != HS_ARCH_X86_64 && s->arch != HS_ARCH_AARCH64)
		return bad(p, id, "machine %u, expected 1 or 2", s->arch);
	if (s->state > HS_STATE_EXECED)
		return bad(p, id, "state %u, expected %u at most", s->state, HS_STATE_EXECED);
	if (s->coverage.mode > HS_MODE_DRAIN)
		return bad(p, id, "mode %u, expected %u at most", s->coverage.mode, HS_MODE_DRAIN);
	if (s->coverage.stop_reason > HS_STOP_FAULT)
		return bad(p, id, "stop reason %u, expected %u at most", s->coverage.stop_reason,
			   HS_STOP_FAULT);
	return true;
}

static bool valid_modules(const struct snapshot *s, struct snap_problem *p)
{
	uint32_t id = HS_CHUNK_ID('M', 'O', 'D', 'U');

	if (!s->nr_modules)
		return bad(p, id, "0 modules, expected 1 or more");
	for (size_t i = 0; i < s->nr_modules; i++) {
		const struct snap_module *m = &s->modules[i];

		if (m->start > m->end)
			return bad(p, id,
				   "module %zu begins at 0x%" PRIx64 ", after its end 0x%" PRIx64,
				   i, m->start, m->end);
		for (uint32_t j = 0; j < m->nr_segments; j++) {
			if (m->segments[j].start > m->segments[j].end)
				return bad(p, id, "module %zu: segment %u begins after its end", i,
					   j);
		}
	}
	return true;
}

static bool valid_nodes(const struct snapshot *s, struct snap_problem *p)
{
	uint32_t id = HS_CHUNK_ID('N', 'O', 'D', 'E');
	struct node_table table;
	bool good = true;

	if (!s->nr_nodes || s->nr_nodes > UINT32_MAX)
		return bad(p, id, "%zu nodes, expected 1 or more", s->nr_nodes);
	if (s->nodes[0].parent || s->nodes[0].pc)
		return bad(p, id, "node 0 is not the root");
	node_table_init(&table, s->nr_nodes);
	for (size_t i = 1; good && i < s->nr_nodes; i++) {
		const struct snap_node *n = &s->nodes[i];

		if (n->parent >= i)
			good = bad(p, id, "node %zu has parent %u, expected a smaller number", i,
				   n->parent);
		else if (n->module >= s->nr_modules)
			good = bad(p, id, "node %zu has module %u, expected less than %zu", i,
				   n->module, s->nr_modules);
		else if (node_table_add(&table, s->nodes, (uint32_t)i) != i)
			good = bad(p, id, "node %zu is there twice", i);
	}
	node_table_release(&table);
	return good;
}

static bool valid_stacks(const struct snapshot *s, struct snap_problem *p)
{
	uint32_t id = HS_CHUNK_ID('S', 'T', 'A', 'K');

	if (!s->nr_stacks || s->nr_stacks > UINT32_MAX)
		return bad(p, id, "%zu stacks, expected 1 or more", s->nr_stacks);
	if (s->stacks[0].node)
		return bad(p, id, "stack 0 has node %u, expected 0", s->stacks[0].node);
	for (size_t i = 0; i < s->nr_stacks; i++) {
		if (s->stacks[i].node >= s->nr_nodes)
			return bad(p, id, "stack %zu has node %u, expected less than %zu", i,
				   s->stacks[i].node, s->nr_nodes);
	}
	return true;
}

bool snap_step_valid(const struct snapshot *s, size_t nr, const struct snap_step *step,
		     struct snap_problem *p)
{
	if (step->stack >= s->nr_stacks)
		return bad(p, HS_CHUNK_ID('S', 'T', 'E', 'P'),
			   "step %zu has stack %u, expected less than %zu", nr, step->stack,
			   s->nr_stacks);
	return true;
}

bool snap_lineage_valid(const struct snapshot *s, size_t nr, const struct snap_lineage *l,
			struct snap_problem *p)
{
	uint32_t id = HS_CHUNK_ID('L', 'I', 'N', 'E');

	if (l->born_stack >= s->nr_stacks)
		return bad(p, id, "lineage %zu has stack %u, expected less than %zu", nr,
			   l->born_stack, s->nr_stacks);
	if (l->first_step > s->nr_steps || l->nr_kept > s->nr_steps - l->first_step ||
	    l->nr_kept > l->nr_steps || l->nr_first > l->nr_kept)
		return bad(p, id, "lineage %zu keeps %u of %" PRIu64 " steps, %u of them the first",
			   nr, l->nr_kept, l->nr_steps, l->nr_first);
	return true;
}

static bool valid_lineages(const struct snapshot *s, struct snap_problem *p)
{
	for (size_t i = 0; i < s->nr_steps; i++) {
		if (!snap_step_valid(s, i, &s->steps[i], p))
			return false;
	}
	for (size_t i = 0; i < s->nr_lineages; i++) {
		if (!snap_lineage_valid(s, i, &s->lineages[i], p))
			return false;
	}
	return true;
}

/* ---- blocks ------------------------------------------------------------------------------ */

void snap_block_checks_init(struct snap_block_checks *c, const struct snapshot *s)
{
	*c = (struct snap_block_checks){
		.s = s,
		.sums = xcalloc(s->nr_stacks, sizeof(*c->sums)),
	};
}

void snap_block_checks_release(struct snap_block_checks *c)
{
	free(c->sums);
}

static bool valid_place(const struct snap_block_checks *c, const struct snap_block *b,
			struct snap_problem *p)
{
	uint32_t id = SNAP_FIRST_COLUMN;

	if (b->address >= ADDRESS_END || snap_block_span(b) >= ADDRESS_END)
		return bad(p, id, "block %zu of %" PRIu64 " bytes lies at 0x%" PRIx64, c->nr,
			   b->size, b->address);
	if (b->address < c->address)
		return bad(p, id, "block %zu lies before block %zu", c->nr, c->nr - 1);
	if (b->address < c->end)
		return bad(p, id,
			   "block %zu at 0x%" PRIx64 " overlaps one before, which ends at "
			   "0x%" PRIx64,
			   c->nr, b->address, c->end);
	return true;
}

static bool valid_numbers(const struct snap_block_checks *c, const struct snap_block *b,
			  struct snap_problem *p)
{
	const struct snapshot *s = c->s;

	if (b->stack >= s->nr_stacks)
		return bad(p, HS_CHUNK_ID('B', 'S', 'T', 'K'),
			   "block %zu has stack %u, expected less than %zu", c->nr, b->stack,
			   s->nr_stacks);
	if (b->thread && b->thread >= s->nr_threads)
		return bad(p, HS_CHUNK_ID('B', 'T', 'H', 'R'),
			   "block %zu has thread %u, expected less than %zu", c->nr, b->thread,
			   s->nr_threads);
	if (b->lineage > s->nr_lineages)
		return bad(p, HS_CHUNK_ID('B', 'L', 'I', 'N'),
			   "block %zu has lineage %u, expected %zu at most", c->nr, b->lineage,
			   s->nr_lineages);
	if (b->family >= HS_FAMILY_MMAP)
		return bad(p, HS_CHUNK_ID('B', 'F', 'A', 'M'),
			   "block %zu has family %u, expected less than %u", c->nr, b->family,
			   HS_FAMILY_MMAP);
	if (b->class_word && b->class_word >= s->nr_class_words)
		return bad(p, HS_CHUNK_ID('B', 'C', 'L', 'S'),
			   "block %zu has class word %u, expected less than %zu", c->nr,
			   b->class_word, s->nr_class_words);
	return true;
}

bool snap_block_checks_add(struct snap_block_checks *c, const struct snap_block *blocks, size_t nr,
			   struct snap_problem *p)
{
	for (size_t i = 0; i < nr; i++) {
		const struct snap_block *b = &blocks[i];

		if (!valid_place(c, b, p) || !valid_numbers(c, b, p))
			return false;
		c->address = b->address;
		if (!(b->flags & SNAP_BLOCK_IN_FLIGHT))
			c->end = b->address + snap_block_span(b);
		c->sums[b->stack].count++;
		c->sums[b->stack].bytes += b->size;
		c->nr++;
	}
	return true;
}

bool snap_block_checks_end(const struct snap_block_checks *c, struct snap_problem *p)
{
	const struct snapshot *s = c->s;

	for (size_t i = 0; i < s->nr_stacks; i++) {
		const struct snap_stack *st = &s->stacks[i];
		const struct snap_block_sums *sums = &c->sums[i];

		if (st->live_count != sums->count || st->live_bytes != sums->bytes)
			return bad(p, HS_CHUNK_ID('S', 'T', 'A', 'K'),
				   "stack %zu has %" PRIu64 " live blocks of %" PRIu64
				   " bytes, expected %" PRIu64 " of %" PRIu64,
				   i, st->live_count, st->live_bytes, sums->count, sums->bytes);
	}
	return true;
}

static bool valid_blocks(const struct snapshot *s, struct snap_problem *p)
{
	struct snap_block_checks checks;
	bool good;

	snap_block_checks_init(&checks, s);
	good = snap_block_checks_add(&checks, s->blocks, s->nr_blocks, p) &&
	       snap_block_checks_end(&checks, p);
	snap_block_checks_release(&checks);
	return good;
}

static bool valid_mappings(const struct snapshot *s, struct snap_problem *p)
{
	uint32_t id = HS_CHUNK_ID('M', 'A', 'P', 'S');
	uint64_t end = 0;

	for (size_t i = 0; i < s->nr_mappings; i++) {
		const struct snap_block *m = &s->mappings[i];

		if (m->address < end || m->address >= ADDRESS_END ||
		    snap_block_span(m) >= ADDRESS_END)
			return bad(p, id,
				   "mapping %zu at 0x%" PRIx64 " of %" PRIu64
				   " bytes, expected at 0x%" PRIx64 " or above",
				   i, m->address, m->size, end);
		if (m->stack >= s->nr_stacks || m->thread >= s->nr_threads ||
		    m->lineage > s->nr_lineages || m->family < HS_FAMILY_MMAP ||
		    m->family >= HS_NR_FAMILIES)
			return bad(p, id,
				   "mapping %zu has stack %u, thread %u, lineage %u, family %u", i,
				   m->stack, m->thread, m->lineage, m->family);
		end = m->address + snap_block_span(m);
	}
	return true;
}

/* ---- all --------------------------------------------------------------------------------- */

/* Sums of stacks = totals. */
static bool valid_sums(const struct snapshot *s, struct snap_problem *p)
{
	struct snap_stack sum = {.node = 0};

	for (size_t i = 0; i < s->nr_stacks; i++) {
		const struct snap_stack *st = &s->stacks[i];

		sum.live_count += st->live_count;
		sum.live_bytes += st->live_bytes;
		sum.born_count += st->born_count;
		sum.born_bytes += st->born_bytes;
		sum.temporary += st->temporary;
	}
	if (sum.live_count != s->live_count || sum.live_bytes != s->live_bytes ||
	    sum.born_count != s->born_count || sum.born_bytes != s->born_bytes ||
	    sum.temporary != s->temporary)
		return bad(p, HS_CHUNK_ID('M', 'E', 'T', 'A'),
			   "%" PRIu64 " live blocks of %" PRIu64 " bytes in all, expected %" PRIu64
			   " of %" PRIu64,
			   s->live_count, s->live_bytes, sum.live_count, sum.live_bytes);
	if (s->coverage.blocks_without_stack != s->stacks[0].live_count)
		return bad(p, HS_CHUNK_ID('M', 'E', 'T', 'A'),
			   "%" PRIu64 " blocks without stack, expected %" PRIu64,
			   s->coverage.blocks_without_stack, s->stacks[0].live_count);
	return true;
}

static bool valid_arrays(const struct snapshot *s, struct snap_problem *p)
{
	if (!s->nr_threads)
		return bad(p, HS_CHUNK_ID('T', 'H', 'R', 'D'), "0 threads, expected 1 or more");
	return valid_meta(s, p) && valid_modules(s, p) && valid_nodes(s, p) && valid_stacks(s, p);
}

bool snapshot_valid_frame(const struct snapshot *s, struct snap_problem *ret_problem)
{
	return valid_arrays(s, ret_problem) && valid_sums(s, ret_problem);
}

bool snapshot_valid(const struct snapshot *s, struct snap_problem *ret_problem)
{
	return valid_arrays(s, ret_problem) && valid_lineages(s, ret_problem) &&
	       valid_mappings(s, ret_problem) &&
	       (s->totals_only || valid_blocks(s, ret_problem)) && valid_sums(s, ret_problem);
}
