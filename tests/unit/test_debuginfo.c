/* SPDX-License-Identifier: MIT */
/*
 * test_debuginfo.c - what DWARF is read from and through: ranges laid out flat, sections that are
 * inflated or shrink meanwhile, limits of time and memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <cmocka.h>

#include "symbolizer/debugfile.h"
#include "symbolizer/debuginfo.h"
#include "symbolizer/elf.h"
#include "symbolizer/inflate.h"
#include "symbolizer/mapping.h"
#include "symbolizer/ranges.h"
#include "symbolizer/strings.h"
#include "symbolizer/timelimit.h"

static struct time_limit enough(void)
{
	struct time_limit limit = {.left_ns = UINT64_C(60000000000)};

	time_limit_start(&limit);
	return limit;
}

/* The highest owner of each address, found the slow way. */
static uint32_t owner_of(const struct range *all, size_t nr, uint64_t address)
{
	uint32_t best = RANGE_NOBODY;

	for (size_t i = 0; i < nr; i++)
		if (all[i].start <= address && address < all[i].end &&
		    (best == RANGE_NOBODY || all[i].owner > best))
			best = all[i].owner;
	return best;
}

static void test_range_map(void **state)
{
	struct range copy[40];

	(void)state;
	srand(1);
	for (int round = 0; round < 2000; round++) {
		struct ranges ranges = {0};
		struct range_map map;
		int nr = rand() % 40;

		for (int i = 0; i < nr; i++) {
			uint64_t start = 2 + (uint64_t)(rand() % 100);

			ranges_add(&ranges, start, start + (uint64_t)(rand() % 30),
				   (uint32_t)(rand() % 12));
		}
		if (ranges.nr)
			memcpy(copy, ranges.all, ranges.nr * sizeof(*copy));
		range_map_init(&map, &ranges);
		for (uint64_t address = 0; address < 140; address++)
			assert_int_equal(range_map_find(&map, address),
					 owner_of(copy, ranges.nr, address));
		for (size_t i = 1; i < map.nr; i++)
			assert_true(map.starts[i] > map.starts[i - 1] &&
				    map.owners[i] != map.owners[i - 1]);
		range_map_release(&map);
		ranges_release(&ranges);
	}
}

/* Of what the linker left out nothing is taken, nor more than the list may hold. */
static void test_ranges_left_out(void **state)
{
	struct ranges ranges = {.max = 2};

	(void)state;
	ranges_add(&ranges, 0, 100, 1);
	ranges_add(&ranges, 1, 100, 1);
	ranges_add(&ranges, 50, 50, 1);
	ranges_add(&ranges, 50, 40, 1);
	assert_int_equal(ranges.nr, 0);
	for (uint64_t i = 0; i < 5; i++)
		ranges_add(&ranges, 10 + i, 20, 1);
	assert_int_equal(ranges.nr, 2);
	ranges_release(&ranges);
}

/* A file that is cut short while it is mapped: zeros, no SIGBUS. */
static void test_mapping_shrinks(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), len = 5 * page + 100;
	uint8_t *bytes = malloc(len);
	struct mapping map, other;
	int fd = mapping_temporary();
	volatile const uint8_t *data;

	(void)state;
	assert_true(fd >= 0);
	memset(bytes, 0x5a, len);
	assert_int_equal(write(fd, bytes, len), len);
	assert_true(mapping_open(&map, fd, 100, len - 100));
	assert_true(mapping_open(&other, fd, page, page));
	data = map.data;
	assert_int_equal(data[0], 0x5a);
	assert_int_equal(data[map.len - 1], 0x5a);
	assert_int_equal(data[map.len], 0); /* a 0 stands behind it */
	assert_int_equal(ftruncate(fd, (off_t)page), 0);
	assert_int_equal(data[0], 0x5a);
	assert_int_equal(data[3 * page], 0);
	assert_int_equal(data[map.len - 1], 0);
	assert_int_equal(((volatile const uint8_t *)other.data)[10], 0);
	mapping_close(&map);
	mapping_close(&other);
	mapping_close(&other);
	assert_false(mapping_open(&map, fd, 0, 0));
	close(fd);
	free(bytes);
}

/* Inflates `in` into memory and into a file; both must be the first `nr` bytes of `expected`. */
static void assert_inflated(enum inflate_method method, const uint8_t *in, size_t in_len,
			    uint64_t claimed, const uint8_t *expected, size_t nr)
{
	struct time_limit limit = enough();
	struct inflate_sink sink = {.memory = malloc(claimed), .fd = -1, .size = claimed};
	struct mapping map;

	assert_int_equal(inflate_bytes(method, in, in_len, &sink, &limit), nr);
	assert_memory_equal(sink.memory, expected, nr);
	free(sink.memory);
	sink.memory = NULL;
	sink.fd = mapping_temporary();
	assert_int_equal(inflate_bytes(method, in, in_len, &sink, &limit), nr);
	if (nr) {
		assert_true(mapping_open(&map, sink.fd, 0, nr));
		assert_memory_equal(map.data, expected, nr);
		mapping_close(&map);
	}
	close(sink.fd);
}

static void test_inflate(void **state)
{
	size_t len = 3000000, packed_len;
	uint8_t *plain = calloc(1, len), *packed = malloc(len + 1000);
	uLongf zlib_len = len + 1000;

	(void)state;
	/* far beyond 16:1, which is where libdwarf stops */
	for (size_t i = 0; i < len; i += 4096)
		plain[i] = (uint8_t)(i >> 12);
	assert_int_equal(compress(packed, &zlib_len, plain, len), Z_OK);
	assert_true(len / zlib_len > 50);
	assert_inflated(INFLATE_ZLIB, packed, zlib_len, len, plain, len);
	/* it claims less than there is, or more */
	assert_inflated(INFLATE_ZLIB, packed, zlib_len, 1000, plain, 1000);
	assert_inflated(INFLATE_ZLIB, packed, zlib_len, len + 5000, plain, len);
	assert_inflated(INFLATE_ZLIB, packed, 0, len, plain, 0);
	packed_len = ZSTD_compress(packed, len + 1000, plain, len, 1);
	assert_false(ZSTD_isError(packed_len));
	assert_inflated(INFLATE_ZSTD, packed, packed_len, len, plain, len);
	assert_inflated(INFLATE_ZSTD, packed, packed_len, 1000, plain, 1000);
	assert_inflated(INFLATE_ZSTD, packed, packed_len, len + 5000, plain, len);
	packed[0] ^= 1;
	assert_inflated(INFLATE_ZSTD, packed, packed_len, len, plain, 0);
	free(plain);
	free(packed);
}

static void test_inflate_stops(void **state)
{
	size_t len = 100 << 20;
	uint8_t *packed = malloc(len / 100), *plain = calloc(1, len);
	struct inflate_sink sink = {.fd = mapping_temporary(), .size = len};
	struct time_limit limit = {.left_ns = 1};
	uLongf packed_len = len / 100;

	(void)state;
	assert_int_equal(compress2(packed, &packed_len, plain, len, 1), Z_OK);
	time_limit_start(&limit);
	assert_true(inflate_bytes(INFLATE_ZLIB, packed, packed_len, &sink, &limit) < len);
	assert_true(limit.passed);
	close(sink.fd);
	free(packed);
	free(plain);
}

/* This program's own debug information. */
struct own {
	struct debug_dirs dirs;
	struct unit_cache cache;
	struct strings strings;
	struct elf_file elf;
	struct debuginfo *info;
};

static void own_open(struct own *own, size_t max)
{
	memset(own, 0, sizeof(*own));
	own->cache.max = max;
	assert_int_equal(elf_open(&own->elf, "/proc/self/exe", NULL), 0);
	own->info = debuginfo_open(&own->elf, "/proc/self/exe", &own->dirs, &own->cache,
				   &own->strings);
	assert_non_null(own->info);
}

static void own_close(struct own *own)
{
	debuginfo_close(own->info);
	assert_null(own->cache.units);
	assert_int_equal(own->cache.bytes, 0);
	strings_release(&own->strings);
	elf_release(&own->elf);
}

/* What is found at each 16th byte of the code: a sum of all lines and depths. */
static uint64_t sum_of(struct own *own)
{
	const struct debug_frame *frames = NULL;
	uint64_t sum = 0;

	for (size_t i = 0; i < own->elf.nr_sections; i++) {
		const struct elf_section *s = &own->elf.sections[i];

		if (strcmp(s->name, ".text"))
			continue;
		for (uint64_t at = 0; at < s->size; at += 16) {
			size_t nr = debuginfo_lookup(own->info, s->addr + at, &frames);

			while (nr--)
				sum = sum * 31 + frames[nr].line;
		}
	}
	return sum;
}

/* A small memory is an unhurried reader, not another answer. */
static void test_memory(void **state)
{
	struct own own;
	uint64_t sum;

	(void)state;
	own_open(&own, SIZE_MAX);
	sum = sum_of(&own);
	assert_int_not_equal(sum, 0);
	assert_true(own.cache.bytes > 4096);
	own_close(&own);
	own_open(&own, 1);
	assert_int_equal(sum_of(&own), sum);
	own_close(&own);
}

static void test_time(void **state)
{
	struct own own;

	(void)state;
	own_open(&own, SIZE_MAX);
	assert_false(debuginfo_timed_out(own.info));
	debuginfo_set_limit(own.info, 1);
	sum_of(&own);
	assert_true(debuginfo_timed_out(own.info));
	own_close(&own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_range_map),	cmocka_unit_test(test_ranges_left_out),
		cmocka_unit_test(test_mapping_shrinks), cmocka_unit_test(test_inflate),
		cmocka_unit_test(test_inflate_stops),	cmocka_unit_test(test_memory),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
