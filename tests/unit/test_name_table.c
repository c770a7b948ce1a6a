/* SPDX-License-Identifier: MIT */
/*
 * test_name_table.c - places and their frames, found again, as bytes and back, and as a map.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "util/buffer.h"
#include "util/cursor.h"
#include "util/name_map.h"
#include "util/name_table.h"

static const struct name_frame inlined[] = {
	{"push", "vec.rs", 12, 3, true, "alloc::Vec<u8>::push", "_RNv4push"},
	{"main", "main.rs", UINT32_MAX, 0, false, NULL, NULL},
};

/* Places out of order; one is added twice, one is known to be unknown. */
static void fill(struct name_table *t)
{
	struct name_frame plain = {.function = "old"};

	name_table_add(t, 7, 0x2000, &plain, 1);
	name_table_add(t, 0, UINT64_MAX, &plain, 1);
	name_table_add(t, 7, 0x1000, inlined, 2);
	name_table_add(t, 7, 0x3000, NULL, 0);
	plain.function = "new";
	name_table_add(t, 7, 0x2000, &plain, 1);
}

static void check(struct name_table *t)
{
	const struct name_frame *f;

	assert_int_equal(name_table_find(t, 7, 0x1000, &f), 2);
	assert_string_equal(f[0].function, "push");
	assert_string_equal(f[0].scope, "alloc::Vec<u8>::push");
	assert_string_equal(f[0].raw, "_RNv4push");
	assert_string_equal(f[0].file, "vec.rs");
	assert_int_equal(f[0].line, 12);
	assert_int_equal(f[0].column, 3);
	assert_true(f[0].inlined);
	assert_string_equal(f[1].function, "main");
	assert_null(f[1].scope);
	assert_null(f[1].raw);
	assert_int_equal(f[1].line, UINT32_MAX);
	assert_false(f[1].inlined);
	assert_int_equal(name_table_find(t, 7, 0x2000, &f), 1);
	assert_string_equal(f[0].function, "new");
	assert_int_equal(name_table_find(t, 0, UINT64_MAX, &f), 1);
	assert_string_equal(f[0].function, "old");
	assert_int_equal(name_table_find(t, 7, 0x3000, &f), 0);
	assert_non_null(f);
	assert_int_equal(name_table_find(t, 7, 0x1001, &f), 0);
	assert_null(f);
	assert_int_equal(name_table_find(t, 6, 0x1000, &f), 0);
	assert_null(f);
	assert_int_equal(t->nr_places, 4);
}

static void test_find(void **state)
{
	struct name_table t = {0};
	const struct name_frame *f;

	(void)state;
	assert_int_equal(name_table_find(&t, 0, 0, &f), 0);
	assert_null(f);
	fill(&t);
	check(&t);
	name_table_release(&t);
	assert_int_equal(t.nr_places, 0);
}

static void test_bytes(void **state)
{
	struct name_table t = {0}, back = {0};
	struct buffer b = {NULL, 0, 0}, raw = {NULL, 0, 0}, again = {NULL, 0, 0};
	struct cursor c;

	(void)state;
	fill(&t);
	assert_int_equal(name_table_count_frames(&t), 4);
	name_table_encode(&t, &b);
	name_table_encode_raw(&t, &raw);
	c = cursor_of(b.data, b.len);
	name_table_decode(&back, &c, 4);
	cursor_end(&c);
	assert_false(c.bad);
	assert_true(back.lacks_raw);
	c = cursor_of(raw.data, raw.len);
	name_table_decode_raw(&back, &c, 4);
	cursor_end(&c);
	assert_false(c.bad);
	assert_false(back.lacks_raw);
	check(&back);
	name_table_encode(&back, &again);
	assert_int_equal(again.len, b.len);
	assert_memory_equal(again.data, b.data, b.len);
	again.len = 0;
	name_table_encode_raw(&back, &again);
	assert_int_equal(again.len, raw.len);
	assert_memory_equal(again.data, raw.data, raw.len);
	buffer_clear(&b);
	buffer_clear(&raw);
	buffer_clear(&again);
	name_table_release(&t);
	name_table_release(&back);
}

static void expect_bad(const uint8_t *bytes, size_t len, uint64_t nr)
{
	uint8_t *exact = malloc(len);
	struct name_table t = {0};
	struct cursor c;

	assert_non_null(exact);
	memcpy(exact, bytes, len);
	c = cursor_of(exact, len);
	name_table_decode(&t, &c, nr);
	cursor_end(&c);
	assert_true(c.bad);
	name_table_release(&t);
	free(exact);
}

static void test_damaged(void **state)
{
	static const uint8_t no_such_string[] = {0, 5, 1, 3, 0, 0, 0, 0, 0};
	static const uint8_t twice[] = {0, 5, 0, 0, 0, 0};
	static const uint8_t bad_flag[] = {0, 5, 1, 0, 0, 0, 0, 0, 2};
	static const uint8_t endless[] = {0, 5, 0xff, 0xff, 0xff, 0xff, 0x0f};
	struct name_table t = {0};
	struct buffer b = {NULL, 0, 0};

	(void)state;
	expect_bad(no_such_string, sizeof(no_such_string), 1);
	expect_bad(twice, sizeof(twice), 2);
	expect_bad(bad_flag, sizeof(bad_flag), 1);
	expect_bad(endless, sizeof(endless), 1);
	fill(&t);
	name_table_encode(&t, &b);
	for (size_t len = 1; len < b.len; len++)
		expect_bad(b.data, len, 4);
	expect_bad(b.data, b.len, 3);
	expect_bad(b.data, b.len, 5);
	buffer_clear(&b);
	name_table_release(&t);
}

/* Raw names of these bytes for the one frame there is. */
static void expect_bad_raw(const uint8_t *bytes, size_t len, uint64_t nr)
{
	struct name_table t = {0};
	struct cursor c = cursor_of((const uint8_t[]){0, 5, 1, 0, 0, 0, 0, 0, 0}, 9);

	name_table_decode(&t, &c, 1);
	assert_false(c.bad);
	c = cursor_of(bytes, len);
	name_table_decode_raw(&t, &c, nr);
	cursor_end(&c);
	assert_true(c.bad);
	name_table_release(&t);
}

static void test_raw_damaged(void **state)
{
	static const uint8_t unknown[] = {0}, no_such_string[] = {2}, cut[] = {1, 4, 'a', 'b'};

	(void)state;
	expect_bad_raw(unknown, sizeof(unknown), 0);
	expect_bad_raw(unknown, sizeof(unknown), 2);
	expect_bad_raw(no_such_string, sizeof(no_such_string), 1);
	expect_bad_raw(cut, sizeof(cut), 1);
}

/* Places of one module, each at 16 times its number; two neighbours may have the same frames. */
static void fill_map(struct buffer *b, uint32_t nr)
{
	struct name_table t = {0};

	for (uint32_t i = nr; i--;) {
		struct name_frame frames[2] = {inlined[0], inlined[1]};

		frames[0].line = i / 2;
		name_table_add(&t, 0, UINT64_C(16) * i, frames, i / 2 % 3);
	}
	assert_true(name_map_encode(&t, b));
	name_table_release(&t);
}

static void check_map(const struct name_map *map, uint32_t nr)
{
	assert_int_equal(map->nr_places, nr);
	for (uint32_t i = 0; i < nr; i++) {
		size_t chain = name_map_find(map, UINT64_C(16) * i), first = 0;
		uint32_t nr_frames = i / 2 % 3;
		struct name_frame f;

		assert_int_not_equal(chain, NAME_MAP_NONE);
		assert_int_equal(chain == name_map_find(map, UINT64_C(16) * (i ^ 1)), (i ^ 1) < nr);
		assert_int_equal(name_map_find(map, UINT64_C(16) * i + 1), NAME_MAP_NONE);
		assert_int_equal(name_map_chain(map, chain, &first), nr_frames);
		if (!nr_frames)
			continue;
		f = name_map_frame(map, first);
		assert_string_equal(f.function, "push");
		assert_string_equal(f.scope, "alloc::Vec<u8>::push");
		assert_string_equal(f.raw, "_RNv4push");
		assert_string_equal(f.file, "vec.rs");
		assert_int_equal(f.line, i / 2);
		assert_int_equal(f.column, 3);
		assert_true(f.inlined);
		if (nr_frames != 2)
			continue;
		f = name_map_frame(map, first + 1);
		assert_string_equal(f.function, "main");
		assert_null(f.scope);
		assert_int_equal(f.line, UINT32_MAX);
		assert_false(f.inlined);
	}
}

static void test_map(void **state)
{
	static const uint32_t sizes[] = {0, 1, 2, 3, 7, 100};
	struct name_map map;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct buffer b = {NULL, 0, 0}, again = {NULL, 0, 0};
		struct name_table t = {0};

		fill_map(&b, sizes[i]);
		assert_true(name_map_open(&map, b.data, b.len));
		check_map(&map, sizes[i]);
		name_map_add_to(&map, &t);
		assert_true(name_map_encode(&t, &again));
		assert_int_equal(again.len, b.len);
		assert_memory_equal(again.data, b.data, b.len);
		buffer_clear(&b);
		buffer_clear(&again);
		name_table_release(&t);
	}
}

/* Addresses close together and far apart, which a guide of equal steps serves badly. */
static void test_map_spread(void **state)
{
	struct name_frame frame = {.function = "f"};
	struct buffer b = {NULL, 0, 0};
	struct name_table t = {0};
	struct name_map map;
	uint64_t address = 5;

	(void)state;
	for (uint32_t i = 0; i < 400; i++, address += i % 100 ? 3 : UINT64_C(1) << 61) {
		frame.line = i;
		name_table_add(&t, 0, address, &frame, 1);
	}
	assert_true(name_map_encode(&t, &b));
	assert_true(name_map_open(&map, b.data, b.len));
	address = 5;
	for (uint32_t i = 0; i < 400; i++, address += i % 100 ? 3 : UINT64_C(1) << 61) {
		size_t first, chain = name_map_find(&map, address);

		assert_int_not_equal(chain, NAME_MAP_NONE);
		assert_int_equal(name_map_chain(&map, chain, &first), 1);
		assert_int_equal(name_map_frame(&map, first).line, i);
		assert_int_equal(name_map_find(&map, address + 1), NAME_MAP_NONE);
		assert_int_equal(name_map_find(&map, address - 1), NAME_MAP_NONE);
	}
	assert_int_equal(name_map_find(&map, UINT64_MAX), NAME_MAP_NONE);
	/* places that are not there */
	((uint32_t *)(uintptr_t)map.guide)[1] = 1000;
	assert_int_equal(name_map_find(&map, 5), NAME_MAP_NONE);
	buffer_clear(&b);
	name_table_release(&t);
}

static void test_map_damaged(void **state)
{
	struct buffer b = {NULL, 0, 0};
	struct name_map map;
	size_t first;

	(void)state;
	fill_map(&b, 9);
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *exact = malloc(len + 1);

		assert_non_null(exact);
		memcpy(exact, b.data, len);
		/* cut within the last string, or before: none is without an end */
		if (name_map_open(&map, exact, len))
			assert_int_equal(exact[len - 1], 0);
		free(exact);
	}
	assert_true(name_map_open(&map, b.data, b.len));
	/* frames that are not there, strings that are not there */
	((uint32_t *)(uintptr_t)map.first)[2] = 1000;
	assert_int_equal(name_map_chain(&map, 1, &first), 0);
	assert_int_equal(name_map_chain(&map, 2, &first), 0);
	((uint32_t *)(uintptr_t)map.chains)[0] = 1000;
	assert_int_equal(name_map_find(&map, 0), NAME_MAP_NONE);
	((struct name_map_frame *)(uintptr_t)map.frames)[0].file = UINT32_MAX;
	assert_null(name_map_frame(&map, 0).file);
	buffer_clear(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_raw_damaged),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_map_spread),
		cmocka_unit_test(test_map_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
