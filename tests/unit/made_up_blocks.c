/* SPDX-License-Identifier: MIT */
/*
 * made_up_blocks.c - see made_up_blocks.h.
 */
#include "tests/unit/made_up_blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "store/writer.h"
#include "tests/unit/tracer_fixture.h"
#include "tracer/record.h"
#include "tracer/thread.h"
#include "util/error.h"

/* ---- what a hook does -------------------------------------------------------------------- */

__attribute__((noinline)) void birth(uint64_t address, uint64_t size)
{
	struct thread *t = tracer_enter();
	struct unwind_regs regs;
	struct block b = {address, size, size, HS_FAMILY_MALLOC};

	UNWIND_HERE(&regs);
	assert_non_null(t);
	record_birth(t, &b, &regs);
	tracer_leave(t);
}

void death(uint64_t address, bool known)
{
	struct thread *t = tracer_enter();
	bool was;

	assert_non_null(t);
	was = record_death(t, address);
	tracer_leave(t);
	assert_int_equal(was, known);
}

__attribute__((noinline)) void resize(uint64_t from, uint64_t to, uint64_t size)
{
	struct thread *t = tracer_enter();
	struct unwind_regs regs;
	struct block b = {to, size, size, HS_FAMILY_REALLOC};
	struct resize r;

	UNWIND_HERE(&regs);
	assert_non_null(t);
	record_resize_begin(t, from, &r);
	tracer_leave(t);
	t = tracer_enter();
	record_resize_end(t, &r, &b, &regs);
	tracer_leave(t);
}

/* ---- what a reader finds ----------------------------------------------------------------- */

struct snapshot *look(void)
{
	struct snapshot *s = NULL;
	struct hs_error err = {0};
	uint64_t count = 0, bytes = 0, by_stack = 0;

	if (snapshot_open(tracer_store_path, &s, &err))
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

const struct snap_block *block_at(const struct snapshot *s, uint64_t address)
{
	for (size_t i = 0; i < s->nr_blocks; i++)
		if (s->blocks[i].address == address)
			return &s->blocks[i];
	return NULL;
}

void writer_totals(int64_t *ret_count, int64_t *ret_bytes)
{
	struct thread *t = tracer_enter();
	uint64_t nr_stacks;

	assert_non_null(t);
	record_settle(t);
	tracer_leave(t);
	*ret_count = *ret_bytes = 0;
	nr_stacks = store.header->arrays[HS_ARRAY_STACKS].count;
	for (uint32_t shard = 0; shard < HS_NR_SHARDS; shard++) {
		const struct hs_array *a = &store.header->arrays[HS_ARRAY_CELLS + shard];

		for (uint64_t i = 0; i < a->ready && i < nr_stacks; i++) {
			const struct hs_cell *c = store_place(HS_ARRAY_CELLS + shard, i);

			*ret_count += c->live_count;
			*ret_bytes += c->live_bytes;
		}
	}
}

/* ---- a reader meanwhile ------------------------------------------------------------------ */

static pthread_t reader;
static int reader_stop;
static unsigned int nr_snapshots;

static void *snapshots(void *arg)
{
	while (!__atomic_load_n(&reader_stop, __ATOMIC_ACQUIRE)) {
		struct snapshot *s = NULL;
		struct hs_error err = {0};
		uint64_t bytes = 0;

		if (snapshot_open(tracer_store_path, &s, &err))
			fail_msg("%s", err.text);
		for (size_t i = 0; i < s->nr_stacks; i++)
			bytes += s->stacks[i].live_bytes;
		assert_int_equal(bytes, s->live_bytes);
		snapshot_free(s);
		nr_snapshots++;
	}
	return arg;
}

void reader_begin(void)
{
	nr_snapshots = 0;
	__atomic_store_n(&reader_stop, 0, __ATOMIC_RELEASE);
	assert_int_equal(pthread_create(&reader, NULL, snapshots, NULL), 0);
}

void reader_end(void)
{
	__atomic_store_n(&reader_stop, 1, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);
	assert_true(nr_snapshots > 0);
}
