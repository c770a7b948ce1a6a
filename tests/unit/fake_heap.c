/* SPDX-License-Identifier: MIT */
/*
 * fake_heap.c - a made-up process and snapshots of it; see fake_heap.h.
 *
 * Stack k is: malloc in libc, f<k / 3> in the program or the driver, g<k % 3>, main. So three
 * stacks share a site, which they return to at different addresses; sites of odd f lie in the
 * driver.
 */
#include "tests/unit/fake_heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

enum { LIBC, APP, DRIVER, NR_FAKE_MODULES };

static const struct {
	const char *path;
	uint64_t bias;
	uint8_t build_id;
} fake_modules[NR_FAKE_MODULES] = {
	[LIBC] = {"/lib/libc.so.6", 0x7f0000000000, 1},
	[APP] = {"/usr/bin/app", 0x550000000000, 2},
	[DRIVER] = {"/opt/libdriver.so.1", 0x7e0000000000, 0},
};

#define FRAMES 4u

struct fake_frame {
	uint32_t module;
	uint64_t offset;
};

/* Frame of a stack, outermost first. */
static struct fake_frame frame_of(uint32_t stack, uint32_t level)
{
	switch (level) {
	case 0:
		return (struct fake_frame){APP, 0x100};
	case 1:
		return (struct fake_frame){APP, 0x1000 + 0x10 * (stack % 3)};
	case 2:
		return (struct fake_frame){stack / 3 % 2 ? DRIVER : APP,
					   0x2000 + 0x100 * (stack / 3) + 8 * (stack % 3)};
	default:
		return (struct fake_frame){LIBC, 0x3000};
	}
}

/* ---- the process ------------------------------------------------------------------------- */

void fake_heap_init(struct fake_heap *h, uint64_t seed)
{
	memset(h, 0, sizeof(*h));
	h->random = seed * 2 + 1;
	h->next_serial = 1;
	h->image = 1;
}

void fake_heap_release(struct fake_heap *h)
{
	free(h->blocks);
	memset(h, 0, sizeof(*h));
}

uint64_t fake_heap_random(struct fake_heap *h, uint64_t below)
{
	h->random ^= h->random << 13;
	h->random ^= h->random >> 7;
	h->random ^= h->random << 17;
	return h->random % below;
}

/* A place of 64 KiB that no block has; places are used again soon. */
static uint64_t free_address(struct fake_heap *h)
{
	for (;;) {
		uint64_t address = 0x10000000 + fake_heap_random(h, h->nr + 20) * 0x10000;
		size_t i;

		for (i = 0; i < h->nr && h->blocks[i].address != address; i++)
			;
		if (i == h->nr)
			return address;
	}
}

size_t fake_heap_add(struct fake_heap *h, uint64_t size, uint32_t stack, uint32_t thread)
{
	struct fake_block b = {
		.size = size,
		.stack = stack,
		.thread = thread,
		.birth_ms = h->now_ms,
		.serial = (uint64_t)thread << 48 | h->next_serial++,
		.born_stack = stack,
		.growth_stack = stack,
		.born_size = size,
	};

	b.address = free_address(h);
	h->blocks = xgrow(h->blocks, &h->alloc, h->nr + 1, sizeof(*h->blocks));
	h->blocks[h->nr] = b;
	return h->nr++;
}

static void resize(struct fake_heap *h, struct fake_block *b)
{
	static const uint64_t factors[] = {1, 2, 2, 3};
	uint64_t size =
		fake_heap_random(h, 4) ? b->size * factors[fake_heap_random(h, 4)] : b->size / 2;

	b->size = size > 60000 ? 16 : size;
	b->nr_steps++;
	if (fake_heap_random(h, 2))
		b->stack = (uint32_t)fake_heap_random(h, FAKE_STACKS);
	if (b->nr_steps == 1)
		b->growth_stack = b->stack;
	if (fake_heap_random(h, 2))
		b->address = free_address(h);
}

void fake_heap_event(struct fake_heap *h)
{
	uint64_t what = fake_heap_random(h, 10);
	size_t i = h->nr ? fake_heap_random(h, h->nr) : 0;

	h->now_ms += fake_heap_random(h, 400);
	if (!h->nr || what < 5)
		fake_heap_add(h, 8 * fake_heap_random(h, 40),
			      (uint32_t)fake_heap_random(h, FAKE_STACKS),
			      1 + (uint32_t)fake_heap_random(h, FAKE_THREADS - 1));
	else if (what < 8)
		h->blocks[i] = h->blocks[--h->nr];
	else
		resize(h, &h->blocks[i]);
}

/* ---- snapshots --------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct snap_block *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* 0 .. nr-1 turned round by shuffle; its own inverse is not needed. */
static uint32_t turned(uint32_t i, uint32_t shuffle, uint32_t nr)
{
	return (i + shuffle) % nr;
}

static uint32_t module_nr(uint32_t module, uint32_t shuffle)
{
	return 1 + turned(module, shuffle, NR_FAKE_MODULES);
}

static uint32_t stack_nr(uint32_t stack, uint32_t shuffle)
{
	return stack ? 1 + turned(stack - 1, shuffle, FAKE_STACKS - 1) : 0;
}

static uint32_t thread_nr(uint32_t thread, uint32_t shuffle)
{
	return thread ? 1 + turned(thread - 1, shuffle, FAKE_THREADS - 1) : 0;
}

static void add_modules(struct snapshot *s, uint32_t shuffle)
{
	s->nr_modules = NR_FAKE_MODULES + 1;
	s->modules = xcalloc(s->nr_modules, sizeof(*s->modules));
	s->modules[0].path = xstrdup("");
	for (uint32_t i = 0; i < NR_FAKE_MODULES; i++) {
		struct snap_module *m = &s->modules[module_nr(i, shuffle)];

		m->path = xstrdup(fake_modules[i].path);
		m->load_bias = fake_modules[i].bias;
		m->build_id[0] = fake_modules[i].build_id;
		m->build_id_len = fake_modules[i].build_id ? 20 : 0;
	}
}

/* The node with this frame below its caller's; a new one if there is none yet. */
static uint32_t node_of(struct snapshot *s, uint32_t parent, struct fake_frame f, uint32_t shuffle)
{
	struct snap_node node = {fake_modules[f.module].bias + f.offset + 1, parent,
				 module_nr(f.module, shuffle), false};

	for (uint32_t i = 1; i < s->nr_nodes; i++) {
		if (s->nodes[i].parent == parent && s->nodes[i].pc == node.pc)
			return i;
	}
	s->nodes[s->nr_nodes] = node;
	return (uint32_t)s->nr_nodes++;
}

static void add_stacks(struct snapshot *s, uint32_t shuffle)
{
	s->nr_stacks = FAKE_STACKS;
	s->stacks = xcalloc(s->nr_stacks, sizeof(*s->stacks));
	s->nodes = xcalloc(1 + FAKE_STACKS * FRAMES, sizeof(*s->nodes));
	s->nr_nodes = 1;
	for (uint32_t i = 1; i < FAKE_STACKS; i++) {
		uint32_t parent = 0;

		for (uint32_t level = 0; level < FRAMES; level++)
			parent = node_of(s, parent, frame_of(i, level), shuffle);
		s->stacks[stack_nr(i, shuffle)].node = parent;
	}
}

static void add_threads(struct snapshot *s, uint32_t shuffle)
{
	s->nr_threads = FAKE_THREADS;
	s->threads = xcalloc(s->nr_threads, sizeof(*s->threads));
	for (uint32_t i = 1; i < FAKE_THREADS; i++) {
		struct snap_thread *t = &s->threads[thread_nr(i, shuffle)];

		t->tid = 4000 + i;
		snprintf(t->name, sizeof(t->name), "worker%" PRIu32, i);
	}
}

static void add_lineage(struct snapshot *s, const struct fake_block *from, struct snap_block *b,
			uint32_t shuffle)
{
	struct snap_lineage *l = &s->lineages[s->nr_lineages++];

	l->born_size = from->born_size;
	l->born_stack = stack_nr(from->born_stack, shuffle);
	l->nr_steps = l->nr_kept = l->nr_first = 1;
	l->first_step = (uint32_t)s->nr_steps;
	s->steps[s->nr_steps++] = (struct snap_step){from->size, from->birth_ms,
						    stack_nr(from->growth_stack, shuffle)};
	b->lineage = (uint32_t)s->nr_lineages;
}

struct snapshot *fake_heap_snapshot(const struct fake_heap *h, uint32_t shuffle)
{
	struct snapshot *s = xcalloc(1, sizeof(*s));

	memset(s->image, h->image, sizeof(s->image));
	s->path = xstrdup("fake");
	s->exe = xstrdup("/usr/bin/app");
	s->dir = xstrdup("");
	s->pid = 4242;
	s->arch = HS_ARCH_X86_64;
	s->taken_ms = h->now_ms;
	s->coverage.consistent = true;
	add_modules(s, shuffle);
	add_stacks(s, shuffle);
	add_threads(s, shuffle);
	s->blocks = xcalloc(h->nr + 1, sizeof(*s->blocks));
	s->lineages = xcalloc(h->nr + 1, sizeof(*s->lineages));
	s->steps = xcalloc(h->nr + 1, sizeof(*s->steps));
	for (size_t i = 0; i < h->nr; i++) {
		const struct fake_block *from = &h->blocks[i];
		struct snap_block *b = &s->blocks[s->nr_blocks++];

		*b = (struct snap_block){from->address,
					 from->size,
					 from->size + 8,
					 from->serial,
					 from->birth_ms,
					 stack_nr(from->stack, shuffle),
					 thread_nr(from->thread, shuffle),
					 0,
					 0,
					 0,
					 0};
		if (from->nr_steps)
			add_lineage(s, from, b, shuffle);
		s->live_bytes += b->size;
		s->stacks[b->stack].live_count++;
		s->stacks[b->stack].live_bytes += b->size;
	}
	s->coverage.blocks_without_stack = s->stacks[0].live_count;
	s->live_count = s->nr_blocks;
	qsort(s->blocks, s->nr_blocks, sizeof(*s->blocks), by_address);
	return s;
}

/* ---- names ------------------------------------------------------------------------------- */

size_t fake_heap_lookup(void *context, const struct snapshot *s, uint32_t module, uint64_t address,
			const struct name_frame **ret)
{
	static char kept[64][32]; /* names have to stay: one of each for good */
	static size_t nr_kept;
	static struct name_frame frame;
	char name[32];
	size_t i;

	(void)context;
	if (!strcmp(s->modules[module].path, fake_modules[LIBC].path))
		strcpy(name, "malloc");
	else if (address < 0x1000)
		strcpy(name, "main");
	else if (address < 0x2000)
		snprintf(name, sizeof(name), "g%u", (unsigned int)(address - 0x1000) / 0x10);
	else
		snprintf(name, sizeof(name), "f%u", (unsigned int)(address - 0x2000) / 0x100);
	for (i = 0; i < nr_kept && strcmp(kept[i], name); i++)
		;
	if (i == nr_kept)
		strcpy(kept[nr_kept++], name);
	frame = (struct name_frame){.function = kept[i]};
	*ret = &frame;
	return 1;
}

static char *text(void)
{
	static char ring[16][64];
	static unsigned int at;

	return ring[at++ % 16];
}

const char *fake_heap_function(uint32_t stack)
{
	char *s = text();

	if (!stack)
		return "(no stack)";
	snprintf(s, 64, "f%" PRIu32, stack / 3);
	return s;
}

const char *fake_heap_module(uint32_t stack)
{
	if (!stack)
		return "(no stack)";
	return stack / 3 % 2 ? "libdriver.so.1" : "app";
}

const char *fake_heap_site(uint32_t stack)
{
	char *s = text();

	if (!stack)
		return "(no stack)";
	snprintf(s, 64, "f%" PRIu32 " %s", stack / 3, fake_heap_module(stack));
	return s;
}

const char *fake_heap_thread(uint32_t thread)
{
	char *s = text();

	snprintf(s, 64, "%" PRIu32 " worker%" PRIu32, 4000 + thread, thread);
	return s;
}
