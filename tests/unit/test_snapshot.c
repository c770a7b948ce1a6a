/* SPDX-License-Identifier: MIT */
/*
 * test_snapshot.c - snapshots of stores: every kind of block, and what a kill leaves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/folder.h"
#include "tests/unit/snapshot_fixture.h"
#include "util/error.h"

#define CAP (UINT64_C(8) << 20)

/* ---- stores ------------------------------------------------------------------------------ */

static void test_small_store(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct snapshot *s;

	(void)state;
	fake_small(f);
	s = snap_of(f);
	assert_int_equal(s->source, SNAPSHOT_DEAD_STORE);
	assert_int_equal(s->nr_blocks, 3);
	assert_int_equal(s->live_bytes, 100 + 200 + 256);
	assert_int_equal(s->blocks[0].address, 0x10000);
	assert_int_equal(s->blocks[0].birth_ms, 50);
	assert_int_equal(s->blocks[0].usable, 120);
	assert_int_equal(s->blocks[2].size, 256);
	assert_int_equal(s->blocks[2].lineage, 1);
	assert_int_equal(s->lineages[0].born_size, 64);
	assert_int_equal(s->lineages[0].nr_steps, 2);
	assert_int_equal(s->lineages[0].nr_kept, 2);
	assert_int_equal(s->steps[1].size, 256);
	assert_int_equal(s->steps[1].ms, 90);
	assert_int_equal(s->nr_stacks, 3);
	assert_int_equal(s->stacks[1].live_bytes, 100);
	assert_int_equal(s->stacks[2].live_bytes, 456);
	assert_int_equal(s->nr_threads, 3);
	assert_string_equal(s->threads[s->blocks[1].thread].name, "worker");
	assert_string_equal(s->exe, "/usr/bin/fake");
	assert_string_equal(s->messages[0], "hello");
	assert_true(s->coverage.consistent);
	assert_int_equal(s->coverage.in_doubt, 0);
	assert_int_equal(s->taken_ms, 90);
	assert_int_equal(s->peak_bytes, 556);
	snapshot_free(s);
	fake_store_free(f, true);
}

static void test_store_states(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct hs_error err;
	struct snapshot *s;

	(void)state;
	f->header->state = HS_STATE_NEW;
	assert_int_equal(snapshot_open(store_path, &s, &err), -HS_E_STATE);
	f->header->state = HS_STATE_STOPPED;
	snapshot_free(snap_of(f));
	/* The same process, going on as another program: it has another store mapped, if any. */
	f->header->state = HS_STATE_EXECED;
	fake_store_live(f, getppid());
	s = snap_of(f);
	assert_int_equal(s->source, SNAPSHOT_DEAD_STORE);
	assert_int_equal(s->state, HS_STATE_EXECED);
	snapshot_free(s);
	/* It tries an exec, which may fail. */
	fake_store_live(f, getpid());
	s = snap_of(f);
	assert_int_equal(s->source, SNAPSHOT_LIVE_STORE);
	assert_int_equal(s->state, HS_STATE_RECORDING);
	snapshot_free(s);
	f->header->state = 17;
	assert_int_equal(snapshot_open(store_path, &s, &err), -HS_E_FORMAT);
	f->header->state = HS_STATE_RECORDING;
	f->header->version = 2;
	assert_int_equal(snapshot_open(store_path, &s, &err), -HS_E_VERSION);
	f->header->version = 1;
	f->header->must_know = 4;
	assert_int_equal(snapshot_open(store_path, &s, &err), -HS_E_VERSION);
	fake_store_free(f, true);
}

static void test_overlap(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct snapshot *s;
	uint32_t slot, stack, grown;

	(void)state;
	slot = fake_thread(f, 1, "t");
	stack = fake_stack(f, fake_node(f, 0, 0x5000, 0));
	fake_block(f, 0x10000, 0x1000, stack, slot, 10); /* a lost free: three newer ones in it */
	fake_block(f, 0x10000, 16, stack, slot, 11);
	fake_block(f, 0x10400, 16, stack, slot, 12);
	fake_block(f, 0x10ff0, 16, stack, slot, 13);
	fake_block(f, 0x20100, 32, stack, slot, 10); /* lost: a newer one begins before it */
	fake_block(f, 0x20000, 0x1000, stack, slot, 20);
	fake_block(f, 0x30000, 32, stack, slot, 30); /* the same time: the smaller serial goes */
	fake_block(f, 0x30000, 48, stack, slot, 30);
	grown = fake_block(f, 0x40000, 16, stack, slot, 1); /* born early, came there late */
	fake_resize(f, grown, 4096, stack, 50);
	fake_block(f, 0x40010, 16, stack, slot, 40);
	s = snap_of(f);
	assert_int_equal(s->nr_blocks, 6);
	assert_int_equal(s->coverage.dropped_blocks, 4);
	assert_int_equal(s->blocks[0].size, 16);
	assert_int_equal(s->blocks[3].address, 0x20000);
	assert_int_equal(s->blocks[4].size, 48);
	assert_int_equal(s->blocks[5].size, 4096);
	assert_int_equal(s->blocks[5].lineage, 1);
	assert_int_equal(s->nr_lineages, 1);
	assert_true(s->coverage.consistent); /* the totals still have what was dropped */
	snapshot_free(s);
	fake_store_free(f, true);
}

/* A lineage of a dropped block goes with it. */
static void test_overlap_lineage(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct snapshot *s;
	uint32_t slot, stack, nr;

	(void)state;
	slot = fake_thread(f, 1, "t");
	stack = fake_stack(f, fake_node(f, 0, 0x5000, 0));
	nr = fake_block(f, 0x40000, 16, stack, slot, 1);
	fake_resize(f, nr, 4096, stack, 5);
	fake_block(f, 0x40010, 16, stack, slot, 40);
	nr = fake_block(f, 0x50000, 16, stack, slot, 50);
	fake_resize(f, nr, 32, stack, 51);
	s = snap_of(f);
	assert_int_equal(s->nr_blocks, 2);
	assert_int_equal(s->nr_lineages, 1);
	assert_int_equal(s->nr_steps, 1);
	assert_int_equal(s->steps[0].size, 32);
	snapshot_free(s);
	fake_store_free(f, true);
}

static void test_duplicates(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	uint32_t a, b, one, two, slot = fake_thread(f, 1, "t");
	struct snapshot *s;

	(void)state;
	a = fake_node(f, 0, 0x5000, 0);
	b = fake_node(f, 0, 0x5000, 0);
	one = fake_stack(f, fake_node(f, a, 0x6000, 0));
	two = fake_stack(f, fake_node(f, b, 0x6000, 0));
	fake_block(f, 0x10000, 16, one, slot, 1);
	fake_block(f, 0x20000, 32, two, slot, 2);
	s = snap_of(f);
	assert_int_equal(s->nr_nodes, 3);
	assert_int_equal(s->nr_stacks, 2);
	assert_int_equal(s->stacks[1].live_count, 2);
	assert_int_equal(s->stacks[1].born_bytes, 48);
	assert_int_equal(s->blocks[0].stack, s->blocks[1].stack);
	snapshot_free(s);
	/* The same address in another module is another node. */
	fake_module(f, "/lib/x.so", 0x5000, 0x2000);
	fake_stack(f, fake_node(f, a, 0x6000, 1));
	s = snap_of(f);
	assert_int_equal(s->nr_nodes, 4);
	snapshot_free(s);
	fake_store_free(f, true);
}

static void test_long_lineage(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	uint32_t slot = fake_thread(f, 1, "t"), stack = fake_stack(f, fake_node(f, 0, 0x5000, 0)),
		 nr;
	const struct snap_lineage *l;
	struct snapshot *s;

	(void)state;
	nr = fake_block(f, 0x10000, 10, stack, slot, 1);
	for (uint32_t i = 1; i <= 50; i++)
		fake_resize(f, nr, 10 + i * 10, stack, 10 + i);
	fake_resize(f, nr, 300, stack, 99);
	s = snap_of(f);
	l = &s->lineages[0];
	assert_int_equal(l->nr_steps, 50);
	assert_int_equal(l->nr_shrinks, 1);
	assert_int_equal(l->peak_size, 510);
	assert_int_equal(l->nr_kept, 32);
	assert_int_equal(l->nr_first, 8);
	assert_int_equal(l->changed_ms, 990);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(s->steps[l->first_step + i].size,
				 i < 8 ? 20 + i * 10 : 20 + (i + 18) * 10);
	snapshot_free(s);
	fake_store_free(f, true);
}

static void test_peak(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	uint32_t slot = fake_thread(f, 1, "a"), other = fake_thread(f, 2, "b");
	uint32_t one = fake_stack(f, fake_node(f, 0, 0x5000, 0));
	uint32_t two = fake_stack(f, fake_node(f, 0, 0x6000, 0)), big;
	struct snapshot *s;

	(void)state;
	fake_block(f, 0x10000, 100, one, slot, 1);
	big = fake_block(f, 0x20000, 1000, two, other, 1);
	fake_block(f, 0x30000, 50, one, other, 1);
	fake_free_block(f, big);
	fake_block(f, 0x40000, 10, one, slot, 2);
	s = snap_of(f);
	assert_int_equal(s->peak_bytes, 1150);
	assert_int_equal(s->peak_count, 3);
	assert_int_equal(s->stacks[1].peak_bytes, 150);
	assert_int_equal(s->stacks[1].peak_count, 2);
	assert_int_equal(s->stacks[2].peak_bytes, 1000);
	assert_int_equal(s->stacks[2].live_bytes, 0);
	snapshot_free(s);
	fake_store_free(f, true);
}

/* A thread freed what another had made: one shard is negative, the sum is right. */
static void test_shards(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	uint32_t slot = fake_thread(f, 1, "a"), other = fake_thread(f, 2, "b");
	uint32_t stack = fake_stack(f, fake_node(f, 0, 0x5000, 0)), nr;
	struct snapshot *s;

	(void)state;
	nr = fake_block(f, 0x10000, 100, stack, slot, 1);
	fake_block(f, 0x20000, 7, stack, slot, 1);
	fake_record(f, nr)->word = 0;
	fake_cell(f, fake_slot(f, other)->shard, stack)->live_count = -1;
	fake_cell(f, fake_slot(f, other)->shard, stack)->live_bytes = -100;
	s = snap_of(f);
	assert_true(s->coverage.consistent);
	assert_int_equal(s->stacks[1].live_bytes, 7);
	snapshot_free(s);
	fake_store_free(f, true);
}

static void test_threads_gone(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	uint32_t slot = fake_thread(f, 1, "first"),
		 stack = fake_stack(f, fake_node(f, 0, 0x5000, 0));
	struct snapshot *s;

	(void)state;
	fake_block(f, 0x10000, 10, stack, slot, 1);
	fake_slot(f, slot)->first_serial = fake_slot(f, slot)->next_serial;
	fake_block(f, 0x20000, 10, stack, slot, 2);
	fake_block(f, 0x30000, 10, stack, 0, 2);
	s = snap_of(f);
	assert_int_equal(s->blocks[0].thread, 0);
	assert_int_equal(s->blocks[1].thread, 1);
	assert_int_equal(s->blocks[2].thread, 0);
	snapshot_free(s);
	fake_store_free(f, true);
}

/* ---- what a kill leaves ------------------------------------------------------------------ */

static void test_killed_in_birth(void **state)
{
	(void)state;
	/* Stage 0: said what it does; 1: record committed, totals not; 2: count, not bytes; 3: all. */
	for (int stage = 0; stage < 4; stage++) {
		struct fake_store *f = fake_store_new(store_path, CAP);
		struct hs_cell *cell;
		struct hs_thread *t;
		struct snapshot *s;

		fake_small(f);
		t = fake_slot(f, 1);
		t->in = 1;
		t->op = HS_OP_BIRTH;
		t->op_stack = 1;
		cell = fake_cell(f, t->shard, 1);
		if (stage > 0) {
			fake_block(f, 0x50000, 40, 1, 1, 10);
			cell->live_count -= stage < 2;
			cell->live_bytes -= stage < 3 ? 40 : 0;
		}
		s = snap_of(f);
		assert_int_equal(s->nr_blocks, stage ? 4 : 3);
		assert_true(s->coverage.consistent);
		assert_int_equal(s->coverage.in_doubt, 1);
		assert_int_equal(s->stacks[1].live_count, stage ? 2 : 1);
		snapshot_free(s);
		fake_store_free(f, true);
	}
}

static void test_killed_in_death(void **state)
{
	(void)state;
	for (int stage = 0; stage < 4; stage++) {
		struct fake_store *f = fake_store_new(store_path, CAP);
		struct hs_thread *t;
		struct snapshot *s;

		fake_small(f);
		t = fake_slot(f, 1);
		t->in = 1;
		t->op = HS_OP_DEATH;
		t->op_stack = 1;
		if (stage > 0) {
			fake_free_block(f, 1);
			fake_cell(f, t->shard, 1)->live_count += stage < 2;
			fake_cell(f, t->shard, 1)->live_bytes += stage < 3 ? 100 : 0;
		}
		s = snap_of(f);
		assert_int_equal(s->nr_blocks, stage ? 2 : 3);
		assert_true(s->coverage.consistent);
		snapshot_free(s);
		fake_store_free(f, true);
	}
}

/*
 * Stages of a resize: 0 in-flight copy made, record still there; 1 record taken out; 2 totals moved
 * off the old stack; 3 lineage half written; 4 totals on the new stack; 5 record committed again,
 * in-flight number still set.
 */
static void test_killed_in_resize(void **state)
{
	(void)state;
	for (int stage = 0; stage < 6; stage++) {
		struct fake_store *f = fake_store_new(store_path, CAP);
		struct hs_lineage_head *head;
		struct hs_record *r;
		struct hs_thread *t;
		struct snapshot *s;
		uint64_t size = 256;

		fake_small(f);
		t = fake_slot(f, 1);
		r = fake_record(f, 3);
		head = fake_place(f, HS_ARRAY_LINEAGES, 1);
		t->in = 1;
		t->op = HS_OP_RESIZE;
		t->op_stack = 1;
		t->op_stack_from = 2;
		t->inflight = *r;
		t->inflight_nr = 3;
		if (stage > 0)
			r->word = 0;
		if (stage > 1) {
			fake_cell(f, t->shard, 2)->live_count--;
			fake_cell(f, t->shard, 2)->live_bytes -= 256;
		}
		if (stage > 2)
			head->nr_steps++;
		if (stage > 3) {
			fake_cell(f, t->shard, 1)->live_count++;
			fake_cell(f, t->shard, 1)->live_bytes += 512;
		}
		if (stage > 4) {
			*r = t->inflight;
			r->size = size = 512;
			r->stack = 1;
		}
		s = snap_of(f);
		assert_int_equal(s->nr_blocks, 3);
		assert_int_equal(s->blocks[2].address, 0x30000);
		assert_int_equal(s->blocks[2].size, size);
		assert_true(s->blocks[2].usable >= size);
		assert_int_equal(s->blocks[2].lineage, 1);
		assert_int_equal(s->blocks[2].stack, stage > 4 ? 1 : 2);
		assert_true(s->coverage.consistent);
		assert_int_equal(s->coverage.in_doubt, 1);
		snapshot_free(s);
		fake_store_free(f, true);
	}
}

static const struct snap_block *find_block(const struct snapshot *s, uint64_t address)
{
	const struct snap_block *found = NULL;

	for (size_t i = 0; i < s->nr_blocks && s->blocks[i].address <= address; i++)
		found = &s->blocks[i];
	return found;
}

/* The block in flight has lost its place: another one begins at it, before it, or inside it. */
static void test_stale_in_flight(void **state)
{
	static const uint64_t reused[] = {0x30000, 0x2ff80, 0x30040};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct fake_store *f = fake_store_new(store_path, CAP);
		struct snapshot *s, *back;
		struct hs_thread *t;
		struct hs_error err;

		fake_small(f);
		/* In the real realloc, so not in the middle of a change. */
		t = fake_slot(f, 1);
		t->inflight = *fake_record(f, 3);
		t->inflight_nr = 3;
		fake_record(f, 3)->word = 0;
		fake_block(f, reused[i], 0x180, 1, 2, 20);
		s = snap_of(f);
		assert_int_equal(snapshot_write(s, file_path, NULL, &err), 0);
		back = open_good(file_path);
		assert_same(s, back);
		snapshot_free(back);
		assert_int_equal(s->nr_blocks, 4);
		assert_int_equal(s->live_bytes, 100 + 200 + 256 + 0x180);
		assert_int_equal(find_block(s, reused[i] + 0x10)->size, 0x180);
		assert_int_equal(find_block(s, reused[i] + 0x10)->flags, 0);
		assert_int_equal(s->coverage.dropped_blocks, 0);
		assert_int_equal(s->coverage.in_doubt, 0);
		assert_true(s->coverage.consistent);
		snapshot_free(s);
		fake_store_free(f, true);
	}
}

/* Freed, but the record is still there: it is no block, and its totals are explained. */
static void test_pending(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct snapshot *s;

	(void)state;
	fake_small(f);
	fake_slot(f, 1)->pending[0] = 1;
	fake_slot(f, 2)->pending[0] = 3; /* a grown one, whose address is in use again */
	fake_block(f, 0x2fff0, 77, 1, 1, 3);
	s = snap_of(f);
	assert_int_equal(s->nr_blocks, 2);
	assert_int_equal(s->live_bytes, 277);
	assert_int_equal(s->coverage.dropped_blocks, 0);
	assert_int_equal(s->nr_lineages, 0);
	assert_true(s->coverage.consistent);
	snapshot_free(s);
	fake_slot(f, 1)->pending[0] = 100000;
	fake_slot(f, 2)->pending[0] = 0;
	snapshot_free(snap_of(f));
	fake_store_free(f, true);
}

/* Elements that were handed out and not yet filled. */
static void test_killed_in_growth(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct snapshot *s;

	(void)state;
	fake_small(f);
	fake_take(f, HS_ARRAY_NODES, 3);
	fake_take(f, HS_ARRAY_STACKS, 2);
	fake_take(f, HS_ARRAY_RECORDS, 40);
	fake_take(f, HS_ARRAY_MODULES, 1);
	fake_take(f, HS_ARRAY_THREADS, 1);
	fake_take(f, HS_ARRAY_LINEAGES, 1);
	fake_record(f, 7)->size = 99; /* filled, not committed */
	f->header->arrays[HS_ARRAY_RECORDS].count += 1000; /* handed out, no pages came */
	s = snap_of(f);
	assert_int_equal(s->nr_blocks, 3);
	assert_true(s->coverage.consistent);
	snapshot_free(s);
	fake_store_free(f, true);
}

/* Nothing was attached yet but the header. */
static void test_killed_at_start(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct snapshot *s;

	(void)state;
	for (unsigned int i = 0; i < HS_NR_ARRAYS; i++)
		f->header->arrays[i].count = f->header->arrays[i].ready = 0;
	s = snap_of(f);
	assert_int_equal(s->nr_blocks, 0);
	snapshot_free(s);
	fake_store_free(f, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_store),
		cmocka_unit_test(test_store_states),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_overlap_lineage),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_long_lineage),
		cmocka_unit_test(test_peak),
		cmocka_unit_test(test_shards),
		cmocka_unit_test(test_threads_gone),
		cmocka_unit_test(test_killed_in_birth),
		cmocka_unit_test(test_killed_in_death),
		cmocka_unit_test(test_killed_in_resize),
		cmocka_unit_test(test_stale_in_flight),
		cmocka_unit_test(test_pending),
		cmocka_unit_test(test_killed_in_growth),
		cmocka_unit_test(test_killed_at_start),
	};

	return cmocka_run_group_tests(tests, make_paths, folder_remove);
}
