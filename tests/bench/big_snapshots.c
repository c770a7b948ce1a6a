/* SPDX-License-Identifier: MIT */
/*
 * big_snapshots.c - writes two snapshots of one made-up process, for the cost of `diff`.
 *
 *      big_snapshots BLOCKS CHURN BEFORE AFTER
 *
 * BEFORE has BLOCKS blocks over 20,000 stacks and 8 threads; a third of them was resized twice
 * before, so it has a lineage. Of each 100 of them CHURN are freed
 * until AFTER and as many are born at other addresses; one in 200 of the others was resized, half
 * of these moved. Prints what diff has to find: born, freed and resized blocks, and the delta in
 * bytes, which it adds up by itself as it goes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot.h"
#include "util/alloc.h"
#include "util/error.h"

#define NR_STACKS  20000u
#define NR_THREADS 9u
#define DEPTH	   12u /* frames of a stack; the outer ones are shared */

static uint64_t state = 88172645463325252u;

static uint64_t random_below(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* Small sizes mostly, some large ones. */
static uint64_t random_size(void)
{
	uint64_t class = random_below(100);

	if (class < 80)
		return 16 + 8 * random_below(30);
	return class < 99 ? 256 + random_below(2048) : 4096 + random_below(60000);
}

static void add_stacks(struct snapshot *s)
{
	s->nr_modules = 2;
	s->modules = xcalloc(s->nr_modules, sizeof(*s->modules));
	s->modules[0].path = xstrdup("");
	s->modules[1] = (struct snap_module){
		.path = xstrdup("/nowhere/app"), .start = 0x550000000000, .end = 0x560000000000};
	s->nr_stacks = NR_STACKS;
	s->stacks = xcalloc(NR_STACKS, sizeof(*s->stacks));
	s->nodes = xcalloc(1 + (size_t)NR_STACKS * DEPTH, sizeof(*s->nodes));
	s->nr_nodes = 1;
	for (uint32_t i = 1; i < NR_STACKS; i++) {
		uint32_t parent = i > 100 ? s->nodes[s->stacks[1 + i % 100].node].parent : 0;

		for (uint32_t d = i > 100 ? DEPTH - 2 : 0; d < DEPTH; d++) {
			s->nodes[s->nr_nodes] = (struct snap_node){
				0x550000001000 + 64 * (uint64_t)s->nr_nodes, parent, 1, false};
			parent = (uint32_t)s->nr_nodes++;
		}
		s->stacks[i].node = parent;
	}
	s->nr_threads = NR_THREADS;
	s->threads = xcalloc(NR_THREADS, sizeof(*s->threads));
	for (uint32_t i = 1; i < NR_THREADS; i++)
		s->threads[i] = (struct snap_thread){.tid = 100 + i, .slot = i};
}

static struct snapshot *new_snapshot(uint64_t taken_ms, size_t room)
{
	struct snapshot *s = xcalloc(1, sizeof(*s));

	memset(s->image, 1, sizeof(s->image));
	s->pid = 4242;
	s->arch = HS_ARCH_X86_64;
	s->page_size = 4096;
	s->exe = xstrdup("/nowhere/app");
	s->dir = xstrdup("");
	memcpy(s->comm, "big", 4);
	s->taken_ms = taken_ms;
	s->state = HS_STATE_RECORDING;
	s->coverage.mode = HS_MODE_LIVE;
	s->coverage.share_of_life = 1;
	s->coverage.consistent = true;
	add_stacks(s);
	s->blocks = xcalloc(room, sizeof(*s->blocks));
	return s;
}

static uint64_t next_serial[NR_THREADS];

static struct snap_block new_block(uint64_t address, uint64_t room, uint64_t now_ms)
{
	uint32_t thread = 1 + (uint32_t)random_below(NR_THREADS - 1);
	uint64_t size = random_size();

	return (struct snap_block){
		.address = address,
		.size = size < room ? size : room,
		.usable = size < room ? size : room,
		.serial = (uint64_t)thread << HS_SERIAL_SLOT_SHIFT | next_serial[thread]++,
		.birth_ms = now_ms,
		.stack = 1 + (uint32_t)random_below(NR_STACKS - 1),
		.thread = thread,
	};
}

static size_t alloc_lineages, alloc_steps;

/* Adds a lineage with so many steps to a block: the last gave it its present size. */
static void add_lineage(struct snapshot *s, struct snap_block *b, uint32_t nr_steps,
			uint64_t now_ms)
{
	s->lineages = xgrow(s->lineages, &alloc_lineages, s->nr_lineages + 1, sizeof(*s->lineages));
	s->steps = xgrow(s->steps, &alloc_steps, s->nr_steps + nr_steps, sizeof(*s->steps));
	s->lineages[s->nr_lineages++] = (struct snap_lineage){.born_size = b->size / 2,
							      .born_stack = b->stack,
							      .nr_steps = nr_steps,
							      .changed_ms = now_ms,
							      .first_step = (uint32_t)s->nr_steps,
							      .nr_kept = nr_steps,
							      .nr_first = nr_steps};
	for (uint32_t i = 0; i < nr_steps; i++)
		s->steps[s->nr_steps++] =
			(struct snap_step){b->size - nr_steps + i + 1, now_ms, b->stack};
	b->lineage = (uint32_t)s->nr_lineages;
}

/* Sums as a reader wants them, then the file. */
static int finish(struct snapshot *s, const char *path)
{
	struct hs_error err = {0};

	for (size_t i = 0; i < s->nr_blocks; i++) {
		struct snap_stack *st = &s->stacks[s->blocks[i].stack];

		st->live_count++;
		st->live_bytes += s->blocks[i].size;
		s->live_bytes += s->blocks[i].size;
	}
	for (size_t i = 0; i < s->nr_stacks; i++) {
		s->stacks[i].born_count = s->stacks[i].live_count;
		s->stacks[i].born_bytes = s->stacks[i].live_bytes;
	}
	s->live_count = s->born_count = s->peak_count = s->nr_blocks;
	s->born_bytes = s->peak_bytes = s->live_bytes;
	if (!snapshot_write(s, path, NULL, &err)) {
		snapshot_free(s);
		return 0;
	}
	fprintf(stderr, "big_snapshots: %s\n", err.text);
	return 2;
}

int main(int argc, char **argv)
{
	uint64_t address = 0x7f0000000000, nr, churn, born = 0, freed = 0, resized = 0;
	struct snapshot *before, *after;
	int64_t delta = 0;

	if (argc != 5) {
		fprintf(stderr, "usage: big_snapshots BLOCKS CHURN BEFORE AFTER\n");
		return 2;
	}
	nr = strtoull(argv[1], NULL, 10);
	churn = strtoull(argv[2], NULL, 10);
	before = new_snapshot(60000, nr + 1);
	for (uint64_t i = 0; i < nr; i++) {
		struct snap_block b = new_block(address, 60000, random_below(60000));

		if (i % 3 == 0)
			add_lineage(before, &b, 2, 60000);
		before->blocks[before->nr_blocks++] = b;
		/* room to grow by one, and for another block behind it */
		address += (b.size + 15) / 16 * 16 + 600;
	}
	alloc_lineages = alloc_steps = 0;
	after = new_snapshot(120000, nr + 1);
	for (uint64_t i = 0; i < nr; i++) {
		struct snap_block b = before->blocks[i], a = b;
		uint64_t behind = b.address + (b.size + 15) / 16 * 16 + 16;
		uint32_t nr_steps = b.lineage ? 2 : 0;

		a.lineage = 0;
		if (random_below(100) < churn) {
			freed++;
			born++;
			/* its successor lies elsewhere, so that no address is used again */
			a = new_block(behind, 512, 60001 + random_below(59999));
			delta += (int64_t)a.size - (int64_t)b.size;
		} else if (!random_below(200)) {
			resized++;
			delta++;
			a.usable = ++a.size;
			nr_steps++;
			if (random_below(2) && a.size <= 512)
				a.address = behind;
		}
		if (nr_steps)
			add_lineage(after, &a, nr_steps, 70000);
		after->blocks[after->nr_blocks++] = a;
	}
	printf("%" PRIu64 " born, %" PRIu64 " freed, %" PRIu64 " resized, %" PRId64 " bytes more\n",
	       born, freed, resized, delta);
	return finish(before, argv[3]) || finish(after, argv[4]) ? 2 : 0;
}
