/* SPDX-License-Identifier: MIT */
/*
 * test_block_stream.c - blocks read from a file batch by batch are those of the whole snapshot,
 * and what is refused as a whole is refused as a stream.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/growth_totals.h"
#include "analysis/block_stream.h"
#include "analysis/lineage_stream.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"
#include "util/error.h"

#define NR_STACKS  7u
#define NR_THREADS 4u

static char path[] = "/tmp/test_block_stream.XXXXXX";

static uint64_t state = 1;

static uint64_t random_below(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* Of any length: 1 to 10 bytes as a varint. */
static uint64_t random_width(unsigned int bits)
{
	return random_below(UINT64_C(1) << random_below(bits + 1));
}

static void set_sums(struct snapshot *s)
{
	for (size_t i = 0; i < s->nr_stacks; i++)
		s->stacks[i] = (struct snap_stack){.node = 0};
	s->live_bytes = 0;
	for (size_t i = 0; i < s->nr_blocks; i++) {
		s->stacks[s->blocks[i].stack].live_count++;
		s->stacks[s->blocks[i].stack].live_bytes += s->blocks[i].size;
		s->live_bytes += s->blocks[i].size;
	}
	s->live_count = s->nr_blocks;
	s->coverage.blocks_without_stack = s->stacks[0].live_count;
}

static struct snapshot *new_snapshot(size_t nr)
{
	struct snapshot *s = xcalloc(1, sizeof(*s));
	uint64_t address = 4096;

	s->arch = HS_ARCH_X86_64;
	s->state = HS_STATE_RECORDING;
	s->nr_modules = s->nr_nodes = 1;
	s->modules = xcalloc(1, sizeof(*s->modules));
	s->nodes = xcalloc(1, sizeof(*s->nodes));
	s->nr_stacks = NR_STACKS;
	s->stacks = xcalloc(NR_STACKS, sizeof(*s->stacks));
	s->nr_threads = NR_THREADS;
	s->threads = xcalloc(NR_THREADS, sizeof(*s->threads));
	s->nr_lineages = nr;
	s->lineages = xcalloc(nr + 1, sizeof(*s->lineages));
	s->nr_blocks = nr;
	s->blocks = xcalloc(nr + 1, sizeof(*s->blocks));
	for (size_t i = 0; i < nr; i++) {
		struct snap_block *b = &s->blocks[i];

		*b = (struct snap_block){
			.address = address,
			.size = random_width(30),
			.serial = random_width(63),
			.birth_ms = random_width(50),
			.stack = (uint32_t)random_below(NR_STACKS),
			.thread = (uint32_t)random_below(NR_THREADS),
			.lineage = random_below(3) ? 0 : 1 + (uint32_t)random_below(nr),
			.family = (uint16_t)random_below(HS_FAMILY_MMAP),
			.flags = random_below(50) ? 0 : SNAP_BLOCK_IN_FLIGHT,
		};
		b->usable = b->size + random_below(20);
		address += b->usable + 1 + random_width(30);
	}
	set_sums(s);
	return s;
}

static void write_snapshot(struct snapshot *s)
{
	assert_int_equal(snapshot_write(s, path, NULL, NULL), 0);
}

/* Reads all; 0, or the first error. The blocks go to *ret, if that is not NULL. */
static int stream_all(struct snap_block **ret, size_t *ret_nr, struct hs_error *err)
{
	const struct snap_block *batch;
	struct snap_block *blocks = NULL;
	struct block_stream *stream = NULL;
	struct snapshot *s = NULL;
	size_t nr = 1, sum = 0, alloc = 0;
	int res = snapshot_open_to_stream(path, &s, err);

	if (!res)
		res = block_stream_open(s, &stream, err);
	while (!res && nr) {
		res = block_stream_next(stream, &batch, &nr, err);
		if (res)
			break;
		blocks = xgrow(blocks, &alloc, sum + nr + 1, sizeof(*blocks));
		memcpy(blocks + sum, batch, nr * sizeof(*blocks));
		sum += nr;
	}
	block_stream_close(stream);
	if (!res)
		res = lineages_take(s, NULL, 0, err);
	snapshot_free(s);
	if (res || !ret) {
		free(blocks);
		return res;
	}
	*ret = blocks;
	*ret_nr = sum;
	return 0;
}

static void test_same_blocks(void **unused)
{
	static const size_t counts[] = {0, 1, 2, 2047, 2048, 2049, 4096, 30011};

	(void)unused;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct snapshot *s = new_snapshot(counts[i]);
		struct snap_block *blocks;
		struct hs_error err;
		size_t nr;

		write_snapshot(s);
		if (stream_all(&blocks, &nr, &err))
			fail_msg("%s", err.text);
		assert_int_equal(nr, s->nr_blocks);
		if (nr)
			assert_memory_equal(blocks, s->blocks, nr * sizeof(*blocks));
		free(blocks);
		snapshot_free(s);
	}
}

/* A stream over an array is that array. */
static void test_array(void **unused)
{
	struct snapshot *s = new_snapshot(3000);
	const struct snap_block *batch;
	struct block_stream *stream;
	size_t nr;

	(void)unused;
	assert_int_equal(block_stream_open(s, &stream, NULL), 0);
	assert_int_equal(block_stream_next(stream, &batch, &nr, NULL), 0);
	assert_int_equal(nr, 3000);
	assert_ptr_equal(batch, s->blocks);
	assert_int_equal(block_stream_next(stream, &batch, &nr, NULL), 0);
	assert_int_equal(nr, 0);
	block_stream_close(stream);
	snapshot_free(s);
}

/* Whole and streamed, the same file gets the same answer. */
static void assert_same_verdict(void)
{
	struct hs_error whole_err = {0}, stream_err = {0};
	struct snapshot *s = NULL;
	int whole = snapshot_open(path, &s, &whole_err);
	int streamed = stream_all(NULL, NULL, &stream_err);

	if (!whole)
		snapshot_free(s);
	if (whole != streamed)
		fail_msg("whole %d '%s', streamed %d '%s'", whole, whole_err.text, streamed,
			 stream_err.text);
}

/* The packing is right, what is inside is not. */
static void refused(struct snapshot *s, const char *text)
{
	struct hs_error err = {0};

	write_snapshot(s);
	assert_int_equal(stream_all(NULL, NULL, &err), -HS_E_FORMAT);
	if (!strstr(err.text, text))
		fail_msg("'%s' does not say '%s'", err.text, text);
	assert_same_verdict();
}

static void assert_same_lineage(const struct snap_lineage *a, const struct snap_lineage *b)
{
	assert_int_equal(a->born_size, b->born_size);
	assert_int_equal(a->born_stack, b->born_stack);
	assert_int_equal(a->nr_steps, b->nr_steps);
	assert_int_equal(a->nr_shrinks, b->nr_shrinks);
	assert_int_equal(a->changed_ms, b->changed_ms);
	assert_int_equal(a->peak_size, b->peak_size);
	assert_int_equal(a->first_step, b->first_step);
	assert_int_equal(a->nr_kept, b->nr_kept);
	assert_int_equal(a->nr_first, b->nr_first);
	assert_int_equal(a->inferred, b->inferred);
}

/* Some lineages of a file are those that were written; any are found, with all of their steps. */
static void test_lineages(void **unused)
{
	struct snapshot *s = new_snapshot(3000), *streamed;
	struct taken_lineage wanted[40];
	size_t nr = 0;

	(void)unused;
	s->steps = xcalloc(3000 * 40, sizeof(*s->steps));
	for (size_t i = 0; i < s->nr_lineages; i++) {
		struct snap_lineage *l = &s->lineages[i];

		*l = (struct snap_lineage){
			.born_size = random_width(40),
			.born_stack = (uint32_t)random_below(NR_STACKS),
			.nr_steps = 40 + random_width(20),
			.nr_shrinks = (uint32_t)random_width(20),
			.changed_ms = random_width(40),
			.peak_size = random_width(63),
			.first_step = (uint32_t)s->nr_steps,
			.nr_kept = (uint32_t)random_below(40),
			.inferred = random_below(2),
		};
		l->nr_first = (uint32_t)random_below(l->nr_kept + 1);
		for (uint32_t k = 0; k < l->nr_kept; k++)
			s->steps[s->nr_steps++] =
				(struct snap_step){random_width(63), random_width(40),
						   (uint32_t)random_below(NR_STACKS)};
	}
	write_snapshot(s);
	assert_int_equal(snapshot_open_to_stream(path, &streamed, NULL), 0);
	assert_int_equal(streamed->nr_lineages, 3000);
	for (uint32_t number = 1; number <= 3000 && nr < 40; number += 1 + random_below(150))
		wanted[nr++].number = number;
	wanted[nr - 1].number = 3000;
	assert_int_equal(lineages_take(streamed, wanted, nr, NULL), 0);
	for (size_t i = 0; i < nr; i++) {
		const struct snap_lineage *l = &s->lineages[wanted[i].number - 1];

		assert_same_lineage(&wanted[i].lineage, l);
		for (uint32_t k = 0; k < l->nr_kept; k++) {
			const struct snap_step *step = &s->steps[l->first_step + k];

			assert_int_equal(wanted[i].steps[k].size, step->size);
			assert_int_equal(wanted[i].steps[k].ms, step->ms);
			assert_int_equal(wanted[i].steps[k].stack, step->stack);
		}
	}
	lineages_release(wanted, nr);
	snapshot_free(streamed);
	s->steps[s->nr_steps - 1].stack = NR_STACKS;
	refused(s, "has stack 7");
	s->steps[s->nr_steps - 1].stack = 0;
	s->lineages[1500].born_stack = NR_STACKS;
	refused(s, "lineage 1500 has stack 7");
	snapshot_free(s);
}

/* Totals by first growth of what is in the file now. 0 or what reading them ended with. */
static int totals_of_file(struct growth_total **ret, struct hs_error *err)
{
	struct snapshot *s;
	int res = snapshot_open_to_stream(path, &s, err);

	if (res)
		return res;
	res = growth_totals_read(s, ret, err);
	snapshot_free(s);
	return res;
}

static void totals_refused(struct snapshot *s, const char *text)
{
	struct growth_total *totals;
	struct hs_error err = {0};

	write_snapshot(s);
	assert_int_equal(totals_of_file(&totals, &err), -HS_E_FORMAT);
	if (!strstr(err.text, text))
		fail_msg("'%s' does not say '%s'", err.text, text);
}

/* Of a file they are what they are of the array; numbers that cannot be right are refused. */
static void test_growth_totals(void **unused)
{
	struct snapshot *s = new_snapshot(5000);
	struct growth_total *totals, *expected;
	struct snap_block *b = s->blocks;
	uint64_t moved = 0;

	(void)unused;
	s->steps = xcalloc(2 * s->nr_lineages, sizeof(*s->steps));
	for (size_t i = 0; i < s->nr_lineages; i++) { /* every third has only shrunk */
		struct snap_lineage *l = &s->lineages[i];

		l->born_stack = (uint32_t)random_below(NR_STACKS);
		l->first_step = (uint32_t)s->nr_steps;
		l->nr_steps = l->nr_kept = l->nr_first = i % 3;
		for (uint32_t k = 0; k < l->nr_kept; k++)
			s->steps[s->nr_steps++].stack = (uint32_t)random_below(NR_STACKS);
	}
	write_snapshot(s);
	assert_int_equal(totals_of_file(&totals, NULL), 0);
	expected = xcalloc(NR_STACKS, sizeof(*expected));
	for (size_t i = 0; i < s->nr_blocks; i++) {
		const struct snap_lineage *l =
			b[i].lineage ? &s->lineages[b[i].lineage - 1] : NULL;
		uint32_t stack = !l	     ? b[i].stack
				 : l->nr_kept ? s->steps[l->first_step].stack
					      : l->born_stack;

		expected[stack].count++;
		expected[stack].bytes += b[i].size;
		moved += stack != b[i].stack;
	}
	assert_true(moved > 100);
	assert_memory_equal(totals, expected, NR_STACKS * sizeof(*expected));
	free(totals);
	free(expected);
	while (!b->lineage)
		b++;
	s->lineages[b->lineage - 1].born_stack = NR_STACKS;
	totals_refused(s, "has stack 7");
	s->lineages[b->lineage - 1].born_stack = 0;
	s->steps[0].stack = NR_STACKS;
	totals_refused(s, "has stack 7");
	s->steps[0].stack = 0;
	b->stack = NR_STACKS;
	totals_refused(s, "cannot be right");
	b->stack = 1;
	b->size = s->stacks[1].live_bytes + 1;
	totals_refused(s, "cannot be right");
	b->size = 1;
	b->lineage = (uint32_t)s->nr_lineages + 1;
	totals_refused(s, "cannot be right");
	snapshot_free(s);
}

static void test_damaged_bytes(void **unused)
{
	struct snapshot *s = new_snapshot(5000);
	unsigned char byte, changed;
	long size;
	FILE *f;

	(void)unused;
	write_snapshot(s);
	f = fopen(path, "r+b");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	for (int i = 0; i < 400; i++) {
		long at = (long)random_below((uint64_t)size);

		fseek(f, at, SEEK_SET);
		assert_int_equal(fread(&byte, 1, 1, f), 1);
		changed = (unsigned char)(byte ^ 1u << random_below(8));
		fseek(f, at, SEEK_SET);
		assert_int_equal(fwrite(&changed, 1, 1, f), 1);
		fflush(f);
		assert_true(stream_all(NULL, NULL, NULL) < 0);
		assert_same_verdict();
		fseek(f, at, SEEK_SET);
		assert_int_equal(fwrite(&byte, 1, 1, f), 1);
		fflush(f);
	}
	assert_int_equal(stream_all(NULL, NULL, NULL), 0);
	fclose(f);
	snapshot_free(s);
}

static void test_wrong_inside(void **unused)
{
	struct snapshot *s = new_snapshot(5000);
	struct snap_block saved = s->blocks[4000];

	(void)unused;
	s->blocks[4000].flags = 0;
	s->blocks[4000].usable = UINT64_C(1) << 40;
	refused(s, "overlaps");
	s->blocks[4000] = saved;
	s->blocks[4000].address = UINT64_C(1) << 60;
	refused(s, "address out of range");
	s->blocks[4000] = saved;
	s->blocks[4000].stack = NR_STACKS;
	refused(s, "block 4000 has stack 7");
	s->blocks[4000] = saved;
	s->blocks[4000].thread = NR_THREADS;
	refused(s, "block 4000 has thread 4");
	s->blocks[4000] = saved;
	s->blocks[4000].lineage = 5001;
	refused(s, "block 4000 has lineage 5001");
	s->blocks[4000] = saved;
	s->blocks[4000].family = HS_FAMILY_MMAP;
	refused(s, "block 4000 has family");
	s->blocks[4000] = saved;
	s->stacks[1].live_bytes++;
	s->stacks[2].live_bytes--;
	refused(s, "stack 1 has");
	s->live_bytes++;
	refused(s, "live blocks");
	snapshot_free(s);
}

static int make_file(void **unused)
{
	int fd = mkstemp(path);

	(void)unused;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **unused)
{
	(void)unused;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_blocks),  cmocka_unit_test(test_array),
		cmocka_unit_test(test_lineages),     cmocka_unit_test(test_damaged_bytes),
		cmocka_unit_test(test_wrong_inside), cmocka_unit_test(test_growth_totals),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
