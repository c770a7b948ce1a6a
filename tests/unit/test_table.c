/* SPDX-License-Identifier: MIT */
/*
 * test_table.c - the live table, the trie of stacks and the totals, by one thread and by four;
 * growth by copying is in test_copies.c.
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

#include <pthread.h>

#include "store/writer.h"
#include "tests/unit/folder.h"
#include "tests/unit/made_up_blocks.h"
#include "tests/unit/tracer_fixture.h"
#include "tracer/contents.h"
#include "tracer/index.h"
#include "tracer/intern.h"
#include "tracer/record.h"
#include "tracer/thread.h"
#include "tracer/totals.h"

#define THREADS 4
#define SLOTS 512
#define STEPS 60000

/* In place of contents.c: the blocks are at addresses that nobody maps. */
uint32_t contents_alike(uint64_t old, uint64_t size, uint64_t copy)
{
	(void)old, (void)size, (void)copy;
	return 0;
}

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
		/* the last slot is for what the next thread frees, each at another address */
		address = 0x500000000000 + me * 0x10000000000 + i * UINT64_C(0x40);
		birth(address, 64);
		other = __atomic_exchange_n(&handed[(me + 1) % THREADS], address, __ATOMIC_ACQ_REL);
		if (other)
			death(other, true);
	}
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t threads[THREADS];
	uint64_t want = 0, want_bytes = 0;
	int64_t count, bytes;
	struct snapshot *s;

	(void)state;
	reader_begin();
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	reader_end();

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
		cmocka_unit_test(test_failed_resize),
		cmocka_unit_test(test_nested_resize),
		cmocka_unit_test(test_intern),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, tracer_set_up, folder_remove);
}
