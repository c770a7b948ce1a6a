/* SPDX-License-Identifier: MIT */
/*
 * test_snapshot.c - stores to snapshots, snapshots to files and back, and what damage does to them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/snapshot.h"
#include "analysis/snapshot_internal.h"
#include "tests/unit/fake_store.h"
#include "util/alloc.h"
#include "util/error.h"

#define CAP (UINT64_C(8) << 20)

static char dir[] = "/tmp/test_snapshot.XXXXXX";
static char store_path[64], file_path[64], other_path[64];

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(store_path, sizeof(store_path), "%s/store.live", dir);
	snprintf(file_path, sizeof(file_path), "%s/a.hs", dir);
	snprintf(other_path, sizeof(other_path), "%s/b.hs", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(store_path);
	unlink(file_path);
	unlink(other_path);
	return rmdir(dir);
}

static struct snapshot *open_good(const char *path)
{
	struct snapshot *s = NULL;
	struct hs_error err = {0};

	if (snapshot_open(path, &s, &err))
		fail_msg("%s: %s", path, err.text);
	return s;
}

static void check_valid(const struct snapshot *s)
{
	struct snap_problem problem;

	if (!snapshot_valid(s, &problem))
		fail_msg("%s", problem.text);
}

/* Opens the store of f, which must be sound, and gives the store back. */
static struct snapshot *snap_of(struct fake_store *f)
{
	struct snapshot *s = open_good(f->path);

	check_valid(s);
	return s;
}

static uint8_t *read_all(const char *path, size_t *ret_len)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	uint8_t *data;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	data = xmalloc((size_t)st.st_size);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_len = (size_t)st.st_size;
	return data;
}

static void write_all(const char *path, const uint8_t *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	close(fd);
}

/* ---- equality of snapshots --------------------------------------------------------------- */

static void assert_same(const struct snapshot *a, const struct snapshot *b)
{
	assert_memory_equal(a->image, b->image, sizeof(a->image));
	assert_string_equal(a->exe, b->exe);
	assert_string_equal(a->dir, b->dir);
	assert_string_equal(a->comm, b->comm);
	assert_int_equal(a->pid, b->pid);
	assert_int_equal(a->number, b->number);
	assert_int_equal(a->taken_ms, b->taken_ms);
	assert_int_equal(a->live_count, b->live_count);
	assert_int_equal(a->live_bytes, b->live_bytes);
	assert_int_equal(a->born_bytes, b->born_bytes);
	assert_int_equal(a->peak_bytes, b->peak_bytes);
	assert_memory_equal(&a->coverage.lost, &b->coverage.lost, sizeof(a->coverage.lost));
	assert_true(a->coverage.share_of_life == b->coverage.share_of_life);
	assert_int_equal(a->coverage.consistent, b->coverage.consistent);
	assert_int_equal(a->coverage.in_doubt, b->coverage.in_doubt);
	assert_int_equal(a->nr_modules, b->nr_modules);
	for (size_t i = 0; i < a->nr_modules; i++) {
		assert_string_equal(a->modules[i].path, b->modules[i].path);
		assert_memory_equal(a->modules[i].build_id, b->modules[i].build_id,
				    HS_BUILD_ID_LEN);
		assert_memory_equal(a->modules[i].segments, b->modules[i].segments,
				    sizeof(a->modules[i].segments));
	}
	assert_int_equal(a->nr_nodes, b->nr_nodes);
	for (size_t i = 0; i < a->nr_nodes; i++) {
		assert_int_equal(a->nodes[i].pc, b->nodes[i].pc);
		assert_int_equal(a->nodes[i].parent, b->nodes[i].parent);
		assert_int_equal(a->nodes[i].module, b->nodes[i].module);
		assert_int_equal(a->nodes[i].signal, b->nodes[i].signal);
	}
	assert_int_equal(a->nr_stacks, b->nr_stacks);
	for (size_t i = 0; i < a->nr_stacks; i++) {
		assert_int_equal(a->stacks[i].node, b->stacks[i].node);
		assert_int_equal(a->stacks[i].live_bytes, b->stacks[i].live_bytes);
		assert_int_equal(a->stacks[i].peak_bytes, b->stacks[i].peak_bytes);
		assert_int_equal(a->stacks[i].temporary, b->stacks[i].temporary);
	}
	assert_int_equal(a->nr_blocks, b->nr_blocks);
	if (a->nr_blocks)
		assert_memory_equal(a->blocks, b->blocks, a->nr_blocks * sizeof(*a->blocks));
	assert_int_equal(a->nr_lineages, b->nr_lineages);
	for (size_t i = 0; i < a->nr_lineages; i++) {
		const struct snap_lineage *x = &a->lineages[i], *y = &b->lineages[i];

		assert_int_equal(x->born_size, y->born_size);
		assert_int_equal(x->nr_steps, y->nr_steps);
		assert_int_equal(x->nr_kept, y->nr_kept);
		assert_int_equal(x->nr_first, y->nr_first);
		for (uint32_t j = 0; j < x->nr_kept; j++) {
			assert_int_equal(a->steps[x->first_step + j].size,
					 b->steps[y->first_step + j].size);
			assert_int_equal(a->steps[x->first_step + j].ms,
					 b->steps[y->first_step + j].ms);
			assert_int_equal(a->steps[x->first_step + j].stack,
					 b->steps[y->first_step + j].stack);
		}
	}
	assert_int_equal(a->nr_threads, b->nr_threads);
	for (size_t i = 0; i < a->nr_threads; i++) {
		assert_int_equal(a->threads[i].tid, b->threads[i].tid);
		assert_string_equal(a->threads[i].name, b->threads[i].name);
	}
	assert_int_equal(a->nr_messages, b->nr_messages);
	for (size_t i = 0; i < a->nr_messages; i++)
		assert_string_equal(a->messages[i], b->messages[i]);
}

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

/* ---- damaged stores ---------------------------------------------------------------------- */

static void test_unexplained_difference(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct snap_chunk *rows;
	struct hs_error err;
	struct snapshot *s;
	size_t nr, bad = 0;

	(void)state;
	fake_small(f);
	fake_cell(f, fake_slot(f, 1)->shard, 1)->live_bytes += 8;
	s = snap_of(f);
	assert_false(s->coverage.consistent);
	assert_int_equal(s->coverage.in_doubt, 1);
	snapshot_free(s);
	assert_int_equal(snapshot_check(store_path, &rows, &nr, &err), 0);
	for (size_t i = 0; i < nr; i++)
		bad += !rows[i].ok;
	assert_int_equal(bad, 1);
	free(rows);
	fake_store_free(f, true);
}

static void test_damaged_record(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct snapshot *s;

	(void)state;
	fake_small(f);
	fake_record(f, 1)->stack = 1000;
	fake_record(f, 2)->word |= UINT64_C(15) << HS_RECORD_FAMILY_SHIFT;
	fake_record(f, 3)->birth = 77;
	s = snap_of(f);
	assert_int_equal(s->nr_blocks, 0);
	assert_int_equal(s->coverage.dropped_blocks, 3);
	assert_false(s->coverage.consistent);
	snapshot_free(s);
	fake_store_free(f, true);
}

/* A mapping's family in the table of blocks is damage, in place and in flight. */
static void test_block_of_mapping_family(void **state)
{
	(void)state;
	for (int in_flight = 0; in_flight < 2; in_flight++) {
		struct fake_store *f = fake_store_new(store_path, CAP);
		struct snap_problem problem;
		struct hs_record *r;
		struct snapshot *s;
		size_t nr;

		fake_small(f);
		s = snap_of(f);
		nr = s->nr_blocks;
		snapshot_free(s);
		r = fake_record(f, 2);
		r->word &= ~(UINT64_C(15) << HS_RECORD_FAMILY_SHIFT);
		r->word |= (uint64_t)HS_FAMILY_BRK << HS_RECORD_FAMILY_SHIFT;
		if (in_flight) {
			fake_slot(f, 1)->inflight = *r;
			fake_slot(f, 1)->inflight_nr = 2;
			r->word = 0;
		}
		s = snap_of(f);
		assert_int_equal(s->nr_blocks, nr - 1);
		assert_int_equal(s->coverage.dropped_blocks, 1);
		assert_false(s->coverage.consistent);
		assert_true(snapshot_valid(s, &problem));
		snapshot_free(s);
		fake_store_free(f, true);
	}
}

static void refused(struct fake_store *f, const char *part)
{
	struct hs_error err = {0};
	struct snapshot *s = NULL;

	assert_int_equal(snapshot_open(f->path, &s, &err), -HS_E_FORMAT);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
	assert_null(strchr(err.text, '\n'));
}

static void test_damaged_store(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct hs_node *node;
	struct hs_array *a = &f->header->arrays[HS_ARRAY_RECORDS];
	struct hs_array saved;

	(void)state;
	fake_small(f);
	node = fake_place(f, HS_ARRAY_NODES, 2);
	node->parent = 2;
	refused(f, "node 2 has parent 2");
	node->parent = 1;
	node->pc |= UINT64_C(99) << HS_NODE_MODULE_SHIFT;
	refused(f, "node 2");
	node->pc &= HS_NODE_ADDRESS;
	((struct hs_stack *)fake_place(f, HS_ARRAY_STACKS, 1))->node = 500;
	refused(f, "stack 1 has node 500");
	((struct hs_stack *)fake_place(f, HS_ARRAY_STACKS, 1))->node = 2;
	((struct hs_module *)fake_place(f, HS_ARRAY_MODULES, 1))->nr_segments = 7;
	refused(f, "module 1");
	((struct hs_module *)fake_place(f, HS_ARRAY_MODULES, 1))->nr_segments = 1;
	((struct hs_module *)fake_place(f, HS_ARRAY_MODULES, 1))->path_off = CAP + 5;
	refused(f, "string");
	((struct hs_module *)fake_place(f, HS_ARRAY_MODULES, 1))->path_off = 0;
	saved = *a;
	a->count = a->ready = UINT64_MAX;
	refused(f, "records");
	a->count = a->ready = UINT64_C(1) << 60;
	refused(f, "records");
	*a = saved;
	a->extent[0] = UINT64_MAX - 100;
	refused(f, "records");
	a->extent[0] = CAP - 16;
	refused(f, "records");
	*a = saved;
	a->shift = 63;
	refused(f, "records");
	*a = saved;
	a->elem_size = 0;
	refused(f, "records");
	*a = saved;
	snapshot_free(snap_of(f));
	assert_int_equal(truncate(store_path, HS_DATA_OFF + 100), 0);
	refused(f, "cut short");
	fake_store_free(f, true);
}

/* A small file with a large hole must not make us take memory for what it claims. */
static void test_hollow_store(void **state)
{
	struct fake_store *f = fake_store_new(store_path, UINT64_C(1) << 38);
	struct hs_array *a = &f->header->arrays[HS_ARRAY_RECORDS];

	(void)state;
	a->shift = 4;
	a->count = a->ready = (UINT64_C(1) << 32);
	for (uint32_t k = 0; k < HS_NR_EXTENTS; k++)
		a->extent[k] = 1u << 20;
	f->header->used = f->header->cap;
	refused(f, "claims");
	fake_store_free(f, true);
}

/* Every byte of the used part in turn: never a crash, and no block out of thin air stays silent. */
static void test_store_bytes(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct hs_error err;
	uint64_t used;

	(void)state;
	fake_small(f);
	used = f->header->used;
	for (uint64_t i = 0; i < used; i += i < HS_DATA_OFF ? 41 : 7) {
		struct snapshot *s;
		char saved = f->base[i];

		f->base[i] = (char)(saved ^ (1 << i % 8));
		if (!snapshot_open(store_path, &s, &err)) {
			check_valid(s);
			snapshot_free(s);
		}
		f->base[i] = saved;
	}
	fake_store_free(f, true);
}

/* ---- files ------------------------------------------------------------------------------- */

/* A file of the small store at file_path; returns its snapshot. */
static struct snapshot *write_small(const char *label)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct hs_error err;
	struct snapshot *s;

	fake_small(f);
	s = snap_of(f);
	fake_store_free(f, true);
	if (snapshot_write(s, file_path, label, &err))
		fail_msg("%s", err.text);
	return s;
}

static void test_round_trip(void **state)
{
	struct snapshot *s = write_small("before load"), *back = open_good(file_path);
	struct hs_error err;
	size_t len, len2;
	uint8_t *data, *data2;

	(void)state;
	assert_int_equal(back->source, SNAPSHOT_FILE);
	assert_string_equal(back->label, "before load");
	assert_string_equal(back->path, file_path);
	assert_same(s, back);
	/* Written again it is the same file, label and all. */
	assert_int_equal(snapshot_write(back, other_path, NULL, &err), 0);
	data = read_all(file_path, &len);
	data2 = read_all(other_path, &len2);
	assert_int_equal(len, len2);
	assert_memory_equal(data, data2, len);
	free(data);
	free(data2);
	snapshot_free(back);
	snapshot_free(s);
}

static void test_round_trip_random(void **state)
{
	struct fake_store *f = fake_store_new(store_path, UINT64_C(64) << 20);
	uint32_t stacks[50], slots[5], nodes[51] = {0};
	uint64_t address = 0x7f0000000000, x = 12345;
	struct snapshot *s, *back;
	struct hs_error err;

	(void)state;
	for (int i = 0; i < 50; i++) {
		nodes[i + 1] = fake_node(f, nodes[i / 2], 0x400000 + (uint64_t)i * 77, 0);
		stacks[i] = fake_stack(f, nodes[i + 1]);
	}
	for (uint32_t i = 0; i < 5; i++)
		slots[i] = fake_thread(f, i + 1, "t");
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t nr;

		x = x * 6364136223846793005u + 1442695040888963407u;
		nr = fake_block(f, address ^ (i % 2 ? 0x100000000 : 0), x >> 40 & 0xfff,
				stacks[x >> 20 & 31], slots[x >> 30 & 3], i / 10);
		address += ((x >> 40 & 0xfff) + 0x40) & ~UINT64_C(15);
		for (uint64_t j = 0; i % 7 == 0 && j < (x >> 50 & 63) && j < 40; j++)
			fake_resize(f, nr, (fake_record(f, nr)->size & 1) + j * 16, stacks[j],
				    i / 10 + 1);
	}
	s = snap_of(f);
	assert_true(s->coverage.consistent);
	assert_int_equal(snapshot_write(s, file_path, NULL, &err), 0);
	back = open_good(file_path);
	assert_same(s, back);
	assert_null(back->label);
	snapshot_free(back);
	snapshot_free(s);
	fake_store_free(f, true);
}

static void test_empty_snapshot(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct snapshot *s = snap_of(f), *back;
	struct hs_error err;

	(void)state;
	assert_int_equal(snapshot_write(s, file_path, "", &err), 0);
	back = open_good(file_path);
	assert_int_equal(back->nr_blocks, 0);
	assert_string_equal(back->label, "");
	snapshot_free(back);
	snapshot_free(s);
	fake_store_free(f, true);
}

/* Whether check finds something, in the table or in a chunk. Everything must be said in one line. */
static bool check_finds(const char *path, size_t *ret_nr_bad)
{
	struct snap_chunk *rows;
	struct hs_error err = {0};
	size_t nr;
	bool found = false;

	*ret_nr_bad = 0;
	if (snapshot_check(path, &rows, &nr, &err)) {
		assert_true(err.text[0]);
		assert_null(strchr(err.text, '\n'));
		return true;
	}
	for (size_t i = 0; i < nr; i++) {
		*ret_nr_bad += !rows[i].ok;
		found |= !rows[i].ok;
		assert_int_equal(rows[i].ok, rows[i].problem[0] == '\0');
	}
	free(rows);
	return found;
}

static void check_totals_only(const char *path, const struct snapshot *whole)
{
	struct snapshot *s;
	struct hs_error err;

	if (snapshot_open_totals(path, &s, &err))
		fail_msg("%s: %s", path, err.text);
	check_valid(s);
	assert_true(s->totals_only);
	assert_null(s->blocks);
	assert_int_equal(s->nr_blocks + s->nr_lineages + s->nr_steps, 0);
	assert_int_equal(s->live_bytes, whole->live_bytes);
	assert_int_equal(s->nr_stacks, whole->nr_stacks);
	for (size_t i = 0; i < s->nr_stacks; i++) {
		assert_int_equal(s->stacks[i].live_count, whole->stacks[i].live_count);
		assert_int_equal(s->stacks[i].live_bytes, whole->stacks[i].live_bytes);
		assert_int_equal(s->stacks[i].node, whole->stacks[i].node);
	}
	snapshot_free(s);
}

/* Of a file and of a store: the stacks and sums of the whole, and no block. */
static void test_totals_only(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct hs_error err;
	struct snapshot *s;

	(void)state;
	fake_small(f);
	s = snap_of(f);
	assert_int_equal(snapshot_write(s, file_path, NULL, &err), 0);
	check_totals_only(store_path, s);
	check_totals_only(file_path, s);
	snapshot_free(s);
	fake_store_free(f, true);
}

static void test_damage_every_byte(void **state)
{
	struct snapshot *s = write_small(NULL), *other;
	struct hs_error err;
	size_t len, nr_bad;
	uint8_t *data = read_all(file_path, &len);

	(void)state;
	snapshot_free(s);
	assert_false(check_finds(file_path, &nr_bad));
	for (size_t i = 0; i < len; i++) {
		uint8_t saved = data[i];

		data[i] ^= (uint8_t)(1u << i % 8);
		write_all(other_path, data, len);
		if (!check_finds(other_path, &nr_bad))
			fail_msg("byte %zu of %zu changed and check found nothing", i, len);
		assert_true(nr_bad <= 1);
		assert_true(snapshot_open(other_path, &other, &err) < 0);
		assert_null(strchr(err.text, '\n'));
		data[i] = saved;
	}
	free(data);
}

static void test_truncation_everywhere(void **state)
{
	struct snapshot *s = write_small(NULL), *other;
	size_t len, nr_bad;
	uint8_t *data = read_all(file_path, &len);

	(void)state;
	snapshot_free(s);
	for (size_t i = 0; i < len; i++) {
		struct hs_error err = {0};

		write_all(other_path, data, i);
		assert_true(check_finds(other_path, &nr_bad));
		assert_int_equal(snapshot_open(other_path, &other, &err), -HS_E_FORMAT);
		assert_null(strchr(err.text, '\n'));
		if (i >= 16 && !strstr(err.text, "cut short"))
			fail_msg("%zu bytes: %s", i, err.text);
	}
	/* And something at the end that does not belong there. */
	data = xrealloc(data, len + 1);
	data[len] = 0;
	write_all(other_path, data, len + 1);
	assert_true(check_finds(other_path, &nr_bad));
	free(data);
}

/* A whole chunk damaged: just that one is reported, the others are judged by themselves. */
static void test_damage_each_chunk(void **state)
{
	struct snapshot *s = write_small(NULL);
	struct snap_chunk *rows, *after;
	size_t nr, nr_after, len;
	struct hs_error err;
	uint8_t *data = read_all(file_path, &len);

	(void)state;
	snapshot_free(s);
	assert_int_equal(snapshot_check(file_path, &rows, &nr, &err), 0);
	for (size_t i = 0; i < nr; i++) {
		if (!rows[i].bytes)
			continue;
		for (uint64_t j = 0; j < rows[i].bytes; j++)
			data[rows[i].offset + j] ^= 0xff;
		write_all(other_path, data, len);
		assert_int_equal(snapshot_check(other_path, &after, &nr_after, &err), 0);
		assert_int_equal(nr_after, nr);
		for (size_t j = 0; j < nr; j++)
			assert_int_equal(after[j].ok, j != i);
		for (uint64_t j = 0; j < rows[i].bytes; j++)
			data[rows[i].offset + j] ^= 0xff;
		free(after);
	}
	free(rows);
	free(data);
}

/* Files that are sound as files and wrong inside: the writer writes what it is given. */
static void wrong_inside(struct snapshot *s, const char *part)
{
	struct hs_error err = {0};
	struct snapshot *other;
	size_t nr_bad;

	assert_int_equal(snapshot_write(s, other_path, NULL, &err), 0);
	assert_int_equal(snapshot_open(other_path, &other, &err), -HS_E_FORMAT);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
	assert_true(check_finds(other_path, &nr_bad));
	assert_int_equal(nr_bad, 1);
}

static void test_wrong_inside(void **state)
{
	struct snapshot *s = write_small(NULL);

	(void)state;
	s->live_bytes++;
	wrong_inside(s, "META");
	s->live_bytes--;
	s->stacks[1].live_count++;
	wrong_inside(s, "STAK");
	s->stacks[1].live_count--;
	s->blocks[1].stack = 9;
	wrong_inside(s, "BSTK");
	s->blocks[1].stack = 2;
	s->blocks[1].thread = 9;
	wrong_inside(s, "BTHR");
	s->blocks[1].thread = 2;
	s->blocks[1].family = 9;
	wrong_inside(s, "BFAM");
	s->blocks[1].family = 0;
	s->blocks[1].address = 0x10010;
	wrong_inside(s, "overlaps");
	s->blocks[1].address = 0x20000;
	s->nodes[2].module = 5;
	wrong_inside(s, "NODE");
	s->nodes[2].module = 1;
	s->nodes[3] = s->nodes[2];
	wrong_inside(s, "twice");
	s->nodes[3].pc++;
	s->steps[0].stack = 99;
	wrong_inside(s, "STEP");
	s->steps[0].stack = 2;
	s->lineages[0].born_stack = 99;
	wrong_inside(s, "LINE");
	snapshot_free(s);
}

/* Rewrites the file with one more chunk. */
static void add_chunk(const struct snapshot *s, uint32_t flags)
{
	struct snapshot_file file;
	struct snapshot_writer w;
	struct hs_error err;

	assert_int_equal(snapshot_write(s, file_path, NULL, &err), 0);
	assert_int_equal(snapshot_file_open(file_path, &file, &err), 0);
	assert_int_equal(snapshot_writer_open(&w, other_path, &err), 0);
	assert_int_equal(snapshot_writer_add(&w, HS_CHUNK_ID('X', 'T', 'R', 'A'), flags, 1, "hello",
					     5, &err),
			 0);
	for (size_t i = 0; i < file.nr_chunks; i++) {
		uint8_t *raw;

		assert_int_equal(snapshot_file_load(&file, &file.chunks[i], &raw, &err), 0);
		assert_int_equal(snapshot_writer_add(&w, snapshot_chunk_id(&file.chunks[i]),
						     file.chunks[i].flags, file.chunks[i].items,
						     raw, file.chunks[i].raw_bytes, &err),
				 0);
		free(raw);
	}
	assert_int_equal(snapshot_writer_commit(&w, &err), 0);
	snapshot_file_close(&file);
}

static void test_unknown_chunk(void **state)
{
	struct snapshot *s = write_small(NULL), *other;
	struct hs_error err;
	size_t nr_bad;

	(void)state;
	add_chunk(s, 0);
	other = open_good(other_path);
	assert_same(s, other);
	snapshot_free(other);
	assert_false(check_finds(other_path, &nr_bad));
	add_chunk(s, HS_CHUNK_MUST_KNOW);
	assert_int_equal(snapshot_open(other_path, &other, &err), -HS_E_VERSION);
	assert_non_null(strstr(err.text, "XTRA"));
	assert_true(check_finds(other_path, &nr_bad));
	snapshot_free(s);
}

static void test_foreign(void **state)
{
	struct hs_error err = {0};
	struct snapshot *s;

	(void)state;
	write_all(other_path, (const uint8_t *)"hello, this is text\n", 20);
	assert_int_equal(snapshot_open(other_path, &s, &err), -HS_E_FORMAT);
	assert_non_null(strstr(err.text, "neither a snapshot nor a store"));
	write_all(other_path, (const uint8_t *)"", 0);
	assert_int_equal(snapshot_open(other_path, &s, &err), -HS_E_FORMAT);
	assert_non_null(strstr(err.text, "empty"));
	assert_int_equal(snapshot_open("/nonexistent/a.hs", &s, &err), -HS_E_SYSTEM);
	assert_string_equal(err.text, "cannot open '/nonexistent/a.hs': No such file or directory");
	assert_int_equal(snapshot_open(dir, &s, &err), -HS_E_SYSTEM);
	assert_int_equal(snapshot_open("/dev/null", &s, &err), -HS_E_FORMAT);
}

static void test_versions(void **state)
{
	struct snapshot *s = write_small(NULL), *other;
	struct hs_error err;
	size_t len;
	uint8_t *data = read_all(file_path, &len);

	(void)state;
	snapshot_free(s);
	data[offsetof(struct hs_file_header, version)] = 9;
	write_all(other_path, data, len);
	assert_int_equal(snapshot_open(other_path, &other, &err), -HS_E_VERSION);
	assert_non_null(strstr(err.text, "version 9"));
	assert_non_null(strstr(err.text, "version 1"));
	free(data);
}

/* A highly regular snapshot is padded rather than packed beyond what readers take. */
static void test_ratio(void **state)
{
	struct fake_store *f = fake_store_new(store_path, UINT64_C(64) << 20);
	uint32_t slot = fake_thread(f, 1, "t"), stack = fake_stack(f, fake_node(f, 0, 0x5000, 0));
	struct snapshot *s, *back;
	struct hs_error err;
	size_t nr_bad;

	(void)state;
	for (uint64_t i = 0; i < 200000; i++)
		fake_block(f, 0x10000000 + i * 64, 48, stack, slot, 1);
	s = snap_of(f);
	fake_store_free(f, true);
	assert_int_equal(snapshot_write(s, file_path, NULL, &err), 0);
	assert_false(check_finds(file_path, &nr_bad));
	back = open_good(file_path);
	assert_same(s, back);
	snapshot_free(back);
	snapshot_free(s);
}

static void test_unwritable(void **state)
{
	struct snapshot *s = write_small(NULL);
	struct hs_error err;

	(void)state;
	assert_int_equal(snapshot_write(s, "/nonexistent/x.hs", NULL, &err), -HS_E_SYSTEM);
	assert_string_equal(err.text, "cannot write '/nonexistent/x.hs': No such file or "
				      "directory");
	assert_int_equal(snapshot_write(s, "/dev/full", NULL, &err), -HS_E_SYSTEM);
	assert_string_equal(err.text, "cannot write '/dev/full': No space left on device");
	assert_int_equal(snapshot_write(s, dir, NULL, &err), -HS_E_SYSTEM);
	assert_int_equal(snapshot_write(s, "/dev/null", NULL, &err), 0);
	assert_int_equal(access("/dev/null", W_OK), 0);
	snapshot_free(s);
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
		cmocka_unit_test(test_unexplained_difference),
		cmocka_unit_test(test_damaged_record),
		cmocka_unit_test(test_block_of_mapping_family),
		cmocka_unit_test(test_damaged_store),
		cmocka_unit_test(test_hollow_store),
		cmocka_unit_test(test_store_bytes),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_round_trip_random),
		cmocka_unit_test(test_empty_snapshot),
		cmocka_unit_test(test_totals_only),
		cmocka_unit_test(test_damage_every_byte),
		cmocka_unit_test(test_truncation_everywhere),
		cmocka_unit_test(test_damage_each_chunk),
		cmocka_unit_test(test_wrong_inside),
		cmocka_unit_test(test_unknown_chunk),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_unwritable),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
