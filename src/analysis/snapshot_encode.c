/* SPDX-License-Identifier: MIT */
/*
 * snapshot_encode.c - what is in the chunks of a snapshot file; heapstory-format(5) describes it.
 *
 * Numbers are varints, mostly of differences. The blocks are in snapshot_columns.c.
 */
#include "analysis/snapshot_internal.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include "util/name_table.h"

#define MAX_STRING 65536u

/* ---- small things ------------------------------------------------------------------------ */

static void add_string(struct buffer *b, const char *s)
{
	size_t len = s ? strnlen(s, MAX_STRING) : 0;

	buffer_add_counted(b, s, len);
}

/* A string of a fixed field. */
static void add_name(struct buffer *b, const char name[16])
{
	buffer_add_counted(b, name, strnlen(name, 15));
}

static void take_name(struct cursor *c, char ret[16])
{
	size_t len = cursor_varint_max(c, 15);
	const uint8_t *p = cursor_bytes(c, len);

	memset(ret, 0, 16);
	if (p)
		memcpy(ret, p, len);
}

static void take_bytes(struct cursor *c, void *ret, size_t len)
{
	const uint8_t *p = cursor_bytes(c, len);

	if (p)
		memcpy(ret, p, len);
}

static char *take_string(struct cursor *c)
{
	char *s = cursor_string(c, MAX_STRING);

	return s ? s : xstrdup("");
}

static int64_t difference(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

/* ---- META -------------------------------------------------------------------------------- */

static uint64_t one_item(const struct snapshot *s)
{
	(void)s;
	return 1;
}

static void encode_meta(const struct snapshot *s, struct buffer *b)
{
	const struct snap_coverage *cov = &s->coverage;
	const uint64_t numbers[] = {
		s->pid,		  s->generation,
		s->arch,	  s->uid,
		s->page_size,	  s->depth,
		s->state,	  s->number,
		s->start_real_ns, s->start_after_ms,
		s->taken_ms,	  s->live_count,
		s->live_bytes,	  s->born_count,
		s->born_bytes,	  s->temporary,
		s->peak_bytes,	  s->peak_count,
		s->peak_ms,	  cov->mode,
		cov->since_ms,	  cov->blocks_without_stack,
		cov->flags,	  cov->stop_reason,
		cov->stopped_ms,  cov->dropped_blocks,
		cov->consistent,  cov->in_doubt,
	};
	uint64_t share;

	buffer_add(b, s->image, sizeof(s->image));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		buffer_add_varint(b, numbers[i]);
	memcpy(&share, &cov->share_of_life, sizeof(share));
	buffer_add_u64(b, share);
	buffer_add_varint(b, HS_NR_LOST);
	for (unsigned int i = 0; i < HS_NR_LOST; i++)
		buffer_add_varint(b, cov->lost[i]);
	add_name(b, s->comm);
	add_string(b, s->exe);
	add_string(b, s->dir);
	buffer_add_byte(b, s->label != NULL);
	add_string(b, s->label);
}

static void decode_coverage(struct snap_coverage *cov, struct cursor *c)
{
	cov->mode = cursor_varint32(c);
	cov->since_ms = cursor_varint(c);
	cov->blocks_without_stack = cursor_varint(c);
	cov->flags = cursor_varint32(c);
	cov->stop_reason = cursor_varint32(c);
	cov->stopped_ms = cursor_varint(c);
	cov->dropped_blocks = cursor_varint(c);
	cov->consistent = cursor_varint_max(c, 1);
	cov->in_doubt = cursor_varint(c);
}

static void decode_lost(struct snap_coverage *cov, struct cursor *c)
{
	size_t start = c->pos;
	uint64_t share = cursor_u64(c), nr;

	memcpy(&cov->share_of_life, &share, sizeof(share));
	if (!(cov->share_of_life >= 0 && cov->share_of_life <= 1))
		cursor_fail(c, start, "share of life out of range");
	start = c->pos;
	nr = cursor_varint(c);
	if (nr != HS_NR_LOST)
		cursor_fail(c, start, "number of kinds of losses");
	for (unsigned int i = 0; i < HS_NR_LOST; i++)
		cov->lost[i] = cursor_varint(c);
}

static void decode_meta(struct snapshot *s, struct cursor *c, uint64_t items)
{
	char *label;
	bool has_label;

	(void)items;
	take_bytes(c, s->image, sizeof(s->image));
	s->pid = cursor_varint32(c);
	s->generation = cursor_varint32(c);
	s->arch = cursor_varint32(c);
	s->uid = cursor_varint32(c);
	s->page_size = cursor_varint32(c);
	s->depth = cursor_varint32(c);
	s->state = cursor_varint32(c);
	s->number = cursor_varint(c);
	s->start_real_ns = cursor_varint(c);
	s->start_after_ms = cursor_varint(c);
	s->taken_ms = cursor_varint(c);
	s->live_count = cursor_varint(c);
	s->live_bytes = cursor_varint(c);
	s->born_count = cursor_varint(c);
	s->born_bytes = cursor_varint(c);
	s->temporary = cursor_varint(c);
	s->peak_bytes = cursor_varint(c);
	s->peak_count = cursor_varint(c);
	s->peak_ms = cursor_varint(c);
	decode_coverage(&s->coverage, c);
	decode_lost(&s->coverage, c);
	take_name(c, s->comm);
	s->exe = take_string(c);
	s->dir = take_string(c);
	has_label = cursor_u8(c);
	label = take_string(c);
	if (has_label)
		s->label = label;
	else
		free(label);
}

/* ---- modules, nodes, stacks -------------------------------------------------------------- */

static uint64_t nr_modules(const struct snapshot *s)
{
	return s->nr_modules;
}

static void encode_modules(const struct snapshot *s, struct buffer *b)
{
	for (size_t i = 0; i < s->nr_modules; i++) {
		const struct snap_module *m = &s->modules[i];
		const uint64_t numbers[] = {m->load_bias, m->start,	m->end,
					    m->flags,	  m->loaded_ms, m->unloaded_ms,
					    m->dev,	  m->inode,	m->nr_segments};

		add_string(b, m->path);
		buffer_add_counted(b, m->build_id, m->build_id_len);
		for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++)
			buffer_add_varint(b, numbers[j]);
		for (uint32_t j = 0; j < m->nr_segments; j++) {
			buffer_add_varint(b, m->segments[j].start);
			buffer_add_varint(b, m->segments[j].end);
			buffer_add_varint(b, m->segments[j].offset);
		}
	}
}

static void decode_modules(struct snapshot *s, struct cursor *c, uint64_t items)
{
	s->modules = xcalloc(items, sizeof(*s->modules));
	for (uint64_t i = 0; i < items && !c->bad; i++) {
		struct snap_module *m = &s->modules[i];

		m->path = take_string(c);
		s->nr_modules = i + 1;
		m->build_id_len = (uint32_t)cursor_varint_max(c, HS_BUILD_ID_LEN);
		take_bytes(c, m->build_id, m->build_id_len);
		m->load_bias = cursor_varint(c);
		m->start = cursor_varint(c);
		m->end = cursor_varint(c);
		m->flags = cursor_varint32(c);
		m->loaded_ms = cursor_varint(c);
		m->unloaded_ms = cursor_varint(c);
		m->dev = cursor_varint(c);
		m->inode = cursor_varint(c);
		m->nr_segments = (uint32_t)cursor_varint_max(c, HS_NR_SEGMENTS);
		for (uint32_t j = 0; j < m->nr_segments; j++) {
			m->segments[j].start = cursor_varint(c);
			m->segments[j].end = cursor_varint(c);
			m->segments[j].offset = cursor_varint(c);
		}
	}
}

static uint64_t nr_nodes(const struct snapshot *s)
{
	return s->nr_nodes;
}

static void encode_nodes(const struct snapshot *s, struct buffer *b)
{
	uint64_t pc = 0;

	for (size_t i = 0; i < s->nr_nodes; i++) {
		const struct snap_node *n = &s->nodes[i];

		buffer_add_varint(b, i - n->parent);
		buffer_add_signed(b, difference(n->pc, pc));
		buffer_add_varint(b, (uint64_t)n->module << 1 | n->signal);
		pc = n->pc;
	}
}

static void decode_nodes(struct snapshot *s, struct cursor *c, uint64_t items)
{
	uint64_t pc = 0, module;

	s->nodes = xcalloc(items, sizeof(*s->nodes));
	s->nr_nodes = items;
	for (uint64_t i = 0; i < items && !c->bad; i++) {
		struct snap_node *n = &s->nodes[i];

		n->parent = (uint32_t)(i - cursor_varint_max(c, i));
		pc += (uint64_t)cursor_signed(c);
		n->pc = pc;
		module = cursor_varint_max(c, UINT64_C(2) * UINT32_MAX + 1);
		n->module = (uint32_t)(module >> 1);
		n->signal = module & 1;
	}
}

static uint64_t nr_stacks(const struct snapshot *s)
{
	return s->nr_stacks;
}

static void encode_stacks(const struct snapshot *s, struct buffer *b)
{
	uint32_t node = 0;

	for (size_t i = 0; i < s->nr_stacks; i++) {
		const struct snap_stack *st = &s->stacks[i];
		const uint64_t numbers[] = {st->live_count, st->live_bytes, st->born_count,
					    st->born_bytes, st->temporary,  st->peak_count,
					    st->peak_bytes};

		buffer_add_signed(b, (int64_t)st->node - node);
		for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++)
			buffer_add_varint(b, numbers[j]);
		node = st->node;
	}
}

static void decode_stacks(struct snapshot *s, struct cursor *c, uint64_t items)
{
	uint64_t node = 0;

	s->stacks = xcalloc(items, sizeof(*s->stacks));
	s->nr_stacks = items;
	for (uint64_t i = 0; i < items && !c->bad; i++) {
		struct snap_stack *st = &s->stacks[i];
		size_t start = c->pos;

		node += (uint64_t)cursor_signed(c);
		if (node > UINT32_MAX)
			cursor_fail(c, start, "node out of range");
		st->node = (uint32_t)node;
		st->live_count = cursor_varint(c);
		st->live_bytes = cursor_varint(c);
		st->born_count = cursor_varint(c);
		st->born_bytes = cursor_varint(c);
		st->temporary = cursor_varint(c);
		st->peak_count = cursor_varint(c);
		st->peak_bytes = cursor_varint(c);
	}
}

/* ---- threads, messages ------------------------------------------------------------------- */

static uint64_t nr_threads(const struct snapshot *s)
{
	return s->nr_threads;
}

static void encode_threads(const struct snapshot *s, struct buffer *b)
{
	for (size_t i = 0; i < s->nr_threads; i++) {
		const struct snap_thread *t = &s->threads[i];

		buffer_add_varint(b, t->tid);
		buffer_add_varint(b, t->slot);
		buffer_add_varint(b, t->first_serial);
		buffer_add_varint(b, t->since_ms);
		buffer_add_varint(b, t->gone);
		add_name(b, t->name);
	}
}

static void decode_threads(struct snapshot *s, struct cursor *c, uint64_t items)
{
	s->threads = xcalloc(items, sizeof(*s->threads));
	s->nr_threads = items;
	for (uint64_t i = 0; i < items && !c->bad; i++) {
		struct snap_thread *t = &s->threads[i];

		t->tid = cursor_varint32(c);
		t->slot = cursor_varint32(c);
		t->first_serial = cursor_varint(c);
		t->since_ms = cursor_varint(c);
		t->gone = cursor_varint_max(c, 1);
		take_name(c, t->name);
	}
}

static uint64_t nr_messages(const struct snapshot *s)
{
	return s->nr_messages;
}

static void encode_messages(const struct snapshot *s, struct buffer *b)
{
	for (size_t i = 0; i < s->nr_messages; i++)
		add_string(b, s->messages[i]);
}

static void decode_messages(struct snapshot *s, struct cursor *c, uint64_t items)
{
	s->messages = xcalloc(items, sizeof(*s->messages));
	for (uint64_t i = 0; i < items && !c->bad; i++) {
		s->messages[i] = take_string(c);
		s->nr_messages = i + 1;
	}
}

/* ---- lineages: the steps of all of them first, in the order of the lineages ---------------- */

static uint64_t nr_steps(const struct snapshot *s)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < s->nr_lineages; i++)
		nr += s->lineages[i].nr_kept;
	return nr;
}

static void encode_steps(const struct snapshot *s, struct buffer *b)
{
	for (size_t i = 0; i < s->nr_lineages; i++) {
		const struct snap_step *step = &s->steps[s->lineages[i].first_step];

		for (uint32_t j = 0; j < s->lineages[i].nr_kept; j++) {
			buffer_add_varint(b, step[j].size);
			buffer_add_varint(b, step[j].ms);
			buffer_add_varint(b, step[j].stack);
		}
	}
}

void snap_decode_step(struct cursor *c, struct snap_step *ret)
{
	ret->size = cursor_varint(c);
	ret->ms = cursor_varint(c);
	ret->stack = cursor_varint32(c);
}

static void decode_steps(struct snapshot *s, struct cursor *c, uint64_t items)
{
	s->steps = xcalloc(items, sizeof(*s->steps));
	s->nr_steps = items;
	for (uint64_t i = 0; i < items && !c->bad; i++)
		snap_decode_step(c, &s->steps[i]);
}

static uint64_t nr_lineages(const struct snapshot *s)
{
	return s->nr_lineages;
}

static void encode_lineages(const struct snapshot *s, struct buffer *b)
{
	for (size_t i = 0; i < s->nr_lineages; i++) {
		const struct snap_lineage *l = &s->lineages[i];
		const uint64_t numbers[] = {l->born_size,  l->born_stack, l->nr_steps,
					    l->nr_shrinks, l->changed_ms, l->peak_size,
					    l->nr_kept,	   l->nr_first,	  l->inferred};

		for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++)
			buffer_add_varint(b, numbers[j]);
	}
}

void snap_decode_lineage(struct cursor *c, struct snap_lineage *ret, uint64_t first,
			 uint64_t nr_steps)
{
	ret->born_size = cursor_varint(c);
	ret->born_stack = cursor_varint32(c);
	ret->nr_steps = cursor_varint(c);
	ret->nr_shrinks = cursor_varint32(c);
	ret->changed_ms = cursor_varint(c);
	ret->peak_size = cursor_varint(c);
	ret->nr_kept = (uint32_t)cursor_varint_max(c, nr_steps - first);
	ret->nr_first = (uint32_t)cursor_varint_max(c, ret->nr_kept);
	ret->inferred = cursor_varint_max(c, 1);
	ret->first_step = (uint32_t)first;
}

static void decode_lineages(struct snapshot *s, struct cursor *c, uint64_t items)
{
	uint64_t first = 0;

	s->lineages = xcalloc(items, sizeof(*s->lineages));
	s->nr_lineages = items;
	for (uint64_t i = 0; i < items && !c->bad; i++) {
		snap_decode_lineage(c, &s->lineages[i], first, s->nr_steps);
		first += s->lineages[i].nr_kept;
	}
	if (first != s->nr_steps)
		cursor_fail(c, c->pos, "steps that no lineage has");
}

/* ---- class words ------------------------------------------------------------------------- */

static uint64_t nr_class_words(const struct snapshot *s)
{
	return s->class_words ? s->nr_class_words : 0;
}

static void encode_class_words(const struct snapshot *s, struct buffer *b)
{
	for (size_t i = 0; i < s->nr_class_words; i++) {
		buffer_add_varint(b, s->class_words[i].module);
		buffer_add_varint(b, s->class_words[i].address);
	}
}

static void decode_class_words(struct snapshot *s, struct cursor *c, uint64_t items)
{
	s->class_words = xcalloc(items + 1, sizeof(*s->class_words));
	s->nr_class_words = items;
	for (uint64_t i = 0; i < items && !c->bad; i++) {
		size_t start = c->pos;

		s->class_words[i].module = cursor_varint32(c);
		s->class_words[i].address = cursor_varint(c);
		if (s->class_words[i].module >= s->nr_modules)
			cursor_fail(c, start, "class word in a module that is not there");
	}
}

static uint64_t nr_block_words(const struct snapshot *s)
{
	return s->class_words && s->nr_class_words > 1 ? s->nr_blocks : 0;
}

/* ---- names ------------------------------------------------------------------------------- */

static uint64_t nr_names(const struct snapshot *s)
{
	if (!s->names)
		return 0;
	name_table_sort(s->names);
	return s->names->nr_places;
}

static void encode_names(const struct snapshot *s, struct buffer *b)
{
	if (s->names)
		name_table_encode(s->names, b);
}

static void decode_names(struct snapshot *s, struct cursor *c, uint64_t items)
{
	s->names = xcalloc(1, sizeof(*s->names));
	name_table_decode(s->names, c, items);
	if (s->names->nr_places &&
	    s->names->places[s->names->nr_places - 1].module >= s->nr_modules)
		cursor_fail(c, c->pos, "names of a module that is not there");
}

/* A table without places has no frames, and the chunk is not there. */
static uint64_t nr_raw_names(const struct snapshot *s)
{
	return s->names ? name_table_count_frames(s->names) : 0;
}

static void encode_raw_names(const struct snapshot *s, struct buffer *b)
{
	name_table_encode_raw(s->names, b);
}

static void decode_raw_names(struct snapshot *s, struct cursor *c, uint64_t items)
{
	if (s->names)
		name_table_decode_raw(s->names, c, items);
	else
		cursor_fail(c, c->pos, "raw names of names that are not there");
}

/* ---- mappings ---------------------------------------------------------------------------- */

static uint64_t nr_mappings(const struct snapshot *s)
{
	return s->nr_mappings;
}

static void encode_mappings(const struct snapshot *s, struct buffer *b)
{
	uint64_t address = 0;

	for (size_t i = 0; i < s->nr_mappings; i++) {
		const struct snap_block *m = &s->mappings[i];
		const uint64_t numbers[] = {m->address - address, m->size,	m->usable - m->size,
					    m->serial,		  m->birth_ms,	m->stack,
					    m->thread,		  m->lineage,	m->family};

		for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++)
			buffer_add_varint(b, numbers[j]);
		address = m->address;
	}
}

static void decode_mappings(struct snapshot *s, struct cursor *c, uint64_t items)
{
	uint64_t address = 0;

	s->mappings = xcalloc(items, sizeof(*s->mappings));
	s->nr_mappings = items;
	for (uint64_t i = 0; i < items && !c->bad; i++) {
		struct snap_block *m = &s->mappings[i];
		size_t start = c->pos;

		if (__builtin_add_overflow(address, cursor_varint(c), &address))
			cursor_fail(c, start, "address out of range");
		m->address = address;
		m->size = cursor_varint(c);
		if (__builtin_add_overflow(m->size, cursor_varint(c), &m->usable))
			cursor_fail(c, start, "usable size out of range");
		m->serial = cursor_varint(c);
		m->birth_ms = cursor_varint(c);
		m->stack = cursor_varint32(c);
		m->thread = cursor_varint32(c);
		m->lineage = cursor_varint32(c);
		m->family = (uint16_t)cursor_varint_max(c, UINT16_MAX);
	}
}

/* ---- all --------------------------------------------------------------------------------- */

static uint64_t nr_blocks(const struct snapshot *s)
{
	return s->nr_blocks;
}

#define ANY_KIND(a, b, c, d, min, name, optional, items, what)                                     \
	{                                                                                          \
		HS_CHUNK_ID(a, b, c, d), min, name, optional, items, encode_##what, decode_##what, \
			NULL                                                                       \
	}
#define KIND(a, b, c, d, min, name, items, what) ANY_KIND(a, b, c, d, min, name, false, items, what)
#define OPTIONAL_KIND(a, b, c, d, min, name, items, what) \
	ANY_KIND(a, b, c, d, min, name, true, items, what)
#define ANY_COLUMN(a, b, c, d, name, optional, items, what)                                  \
	{                                                                                    \
		HS_CHUNK_ID(a, b, c, d), 1, name, optional, items, snap_encode_##what, NULL, \
			snap_decode_##what                                                   \
	}
#define COLUMN(a, b, c, d, name, what) ANY_COLUMN(a, b, c, d, name, false, nr_blocks, what)
#define OPTIONAL_COLUMN(a, b, c, d, name, items, what) \
	ANY_COLUMN(a, b, c, d, name, true, items, what)

const struct snap_chunk_kind snap_chunk_kinds[] = {
	KIND('M', 'E', 'T', 'A', 82, "process and coverage", one_item, meta),
	KIND('M', 'O', 'D', 'U', 11, "modules", nr_modules, modules),
	KIND('N', 'O', 'D', 'E', 3, "stack nodes", nr_nodes, nodes),
	KIND('S', 'T', 'A', 'K', 8, "stacks", nr_stacks, stacks),
	KIND('T', 'H', 'R', 'D', 6, "threads", nr_threads, threads),
	KIND('M', 'S', 'G', 'S', 1, "messages", nr_messages, messages),
	KIND('S', 'T', 'E', 'P', 3, "steps", nr_steps, steps),
	KIND('L', 'I', 'N', 'E', 9, "lineages", nr_lineages, lineages),
	COLUMN('B', 'A', 'D', 'R', "block addresses", addresses),
	COLUMN('B', 'S', 'I', 'Z', "block sizes", sizes),
	COLUMN('B', 'U', 'S', 'A', "block usable sizes", usables),
	COLUMN('B', 'S', 'L', 'T', "block thread slots", slots),
	COLUMN('B', 'S', 'E', 'R', "block serials", serials),
	COLUMN('B', 'B', 'I', 'R', "block births", births),
	COLUMN('B', 'S', 'T', 'K', "block stacks", block_stacks),
	COLUMN('B', 'T', 'H', 'R', "block threads", block_threads),
	COLUMN('B', 'L', 'I', 'N', "block lineages", block_lineages),
	COLUMN('B', 'F', 'A', 'M', "block families", families),
	COLUMN('B', 'F', 'L', 'G', "block flags", flags),
	OPTIONAL_KIND('C', 'L', 'S', 'W', 2, "class words", nr_class_words, class_words),
	OPTIONAL_COLUMN('B', 'C', 'L', 'S', "block class words", nr_block_words, block_words),
	OPTIONAL_KIND('M', 'A', 'P', 'S', 9, "mappings", nr_mappings, mappings),
	OPTIONAL_KIND('N', 'A', 'M', 'S', NAME_TABLE_MIN_BYTES, "names", nr_names, names),
	OPTIONAL_KIND('N', 'R', 'A', 'W', 1, "raw names", nr_raw_names, raw_names),
	{0, 0, NULL, false, NULL, NULL, NULL, NULL},
};

const struct snap_chunk_kind *snap_chunk_kind(uint32_t id)
{
	const struct snap_chunk_kind *kind = snap_chunk_kinds;

	while (kind->id && kind->id != id)
		kind++;
	return kind->id ? kind : NULL;
}
