/* SPDX-License-Identifier: MIT */
/*
 * test_kind.c - whose mappings are whose, snapshots of one kind, and mappings in a snapshot file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/kind.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"
#include "util/error.h"

enum module { NONE, PROGRAM, JEMALLOC, TRACER, LIBC, NR_MODULES };
enum stack {
	NO_STACK,
	OWN, /* main, f */
	LINKED, /* main, the hook of malloc, an allocator that is linked into the program */
	UNDER, /* main, the hook of malloc, jemalloc */
	THREAD, /* jemalloc's own thread */
	INSIDE, /* main, a function of libc */
	NR_STACKS
};

static const struct snap_node nodes[] = {
	{0, 0, NONE, false},       {0x10010, 0, PROGRAM, false}, {0x10020, 1, PROGRAM, false},
	{0x30010, 1, TRACER, false}, {0x10030, 3, PROGRAM, false}, {0x20010, 3, JEMALLOC, false},
	{0x20020, 0, JEMALLOC, false}, {0x40010, 1, LIBC, false},
};
static const uint32_t node_of[NR_STACKS] = {0, 2, 4, 5, 6, 7};
static const char *const paths[NR_MODULES] = {"", "/bin/program", "/usr/lib/libjemalloc.so.2",
					      "/opt/libheapstory.so", "/lib/libc.so.6"};

/* Mappings of 1000, 2000, ... bytes, one a stack, and two blocks of malloc between them. */
static struct snapshot *fake(void)
{
	struct snapshot *s = xcalloc(1, sizeof(*s));

	s->arch = HS_ARCH_X86_64;
	s->state = HS_STATE_RECORDING;
	s->coverage.consistent = true;
	s->exe = xstrdup("");
	s->dir = xstrdup("");
	s->nr_modules = NR_MODULES;
	s->modules = xcalloc(NR_MODULES, sizeof(*s->modules));
	for (int i = 0; i < NR_MODULES; i++)
		s->modules[i] = (struct snap_module){.path = xstrdup(paths[i]), .end = 1};
	s->modules[TRACER].flags = HS_MODULE_TRACER;
	s->nr_nodes = sizeof(nodes) / sizeof(nodes[0]);
	s->nodes = xcalloc(s->nr_nodes, sizeof(*s->nodes));
	memcpy(s->nodes, nodes, sizeof(nodes));
	s->nr_stacks = NR_STACKS;
	s->stacks = xcalloc(NR_STACKS, sizeof(*s->stacks));
	s->nr_threads = 1;
	s->threads = xcalloc(1, sizeof(*s->threads));
	s->nr_mappings = NR_STACKS;
	s->mappings = xcalloc(NR_STACKS, sizeof(*s->mappings));
	for (uint32_t i = 0; i < NR_STACKS; i++) {
		s->stacks[i].node = node_of[i];
		s->mappings[i] = (struct snap_block){
			.address = 0x100000 * (i + 1), .size = 1000 * (i + 1), .usable = 8192,
			.serial = 10 + i, .birth_ms = 100 - i, .stack = i,
			.family = i & 1 ? HS_FAMILY_MMAP_FILE : HS_FAMILY_MMAP};
	}
	s->nr_blocks = 2;
	s->blocks = xcalloc(2, sizeof(*s->blocks));
	s->blocks[0] = (struct snap_block){
		.address = 0x180000, .size = 7, .usable = 24, .serial = 1, .stack = OWN};
	s->blocks[1] = (struct snap_block){
		.address = 0x200000, .size = 9, .usable = 24, .serial = 2, .stack = OWN};
	s->stacks[OWN].live_count = s->live_count = 2;
	s->stacks[OWN].live_bytes = s->live_bytes = 16;
	s->stacks[OWN].born_count = s->born_count = 5;
	s->stacks[OWN].born_bytes = s->born_bytes = 50;
	return s;
}

static void own_mappings(void **state)
{
	struct snapshot *s = fake();

	(void)state;
	kind_own_mappings(s);
	assert_int_equal(s->nr_mappings, 2);
	assert_int_equal(s->mappings[0].stack, NO_STACK); /* nobody else is known */
	assert_int_equal(s->mappings[1].stack, OWN);
	assert_int_equal(s->nr_blocks, 2);
	snapshot_free(s);
}

static void kinds(void **state)
{
	struct snapshot *s = fake();
	enum block_kind kind;

	(void)state;
	kind_choose(s, KIND_MALLOC);
	assert_int_equal(s->nr_blocks, 2);
	assert_int_equal(s->born_count, 5);
	snapshot_free(s);

	s = fake();
	kind_choose(s, KIND_MAPPING);
	assert_int_equal(s->nr_blocks, 2);
	assert_int_equal(s->live_bytes, 3000);
	assert_int_equal(s->stacks[OWN].live_bytes, 2000);
	assert_int_equal(s->stacks[OWN].born_count, 0);
	assert_int_equal(s->coverage.blocks_without_stack, 1);
	assert_int_equal(kind_of(&s->blocks[1]), KIND_MAPPING);
	snapshot_free(s);

	s = fake();
	kind_choose(s, KIND_ALL);
	assert_int_equal(s->nr_blocks, 4);
	assert_int_equal(s->live_bytes, 3016);
	assert_int_equal(s->stacks[OWN].live_count, 3);
	assert_int_equal(s->blocks[0].address, 0x100000);
	assert_int_equal(s->blocks[1].address, 0x180000);
	assert_int_equal(kind_of(&s->blocks[1]), KIND_MALLOC);
	assert_int_equal(s->blocks[2].size, 2000); /* at the same address: the mapping first */
	assert_int_equal(s->blocks[3].size, 9);
	snapshot_free(s);

	for (kind = KIND_MALLOC; kind <= KIND_ALL; kind++) {
		enum block_kind same = KIND_MALLOC;

		assert_true(kind_parse(kind_name(kind), &same));
		assert_int_equal(same, kind);
	}
	assert_false(kind_parse("mappings", &kind));
}

static void in_a_file(void **state)
{
	struct snapshot *s = fake(), *back = NULL;
	struct hs_error err = {0};
	char path[] = "/tmp/heapstory-kind.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(snapshot_write(s, path, NULL, &err), 0);
	assert_int_equal(snapshot_open(path, &back, &err), 0);
	assert_int_equal(back->nr_mappings, s->nr_mappings);
	for (size_t i = 0; i < s->nr_mappings; i++) {
		const struct snap_block *a = &s->mappings[i], *b = &back->mappings[i];

		assert_int_equal(a->address, b->address);
		assert_int_equal(a->size, b->size);
		assert_int_equal(a->usable, b->usable);
		assert_int_equal(a->serial, b->serial);
		assert_int_equal(a->birth_ms, b->birth_ms);
		assert_int_equal(a->stack, b->stack);
		assert_int_equal(a->family, b->family);
	}
	snapshot_free(back);

	s->mappings[1].address = s->mappings[0].address + 4096;
	assert_int_equal(snapshot_write(s, path, NULL, &err), 0);
	assert_int_equal(snapshot_open(path, &back, &err), -HS_E_FORMAT);
	assert_non_null(strstr(err.text, "mapping 1 at 0x101000"));
	s->mappings[1].address = 0x200000;
	s->mappings[3].family = HS_FAMILY_MALLOC;
	assert_int_equal(snapshot_write(s, path, NULL, &err), 0);
	assert_int_equal(snapshot_open(path, &back, &err), -HS_E_FORMAT);
	assert_non_null(strstr(err.text, "mapping 3"));
	unlink(path);
	snapshot_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_mappings),
		cmocka_unit_test(kinds),
		cmocka_unit_test(in_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
