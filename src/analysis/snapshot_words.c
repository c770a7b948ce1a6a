/* SPDX-License-Identifier: MIT */
/*
 * snapshot_words.c - the first word of each block, where it points into a module: the class word.
 *
 * The program goes on while its memory is read, after the copy of the store, so a block may be gone
 * by then and its place be another's. Afterwards the records are looked at once more: where the same
 * block is still there, the word was its own; else it is dropped.
 */
#include "analysis/snapshot_internal.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/runtime.h"
#include "store/memory.h"
#include "util/alloc.h"

#define BATCH 65536u /* blocks */

/* ---- what a word points into --------------------------------------------------------------- */

struct span {
	uint64_t start, end;
	uint32_t module;
};

struct words {
	struct snapshot *s;
	struct span *spans; /* of the modules that are loaded, by start */
	size_t nr_spans;
	uint32_t *table; /* class words by (module, address), 0: empty */
	size_t mask, alloc;
};

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void words_init(struct words *w, struct snapshot *s)
{
	*w = (struct words){.s = s};
	w->spans = xmallocarray(s->nr_modules + 1, sizeof(*w->spans));
	for (uint32_t i = 1; i < s->nr_modules; i++) {
		const struct snap_module *m = &s->modules[i];

		if (!m->unloaded_ms && !(m->flags & (HS_MODULE_TRACER | HS_MODULE_VDSO)))
			w->spans[w->nr_spans++] = (struct span){m->start, m->end, i};
	}
	qsort(w->spans, w->nr_spans, sizeof(*w->spans), by_start);
	w->mask = 63;
	w->table = xcalloc(w->mask + 1, sizeof(*w->table));
	s->class_words = xcalloc(1, sizeof(*s->class_words));
	s->nr_class_words = 1;
	w->alloc = 1;
}

static void words_release(struct words *w)
{
	free(w->spans);
	free(w->table);
}

static bool in_code(const struct snap_module *m, uint64_t address)
{
	for (uint32_t i = 0; i < m->nr_segments; i++) {
		if (address >= m->segments[i].start && address < m->segments[i].end)
			return true;
	}
	return false;
}

/* The module whose data the word points to; 0: none. */
static uint32_t module_at(const struct words *w, uint64_t word)
{
	size_t low = 0, high = w->nr_spans;
	const struct span *span;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->spans[middle].start <= word)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	span = &w->spans[low - 1];
	return word < span->end && !in_code(&w->s->modules[span->module], word) ? span->module : 0;
}

static uint32_t *slot_of(const struct words *w, const struct snap_class_word *word)
{
	size_t at = (size_t)((word->address * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & w->mask;

	while (w->table[at]) {
		const struct snap_class_word *other = &w->s->class_words[w->table[at]];

		if (other->module == word->module && other->address == word->address)
			break;
		at = (at + 1) & w->mask;
	}
	return &w->table[at];
}

static void grow_table(struct words *w)
{
	free(w->table);
	w->mask = 2 * w->mask + 1;
	w->table = xcalloc(w->mask + 1, sizeof(*w->table));
	for (uint32_t i = 1; i < w->s->nr_class_words; i++)
		*slot_of(w, &w->s->class_words[i]) = i;
}

/* Number of a word; 0 if it points into no module. */
static uint32_t number_of(struct words *w, uint64_t value)
{
	struct snapshot *s = w->s;
	struct snap_class_word word = {.module = value & 7 ? 0 : module_at(w, value)};
	uint32_t *slot;

	if (!word.module || s->nr_class_words == UINT32_MAX)
		return 0;
	word.address = value - s->modules[word.module].load_bias;
	slot = slot_of(w, &word);
	if (*slot)
		return *slot;
	*slot = (uint32_t)s->nr_class_words;
	s->class_words = xgrow(s->class_words, &w->alloc, s->nr_class_words + 1,
			       sizeof(*s->class_words));
	s->class_words[s->nr_class_words++] = word;
	if (2 * s->nr_class_words > w->mask)
		grow_table(w);
	return (uint32_t)s->nr_class_words - 1;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* How many blocks got a word; false if the program may not be read. */
static bool read_words(struct words *w, struct memory *memory, size_t *ret_nr)
{
	uint64_t *addresses = xmallocarray(BATCH, sizeof(*addresses));
	uint64_t *values = xmallocarray(BATCH, sizeof(*values));
	struct snapshot *s = w->s;
	bool good = true;

	*ret_nr = 0;
	for (size_t first = 0; good && first < s->nr_blocks; first += BATCH) {
		size_t nr = s->nr_blocks - first < BATCH ? s->nr_blocks - first : BATCH;

		for (size_t i = 0; i < nr; i++) {
			const struct snap_block *b = &s->blocks[first + i];
			bool has_word = b->size >= 8 && !(b->flags & SNAP_BLOCK_IN_FLIGHT);

			/* an address that is not aligned is not read */
			addresses[i] = b->address | !has_word;
		}
		good = memory_read_words(memory, addresses, nr, values);
		for (size_t i = 0; good && i < nr; i++) {
			s->blocks[first + i].class_word = number_of(w, values[i]);
			*ret_nr += s->blocks[first + i].class_word != 0;
		}
	}
	free(addresses);
	free(values);
	return good;
}

/* ---- confirming ---------------------------------------------------------------------------- */

/* Blocks with a word, by address. */
struct confirm {
	struct snapshot *s;
	uint32_t *words; /* by block: the word, as long as it is not confirmed */
	size_t *table; /* block + 1, 0: empty */
	size_t mask;
};

static size_t confirm_slot(const struct confirm *c, uint64_t address)
{
	size_t at = (size_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 24) & c->mask;

	while (c->table[at] && c->s->blocks[c->table[at] - 1].address != address)
		at = (at + 1) & c->mask;
	return at;
}

static void confirm_records(void *context, const struct hs_record *records, size_t nr)
{
	struct confirm *c = context;

	for (size_t i = 0; i < nr; i++) {
		size_t block;

		if (!records[i].word)
			continue;
		block = c->table[confirm_slot(c, records[i].word & HS_RECORD_ADDRESS)];
		if (block-- && c->s->blocks[block].serial == records[i].serial)
			c->s->blocks[block].class_word = c->words[block];
	}
}

/* Drops the words of blocks that are not there any more. */
static void confirm_words(struct snapshot *s, struct store_image *image, size_t nr)
{
	struct confirm c = {.s = s, .mask = 63};

	while (c.mask < 2 * nr)
		c.mask = 2 * c.mask + 1;
	c.table = xcalloc(c.mask + 1, sizeof(*c.table));
	c.words = xcalloc(s->nr_blocks + 1, sizeof(*c.words));
	for (size_t i = 0; i < s->nr_blocks; i++) {
		if (!s->blocks[i].class_word)
			continue;
		c.words[i] = s->blocks[i].class_word;
		s->blocks[i].class_word = 0;
		c.table[confirm_slot(&c, s->blocks[i].address)] = i + 1;
	}
	store_image_records_now(image, confirm_records, &c);
	free(c.table);
	free(c.words);
}

/* ---- slabs ----------------------------------------------------------------------------------- */

/*
 * An allocator of the program's own asks for slabs and puts objects into them; the first word of a
 * slab is then that of whatever came first. A call of operator new that made objects of one class
 * only is `new`; one that made large blocks beginning with different vtables makes slabs.
 */
#define SLAB_BYTES 4096u

/* A call: the innermost frame outside the C and C++ runtime. */
struct call {
	uint64_t pc;
	uint32_t module; /* with pc 0: an empty slot */
	uint32_t word; /* of its first large block with one */
	bool several;
};

struct calls {
	const struct snapshot *s;
	bool *runtime; /* by module */
	struct call *table;
	size_t mask;
};

static struct call *call_of(const struct calls *c, const struct snap_block *b)
{
	uint32_t node = c->s->stacks[b->stack].node;
	const struct snap_node *n;
	size_t at;

	while (node && c->runtime[c->s->nodes[node].module])
		node = c->s->nodes[node].parent;
	n = &c->s->nodes[node];
	at = (size_t)(((n->pc ^ n->module) * UINT64_C(0x9e3779b97f4a7c15)) >> 24) & c->mask;
	while (c->table[at].pc && (c->table[at].pc != n->pc || c->table[at].module != n->module))
		at = (at + 1) & c->mask;
	c->table[at].pc = n->pc ? n->pc : 1;
	c->table[at].module = n->module;
	return &c->table[at];
}

static void drop_slabs(struct snapshot *s)
{
	struct calls c = {.s = s, .mask = 63};
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_blocks; i++)
		nr += s->blocks[i].class_word && s->blocks[i].size >= SLAB_BYTES;
	while (c.mask < 2 * nr)
		c.mask = 2 * c.mask + 1;
	c.table = xcalloc(c.mask + 1, sizeof(*c.table));
	c.runtime = xcalloc(s->nr_modules + 1, sizeof(*c.runtime));
	for (size_t i = 1; i < s->nr_modules; i++)
		c.runtime[i] = runtime_module(s->modules[i].path);
	for (int pass = 0; nr && pass < 2; pass++) {
		for (size_t i = 0; i < s->nr_blocks; i++) {
			struct snap_block *b = &s->blocks[i];
			struct call *call;

			if (!b->class_word || b->size < SLAB_BYTES)
				continue;
			call = call_of(&c, b);
			call->word = call->word ? call->word : b->class_word;
			call->several = call->several || call->word != b->class_word;
			if (pass && call->several)
				b->class_word = 0;
		}
	}
	free(c.table);
	free(c.runtime);
}

/* ---- what the tracer left -------------------------------------------------------------------- */

/* Blocks by serial. */
struct left {
	struct words w;
	size_t *table; /* block + 1, 0: empty */
	size_t mask;
};

static size_t left_slot(const struct left *l, uint64_t serial)
{
	size_t at = (size_t)((serial * UINT64_C(0x9e3779b97f4a7c15)) >> 24) & l->mask;

	while (l->table[at] && l->w.s->blocks[l->table[at] - 1].serial != serial)
		at = (at + 1) & l->mask;
	return at;
}

static void take_left(void *context, const struct hs_word *words, size_t nr)
{
	struct left *l = context;

	for (size_t i = 0; i < nr; i++) {
		size_t block = l->table[left_slot(l, words[i].serial)];

		if (block)
			l->w.s->blocks[block - 1].class_word = number_of(&l->w, words[i].word);
	}
}

/* From a program that is gone: if it ended regularly, its tracer looked at the objects. */
static void take_words_left(struct snapshot *s, struct store_image *image)
{
	struct left l = {.mask = 63};

	if (image->header.words_state != HS_WORDS_ALL)
		return;
	words_init(&l.w, s);
	while (l.mask < 2 * s->nr_blocks)
		l.mask = 2 * l.mask + 1;
	l.table = xcalloc(l.mask + 1, sizeof(*l.table));
	for (size_t i = 0; i < s->nr_blocks; i++)
		l.table[left_slot(&l, s->blocks[i].serial)] = i + 1;
	store_image_words(image, take_left, &l);
	drop_slabs(s);
	free(l.table);
	words_release(&l.w);
}

void snapshot_read_class_words(struct snapshot *s, struct store_image *image)
{
	struct memory memory;
	struct words w;
	size_t nr = 0;
	bool good;

	if (!image->alive) {
		take_words_left(s, image);
		return;
	}
	if (!memory_open(&memory, (pid_t)s->pid))
		return;
	words_init(&w, s);
	good = read_words(&w, &memory, &nr);
	memory_close(&memory);
	words_release(&w);
	if (good && nr) {
		confirm_words(s, image, nr);
		drop_slabs(s);
	}
	if (good)
		return;
	/* none is better than those of some blocks */
	for (size_t i = 0; i < s->nr_blocks; i++)
		s->blocks[i].class_word = 0;
	free(s->class_words);
	s->class_words = NULL;
	s->nr_class_words = 0;
}
