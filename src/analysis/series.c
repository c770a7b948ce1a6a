/* SPDX-License-Identifier: MIT */
/*
 * series.c - live totals of stacks at many moments; see series.h.
 */
#include "analysis/series.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "analysis/growth_totals.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"
#include "util/name_table.h"

struct node_key {
	uint64_t pc;
	uint32_t parent, module;
	uint64_t signal;
};

struct node_entry {
	struct node_key key;
	uint32_t nr;
	uint32_t stack; /* that ends here; 0: none yet */
	UT_hash_handle hh;
};

/* A stack's totals, in the sample at hand and in the one before. */
struct totals {
	uint64_t count, bytes, told_count, told_bytes;
};

struct thread_key {
	uint64_t first_serial;
	uint32_t tid, slot;
};

struct thread_entry {
	struct thread_key key;
	uint32_t nr;
	UT_hash_handle hh;
};

struct word_key {
	uint64_t address;
	uint64_t module;
};

struct word_entry {
	struct word_key key;
	uint32_t nr;
	UT_hash_handle hh;
};

/* A node of the latest snapshot, by its number there. No key is all zero but with nr 0. */
struct node_before {
	struct node_key key;
	uint32_t nr;
};

struct series_tables {
	struct node_entry *nodes; /* hash by key */
	struct node_entry **entries; /* by node */
	struct node_before *before;
	struct thread_entry *threads;
	struct word_entry *words;
	struct totals *totals; /* by stack */
	size_t alloc_modules, alloc_nodes, alloc_entries, alloc_stacks, alloc_totals;
	size_t nr_before, alloc_before;
	size_t alloc_threads, alloc_words, alloc_samples, alloc_changes;
};

static uint32_t new_stack(struct series *s, uint32_t node)
{
	struct snapshot *all = s->all;
	struct series_tables *t = s->tables;

	all->stacks =
		xgrow(all->stacks, &t->alloc_stacks, all->nr_stacks + 1, sizeof(*all->stacks));
	t->totals = xgrow(t->totals, &t->alloc_totals, all->nr_stacks + 1, sizeof(*t->totals));
	all->stacks[all->nr_stacks] = (struct snap_stack){.node = node};
	t->totals[all->nr_stacks] = (struct totals){0, 0, 0, 0};
	return (uint32_t)all->nr_stacks++;
}

static void new_node(struct series *s, const struct snap_node *node, struct node_entry *entry)
{
	struct snapshot *all = s->all;
	struct series_tables *t = s->tables;

	all->nodes = xgrow(all->nodes, &t->alloc_nodes, all->nr_nodes + 1, sizeof(*all->nodes));
	t->entries = xgrow(t->entries, &t->alloc_entries, all->nr_nodes + 1, sizeof(*t->entries));
	all->nodes[all->nr_nodes] = *node;
	t->entries[all->nr_nodes++] = entry;
}

void series_init(struct series *s)
{
	memset(s, 0, sizeof(*s));
	s->all = xcalloc(1, sizeof(*s->all));
	s->tables = xcalloc(1, sizeof(*s->tables));
	s->all->totals_only = true;
	s->all->exe = xstrdup("");
	s->all->dir = xstrdup("");
	s->all->modules = xgrow(NULL, &s->tables->alloc_modules, 1, sizeof(*s->all->modules));
	s->all->modules[0] = (struct snap_module){.path = xstrdup("")};
	s->all->nr_modules = 1;
	s->all->threads = xgrow(NULL, &s->tables->alloc_threads, 1, sizeof(*s->all->threads));
	s->all->threads[0] = (struct snap_thread){.tid = 0};
	s->all->nr_threads = 1;
	s->all->class_words = xgrow(NULL, &s->tables->alloc_words, 1, sizeof(*s->all->class_words));
	s->all->class_words[0] = (struct snap_class_word){0, 0};
	s->all->nr_class_words = 1;
	new_node(s, &(struct snap_node){.pc = 0}, NULL);
	new_stack(s, 0);
}

void series_release(struct series *s)
{
	struct node_entry *n, *next_node;
	struct thread_entry *t, *next_thread;
	struct word_entry *w, *next_word;

	if (!s->tables)
		return;
	HASH_ITER(hh, s->tables->nodes, n, next_node) {
		HASH_DEL(s->tables->nodes, n);
		free(n);
	}
	HASH_ITER(hh, s->tables->threads, t, next_thread) {
		HASH_DEL(s->tables->threads, t);
		free(t);
	}
	HASH_ITER(hh, s->tables->words, w, next_word) {
		HASH_DEL(s->tables->words, w);
		free(w);
	}
	free(s->tables->before);
	free(s->tables->entries);
	free(s->tables->totals);
	free(s->tables);
	free(s->samples);
	free(s->changes);
	snapshot_free(s->all);
	memset(s, 0, sizeof(*s));
}

static char *copy(char *old, const char *text)
{
	free(old);
	return text ? xstrdup(text) : NULL;
}

void series_describe(struct series *s, const struct snapshot *from)
{
	struct snapshot *all = s->all;

	all->source = from->source;
	all->path = copy(all->path, from->path);
	all->label = copy(all->label, from->label);
	all->exe = copy(all->exe, from->exe);
	all->dir = copy(all->dir, from->dir);
	memcpy(all->image, from->image, sizeof(all->image));
	memcpy(all->comm, from->comm, sizeof(all->comm));
	all->pid = from->pid;
	all->generation = from->generation;
	all->arch = from->arch;
	all->uid = from->uid;
	all->page_size = from->page_size;
	all->depth = from->depth;
	all->start_real_ns = from->start_real_ns;
	all->start_after_ms = from->start_after_ms;
	all->taken_ms = from->taken_ms;
	all->number = from->number;
	all->state = from->state;
	all->coverage = from->coverage;
}

/* ---- numbers ----------------------------------------------------------------------------- */

uint32_t series_module(struct series *s, const struct snap_module *m)
{
	struct snapshot *all = s->all;

	for (size_t i = 1; i < all->nr_modules; i++) {
		const struct snap_module *other = &all->modules[i];

		if (other->build_id_len == m->build_id_len &&
		    !memcmp(other->build_id, m->build_id, m->build_id_len) &&
		    !strcmp(other->path, m->path))
			return (uint32_t)i;
	}
	all->modules = xgrow(all->modules, &s->tables->alloc_modules, all->nr_modules + 1,
			     sizeof(*all->modules));
	all->modules[all->nr_modules] = *m;
	all->modules[all->nr_modules].path = xstrdup(m->path);
	return (uint32_t)all->nr_modules++;
}

static struct node_key key_of(uint32_t parent, uint32_t module, uint64_t pc, bool signal)
{
	struct node_key key;

	memset(&key, 0, sizeof(key));
	key.pc = pc;
	key.parent = parent;
	key.module = module;
	key.signal = signal;
	return key;
}

uint32_t series_node(struct series *s, uint32_t parent, uint32_t module, uint64_t pc, bool signal)
{
	struct node_key key = key_of(parent, module, pc, signal);
	struct node_entry *entry;
	struct snap_node node;

	HASH_FIND(hh, s->tables->nodes, &key, sizeof(key), entry);
	if (entry)
		return entry->nr;
	entry = xcalloc(1, sizeof(*entry));
	entry->key = key;
	entry->nr = (uint32_t)s->all->nr_nodes;
	HASH_ADD(hh, s->tables->nodes, key, sizeof(key), entry);
	node = (struct snap_node){
		.pc = pc + (module ? s->all->modules[module].load_bias : 0),
		.parent = parent,
		.module = module,
		.signal = signal,
	};
	new_node(s, &node, entry);
	return entry->nr;
}

uint32_t series_stack(struct series *s, uint32_t node)
{
	struct node_entry *entry = s->tables->entries[node];

	if (!entry)
		return 0;
	if (!entry->stack)
		entry->stack = new_stack(s, node);
	return entry->stack;
}

/* Names that are in the snapshot itself, those of places that have none here yet. */
static void add_names(struct series *s, const struct snapshot *from, const uint32_t *modules)
{
	struct name_table *names = s->all->names;
	size_t nr = from->names ? from->names->nr_places : 0;
	bool *known = xcalloc(nr + 1, sizeof(*known));
	const struct name_frame *frames;

	/* all are looked up before any is added: the table is put in order for look-ups */
	for (size_t i = 0; i < nr && names; i++) {
		const struct name_table_place *place = &from->names->places[i];

		known[i] = name_table_find(names, modules[place->module], place->address, &frames);
	}
	if (nr && !names)
		names = s->all->names = xcalloc(1, sizeof(*names));
	if (nr && from->names->lacks_raw)
		names->lacks_raw = true;
	for (size_t i = 0; i < nr; i++) {
		const struct name_table_place *place = &from->names->places[i];

		if (!known[i] && place->nr_frames)
			name_table_add(names, modules[place->module], place->address,
				       &from->names->frames[place->first_frame], place->nr_frames);
	}
	free(known);
}

static uint32_t *map_modules(struct series *s, const struct snapshot *from)
{
	uint32_t *modules = xcalloc(from->nr_modules + 1, sizeof(*modules));

	for (size_t i = 1; i < from->nr_modules; i++)
		modules[i] = series_module(s, &from->modules[i]);
	return modules;
}

/*
 * series_node() of node i of a snapshot: mostly what node i of the snapshot before was, which is
 * found without a look-up.
 */
static uint32_t node_again(struct series *s, size_t i, uint32_t parent, uint32_t module,
			   uint64_t pc, bool signal)
{
	struct series_tables *t = s->tables;
	struct node_key key = key_of(parent, module, pc, signal);

	if (i < t->nr_before && !memcmp(&t->before[i].key, &key, sizeof(key)))
		return t->before[i].nr;
	t->before = xgrow(t->before, &t->alloc_before, i + 1, sizeof(*t->before));
	while (t->nr_before <= i)
		t->before[t->nr_before++] = (struct node_before){.nr = 0};
	t->before[i].key = key;
	t->before[i].nr = series_node(s, parent, module, pc, signal);
	return t->before[i].nr;
}

uint32_t *series_map_stacks(struct series *s, const struct snapshot *from)
{
	uint32_t *modules = map_modules(s, from);
	uint32_t *nodes = xcalloc(from->nr_nodes + 1, sizeof(*nodes));
	uint32_t *stacks = xcalloc(from->nr_stacks + 1, sizeof(*stacks));

	for (size_t i = 1; i < from->nr_nodes; i++) {
		const struct snap_node *n = &from->nodes[i];
		uint64_t bias = n->module ? from->modules[n->module].load_bias : 0;

		nodes[i] = node_again(s, i, nodes[n->parent], modules[n->module], n->pc - bias,
				      n->signal);
	}
	for (size_t i = 1; i < from->nr_stacks; i++)
		stacks[i] = series_stack(s, nodes[from->stacks[i].node]);
	add_names(s, from, modules);
	free(modules);
	free(nodes);
	return stacks;
}

static uint32_t thread_number(struct series *s, const struct snap_thread *thread)
{
	struct snapshot *all = s->all;
	struct thread_entry *entry;
	struct thread_key key;

	memset(&key, 0, sizeof(key));
	key.first_serial = thread->first_serial;
	key.tid = thread->tid;
	key.slot = thread->slot;
	HASH_FIND(hh, s->tables->threads, &key, sizeof(key), entry);
	if (entry)
		return entry->nr;
	entry = xcalloc(1, sizeof(*entry));
	entry->key = key;
	entry->nr = (uint32_t)all->nr_threads;
	HASH_ADD(hh, s->tables->threads, key, sizeof(key), entry);
	all->threads = xgrow(all->threads, &s->tables->alloc_threads, all->nr_threads + 1,
			     sizeof(*all->threads));
	all->threads[all->nr_threads++] = *thread;
	return entry->nr;
}

uint32_t *series_map_threads(struct series *s, const struct snapshot *from)
{
	uint32_t *threads = xcalloc(from->nr_threads + 1, sizeof(*threads));

	for (size_t i = 1; i < from->nr_threads; i++)
		threads[i] = thread_number(s, &from->threads[i]);
	return threads;
}

static uint32_t word_number(struct series *s, uint32_t module, uint64_t address)
{
	struct snapshot *all = s->all;
	struct word_entry *entry;
	struct word_key key;

	memset(&key, 0, sizeof(key));
	key.address = address;
	key.module = module;
	HASH_FIND(hh, s->tables->words, &key, sizeof(key), entry);
	if (entry)
		return entry->nr;
	entry = xcalloc(1, sizeof(*entry));
	entry->key = key;
	entry->nr = (uint32_t)all->nr_class_words;
	HASH_ADD(hh, s->tables->words, key, sizeof(key), entry);
	all->class_words = xgrow(all->class_words, &s->tables->alloc_words, all->nr_class_words + 1,
				 sizeof(*all->class_words));
	all->class_words[all->nr_class_words++] = (struct snap_class_word){module, address};
	return entry->nr;
}

uint32_t *series_map_words(struct series *s, const struct snapshot *from)
{
	uint32_t *modules = map_modules(s, from);
	uint32_t *words = xcalloc(from->nr_class_words + 1, sizeof(*words));

	for (size_t i = 1; i < from->nr_class_words; i++)
		words[i] = word_number(s, modules[from->class_words[i].module],
				       from->class_words[i].address);
	free(modules);
	return words;
}

void series_map_init(struct series_map *map, struct series *s, const struct snapshot *from)
{
	map->stacks = series_map_stacks(s, from);
	map->threads = series_map_threads(s, from);
	map->words = series_map_words(s, from);
}

void series_map_release(struct series_map *map)
{
	free(map->stacks);
	free(map->threads);
	free(map->words);
}

struct snap_block series_block(const struct series_map *map, const struct snap_block *b)
{
	struct snap_block block = *b;

	block.stack = map->stacks[b->stack];
	block.thread = map->threads[b->thread];
	block.class_word = map->words[b->class_word];
	return block;
}

/* ---- samples ----------------------------------------------------------------------------- */

void series_begin(struct series *s, uint64_t at_ms)
{
	s->samples = xgrow(s->samples, &s->tables->alloc_samples, s->nr_samples + 1,
			   sizeof(*s->samples));
	s->samples[s->nr_samples++] =
		(struct series_sample){.at_ms = at_ms, .first = s->nr_changes};
}

void series_put(struct series *s, uint32_t stack, uint64_t count, uint64_t bytes)
{
	s->tables->totals[stack].count += count;
	s->tables->totals[stack].bytes += bytes;
}

void series_end(struct series *s)
{
	struct series_sample *sample = &s->samples[s->nr_samples - 1];

	for (size_t i = 0; i < s->all->nr_stacks; i++) {
		struct totals *t = &s->tables->totals[i];

		sample->count += t->count;
		sample->bytes += t->bytes;
		if (t->count != t->told_count || t->bytes != t->told_bytes) {
			s->changes = xgrow(s->changes, &s->tables->alloc_changes, s->nr_changes + 1,
					   sizeof(*s->changes));
			s->changes[s->nr_changes++] =
				(struct series_change){(uint32_t)i, t->count, t->bytes};
		}
		*t = (struct totals){0, 0, t->count, t->bytes};
	}
	sample->nr = s->nr_changes - sample->first;
}

int series_add(struct series *s, const struct snapshot *from, struct hs_error *err)
{
	struct growth_total *totals;
	uint32_t *stacks;
	int ret = growth_totals_read(from, &totals, err);

	if (ret)
		return ret;
	stacks = series_map_stacks(s, from);
	free(series_map_threads(s, from)); /* from now on they have numbers */
	free(series_map_words(s, from));
	series_begin(s, from->start_after_ms + from->taken_ms);
	for (size_t i = 0; i < from->nr_stacks; i++)
		series_put(s, stacks[i], totals[i].count, totals[i].bytes);
	series_end(s);
	free(stacks);
	free(totals);
	return 0;
}
