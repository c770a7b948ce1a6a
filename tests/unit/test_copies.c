/* SPDX-License-Identifier: MIT */
/*
 * test_copies.c - growth by copying, in the live table: a block that is freed hands its lineage to
 * the one that it was copied to. By one thread and by four; meant for ThreadSanitizer, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "store/writer.h"
#include "tests/unit/folder.h"
#include "tests/unit/made_up_blocks.h"
#include "tests/unit/tracer_fixture.h"
#include "tracer/contents.h"

#define COPIES	41
#define THREADS 4
#define STEPS	60000

/* In place of contents.c: of blocks that nobody maps so many bytes are alike. */
static uint32_t alike;

uint32_t contents_alike(uint64_t old, uint64_t size, uint64_t copy)
{
	(void)old;
	(void)copy;
	return size ? alike : 0;
}

/* Steps of growth by copying that all threads have found. */
static uint64_t nr_inferred(void)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < store.header->arrays[HS_ARRAY_THREADS].count; i++)
		sum += ((struct hs_thread *)store_place(HS_ARRAY_THREADS, i))->nr_inferred;
	return sum;
}

/*
 * A block of sizes[0] is copied to one of sizes[1] and so on, all by one stack; after each step
 * check() sees the only block there is. Returns the address of the last.
 */
static uint64_t grow(const uint64_t *sizes, int nr,
		     void (*check)(const struct snapshot *s, const uint64_t *sizes, int step))
{
	volatile uint64_t at = 0; /* else gcc 14 peels the first round off, which then is another stack */
	uint64_t to = 0x700000010000;

	for (int i = 0; i < nr; i++) {
		struct snapshot *s;

		birth(to, sizes[i]);
		if (at)
			death(at, true);
		at = to;
		to ^= 0x100000;
		s = look();
		assert_int_equal(s->nr_blocks, 1);
		assert_int_equal(s->blocks[0].address, at);
		assert_int_equal(s->blocks[0].size, sizes[i]);
		check(s, sizes, i);
		snapshot_free(s);
	}
	return at;
}

/* NULL if the only block has none. */
static const struct snap_lineage *lineage_of_one(const struct snapshot *s)
{
	return s->blocks[0].lineage ? &s->lineages[s->blocks[0].lineage - 1] : NULL;
}

static void has_all_steps(const struct snapshot *s, const uint64_t *sizes, int step)
{
	const struct snap_lineage *l = lineage_of_one(s);

	assert_non_null(l);
	assert_true(l->inferred);
	assert_int_equal(l->nr_steps, step);
	assert_int_equal(l->born_size, sizes[0]);
	assert_int_equal(s->steps[l->first_step].size, sizes[1]);
	assert_int_equal(s->steps[l->first_step + l->nr_kept - 1].size, sizes[step]);
}

static void shows_if_large(const struct snapshot *s, const uint64_t *sizes, int step)
{
	if (!step || sizes[step] < 128)
		assert_null(lineage_of_one(s));
	else
		has_all_steps(s, sizes, step);
}

static void test_copies_alike(void **state)
{
	uint64_t inferred = nr_inferred(), sizes[COPIES] = {24}, at;
	const struct snap_lineage *l;
	int64_t count, bytes;
	struct snapshot *s;

	(void)state;
	alike = 4;
	for (int i = 1; i < COPIES; i++)
		sizes[i] = sizes[i - 1] * 3 / 2;
	at = grow(sizes, COPIES, shows_if_large);
	assert_int_equal(nr_inferred(), inferred + COPIES - 1);
	/* a realloc goes on in the same lineage, and then a copy */
	resize(at, at, sizes[COPIES - 1] + 1000);
	birth(0x700000300000, sizes[COPIES - 1] + 2000);
	death(at, true);
	s = look();
	l = lineage_of_one(s);
	assert_int_equal(l->nr_steps, COPIES + 1);
	assert_int_equal(l->nr_kept, HS_FIRST_STEPS + HS_LAST_STEPS);
	snapshot_free(s);
	death(0x700000300000, true);
	writer_totals(&count, &bytes);
	assert_int_equal(count, 0);
	assert_int_equal(bytes, 0);
	alike = 0;
}

static void shows_after_three(const struct snapshot *s, const uint64_t *sizes, int step)
{
	if (step < 3)
		assert_null(lineage_of_one(s));
	else
		has_all_steps(s, sizes, step);
}

static void shows_never(const struct snapshot *s, const uint64_t *sizes, int step)
{
	(void)sizes;
	(void)step;
	assert_null(lineage_of_one(s));
}

/* Elements that are moved: the contents say nothing, the third step alike makes all three sure. */
static void test_copies_moved(void **state)
{
	uint64_t sizes[9] = {200};

	(void)state;
	for (int i = 1; i < 9; i++)
		sizes[i] = 2 * sizes[i - 1] + 16;
	death(grow(sizes, 9, shows_after_three), true);
	for (int i = 1; i < 9; i++)
		sizes[i] = sizes[i - 1] * (i & 1 ? 13 : 29) / 10;
	death(grow(sizes, 9, shows_never), true);
}

/*
 * A block of `first` bytes is copied to one of `second`, that one resized, and then copied again.
 * False if that was not seen, as the site rests.
 */
static bool copy_resize_copy(uint64_t first, uint64_t second, int nr_resized)
{
	uint64_t a = 0x700000400000, b = 0x700000500000, size = second;
	const struct snap_lineage *l;
	struct snapshot *s;
	bool seen;

	birth(a, first);
	birth(b, second);
	death(a, true);
	for (int i = 0; i < nr_resized; i++)
		resize(b, b, size += 8);
	alike = 4;
	birth(a, size + 16);
	death(b, true);
	alike = 0;
	s = look();
	assert_int_equal(s->nr_blocks, 1);
	l = lineage_of_one(s);
	seen = l != NULL;
	if (seen) {
		assert_int_equal(l->born_size, second);
		assert_int_equal(l->nr_steps, nr_resized + 1);
		assert_int_equal(s->steps[l->first_step].size, second + 8);
		assert_true(s->steps[l->first_step].ms <= s->taken_ms);
	}
	snapshot_free(s);
	death(a, true);
	return seen;
}

/*
 * What the nursery knows of a block ends where realloc gives it a lineage: the record has that one,
 * and nothing is lost of it or of the room for lineages.
 */
static void test_copies_resized(void **state)
{
	uint64_t nr_short = 0, nr_long = 0;
	unsigned seen = 0;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		if (i == 1000) {
			nr_short = store.header->arrays[HS_ARRAY_LINEAGES].count;
			nr_long = store.header->arrays[HS_ARRAY_LONG_LINEAGES].count;
		}
		alike = 4; /* small, so in the nursery */
		seen += copy_resize_copy(32, 64, 1 + i % 4);
		seen += copy_resize_copy(200, 416, 1 + i % 4); /* not sure, so in the nursery */
	}
	print_message("%u of 4000 were seen\n", seen);
	assert_true(seen > 20);
	assert_int_equal(store.header->arrays[HS_ARRAY_LINEAGES].count, nr_short);
	assert_int_equal(store.header->arrays[HS_ARRAY_LONG_LINEAGES].count, nr_long);
}

/* Blocks that are replaced by larger and smaller ones with the same contents do not grow. */
static void test_copies_replaced(void **state)
{
	uint64_t base = 0x700000300000, inferred = nr_inferred();
	uint64_t at[50] = {0};
	unsigned random = 1;

	(void)state;
	alike = 4;
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t to = base + i % 4096 * UINT64_C(0x400);
		unsigned slot = i % 50;

		random = random * 1664525u + 1013904223u;
		birth(to, 16 + (random >> 16) % 900);
		if (at[slot])
			death(at[slot], true);
		at[slot] = to;
	}
	assert_true(nr_inferred() - inferred < 100);
	for (unsigned slot = 0; slot < 50; slot++)
		death(at[slot], true);
	alike = 0;
}

/* ---- four threads ------------------------------------------------------------------------ */

/*
 * Buffers that grow by copying; the new block is handed to the next thread before the old one is
 * freed, which resizes or frees it at once: while its lineage is being handed down.
 */
static uint64_t offered[THREADS];

static uint64_t place_of(unsigned thread, unsigned nr)
{
	return 0x400000000000 + thread * 0x10000000000 + nr % 4096 * UINT64_C(0x20000);
}

static void *grow_and_offer(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg, nr = 0;
	uint64_t at = 0, size = 0, to, other;

	for (unsigned i = 0; i < STEPS; i++) {
		bool offer = i % 8 == 7;

		to = place_of(me, nr++);
		if (to == __atomic_load_n(&offered[(me + 1) % THREADS], __ATOMIC_ACQUIRE))
			to = place_of(me, nr++); /* still there */
		size = at ? 2 * size : 100;
		birth(to, size);
		if (offer && !__atomic_load_n(&offered[(me + 1) % THREADS], __ATOMIC_ACQUIRE))
			__atomic_store_n(&offered[(me + 1) % THREADS], to, __ATOMIC_RELEASE);
		else
			offer = false;
		if (at)
			death(at, true);
		at = offer ? 0 : to;
		if (size > 50000 && at) {
			death(at, true);
			at = 0;
		}
		other = __atomic_load_n(&offered[me], __ATOMIC_ACQUIRE);
		if (!other)
			continue;
		if (i & 1)
			resize(other, other, 77);
		death(other, true);
		__atomic_store_n(&offered[me], 0, __ATOMIC_RELEASE);
	}
	if (at)
		death(at, true);
	return NULL;
}

static void test_threads_copy(void **state)
{
	pthread_t threads[THREADS];
	int64_t count, bytes, count_before, bytes_before;
	uint64_t inferred = nr_inferred();

	(void)state;
	writer_totals(&count_before, &bytes_before);
	alike = 4;
	reader_begin();
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, grow_and_offer, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	reader_end();
	alike = 0;
	for (int i = 0; i < THREADS; i++)
		if (offered[i])
			death(offered[i], true);
	writer_totals(&count, &bytes);
	assert_int_equal(count, count_before);
	assert_int_equal(bytes, bytes_before);
	assert_true(nr_inferred() - inferred > THREADS * STEPS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_alike),
		cmocka_unit_test(test_copies_moved),
		cmocka_unit_test(test_copies_resized),
		cmocka_unit_test(test_copies_replaced),
		cmocka_unit_test(test_threads_copy),
	};

	return cmocka_run_group_tests(tests, tracer_set_up, folder_remove);
}
