/* SPDX-License-Identifier: MIT */
/*
 * test_timeline.c - the timeline of a made-up process tells what its snapshots did, whole or thinned
 * out, and a series of either is the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/filter.h"
#include "analysis/names.h"
#include "analysis/series.h"
#include "analysis/snapshot.h"
#include "analysis/trend.h"
#include "cli/samples.h"
#include "cli/timeline.h"
#include "cli/timeline_log.h"
#include "tests/unit/fake_heap.h"
#include "tests/unit/folder.h"
#include "util/buffer.h"
#include "util/error.h"

#define NR_SNAPSHOTS 300u
#define EVENTS	     40u /* between two snapshots */

static char timeline_path[64], file_path[64];

static int make_paths(void **state)
{
	int ret = folder_make(state);

	snprintf(timeline_path, sizeof(timeline_path), "%s", in_folder("timeline"));
	snprintf(file_path, sizeof(file_path), "%s", in_folder("0001.hs"));
	return ret;
}

/* Totals of the made-up process as it knows them itself, by its own stacks. */
struct truth {
	uint64_t at_ms, bytes, count;
	uint64_t stacked; /* bytes of blocks that grew first, or were born, in a stack */
};

static struct truth truth_of(const struct fake_heap *heap, const struct snapshot *s)
{
	struct truth truth = {s->start_after_ms + s->taken_ms, 0, heap->nr, 0};

	for (size_t i = 0; i < heap->nr; i++) {
		truth.bytes += heap->blocks[i].size;
		truth.stacked += heap->blocks[i].growth_stack ? heap->blocks[i].size : 0;
	}
	return truth;
}

static struct snapshot *next_snapshot(struct fake_heap *heap, uint32_t shuffle)
{
	for (unsigned int k = 0; k < EVENTS; k++)
		fake_heap_event(heap);
	heap->now_ms += 1000;
	/* each snapshot numbers its stacks in its own way */
	return fake_heap_snapshot(heap, shuffle);
}

/* A timeline of NR_SNAPSHOTS within a budget, and the truth of each. */
static void make_timeline(uint64_t budget, struct truth *truths)
{
	struct timeline *t = timeline_new(timeline_path, budget);
	struct fake_heap heap;

	unlink(timeline_path);
	fake_heap_init(&heap, 17);
	for (unsigned int i = 0; i < NR_SNAPSHOTS; i++) {
		struct snapshot *s = next_snapshot(&heap, i);
		struct hs_error err;
		char name[16];

		snprintf(name, sizeof(name), "%04u.hs", i + 1);
		truths[i] = truth_of(&heap, s);
		if (timeline_add(t, s, name, &err))
			fail_msg("%s", err.text);
		snapshot_free(s);
	}
	timeline_free(t);
	fake_heap_release(&heap);
}

static const struct truth *truth_at(const struct truth *truths, uint64_t at_ms)
{
	for (unsigned int i = 0; i < NR_SNAPSHOTS; i++)
		if (truths[i].at_ms == at_ms)
			return &truths[i];
	return NULL;
}

/* Each line says what was; its stacks add up to it. Returns how many lines there are. */
static size_t check_log(const struct truth *truths)
{
	struct timeline_log log;
	struct hs_error err;
	size_t nr = 0;

	if (timeline_log_read(timeline_path, &log, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < log.nr_sections; i++) {
		struct timeline_state state;

		timeline_state_init(&state, &log.sections[i]);
		for (size_t k = 0; k < log.sections[i].nr_lines; k++, nr++) {
			const struct timeline_moment *m = &log.sections[i].lines[k].moment;
			const struct truth *truth = truth_at(truths, m->at_ms);
			uint64_t bytes = 0;

			timeline_state_next(&state);
			for (size_t n = 1; n < log.sections[i].nr_nodes; n++)
				bytes += state.totals[n].bytes;
			assert_non_null(truth);
			assert_int_equal(m->totals.bytes, truth->bytes);
			assert_int_equal(m->totals.count, truth->count);
			assert_int_equal(bytes, truth->stacked);
		}
		timeline_state_release(&state);
	}
	assert_int_equal(log.sections[0].lines[0].moment.at_ms, truths[0].at_ms);
	timeline_log_release(&log);
	return nr;
}

static void test_whole(void **state)
{
	struct truth truths[NR_SNAPSHOTS];

	(void)state;
	make_timeline(0, truths);
	assert_int_equal(check_log(truths), NR_SNAPSHOTS);
}

static uint64_t file_size(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_size;
}

/* Never above the budget; the first and the latest are there, in order, evenly. */
static void test_budget(void **state)
{
	struct truth truths[NR_SNAPSHOTS];
	struct timeline_log log;
	struct hs_error err;
	uint64_t whole, before = 0;
	size_t nr;

	(void)state;
	make_timeline(0, truths);
	whole = file_size(timeline_path);
	for (uint64_t part = 3; part <= 12; part *= 2) {
		make_timeline(whole / part, truths);
		assert_true(file_size(timeline_path) <= whole / part);
		nr = check_log(truths);
		assert_true(nr < NR_SNAPSHOTS && nr >= NR_SNAPSHOTS / part / 3);
		assert_int_equal(timeline_log_read(timeline_path, &log, &err), 0);
		for (size_t i = before = 0; i < log.nr_sections; i++) {
			for (size_t k = 0; k < log.sections[i].nr_lines; k++) {
				uint64_t at = log.sections[i].lines[k].moment.at_ms;

				assert_true(at > before);
				/* nothing is without a line for a third of the time */
				assert_true(!before ||
					    at - before < truths[NR_SNAPSHOTS - 1].at_ms / 3);
				before = at;
			}
		}
		assert_int_equal(before, truths[NR_SNAPSHOTS - 1].at_ms);
		timeline_log_release(&log);
	}
}

/* What is too small for even two lines a process does not loop or lose the latest. */
static void test_tiny_budget(void **state)
{
	struct truth truths[NR_SNAPSHOTS];

	(void)state;
	make_timeline(100, truths);
	assert_true(check_log(truths) >= 2);
}

/* Moments that come in bunches: to keep every second one leaves as many as every fourth. */
static void test_bunches(void **state)
{
	struct buffer text = {NULL, 0, 0}, thinned = {NULL, 0, 0};
	struct timeline_log log;
	struct hs_error err;

	(void)state;
	buffer_addf(&text, "{\"timeline\":1,\"pid\":1,\"generation\":0,\"image\":\"00\",\"comm\":"
			   "\"c\",\"start\":\"\"}\n");
	for (unsigned int i = 0; i < 100; i++)
		buffer_addf(&text,
			    "{\"snapshot\":\"%04u.hs\",\"s\":%u.%03u,\"wall\":\"\",\"count\":0,"
			    "\"bytes\":0,\"born_count\":0,\"born_bytes\":0,\"peak_bytes\":0,"
			    "\"modules\":[],\"nodes\":[],\"stacks\":[]}\n",
			    i + 1, i / 10 * 1000 + i / 10 % 9 * 37, i % 10);
	if (timeline_log_read_data(text.data, text.len, "bunches", &log, &err))
		fail_msg("%s", err.text);
	timeline_log_thin(&log, text.len / 20, &thinned);
	assert_true(thinned.len <= text.len / 20);
	timeline_log_release(&log);
	if (timeline_log_read_data(thinned.data, thinned.len, "thinned", &log, &err))
		fail_msg("%s", err.text);
	assert_int_equal(log.nr_sections, 1);
	assert_true(log.sections[0].nr_lines > 2);
	assert_int_equal(log.sections[0].lines[0].moment.at_ms, 0);
	assert_int_equal(log.sections[0].lines[log.sections[0].nr_lines - 1].moment.at_ms, 9000009);
	timeline_log_release(&log);
	buffer_clear(&text);
	buffer_clear(&thinned);
}

/* A line cut by a kill does not count; the next writer takes it off. Any other damage is said. */
static void test_damage(void **state)
{
	struct truth truths[NR_SNAPSHOTS];
	struct timeline_log log;
	struct hs_error err;
	uint64_t size;
	FILE *f;

	(void)state;
	make_timeline(0, truths);
	size = file_size(timeline_path);
	assert_int_equal(truncate(timeline_path, (off_t)size - 7), 0);
	assert_int_equal(check_log(truths), NR_SNAPSHOTS - 1);
	assert_int_equal(truncate(timeline_path, (off_t)size / 2), 0);
	f = fopen(timeline_path, "a");
	assert_non_null(f);
	fputs("...\n", f);
	fclose(f);
	assert_int_equal(timeline_log_read(timeline_path, &log, &err), -HS_E_FORMAT);
	assert_non_null(strstr(err.text, "line "));
}

/* The state of all stacks after each sample, by what identifies them. */
static void assert_same_series(const struct series *a, const struct series *b)
{
	assert_int_equal(a->nr_samples, b->nr_samples);
	assert_int_equal(a->nr_changes, b->nr_changes);
	for (size_t i = 0; i < a->nr_samples; i++) {
		assert_int_equal(a->samples[i].at_ms, b->samples[i].at_ms);
		assert_int_equal(a->samples[i].bytes, b->samples[i].bytes);
		assert_int_equal(a->samples[i].count, b->samples[i].count);
		assert_int_equal(a->samples[i].nr, b->samples[i].nr);
	}
}

/* Of the timeline, and of the snapshots themselves. */
static void test_series(void **state)
{
	struct series of_timeline, of_snapshots;
	const char *target[] = {folder()};
	struct truth truths[NR_SNAPSHOTS];
	struct samples samples;
	struct sample *latest;
	struct fake_heap heap;
	struct hs_error err;

	(void)state;
	make_timeline(0, truths);
	series_init(&of_timeline);
	series_init(&of_snapshots);
	if (samples_find(&samples, target, 1, false, KIND_MALLOC, &err))
		fail_msg("%s", err.text);
	assert_int_equal(samples.nr + samples.nr_left_out, NR_SNAPSHOTS);
	assert_int_equal(samples_series(&samples, &of_timeline, &latest, &err), 0);
	assert_null(latest);
	fake_heap_init(&heap, 17);
	for (size_t i = 0, next = 0; i < NR_SNAPSHOTS; i++) {
		struct snapshot *s = next_snapshot(&heap, (uint32_t)(i * 7));

		if (next < samples.nr && samples.samples[next].at_ms == truths[i].at_ms) {
			assert_int_equal(series_add(&of_snapshots, s, NULL), 0);
			next++;
		}
		snapshot_free(s);
	}
	assert_same_series(&of_timeline, &of_snapshots);
	fake_heap_release(&heap);
	series_release(&of_timeline);
	series_release(&of_snapshots);
	samples_release(&samples);
}

/* ---- groups ------------------------------------------------------------------------------ */

/*
 * A series of 12 snapshots, and these; from the totals of stacks and from blocks it is the same. And
 * what each stack of the made-up process has by its own account, buffers where they were born.
 */
struct twelve {
	struct snapshot *snapshots[12];
	uint64_t bytes[12][FAKE_STACKS];
	struct series series;
	struct names *names;
};

static void twelve_init(struct twelve *t)
{
	struct fake_heap heap;

	memset(t, 0, sizeof(*t));
	fake_heap_init(&heap, 23);
	series_init(&t->series);
	for (uint32_t i = 0; i < 12; i++) {
		t->snapshots[i] = next_snapshot(&heap, i);
		for (size_t k = 0; k < heap.nr; k++)
			t->bytes[i][heap.blocks[k].growth_stack] += heap.blocks[k].size;
		assert_int_equal(series_add(&t->series, t->snapshots[i], NULL), 0);
	}
	series_describe(&t->series, t->snapshots[11]);
	t->names = names_new(t->series.all, fake_heap_lookup, NULL);
	fake_heap_release(&heap);
}

static void twelve_release(struct twelve *t)
{
	names_free(t->names);
	for (uint32_t i = 0; i < 12; i++)
		snapshot_free(t->snapshots[i]);
	series_release(&t->series);
}

static void build(struct twelve *t, enum group_by by, bool blocks, struct trend *ret)
{
	static const struct filter filter;
	struct group_options options = {.by = by, .now_ms = t->snapshots[11]->taken_ms};

	trend_init(ret, &t->series, t->names, &filter, &options);
	for (size_t i = 0; i < 12 && blocks; i++) {
		struct series_map map;

		series_map_init(&map, &t->series, t->snapshots[i]);
		trend_add_blocks(ret, i, t->snapshots[i], &map);
		series_map_release(&map);
	}
	if (!blocks)
		trend_add_series(ret);
	trend_finish(ret, 1 << 20);
}

static const struct trend_row *row_of_key(const struct trend *t, const char *key)
{
	for (size_t i = 0; i < t->nr_rows; i++)
		if (!strcmp(grouping_get(t->grouping, t->rows[i].group)->key, key))
			return &t->rows[i];
	return NULL;
}

static void check_sums(const struct twelve *t, const struct trend *trend)
{
	for (size_t k = 0; k < 12; k++) {
		double bytes = 0, count = 0;

		for (size_t i = 0; i < trend->nr_rows; i++) {
			bytes += trend->rows[i].bytes[k];
			count += trend->rows[i].count[k];
		}
		assert_true(bytes == (double)t->snapshots[k]->live_bytes);
		assert_true(count == (double)t->snapshots[k]->live_count);
		assert_true(trend->bytes[k] == bytes && trend->count[k] == count);
	}
}

/* Each function has what the process says. */
static void check_functions(const struct twelve *t, const struct trend *trend)
{
	for (size_t i = 0; i < trend->nr_rows; i++) {
		const char *key = grouping_get(trend->grouping, trend->rows[i].group)->key;

		for (size_t k = 0; k < 12; k++) {
			uint64_t bytes = 0;

			for (uint32_t stack = 0; stack < FAKE_STACKS; stack++)
				if (!strcmp(fake_heap_function(stack), key))
					bytes += t->bytes[k][stack];
			assert_true(trend->rows[i].bytes[k] == (double)bytes);
		}
	}
}

/* From files, whose blocks are not read into memory, it is the same series. */
static void test_files(void **state)
{
	struct series of_files;
	struct twelve t;
	size_t moved = 0;

	(void)state;
	twelve_init(&t);
	series_init(&of_files);
	for (size_t i = 0; i < 12; i++) {
		struct snapshot *s = NULL;
		struct hs_error err;

		moved += t.snapshots[i]->nr_lineages;
		if (snapshot_write(t.snapshots[i], file_path, NULL, &err) ||
		    snapshot_open_to_stream(file_path, &s, &err) ||
		    series_add(&of_files, s, &err))
			fail_msg("%s", err.text);
		snapshot_free(s);
	}
	assert_true(moved > 100);
	assert_same_series(&of_files, &t.series);
	for (size_t i = 0; i < of_files.nr_changes; i++) {
		const struct series_change *a = &of_files.changes[i], *b = &t.series.changes[i];

		assert_true(a->stack == b->stack && a->count == b->count && a->bytes == b->bytes);
	}
	series_release(&of_files);
	twelve_release(&t);
	unlink(file_path);
}

/* Snapshots of +1 s to +4 s in a folder, and exit.hs. */
static uint64_t unseen_end_ms(uint64_t exit_ms)
{
	static const char *const names[] = {"0001.hs", "0002.hs", "0003.hs", "0004.hs", "exit.hs"};
	const char *operand = folder();
	struct samples samples;
	struct fake_heap heap;
	struct hs_error err;
	uint64_t unseen_ms;

	fake_heap_init(&heap, 3);
	for (unsigned int i = 0; i < 5; i++) {
		struct snapshot *s;

		fake_heap_event(&heap);
		heap.now_ms = i < 4 ? 1000 * (i + 1) : exit_ms;
		s = fake_heap_snapshot(&heap, 1);
		if (snapshot_write(s, in_folder(names[i]), NULL, &err))
			fail_msg("%s", err.text);
		snapshot_free(s);
	}
	if (samples_find(&samples, &operand, 1, true, KIND_MALLOC, &err))
		fail_msg("%s", err.text);
	assert_int_equal(samples.nr, 4);
	unseen_ms = samples_unseen_end_ms(&samples);
	samples_release(&samples);
	fake_heap_release(&heap);
	for (unsigned int i = 0; i < 5; i++)
		unlink(in_folder(names[i]));
	return unseen_ms;
}

/* A program that was looked at while it grew only, and ran on. */
static void test_unseen_end(void **state)
{
	(void)state;
	assert_int_equal(unseen_end_ms(4500), 0);
	assert_int_equal(unseen_end_ms(6000), 0);
	assert_int_equal(unseen_end_ms(60000), 56000);
}

static void test_groups(void **state)
{
	static const enum group_by by[] = {GROUP_SITE, GROUP_STACK, GROUP_MODULE, GROUP_FUNCTION};
	struct trend by_totals, by_blocks;
	struct twelve t;

	(void)state;
	twelve_init(&t);
	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		build(&t, by[i], false, &by_totals);
		build(&t, by[i], true, &by_blocks);
		check_sums(&t, &by_totals);
		check_sums(&t, &by_blocks);
		if (by[i] == GROUP_FUNCTION)
			check_functions(&t, &by_totals);
		assert_true(by_totals.nr_rows > 1);
		for (size_t k = 0; k < by_totals.nr_rows; k++) {
			const struct trend_row *row = &by_totals.rows[k], *other;

			other = row_of_key(&by_blocks,
					   grouping_get(by_totals.grouping, row->group)->key);
			assert_non_null(other);
			assert_memory_equal(row->bytes, other->bytes, 12 * sizeof(double));
			assert_memory_equal(row->count, other->count, 12 * sizeof(double));
			assert_int_equal(row->belief.shape, other->belief.shape);
		}
		trend_release(&by_totals);
		trend_release(&by_blocks);
	}
	build(&t, GROUP_THREAD, true, &by_blocks);
	check_sums(&t, &by_blocks);
	trend_release(&by_blocks);
	build(&t, GROUP_SIZE, true, &by_blocks);
	check_sums(&t, &by_blocks);
	trend_release(&by_blocks);
	twelve_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	    cmocka_unit_test(test_budget),
		cmocka_unit_test(test_tiny_budget), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_bunches),
		cmocka_unit_test(test_series),	    cmocka_unit_test(test_groups),
		cmocka_unit_test(test_files),	    cmocka_unit_test(test_unseen_end),
	};

	return cmocka_run_group_tests(tests, make_paths, folder_remove);
}
