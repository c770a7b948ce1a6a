/* SPDX-License-Identifier: MIT */
/*
 * fake_store.c - stores without a tracer; see fake_store.h.
 *
 * Extents are small, so that even small stores have several.
 */
#include "tests/unit/fake_store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "store/process.h"
#include "store/reader.h"
#include "util/alloc.h"

#define SHIFT 4u

static void die(const char *what)
{
	perror(what);
	abort();
}

static uint64_t reserve(struct fake_store *f, uint64_t bytes)
{
	uint64_t off = (f->header->used + 63) & ~UINT64_C(63);

	if (bytes > f->cap || off > f->cap - bytes) {
		fprintf(stderr, "fake store is too small\n");
		abort();
	}
	f->header->used = off + bytes;
	return off;
}

struct fake_store *fake_store_new(const char *path, uint64_t cap)
{
	struct fake_store *f = xcalloc(1, sizeof(*f));
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct timespec now;

	if (fd < 0 || ftruncate(fd, (off_t)cap))
		die(path);
	f->path = xstrdup(path);
	f->cap = cap;
	f->base = mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (f->base == MAP_FAILED)
		die("mmap");
	close(fd);
	f->header = (struct hs_header *)(void *)f->base;
	f->control = (struct hs_control *)(void *)(f->base + HS_CONTROL_OFF);
	f->messages = (struct hs_messages *)(void *)(f->base + HS_MESSAGES_OFF);
	memcpy(f->header->magic, HS_STORE_MAGIC, 16);
	f->header->version = HS_STORE_VERSION;
	f->header->header_size = sizeof(struct hs_header);
	f->header->arch = HS_ARCH_X86_64;
	f->header->page_size = 4096;
	f->header->cap = cap;
	f->header->used = HS_DATA_OFF;
	f->header->state = HS_STATE_RECORDING;
	f->header->depth = 128;
	f->header->pid = 0x7ffffff0;
	f->header->start_ticks = 4711;
	f->header->start_real_ns = UINT64_C(1700000000000000000);
	f->header->start_after_ns = 20000000;
	process_boot_id(f->header->boot_id);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	f->header->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	memcpy(f->header->comm, "fake", 5);
	f->header->exe_off = fake_string(f, "/usr/bin/fake");
	f->header->peak_epoch = 1;
	f->control->word = HS_MODE_LIVE;
	for (unsigned int i = 0; i < HS_NR_ARRAYS; i++) {
		f->header->arrays[i].elem_size = store_elem_size(i);
		f->header->arrays[i].shift = SHIFT;
		if (i < HS_ARRAY_CELLS)
			fake_take(f, i, 1);
	}
	return f;
}

void fake_store_free(struct fake_store *f, bool remove)
{
	munmap(f->base, f->cap);
	if (remove)
		unlink(f->path);
	free(f->path);
	free(f);
}

void fake_store_live(struct fake_store *f, pid_t pid)
{
	struct process_stat st;

	if (!process_stat_read(pid, 0, &st))
		die("stat of a process");
	f->header->pid = (uint32_t)pid;
	f->header->start_ticks = st.start_ticks;
}

void *fake_place(struct fake_store *f, unsigned int array, uint64_t nr)
{
	struct hs_array *a = &f->header->arrays[array];
	uint32_t k;

	while (a->ready <= nr) {
		k = hs_array_extent(a->shift, a->ready);
		a->extent[k] = reserve(f, hs_array_extent_len(a->shift, k) * a->elem_size);
		a->ready += hs_array_extent_len(a->shift, k);
	}
	if (a->count <= nr)
		a->count = nr + 1;
	k = hs_array_extent(a->shift, nr);
	return f->base + a->extent[k] + (nr - hs_array_first(a->shift, k)) * a->elem_size;
}

uint64_t fake_take(struct fake_store *f, unsigned int array, uint64_t n)
{
	uint64_t first = f->header->arrays[array].count;

	fake_place(f, array, first + n - 1);
	return first;
}

uint64_t fake_string(struct fake_store *f, const char *s)
{
	uint64_t off = reserve(f, strlen(s) + 1);

	memcpy(f->base + off, s, strlen(s) + 1);
	return off;
}

uint32_t fake_module(struct fake_store *f, const char *path, uint64_t start, uint64_t len)
{
	uint32_t nr = (uint32_t)fake_take(f, HS_ARRAY_MODULES, 1);
	struct hs_module *m = fake_place(f, HS_ARRAY_MODULES, nr);

	m->load_bias = m->start = start;
	m->end = start + len;
	m->path_off = fake_string(f, path);
	m->nr_segments = 1;
	m->segments[0] = (struct hs_segment){start, start + len, 0};
	m->build_id_len = 20;
	memset(m->build_id, (int)nr, 20);
	return nr;
}

uint32_t fake_node(struct fake_store *f, uint32_t parent, uint64_t pc, uint32_t module)
{
	uint32_t nr = (uint32_t)fake_take(f, HS_ARRAY_NODES, 1);
	struct hs_node *n = fake_place(f, HS_ARRAY_NODES, nr);

	n->pc = pc | (uint64_t)module << HS_NODE_MODULE_SHIFT;
	n->parent = parent;
	return nr;
}

uint32_t fake_stack(struct fake_store *f, uint32_t node)
{
	uint32_t nr = (uint32_t)fake_take(f, HS_ARRAY_STACKS, 1);

	((struct hs_stack *)fake_place(f, HS_ARRAY_STACKS, nr))->node = node;
	((struct hs_node *)fake_place(f, HS_ARRAY_NODES, node))->stack = nr;
	return nr;
}

struct hs_thread *fake_slot(struct fake_store *f, uint32_t slot)
{
	return fake_place(f, HS_ARRAY_THREADS, slot);
}

uint32_t fake_thread(struct fake_store *f, uint32_t tid, const char *name)
{
	uint32_t nr = (uint32_t)fake_take(f, HS_ARRAY_THREADS, 1);
	struct hs_thread *t = fake_slot(f, nr);

	t->state = HS_THREAD_LIVE;
	t->tid = tid;
	t->shard = 1 + nr % (HS_NR_SHARDS - 1);
	snprintf(t->name, sizeof(t->name), "%s", name);
	return nr;
}

struct hs_cell *fake_cell(struct fake_store *f, uint32_t shard, uint32_t stack)
{
	return fake_place(f, HS_ARRAY_CELLS + shard, stack);
}

struct hs_record *fake_record(struct fake_store *f, uint32_t nr)
{
	return fake_place(f, HS_ARRAY_RECORDS, nr);
}

/* The live and born totals; keeps the high-water mark as the tracer does, without any lag. */
static void count(struct fake_store *f, uint32_t slot, uint32_t stack, int64_t nr, int64_t bytes,
		  bool born)
{
	struct hs_header *h = f->header;
	struct hs_cell *cell = fake_cell(f, fake_slot(f, slot)->shard, stack);

	if (cell->epoch < h->peak_epoch) {
		cell->peak_count = cell->live_count;
		cell->peak_bytes = cell->live_bytes;
		cell->epoch = h->peak_epoch;
	}
	cell->live_count += nr;
	cell->live_bytes += bytes;
	if (born) {
		cell->born_count++;
		cell->born_bytes += (uint64_t)bytes;
	}
	h->live_count += nr;
	h->live_bytes += bytes;
	if (h->live_bytes > h->peak_bytes) {
		h->peak_bytes = h->live_bytes;
		h->peak_count = h->live_count;
		h->peak_epoch++;
	}
}

uint32_t fake_block(struct fake_store *f, uint64_t address, uint64_t size, uint32_t stack,
		    uint32_t slot, uint32_t birth_ticks)
{
	uint32_t nr = (uint32_t)fake_take(f, HS_ARRAY_RECORDS, 1);
	struct hs_record *r = fake_record(f, nr);
	uint64_t usable = ((size + 15) & ~UINT64_C(15)) + 8;

	r->size = size | (usable - size) << HS_SIZE_BITS;
	r->serial = (uint64_t)slot << HS_SERIAL_SLOT_SHIFT | fake_slot(f, slot)->next_serial++;
	r->stack = stack;
	r->birth = birth_ticks;
	__atomic_store_n(&r->word, address, __ATOMIC_RELEASE);
	count(f, slot, stack, 1, (int64_t)size, true);
	return nr;
}

static struct hs_lineage_head *lineage_of(struct fake_store *f, const struct hs_record *r)
{
	if (!(r->word & HS_RECORD_LINEAGE))
		return NULL;
	return fake_place(f, r->word & HS_RECORD_LONG ? HS_ARRAY_LONG_LINEAGES : HS_ARRAY_LINEAGES,
			  r->birth);
}

void fake_free_block(struct fake_store *f, uint32_t record)
{
	struct hs_record *r = fake_record(f, record);

	__atomic_store_n(&r->word, 0, __ATOMIC_RELEASE);
	count(f, (uint32_t)(r->serial >> HS_SERIAL_SLOT_SHIFT), r->stack, -1,
	      -(int64_t)(r->size & HS_SIZE_MAX), false);
}

/* Moves the lineage of r, which has n steps, into a long one. */
static struct hs_lineage_head *lengthen(struct fake_store *f, struct hs_record *r, uint32_t n)
{
	struct hs_lineage *from = fake_place(f, HS_ARRAY_LINEAGES, r->birth);
	uint32_t nr = (uint32_t)fake_take(f, HS_ARRAY_LONG_LINEAGES, 1);
	struct hs_long_lineage *to = fake_place(f, HS_ARRAY_LONG_LINEAGES, nr);

	to->head = from->head;
	to->head.nr_shrinks = 0;
	to->nr_shrinks = from->head.nr_shrinks;
	to->born_size = to->peak_size = from->born_size;
	for (uint32_t i = 0; i < n; i++) {
		to->steps[i] = (struct hs_step){from->steps[i].size, from->steps[i].stack,
						from->steps[i].time};
		if (from->steps[i].size > to->peak_size)
			to->peak_size = from->steps[i].size;
	}
	r->birth = nr;
	r->word |= HS_RECORD_LONG;
	return &to->head;
}

static void add_step(struct fake_store *f, struct hs_record *r, struct hs_lineage_head *head,
		     const struct hs_step *step)
{
	uint32_t n = head->nr_steps;

	if (!(r->word & HS_RECORD_LONG) && n == HS_SHORT_STEPS)
		head = lengthen(f, r, n);
	if (!(r->word & HS_RECORD_LONG))
		((struct hs_lineage *)(void *)head)->steps[n] = (struct hs_short_step){
			(uint32_t)step->size, step->stack, step->time};
	else if (n < HS_FIRST_STEPS)
		((struct hs_long_lineage *)(void *)head)->steps[n] = *step;
	else
		((struct hs_long_lineage *)(void *)head)
			->steps[HS_FIRST_STEPS + (n - HS_FIRST_STEPS) % HS_LAST_STEPS] = *step;
	head->nr_steps = n + 1;
}

void fake_resize(struct fake_store *f, uint32_t record, uint64_t size, uint32_t stack,
		 uint32_t ticks)
{
	struct hs_record *r = fake_record(f, record);
	struct hs_lineage_head *head = lineage_of(f, r);
	uint32_t slot = (uint32_t)(r->serial >> HS_SERIAL_SLOT_SHIFT);
	uint64_t old = r->size & HS_SIZE_MAX, usable = ((size + 15) & ~UINT64_C(15)) + 8;
	struct hs_step step = {size, stack, ticks};

	if (!head) {
		uint32_t nr = (uint32_t)fake_take(f, HS_ARRAY_LINEAGES, 1);
		struct hs_lineage *l = fake_place(f, HS_ARRAY_LINEAGES, nr);

		l->born_size = (uint32_t)old;
		head = &l->head;
		head->born_stack = r->stack;
		head->birth = r->birth;
		r->birth = nr;
		r->word |= HS_RECORD_LINEAGE;
	}
	count(f, slot, r->stack, -1, -(int64_t)old, false);
	count(f, slot, stack, 1, (int64_t)size, true);
	if (size > old)
		add_step(f, r, head, &step);
	else if (r->word & HS_RECORD_LONG)
		((struct hs_long_lineage *)(void *)head)->nr_shrinks++;
	else
		head->nr_shrinks++;
	head = lineage_of(f, r);
	head->changed = ticks;
	if (r->word & HS_RECORD_LONG) {
		struct hs_long_lineage *l = (struct hs_long_lineage *)(void *)head;

		l->size = size;
		l->usable = usable;
		if (size > l->peak_size)
			l->peak_size = size;
	}
	r->size = size | (usable - size) << HS_SIZE_BITS;
	r->stack = stack;
}

void fake_small(struct fake_store *f)
{
	uint32_t module = fake_module(f, "/usr/bin/fake", 0x400000, 0x100000);
	uint32_t node = fake_node(f, 0, 0x400100, module);
	uint32_t one = fake_stack(f, fake_node(f, node, 0x400200, module));
	uint32_t two = fake_stack(f, fake_node(f, node, 0x400300, module));
	uint32_t slot = fake_thread(f, 100, "main");
	uint32_t other = fake_thread(f, 101, "worker");
	uint32_t grown;

	fake_block(f, 0x10000, 100, one, slot, 5);
	fake_block(f, 0x20000, 200, two, other, 6);
	grown = fake_block(f, 0x30000, 64, one, slot, 7);
	fake_resize(f, grown, 128, two, 8);
	fake_resize(f, grown, 256, two, 9);
	f->messages->count = 1;
	f->messages->ring[0].ms = 3;
	snprintf(f->messages->ring[0].text, HS_MESSAGE_LEN, "hello");
}
