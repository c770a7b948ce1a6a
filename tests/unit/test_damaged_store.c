/* SPDX-License-Identifier: MIT */
/*
 * test_damaged_store.c - stores that cannot be right: refused, or dropped and counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/folder.h"
#include "tests/unit/snapshot_fixture.h"
#include "util/error.h"

#define CAP (UINT64_C(8) << 20)

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
			assert_valid(s);
			snapshot_free(s);
		}
		f->base[i] = saved;
	}
	fake_store_free(f, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unexplained_difference),
		cmocka_unit_test(test_damaged_record),
		cmocka_unit_test(test_block_of_mapping_family),
		cmocka_unit_test(test_damaged_store),
		cmocka_unit_test(test_hollow_store),
		cmocka_unit_test(test_store_bytes),
	};

	return cmocka_run_group_tests(tests, make_paths, folder_remove);
}
