/* SPDX-License-Identifier: MIT */
/*
 * test_table.c - the live table, the trie of stacks and the totals, by one thread and by four.
 *
 * The tracer as a library on a store of its own: blocks are made up (addresses that nobody maps),
 * what the table then holds is read back from the arrays as a reader finds them. Meant to be run
 * with ThreadSanitizer, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/snapshot.h"
#include "store/create.h"
#include "store/process.h"
#include "store/writer.h"
#include "tracer/contents.h"
#include "tracer/index.h"
#include "tracer/intern.h"
#include "tracer/module.h"
#include "tracer/record.h"
#include "tracer/thread.h"
#include "tracer/totals.h"
#include "tracer/sys.h"
#include "util/error.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define SLOTS 512
#define STEPS 60000

static char store_path[64];

/* A library does not start by itself; this is what lifecycle.c does, on a file of the test. */
static int set_up(void **state)
{
	struct store_options options = { .cap = UINT64_C(1) << 30, .mode = HS_MODE_LIVE };
	struct process_stat self;
	struct timespec now;

	(void)state;
	snprintf(store_path, sizeof(store_path), "/tmp/heapstory-table.%d.store", (int)getpid());
	assert_int_equal(store_create(store_path, &options), 0);
	assert_int_equal(store_attach(store_path), 0);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	store.header->start_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	store.header->pid = (uint32_t)getpid();
	assert_true(process_stat_read(getpid(), 0, &self));
	store.header->start_ticks = self.start_ticks;
	assert_true(process_boot_id(store.header->boot_id));
	sys_membarrier_register();
	module_start("/proc/self/exe");
	unwind_start();
	assert_int_equal(thread_start(), 0);
	assert_int_equal(index_start(), 0);
	__atomic_store_n(&store.header->state, HS_STATE_RECORDING, __ATOMIC_RELEASE);
	thread_open_gate();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(store_path);
}

/* In place of contents.c: the blocks are at addresses that nobody maps. */
static uint32_t alike;

uint32_t contents_alike(uint64_t old, uint64_t size, uint64_t copy)
{
	(void)old;
	(void)copy;
	return size ? alike : 0;
}

/* ---- what a hook does ---- */

static __attribute__((noinline)) void birth(uint64_t address, uint64_t size)
{
	struct thread *t = tracer_enter();
	struct unwind_regs regs;
	struct block b = { address, size, size, HS_FAMILY_MALLOC };

	UNWIND_HERE(&regs);
	assert_non_null(t);
	record_birth(t, &b, &regs);
	tracer_leave(t);
}

static void death(uint64_t address, bool known)
{
	struct thread *t = tracer_enter();
	bool was;

	assert_non_null(t);
	was = record_death(t, address);
	tracer_leave(t);
	assert_int_equal(was, known);
}

static __attribute__((noinline)) void resize(uint64_t from, uint64_t to, uint64_t size)
{
	struct thread *t = tracer_enter();
	struct unwind_regs regs;
	struct block b = { to, size, size, HS_FAMILY_REALLOC };
	struct resize r;

	UNWIND_HERE(&regs);
	assert_non_null(t);
	record_resize_begin(t, from, &r);
	tracer_leave(t);
	t = tracer_enter();
	record_resize_end(t, &r, &b, &regs);
	tracer_leave(t);
}

/* ---- what a reader finds ---- */

static struct snapshot *look(void)
{
	struct snapshot *s = NULL;
	struct hs_error err = { 0 };
	uint64_t count = 0, bytes = 0, by_stack = 0;

	if (snapshot_open(store_path, &s, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < s->nr_blocks; i++) {
		count++;
		bytes += s->blocks[i].size;
		if (i)
			assert_true(s->blocks[i - 1].address < s->blocks[i].address);
	}
	assert_int_equal(count, s->live_count);
	assert_int_equal(bytes, s->live_bytes);
	for (size_t i = 0; i < s->nr_stacks; i++)
		by_stack += s->stacks[i].live_bytes;
	assert_int_equal(by_stack, bytes);
	return s;
}

static const struct snap_block *block_at(const struct snapshot *s, uint64_t address)
{
	for (size_t i = 0; i < s->nr_blocks; i++)
		if (s->blocks[i].address == address)
			return &s->blocks[i];
	return NULL;
}

/*
 * Sum of the shards' cells: what the writer's own totals say. A thread's latest death is settled
 * at its next event or its end; this thread's is settled here.
 */
static void writer_totals(int64_t *ret_count, int64_t *ret_bytes)
{
	struct thread *t = tracer_enter();

	assert_non_null(t);
	record_settle(t);
	tracer_leave(t);
	*ret_count = *ret_bytes = 0;
	for (uint32_t shard = 0; shard < HS_NR_SHARDS; shard++) {
		const struct hs_array *a = &store.header->arrays[HS_ARRAY_CELLS + shard];

		for (uint64_t i = 0; i < a->ready && i < store.header->arrays[HS_ARRAY_STACKS].count; i++) {
			const struct hs_cell *c = store_place(HS_ARRAY_CELLS + shard, i);

			*ret_count += c->live_count;
			*ret_bytes += c->live_bytes;
		}
	}
}

/* ---- tests ---- */

static uint32_t nr_pending(void)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < HS_NR_PENDING; i++)
		nr += tracer_self->slot->pending[i] != 0;
	return nr;
}

/* A freed block is none for the reader at once, and for the totals when its thread goes on. */
static void test_pending(void **state)
{
	const uint64_t first = 0x7000000ff040, step = 64, nr = 3 * HS_NR_PENDING;
	int64_t before, after, bytes;
	struct snapshot *s;

	(void)state;
	writer_totals(&before, &bytes);
	for (uint64_t i = 0; i < nr; i++)
		birth(first + i * step, 48);
	assert_int_equal(nr_pending(), 0);
	for (uint64_t i = 0; i < nr; i++) {
		death(first + i * step, true);
		assert_int_equal(nr_pending(), i < HS_NR_PENDING ? i + 1 : HS_NR_PENDING);
		s = look();
		assert_null(block_at(s, first + i * step));
		assert_true(i + 1 == nr || block_at(s, first + (i + 1) * step));
		assert_true(s->coverage.consistent);
		snapshot_free(s);
	}
	writer_totals(&after, &bytes);
	assert_int_equal(nr_pending(), 0);
	assert_int_equal(after, before);
}

/* The mark is what really was live at one moment, whatever deaths still wait. */
static void test_mark(void **state)
{
	int64_t peak = store.header->peak_bytes, live, count;

	(void)state;
	writer_totals(&count, &live);
	birth(0x700000200000, (uint64_t)(peak - live));
	birth(0x700000300040, 100);
	death(0x700000300040, true);
	birth(0x700000300080, 100);
	birth(0x700000300100, 50);
	death(0x700000300080, true);
	death(0x700000300100, true);
	death(0x700000200000, true);
	writer_totals(&count, &live);
	assert_int_equal(store.header->peak_bytes, peak + 150);
}

static void test_one_block(void **state)
{
	struct snapshot *s;
	uint64_t first, second;

	(void)state;
	birth(0x700000001000, 100);
	s = look();
	assert_int_equal(s->nr_blocks, 1);
	assert_int_equal(s->blocks[0].size, 100);
	assert_int_equal(s->blocks[0].usable, 100);
	assert_int_not_equal(s->blocks[0].stack, 0);
	first = s->blocks[0].serial;
	snapshot_free(s);

	death(0x700000001000, true);
	death(0x700000001000, false);
	birth(0x700000001000, 100);
	s = look();
	assert_int_equal(s->nr_blocks, 1);
	second = s->blocks[0].serial;
	assert_int_not_equal(first, second); /* the same address, another block */
	assert_int_equal(s->coverage.lost[HS_LOST_UNKNOWN_FREE], 1);
	snapshot_free(s);
	death(0x700000001000, true);
}

static void test_neighbours(void **state)
{
	struct snapshot *s;

	(void)state;
	/* classes of 8 bytes, the two ends of a page and of a node of the index */
	birth(0x700000040000 - 8, 8);
	birth(0x700000040000, 8);
	birth(0x700000040008, 8);
	birth(0x700008000000 - 16, 16);
	birth(0x700008000000, 0);
	birth(0x7ffffffff000, 1);
	s = look();
	assert_int_equal(s->nr_blocks, 6);
	snapshot_free(s);
	death(0x700000040000, true);
	death(0x700000040010, false);
	s = look();
	assert_int_equal(s->nr_blocks, 5);
	assert_non_null(block_at(s, 0x700000040008));
	assert_null(block_at(s, 0x700000040000));
	snapshot_free(s);
	death(0x700000040000 - 8, true);
	death(0x700000040008, true);
	death(0x700008000000 - 16, true);
	death(0x700008000000, true);
	death(0x7ffffffff000, true);
}

/* Sizes for either leaf of the index, in one page and at one address after the other. */
static void test_leaves(void **state)
{
	const uint64_t at = 0x700000050000, step = 16;
	uint64_t stale = store.header->lost[HS_LOST_STALE];
	uint64_t unknown = store.header->lost[HS_LOST_UNKNOWN_FREE];
	struct snapshot *s;

	(void)state;
	for (uint64_t i = 0; i < 512; i++)
		birth(at + i * step, i % 8 == 3 ? 17 : i % 8 == 4 ? 0 : 16 - i % 8);
	for (uint64_t i = 4; i < 512; i += 8)
		death(at + i * step, true); /* the one before it may be larger than 16 now */
	s = look();
	assert_int_equal(s->nr_blocks, 512 - 64);
	snapshot_free(s);
	for (uint64_t i = 0; i < 512; i++)
		death(at + i * step, i % 8 != 4);
	assert_int_equal(store.header->lost[HS_LOST_UNKNOWN_FREE], unknown + 64);

	birth(at, 16);
	resize(at, at, 32);
	resize(at, at + step, 16);
	resize(at + step, at, 17);
	birth(at + 2 * step, 8);
	death(at, true);
	birth(at + step, 16);
	birth(at, 10);
	s = look();
	assert_int_equal(s->nr_blocks, 3);
	snapshot_free(s);
	for (uint64_t i = 0; i < 3; i++)
		death(at + i * step, true);
	assert_int_equal(store.header->lost[HS_LOST_STALE], stale);

	birth(at, 20); /* a free that nobody saw; the next one there is a small one */
	birth(at, 10);
	assert_int_equal(store.header->lost[HS_LOST_STALE], stale + 1);
	birth(at, 20); /* and the other way round */
	assert_int_equal(store.header->lost[HS_LOST_STALE], stale + 2);
	birth(at + step, 20); /* lies where the other one lay */
	assert_int_equal(store.header->lost[HS_LOST_STALE], stale + 3);
	death(at, false);
	death(at + step, true);
	s = look();
	assert_int_equal(s->nr_blocks, 0);
	snapshot_free(s);
}

static void test_addresses_out_of_range(void **state)
{
	uint64_t lost = store.header->lost[HS_LOST_ADDRESS];

	(void)state;
	birth(UINT64_C(1) << 48, 10);
	birth(0x700000000004, 10);
	assert_int_equal(store.header->lost[HS_LOST_ADDRESS], lost + 2);
}

static void test_missed_free(void **state)
{
	uint64_t stale = store.header->lost[HS_LOST_STALE];
	struct snapshot *s;

	(void)state;
	birth(0x700000002000, 10);
	birth(0x700000002000, 20); /* a free that nobody saw: the older block is dropped */
	s = look();
	assert_int_equal(s->nr_blocks, 1);
	assert_int_equal(s->blocks[0].size, 20);
	snapshot_free(s);
	assert_int_equal(store.header->lost[HS_LOST_STALE], stale + 1);
	death(0x700000002000, true);
}

static void test_lineage(void **state)
{
	uint64_t at = 0x700000003000, size = 64;
	const struct snap_lineage *l;
	struct snapshot *s;

	(void)state;
	birth(at, size);
	for (int i = 0; i < 40; i++) {
		uint64_t to = i % 3 ? at : at + 0x100000;

		size += 64;
		resize(at, to, size);
		at = to;
	}
	resize(at, at, size - 100);
	s = look();
	assert_int_equal(s->nr_blocks, 1);
	assert_int_equal(s->blocks[0].size, size - 100);
	assert_int_not_equal(s->blocks[0].lineage, 0);
	l = &s->lineages[s->blocks[0].lineage - 1];
	assert_int_equal(l->born_size, 64);
	assert_int_equal(l->nr_steps, 40);
	assert_int_equal(l->nr_shrinks, 1);
	assert_int_equal(l->peak_size, size);
	assert_int_equal(l->nr_kept, HS_FIRST_STEPS + HS_LAST_STEPS);
	assert_int_equal(s->steps[l->first_step].size, 128);
	assert_int_equal(s->steps[l->first_step + l->nr_kept - 1].size, size);
	snapshot_free(s);
	death(at, true);
}

/* ---- growth by copying ---- */

#define COPIES 41

/*
 * A block of sizes[0] is copied to one of sizes[1] and so on, all by one stack; after each step
 * check() sees the only block there is. Returns the address of the last.
 */
static uint64_t grow(const uint64_t *sizes, int nr,
		     void (*check)(const struct snapshot *s, const uint64_t *sizes, int step))
{
	uint64_t at = 0, to = 0x700000010000;

	for (int i = 0; i < nr; i++) {
		struct snapshot *s;

		birth(to, sizes[i]);
		if (at)
			death(at, true);
		at = to;
		to ^= 0x100000;
		s = look();
		assert_int_equal(s->nr_blocks, 1);
		assert_int_equal(s->blocks[0].address, at);
		assert_int_equal(s->blocks[0].size, sizes[i]);
		check(s, sizes, i);
		snapshot_free(s);
	}
	return at;
}

/* NULL if the only block has none. */
static const struct snap_lineage *lineage_of_one(const struct snapshot *s)
{
	return s->blocks[0].lineage ? &s->lineages[s->blocks[0].lineage - 1] : NULL;
}

static void has_all_steps(const struct snapshot *s, const uint64_t *sizes, int step)
{
	const struct snap_lineage *l = lineage_of_one(s);

	assert_non_null(l);
	assert_true(l->inferred);
	assert_int_equal(l->nr_steps, step);
	assert_int_equal(l->born_size, sizes[0]);
	assert_int_equal(s->steps[l->first_step].size, sizes[1]);
	assert_int_equal(s->steps[l->first_step + l->nr_kept - 1].size, sizes[step]);
}

static void shows_if_large(const struct snapshot *s, const uint64_t *sizes, int step)
{
	if (!step || sizes[step] < 128)
		assert_null(lineage_of_one(s));
	else
		has_all_steps(s, sizes, step);
}

static void test_copies_alike(void **state)
{
	uint64_t inferred = tracer_self->slot->nr_inferred, sizes[COPIES] = { 24 }, at;
	const struct snap_lineage *l;
	int64_t count, bytes;
	struct snapshot *s;

	(void)state;
	alike = 4;
	for (int i = 1; i < COPIES; i++)
		sizes[i] = sizes[i - 1] * 3 / 2;
	at = grow(sizes, COPIES, shows_if_large);
	assert_int_equal(tracer_self->slot->nr_inferred, inferred + COPIES - 1);
	/* a realloc goes on in the same lineage, and then a copy */
	resize(at, at, sizes[COPIES - 1] + 1000);
	birth(0x700000300000, sizes[COPIES - 1] + 2000);
	death(at, true);
	s = look();
	l = lineage_of_one(s);
	assert_int_equal(l->nr_steps, COPIES + 1);
	assert_int_equal(l->nr_kept, HS_FIRST_STEPS + HS_LAST_STEPS);
	snapshot_free(s);
	death(0x700000300000, true);
	writer_totals(&count, &bytes);
	assert_int_equal(count, 0);
	assert_int_equal(bytes, 0);
	alike = 0;
}

static void shows_after_three(const struct snapshot *s, const uint64_t *sizes, int step)
{
	if (step < 3)
		assert_null(lineage_of_one(s));
	else
		has_all_steps(s, sizes, step);
}

static void shows_never(const struct snapshot *s, const uint64_t *sizes, int step)
{
	(void)sizes;
	(void)step;
	assert_null(lineage_of_one(s));
}

/* Elements that are moved: the contents say nothing, the third step alike makes all three sure. */
static void test_copies_moved(void **state)
{
	uint64_t sizes[9] = { 200 };

	(void)state;
	for (int i = 1; i < 9; i++)
		sizes[i] = 2 * sizes[i - 1] + 16;
	death(grow(sizes, 9, shows_after_three), true);
	for (int i = 1; i < 9; i++)
		sizes[i] = sizes[i - 1] * (i & 1 ? 13 : 29) / 10;
	death(grow(sizes, 9, shows_never), true);
}

/* Blocks that are replaced by larger and smaller ones with the same contents do not grow. */
static void test_copies_replaced(void **state)
{
	uint64_t base = 0x700000300000, inferred = tracer_self->slot->nr_inferred;
	uint64_t at[50] = { 0 };
	unsigned random = 1;

	(void)state;
	alike = 4;
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t to = base + i % 4096 * UINT64_C(0x400);
		unsigned slot = i % 50;

		random = random * 1664525u + 1013904223u;
		birth(to, 16 + (random >> 16) % 900);
		if (at[slot])
			death(at[slot], true);
		at[slot] = to;
	}
	assert_true(tracer_self->slot->nr_inferred - inferred < 100);
	for (unsigned slot = 0; slot < 50; slot++)
		death(at[slot], true);
	alike = 0;
}

static void test_failed_resize(void **state)
{
	struct thread *t;
	struct snapshot *s;
	struct resize r;

	(void)state;
	birth(0x700000004000, 77);
	t = tracer_enter();
	record_resize_begin(t, 0x700000004000, &r);
	tracer_leave(t);
	s = look(); /* in flight: still part of the snapshot */
	assert_int_equal(s->nr_blocks, 1);
	assert_int_equal(s->blocks[0].size, 77);
	snapshot_free(s);
	t = tracer_enter();
	record_resize_undo(t, &r);
	tracer_leave(t);
	s = look();
	assert_int_equal(s->nr_blocks, 1);
	assert_int_equal(s->blocks[0].lineage, 0);
	snapshot_free(s);
	death(0x700000004000, true);
}

/* A signal handler in the middle of a realloc resizes a block of its own. */
static void test_nested_resize(void **state)
{
	struct thread *t;
	struct snapshot *s;
	struct resize outer, inner;
	struct block b = { 0x700000006000, 300, 300, HS_FAMILY_REALLOC };
	struct unwind_regs regs;
	int64_t count, bytes;

	(void)state;
	UNWIND_HERE(&regs);
	birth(0x700000004000, 77);
	birth(0x700000005000, 88);
	t = tracer_enter();
	record_resize_begin(t, 0x700000004000, &outer);
	tracer_leave(t);
	t = tracer_enter();
	record_resize_begin(t, 0x700000005000, &inner);
	tracer_leave(t);
	s = look();
	assert_int_equal(s->nr_blocks, 2);
	assert_int_equal(block_at(s, 0x700000004000)->size, 77);
	assert_int_equal(block_at(s, 0x700000005000)->size, 88);
	assert_true(s->coverage.consistent);
	assert_int_equal(s->coverage.dropped_blocks, 0);
	snapshot_free(s);
	death(0x700000005000, false); /* its place is free to be another's */

	t = tracer_enter();
	record_resize_end(t, &inner, &b, &regs);
	tracer_leave(t);
	s = look();
	assert_int_equal(s->nr_blocks, 2);
	assert_int_equal(block_at(s, 0x700000006000)->size, 300);
	snapshot_free(s);
	t = tracer_enter();
	record_resize_undo(t, &outer);
	tracer_leave(t);

	t = tracer_enter();
	record_resize_begin(t, 0x700000004000, &outer);
	record_resize_begin(t, 0x700000006000, &inner);
	record_resize_free(t, &inner);
	record_resize_undo(t, &outer);
	tracer_leave(t);
	s = look();
	assert_int_equal(s->nr_blocks, 1);
	assert_int_equal(block_at(s, 0x700000004000)->size, 77);
	assert_true(s->coverage.consistent);
	snapshot_free(s);
	death(0x700000004000, true);
	writer_totals(&count, &bytes);
	assert_int_equal(count, 0);
	assert_int_equal(bytes, 0);
}

static void test_intern(void **state)
{
	uint64_t here = (uint64_t)(uintptr_t)&test_intern;
	uint32_t outer = intern_node(0, here), inner = intern_node(outer, here + 4);

	(void)state;
	assert_int_not_equal(outer, 0);
	assert_int_not_equal(inner, 0);
	assert_int_equal(intern_node(0, here), outer);
	assert_int_equal(intern_node(outer, here + 4), inner);
	assert_int_not_equal(intern_node(0, here + 4), inner);
	assert_int_equal(intern_stack(inner), intern_stack(inner));
	assert_int_not_equal(intern_stack(inner), intern_stack(outer));
	assert_int_equal(store_node(inner)->parent, outer);
	assert_true(outer < inner);
	for (uint32_t i = 0; i < 20000; i++) /* the hash index grows several times */
		assert_int_not_equal(intern_node(outer, here + i), 0);
	assert_int_equal(intern_node(outer, here + 4), inner);
}

/* ---- four threads, each with its own blocks, some of which the next one frees ---- */

static uint64_t handed[THREADS];
static uint64_t model[THREADS][SLOTS]; /* size + 1; 0: none */
static int readers_stop;

static uint64_t address_of(unsigned thread, unsigned slot)
{
	return 0x600000000000 + thread * 0x10000000000 + slot * UINT64_C(0x420);
}

static void *churn(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg, random = me + 1;

	for (unsigned i = 0; i < STEPS; i++) {
		unsigned slot;
		uint64_t address, size, other;

		random = random * 1664525u + 1013904223u;
		slot = (random >> 8) % (SLOTS - 1);
		size = (random >> 16) % 1000;
		address = address_of(me, slot);
		if (!model[me][slot]) {
			birth(address, size);
			model[me][slot] = size + 1;
		} else if (random >> 31) {
			resize(address, address, size);
			model[me][slot] = size + 1;
		} else {
			death(address, true);
			model[me][slot] = 0;
		}
		if (i % 64)
			continue;
		/* the last slot is for blocks that the next thread frees: at another address each time */
		address = 0x500000000000 + me * 0x10000000000 + i * UINT64_C(0x40);
		birth(address, 64);
		other = __atomic_exchange_n(&handed[(me + 1) % THREADS], address, __ATOMIC_ACQ_REL);
		if (other)
			death(other, true);
	}
	return NULL;
}

static void *snapshots(void *arg)
{
	unsigned *nr = arg;

	while (!__atomic_load_n(&readers_stop, __ATOMIC_ACQUIRE)) {
		struct snapshot *s = NULL;
		struct hs_error err = { 0 };
		uint64_t bytes = 0;

		if (snapshot_open(store_path, &s, &err))
			fail_msg("%s", err.text);
		for (size_t i = 0; i < s->nr_stacks; i++)
			bytes += s->stacks[i].live_bytes;
		assert_int_equal(bytes, s->live_bytes);
		snapshot_free(s);
		++*nr;
	}
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t threads[THREADS], reader;
	unsigned nr_snapshots = 0;
	uint64_t want = 0, want_bytes = 0;
	int64_t count, bytes;
	struct snapshot *s;

	(void)state;
	assert_int_equal(pthread_create(&reader, NULL, snapshots, &nr_snapshots), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&readers_stop, 1, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);
	assert_true(nr_snapshots > 0);

	s = look();
	for (unsigned i = 0; i < THREADS; i++) {
		for (unsigned k = 0; k < SLOTS; k++) {
			const struct snap_block *b = block_at(s, address_of(i, k));

			assert_int_equal(b ? b->size + 1 : 0, model[i][k]);
			want += model[i][k] != 0;
			want_bytes += model[i][k] ? model[i][k] - 1 : 0;
		}
		want += handed[i] != 0;
		want_bytes += handed[i] ? 64 : 0;
		if (handed[i])
			assert_non_null(block_at(s, handed[i]));
	}
	assert_int_equal(s->nr_blocks, want);
	assert_int_equal(s->live_bytes, want_bytes);
	writer_totals(&count, &bytes);
	assert_int_equal(count, want);
	assert_int_equal(bytes, want_bytes);
	snapshot_free(s);
}

/*
 * Buffers that grow by copying; the new block is handed to the next thread before the old one is
 * freed, which resizes or frees it at once: while its lineage is being handed down.
 */
static uint64_t offered[THREADS];

static uint64_t place_of(unsigned thread, unsigned nr)
{
	return 0x400000000000 + thread * 0x10000000000 + nr % 4096 * UINT64_C(0x20000);
}

static void *grow_and_offer(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg, nr = 0;
	uint64_t at = 0, size = 0, to, other;

	for (unsigned i = 0; i < STEPS; i++) {
		bool offer = i % 8 == 7;

		to = place_of(me, nr++);
		if (to == __atomic_load_n(&offered[(me + 1) % THREADS], __ATOMIC_ACQUIRE))
			to = place_of(me, nr++); /* still there */
		size = at ? 2 * size : 100;
		birth(to, size);
		if (offer && !__atomic_load_n(&offered[(me + 1) % THREADS], __ATOMIC_ACQUIRE))
			__atomic_store_n(&offered[(me + 1) % THREADS], to, __ATOMIC_RELEASE);
		else
			offer = false;
		if (at)
			death(at, true);
		at = offer ? 0 : to;
		if (size > 50000 && at) {
			death(at, true);
			at = 0;
		}
		other = __atomic_load_n(&offered[me], __ATOMIC_ACQUIRE);
		if (!other)
			continue;
		if (i & 1)
			resize(other, other, 77);
		death(other, true);
		__atomic_store_n(&offered[me], 0, __ATOMIC_RELEASE);
	}
	if (at)
		death(at, true);
	return NULL;
}

static void test_threads_copy(void **state)
{
	pthread_t threads[THREADS], reader;
	int64_t count, bytes, count_before, bytes_before;
	unsigned nr_snapshots = 0;
	uint64_t inferred = 0;

	(void)state;
	writer_totals(&count_before, &bytes_before);
	alike = 4;
	__atomic_store_n(&readers_stop, 0, __ATOMIC_RELEASE);
	assert_int_equal(pthread_create(&reader, NULL, snapshots, &nr_snapshots), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, grow_and_offer, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&readers_stop, 1, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);
	alike = 0;
	for (int i = 0; i < THREADS; i++)
		if (offered[i])
			death(offered[i], true);
	writer_totals(&count, &bytes);
	assert_int_equal(count, count_before);
	assert_int_equal(bytes, bytes_before);
	for (uint64_t i = 0; i < store.header->arrays[HS_ARRAY_THREADS].count; i++)
		inferred += ((struct hs_thread *)store_place(HS_ARRAY_THREADS, i))->nr_inferred;
	assert_true(inferred > THREADS * STEPS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_block),
		cmocka_unit_test(test_pending),
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_addresses_out_of_range),
		cmocka_unit_test(test_missed_free),
		cmocka_unit_test(test_lineage),
		cmocka_unit_test(test_copies_alike),
		cmocka_unit_test(test_copies_moved),
		cmocka_unit_test(test_copies_replaced),
		cmocka_unit_test(test_failed_resize),
		cmocka_unit_test(test_nested_resize),
		cmocka_unit_test(test_intern),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_threads_copy),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
