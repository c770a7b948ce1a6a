/* SPDX-License-Identifier: MIT */
/*
 * test_diff.c - the arithmetic of diff on random histories, against sums made the plain way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/diff.h"
#include "analysis/filter.h"
#include "analysis/ignore.h"
#include "analysis/lineage_stream.h"
#include "tests/unit/fake_heap.h"
#include "util/alloc.h"
#include "util/error.h"

#define NR_SEEDS 150u

/* Two snapshots of one history, and what the process itself knew then. */
struct history {
	struct fake_heap before, after;
	struct snapshot *snapshots[2];
	struct names *names[2];
};

static void copy_heap(struct fake_heap *to, const struct fake_heap *from)
{
	*to = *from;
	to->alloc = from->nr + 1;
	to->blocks = xcalloc(to->alloc, sizeof(*to->blocks));
	if (from->nr)
		memcpy(to->blocks, from->blocks, from->nr * sizeof(*to->blocks));
}

static void history_snap(struct history *h)
{
	h->snapshots[0] = fake_heap_snapshot(&h->before, 0);
	h->snapshots[1] = fake_heap_snapshot(&h->after, 2);
	for (int i = 0; i < 2; i++)
		h->names[i] = names_new(h->snapshots[i], fake_heap_lookup, NULL);
}

static void history_init(struct history *h, uint64_t seed)
{
	fake_heap_init(&h->after, seed + 1);
	for (uint64_t i = 0; i < seed * 3; i++)
		fake_heap_event(&h->after);
	copy_heap(&h->before, &h->after);
	for (uint64_t i = fake_heap_random(&h->after, 2 * seed + 2); i > 0; i--)
		fake_heap_event(&h->after);
	history_snap(h);
}

static void history_release(struct history *h)
{
	for (int i = 0; i < 2; i++) {
		names_free(h->names[i]);
		snapshot_free(h->snapshots[i]);
	}
	fake_heap_release(&h->before);
	fake_heap_release(&h->after);
}

static uint64_t later(const struct history *h)
{
	return h->before.now_ms > h->after.now_ms ? h->before.now_ms : h->after.now_ms;
}

static void diff_of(struct diff *d, struct history *h, int from, int to, enum group_by by,
		    const struct filter *filter)
{
	static const struct filter none;
	struct diff_options options = {
		{by, false, false, later(h)}, SORT_DEFAULT, filter ? filter : &none, NULL};

	assert_int_equal(diff_build(d, h->names[from], h->names[to], &options, NULL), 0);
}

/* ---- sums made the plain way ------------------------------------------------------------- */

#define MAX_GROUPS 4096

struct expected {
	char keys[MAX_GROUPS][64];
	struct diff_sums sums[MAX_GROUPS];
	size_t nr;
};

static struct diff_sums *sums_of(struct expected *e, const char *key)
{
	for (size_t i = 0; i < e->nr; i++) {
		if (!strcmp(e->keys[i], key))
			return &e->sums[i];
	}
	assert_true(e->nr < MAX_GROUPS);
	snprintf(e->keys[e->nr], sizeof(e->keys[0]), "%s", key);
	return &e->sums[e->nr++];
}

static const char *key_of(const struct fake_block *b, enum group_by by, uint64_t now_ms)
{
	static char text[2][64];
	static int at;
	uint64_t age = now_ms - b->birth_ms;

	switch (by) {
	case GROUP_SITE:
		return fake_heap_site(b->stack);
	case GROUP_FUNCTION:
		return fake_heap_function(b->stack);
	case GROUP_CLASS:
		if (!b->stack)
			return "non-object";
		snprintf(text[++at % 2], sizeof(text[0]), "malloc in %s",
			 fake_heap_function(b->stack));
		return text[at % 2];
	case GROUP_FILE: /* the made-up functions have none */
		if (!b->stack)
			return "(no stack)";
		snprintf(text[++at % 2], sizeof(text[0]), "(no file) %s",
			 fake_heap_module(b->stack));
		return text[at % 2];
	case GROUP_MODULE:
	case GROUP_ZONE:
		return fake_heap_module(b->stack);
	case GROUP_THREAD:
		return fake_heap_thread(b->thread);
	case GROUP_SIZE:
		snprintf(text[++at % 2], sizeof(text[0]), "%" PRIu64, b->size);
		return text[at % 2];
	case GROUP_AGE:
		return age < 1000    ? "under 1s"
		       : age < 10000 ? "1s to 10s"
		       : age < 60000 ? "10s to 1m"
				     : "1m to 10m";
	default:
		snprintf(text[++at % 2], sizeof(text[0]), "%" PRIu32, b->stack);
		return text[at % 2];
	}
}

static void count(struct diff_amount *a, uint64_t bytes)
{
	a->count++;
	a->bytes += (int64_t)bytes;
}

static const struct fake_block *find(const struct fake_heap *h, uint64_t serial)
{
	for (size_t i = 0; i < h->nr; i++) {
		if (h->blocks[i].serial == serial)
			return &h->blocks[i];
	}
	return NULL;
}

static void expect(struct expected *e, const struct history *h, enum group_by by)
{
	memset(e, 0, sizeof(*e));
	for (size_t i = 0; i < h->before.nr; i++) {
		const struct fake_block *b = &h->before.blocks[i];
		struct diff_sums *s = sums_of(e, key_of(b, by, later(h)));

		count(&s->before, b->size);
		if (!find(&h->after, b->serial))
			count(&s->freed, b->size);
	}
	for (size_t i = 0; i < h->after.nr; i++) {
		const struct fake_block *a = &h->after.blocks[i], *b = find(&h->before, a->serial);
		struct diff_sums *s = sums_of(e, key_of(a, by, later(h))), *from;

		count(&s->after, a->size);
		if (!b) {
			count(&s->born, a->size);
			continue;
		}
		from = sums_of(e, key_of(b, by, later(h)));
		if (a->size == b->size)
			count(&s->survived, a->size);
		if (from != s || a->size != b->size) {
			s->resized.count++;
			s->resized.bytes += (int64_t)a->size;
			from->resized.bytes -= (int64_t)b->size;
		}
	}
}

/* ---- comparisons ------------------------------------------------------------------------- */

static int compare_sums(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct diff_sums));
}

static void assert_same_rows(const struct diff *d, const struct expected *e, enum group_by by)
{
	struct diff_sums *got, *want;

	assert_int_equal(d->nr_rows, e->nr);
	if (by != GROUP_STACK) { /* whose keys are hashes */
		for (size_t i = 0; i < d->nr_rows; i++) {
			const char *key = grouping_get(d->grouping, d->rows[i].group)->key;
			size_t k;

			for (k = 0; k < e->nr && strcmp(e->keys[k], key); k++)
				;
			assert_true(k < e->nr);
			assert_memory_equal(&d->rows[i].sums, &e->sums[k], sizeof(e->sums[k]));
		}
		return;
	}
	got = xcalloc(d->nr_rows + 1, sizeof(*got));
	want = xcalloc(e->nr + 1, sizeof(*want));
	for (size_t i = 0; i < d->nr_rows; i++) {
		got[i] = d->rows[i].sums;
		want[i] = e->sums[i];
	}
	qsort(got, d->nr_rows, sizeof(*got), compare_sums);
	qsort(want, d->nr_rows, sizeof(*want), compare_sums);
	if (d->nr_rows)
		assert_memory_equal(got, want, d->nr_rows * sizeof(*got));
	free(got);
	free(want);
}

static void assert_exact(const struct diff_sums *s)
{
	assert_int_equal(s->after.bytes - s->before.bytes,
			 s->born.bytes - s->freed.bytes + s->resized.bytes);
}

static void assert_identities(const struct diff *d)
{
	struct diff_sums all = {0};

	for (size_t i = 0; i < d->nr_rows; i++) {
		const int64_t *from = (const int64_t *)&d->rows[i].sums;

		assert_exact(&d->rows[i].sums);
		for (size_t k = 0; k < sizeof(all) / sizeof(int64_t); k++)
			((int64_t *)&all)[k] += from[k];
	}
	assert_memory_equal(&all, &d->totals, sizeof(all));
	assert_exact(&d->totals);
	assert_int_equal(d->totals.after.count - d->totals.before.count,
			 d->totals.born.count - d->totals.freed.count);
}

static void assert_negative(const struct diff_sums *x, const struct diff_sums *y)
{
	assert_memory_equal(&x->before, &y->after, sizeof(x->before));
	assert_memory_equal(&x->after, &y->before, sizeof(x->after));
	assert_memory_equal(&x->born, &y->freed, sizeof(x->born));
	assert_memory_equal(&x->freed, &y->born, sizeof(x->freed));
	assert_int_equal(x->resized.bytes, -y->resized.bytes);
}

/* Row of the other diff with the same key; NULL if it has none. */
static const struct diff_row *row_of(const struct diff *d, const char *key)
{
	for (size_t i = 0; i < d->nr_rows; i++) {
		if (!strcmp(grouping_get(d->grouping, d->rows[i].group)->key, key))
			return &d->rows[i];
	}
	return NULL;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void each_history(void (*check)(struct history *h, enum group_by by))
{
	for (uint64_t seed = 0; seed < NR_SEEDS; seed++) {
		struct history h;

		history_init(&h, seed);
		for (int by = GROUP_SITE; by <= GROUP_AGE; by++)
			check(&h, (enum group_by)by);
		history_release(&h);
	}
}

static void check_against_plain(struct history *h, enum group_by by)
{
	struct expected *e = xmalloc(sizeof(*e));
	struct diff d;

	diff_of(&d, h, 0, 1, by, NULL);
	expect(e, h, by);
	assert_true(d.same_image);
	assert_identities(&d);
	assert_same_rows(&d, e, by);
	diff_release(&d);
	free(e);
}

static void test_rows_are_as_expected(void **state)
{
	(void)state;
	each_history(check_against_plain);
}

static void check_self(struct history *h, enum group_by by)
{
	struct diff d;

	diff_of(&d, h, 1, 1, by, NULL);
	assert_identities(&d);
	assert_true(diff_unchanged(&d.totals));
	for (size_t i = 0; i < d.nr_rows; i++) {
		assert_true(diff_unchanged(&d.rows[i].sums));
		assert_memory_equal(&d.rows[i].sums.survived, &d.rows[i].sums.after,
				    sizeof(struct diff_amount));
	}
	diff_release(&d);
}

static void test_no_difference_to_itself(void **state)
{
	(void)state;
	each_history(check_self);
}

static void check_reverse(struct history *h, enum group_by by)
{
	struct diff forth, back;

	diff_of(&forth, h, 0, 1, by, NULL);
	diff_of(&back, h, 1, 0, by, NULL);
	assert_negative(&forth.totals, &back.totals);
	assert_int_equal(forth.nr_rows, back.nr_rows);
	for (size_t i = 0; i < forth.nr_rows; i++) {
		const char *key = grouping_get(forth.grouping, forth.rows[i].group)->key;
		const struct diff_row *other = row_of(&back, key);

		assert_non_null(other);
		assert_negative(&forth.rows[i].sums, &other->sums);
	}
	diff_release(&forth);
	diff_release(&back);
}

static void test_reverse_is_the_negative(void **state)
{
	(void)state;
	each_history(check_reverse);
}

/* Blocks of one side that pass there, or that pass on the other side. */
static int64_t passing(const struct fake_heap *heap, const struct fake_heap *other)
{
	int64_t nr = 0;

	for (size_t i = 0; i < heap->nr; i++) {
		const struct fake_block *b = &heap->blocks[i], *o = find(other, b->serial);

		nr += (b->size >= 64 && !strcmp(fake_heap_module(b->stack), "app")) ||
		      (o && o->size >= 64 && !strcmp(fake_heap_module(o->stack), "app"));
	}
	return nr;
}

static void check_filtered(struct history *h, enum group_by by)
{
	struct filter filter = {.min_size = 64, .zone = "app"};
	struct diff d;

	diff_of(&d, h, 0, 1, by, &filter);
	assert_identities(&d);
	assert_int_equal(d.totals.before.count, passing(&h->before, &h->after));
	assert_int_equal(d.totals.after.count, passing(&h->after, &h->before));
	diff_release(&d);
	filter = (struct filter){.has_younger = true, .younger_ms = 5000, .thread = "4002"};
	diff_of(&d, h, 0, 1, by, &filter);
	assert_identities(&d);
	diff_release(&d);
}

static void test_filters_keep_the_sums(void **state)
{
	(void)state;
	each_history(check_filtered);
}

/* What passes by age: counted to the block's own snapshot, in either of them. */
static int64_t passing_by_age(const struct fake_heap *heap, const struct fake_heap *other, bool old,
			      uint64_t limit_ms)
{
	int64_t nr = 0;

	for (size_t i = 0; i < heap->nr; i++) {
		const struct fake_block *b = &heap->blocks[i], *o = find(other, b->serial);
		uint64_t age = heap->now_ms - b->birth_ms;
		uint64_t other_age = o ? other->now_ms - o->birth_ms : age;

		nr += old ? age >= limit_ms || other_age >= limit_ms
			  : age <= limit_ms || other_age <= limit_ms;
	}
	return nr;
}

static void check_ages(struct history *h, enum group_by by)
{
	struct filter old = {.has_older = true, .older_ms = 3000};
	struct filter young = {.has_younger = true, .younger_ms = 3000};
	struct diff d;

	diff_of(&d, h, 0, 1, by, &old);
	assert_identities(&d);
	assert_int_equal(d.totals.before.count, passing_by_age(&h->before, &h->after, true, 3000));
	assert_int_equal(d.totals.after.count, passing_by_age(&h->after, &h->before, true, 3000));
	diff_release(&d);
	diff_of(&d, h, 0, 1, by, &young);
	assert_identities(&d);
	assert_int_equal(d.totals.before.count, passing_by_age(&h->before, &h->after, false, 3000));
	assert_int_equal(d.totals.after.count, passing_by_age(&h->after, &h->before, false, 3000));
	diff_release(&d);
}

static void test_ages_count_to_their_snapshot(void **state)
{
	(void)state;
	each_history(check_ages);
}

/* What comes and goes drowns a diff: without the young there is no difference. */
static void test_older_leaves_out_what_comes_and_goes(void **state)
{
	struct filter old = {.has_older = true, .older_ms = 100};
	struct history h;
	struct diff d;

	(void)state;
	fake_heap_init(&h.after, 7);
	fake_heap_add(&h.after, 100, 1, 1);
	h.after.now_ms = 5000;
	fake_heap_add(&h.after, 64, 2, 1);
	copy_heap(&h.before, &h.after);
	h.after.nr--;
	h.after.now_ms = 9000;
	fake_heap_add(&h.after, 64, 2, 1);
	history_snap(&h);
	diff_of(&d, &h, 0, 1, GROUP_SITE, &old);
	assert_int_equal(d.nr_rows, 1);
	assert_true(diff_unchanged(&d.totals));
	diff_release(&d);
	history_release(&h);
}

/* ---- what is ignored --------------------------------------------------------------------- */

static void check_ignored(struct history *h, enum group_by by)
{
	struct ignore_rule rules[] = {
		{IGNORE_FUNCTION, (char *)"g1", (char *)"r", 1},
		{IGNORE_MODULE, (char *)"lib*", (char *)"r", 2},
		{IGNORE_MODULE, (char *)"none", (char *)"r", 3},
	};
	struct ignore ignore = {(char *)"file", rules, 3};
	static const struct filter none;
	struct diff_options options = {{by, false, false, later(h)}, SORT_DEFAULT, &none, &ignore};
	struct diff d, all;
	struct diff_sums sum;

	assert_int_equal(diff_build(&d, h->names[0], h->names[1], &options, NULL), 0);
	diff_of(&all, h, 0, 1, by, NULL);
	sum = d.totals;
	for (int i = 0; i < 3; i++) {
		assert_exact(&d.ignored[i]);
		diff_sums_add(&sum, &d.ignored[i]);
	}
	/* where a block went from a group to another, only inside a rule it is one change */
	assert_memory_equal(&sum.before, &all.totals.before, sizeof(sum.before));
	assert_memory_equal(&sum.after, &all.totals.after, sizeof(sum.after));
	assert_memory_equal(&sum.born, &all.totals.born, sizeof(sum.born));
	assert_memory_equal(&sum.freed, &all.totals.freed, sizeof(sum.freed));
	assert_int_equal(sum.resized.bytes, all.totals.resized.bytes);
	assert_int_equal(d.ignored[2].before.count + d.ignored[2].after.count, 0);
	assert_identities(&d);
	diff_release(&all);
	diff_release(&d);
}

static void test_ignored_and_rows_are_all(void **state)
{
	(void)state;
	each_history(check_ignored);
}

/* ---- files ------------------------------------------------------------------------------- */

static void assert_same_diffs(struct history *h, struct names *const names[2], enum group_by by)
{
	static const struct filter none;
	struct diff_options options = {{by, false, false, later(h)}, SORT_DEFAULT, &none, NULL};
	struct diff a, b;

	diff_of(&a, h, 0, 1, by, NULL);
	assert_int_equal(diff_build(&b, names[0], names[1], &options, NULL), 0);
	assert_int_equal(a.nr_rows, b.nr_rows);
	assert_memory_equal(&a.totals, &b.totals, sizeof(a.totals));
	for (size_t i = 0; i < a.nr_rows; i++) {
		assert_memory_equal(&a.rows[i].sums, &b.rows[i].sums, sizeof(a.rows[i].sums));
		assert_int_equal(a.rows[i].stack, b.rows[i].stack);
		assert_string_equal(grouping_get(a.grouping, a.rows[i].group)->key,
				    grouping_get(b.grouping, b.rows[i].group)->key);
		assert_int_equal(a.rows[i].grown.serial, b.rows[i].grown.serial);
		assert_int_equal(!a.rows[i].lineage, !b.rows[i].lineage);
		if (!a.rows[i].lineage)
			continue;
		assert_int_equal(a.rows[i].lineage->lineage.born_size,
				 b.rows[i].lineage->lineage.born_size);
		assert_int_equal(a.rows[i].lineage->steps[0].size,
				 b.rows[i].lineage->steps[0].size);
	}
	diff_release(&a);
	diff_release(&b);
}

static void test_files_as_streams(void **state)
{
	char path[] = "/tmp/test_diff.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (uint64_t seed = 0; seed < NR_SEEDS; seed += 5) {
		struct snapshot *snapshots[2];
		struct names *names[2];
		struct history h;

		history_init(&h, seed);
		for (int i = 0; i < 2; i++) {
			struct hs_error err;

			assert_int_equal(snapshot_write(h.snapshots[i], path, NULL, NULL), 0);
			if (snapshot_open_to_stream(path, &snapshots[i], &err))
				fail_msg("%s", err.text);
			names[i] = names_new(snapshots[i], fake_heap_lookup, NULL);
		}
		for (int by = GROUP_SITE; by <= GROUP_AGE; by++)
			assert_same_diffs(&h, names, (enum group_by)by);
		for (int i = 0; i < 2; i++) {
			names_free(names[i]);
			snapshot_free(snapshots[i]);
		}
		history_release(&h);
	}
	unlink(path);
}

static void check_other_image(struct history *h, enum group_by by)
{
	struct diff d;

	h->snapshots[1]->image[0] = 77;
	diff_of(&d, h, 0, 1, by, NULL);
	assert_false(d.same_image);
	assert_identities(&d);
	assert_memory_equal(&d.totals.freed, &d.totals.before, sizeof(struct diff_amount));
	assert_memory_equal(&d.totals.born, &d.totals.after, sizeof(struct diff_amount));
	assert_int_equal(d.totals.survived.count, 0);
	diff_release(&d);
	h->snapshots[1]->image[0] = h->snapshots[0]->image[0];
}

static void test_other_process_has_no_block_in_common(void **state)
{
	(void)state;
	each_history(check_other_image);
}

/* The address stays, the block is another one. */
static void test_reused_address(void **state)
{
	struct history h = {.before = {.nr = 0}};
	struct diff d;

	(void)state;
	fake_heap_init(&h.before, 1);
	fake_heap_add(&h.before, 72, 5, 1);
	copy_heap(&h.after, &h.before);
	h.after.blocks[0].serial++;
	history_snap(&h);
	diff_of(&d, &h, 0, 1, GROUP_STACK, NULL);
	assert_int_equal(d.nr_rows, 1);
	assert_int_equal(d.totals.born.bytes, 72);
	assert_int_equal(d.totals.freed.bytes, 72);
	assert_int_equal(d.totals.survived.count, 0);
	diff_release(&d);
	history_release(&h);
}

/* Two blocks change places and grow. */
static void test_moved_blocks(void **state)
{
	struct history h = {.before = {.nr = 0}};
	uint64_t address;
	struct diff d;

	(void)state;
	fake_heap_init(&h.before, 1);
	fake_heap_add(&h.before, 100, 5, 1);
	fake_heap_add(&h.before, 10, 5, 2);
	copy_heap(&h.after, &h.before);
	address = h.after.blocks[0].address;
	h.after.blocks[0].address = h.after.blocks[1].address;
	h.after.blocks[1].address = address;
	h.after.blocks[0].size = 200;
	h.after.blocks[0].nr_steps = 1;
	h.after.blocks[1].stack = 6;
	history_snap(&h);
	diff_of(&d, &h, 0, 1, GROUP_STACK, NULL);
	assert_int_equal(d.totals.born.count, 0);
	assert_int_equal(d.totals.freed.count, 0);
	assert_int_equal(d.totals.resized.count, 2);
	assert_int_equal(d.totals.resized.bytes, 100);
	assert_int_equal(d.totals.survived.count, 1);
	assert_int_equal(d.nr_rows, 2);
	assert_int_equal(d.rows[0].sums.resized.bytes, 90);
	assert_int_equal(d.rows[0].grown.size, 200);
	assert_int_equal(d.rows[1].sums.resized.bytes, 10);
	assert_int_equal(d.rows[1].sums.resized.count, 1);
	diff_release(&d);
	history_release(&h);
}

/* A thread that only one of the snapshots knows is still the thread of its blocks. */
static void test_forgotten_thread(void **state)
{
	struct history h = {.before = {.nr = 0}};

	(void)state;
	fake_heap_init(&h.before, 1);
	fake_heap_add(&h.before, 100, 5, 1);
	copy_heap(&h.after, &h.before);
	history_snap(&h);
	h.snapshots[1]->blocks[0].thread = 0;
	for (int i = 0; i < 2; i++) {
		struct diff d;

		diff_of(&d, &h, i, 1 - i, GROUP_THREAD, NULL);
		assert_int_equal(d.nr_rows, 1);
		assert_true(diff_unchanged(&d.rows[0].sums));
		assert_string_equal(grouping_get(d.grouping, d.rows[0].group)->key, "4001 worker1");
		diff_release(&d);
	}
	history_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_as_expected),
		cmocka_unit_test(test_no_difference_to_itself),
		cmocka_unit_test(test_reverse_is_the_negative),
		cmocka_unit_test(test_filters_keep_the_sums),
		cmocka_unit_test(test_ages_count_to_their_snapshot),
		cmocka_unit_test(test_older_leaves_out_what_comes_and_goes),
		cmocka_unit_test(test_ignored_and_rows_are_all),
		cmocka_unit_test(test_files_as_streams),
		cmocka_unit_test(test_other_process_has_no_block_in_common),
		cmocka_unit_test(test_reused_address),
		cmocka_unit_test(test_moved_blocks),
		cmocka_unit_test(test_forgotten_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
