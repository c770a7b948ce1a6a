/* SPDX-License-Identifier: MIT */
/*
 * snapshot_fixture.c - see snapshot_fixture.h.
 */
#include "tests/unit/snapshot_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "tests/unit/folder.h"
#include "util/error.h"

char store_path[64], file_path[64], other_path[64];

int make_paths(void **state)
{
	int ret = folder_make(state);

	snprintf(store_path, sizeof(store_path), "%s", in_folder("store.live"));
	snprintf(file_path, sizeof(file_path), "%s", in_folder("a.hs"));
	snprintf(other_path, sizeof(other_path), "%s", in_folder("b.hs"));
	return ret;
}

struct snapshot *open_good(const char *path)
{
	struct snapshot *s = NULL;
	struct hs_error err = {0};

	if (snapshot_open(path, &s, &err))
		fail_msg("%s: %s", path, err.text);
	return s;
}

void assert_valid(const struct snapshot *s)
{
	struct snap_problem problem;

	if (!snapshot_valid(s, &problem))
		fail_msg("%s", problem.text);
}

struct snapshot *snap_of(struct fake_store *f)
{
	struct snapshot *s = open_good(f->path);

	assert_valid(s);
	return s;
}

static void assert_same_process(const struct snapshot *a, const struct snapshot *b)
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
}

static void assert_same_stacks(const struct snapshot *a, const struct snapshot *b)
{
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
}

static void assert_same_lineages(const struct snapshot *a, const struct snapshot *b)
{
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
}

void assert_same(const struct snapshot *a, const struct snapshot *b)
{
	assert_same_process(a, b);
	assert_same_stacks(a, b);
	assert_int_equal(a->nr_blocks, b->nr_blocks);
	if (a->nr_blocks)
		assert_memory_equal(a->blocks, b->blocks, a->nr_blocks * sizeof(*a->blocks));
	assert_same_lineages(a, b);
	assert_int_equal(a->nr_threads, b->nr_threads);
	for (size_t i = 0; i < a->nr_threads; i++) {
		assert_int_equal(a->threads[i].tid, b->threads[i].tid);
		assert_string_equal(a->threads[i].name, b->threads[i].name);
	}
	assert_int_equal(a->nr_messages, b->nr_messages);
	for (size_t i = 0; i < a->nr_messages; i++)
		assert_string_equal(a->messages[i], b->messages[i]);
}
