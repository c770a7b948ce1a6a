/* SPDX-License-Identifier: MIT */
/*
 * test_perfmap.c - the latest line that covers an address has it: made-up maps, and one recorded
 * of node (tests/golden/perf-node.map) whose lines overlap, read as it grew.
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
#include <time.h>
#include <unistd.h>

#include "symbolizer/perfmap.h"
#include "util/alloc.h"

/* The answer for one address from a map in memory, fed in pieces of `piece` bytes. */
static char *ask(const char *map, size_t len, size_t piece, uint64_t address)
{
	struct perfmap_query query = {address, NULL};
	struct perfmap p;

	perfmap_init(&p, &query, 1);
	for (size_t at = 0; at < len; at += piece)
		perfmap_feed(&p, map + at, len - at < piece ? len - at : piece);
	perfmap_release(&p);
	return query.name;
}

static void expect(const char *map, uint64_t address, const char *name)
{
	for (size_t piece = 1; piece < 40; piece += 6) {
		char *got = ask(map, strlen(map), piece, address);

		if (name)
			assert_string_equal(got, name);
		else
			assert_null(got);
		free(got);
	}
}

static void test_lines(void **state)
{
	static const char map[] = "1000 100 one\n"
				  "1080 100 two words\n"
				  "3000 0 nothing\n"
				  "ffffffffffffff00 100 last page\n"
				  "0x5000 0X10 no\n"
				  "0x6000 0x10 prefixed\n"
				  "zzz 10 no\n"
				  "7000 10\n"
				  "7000\n"
				  "\n"
				  "7000 10 \n"
				  "11112222333344445 10 too long a number\n"
				  "10C0 10 three\n"
				  "1000 8 not ended";

	(void)state;
	expect(map, 0xfff, NULL);
	expect(map, 0x1000, "one");
	expect(map, 0x107f, "one");
	expect(map, 0x1080, "two words");
	expect(map, 0x10bf, "two words");
	expect(map, 0x10c0, "three");
	expect(map, 0x10d0, "two words");
	expect(map, 0x117f, "two words");
	expect(map, 0x1180, NULL);
	expect(map, 0x3000, NULL);
	expect(map, 0x5000, NULL);
	expect(map, 0x600f, "prefixed");
	expect(map, 0x7000, NULL);
	expect(map, UINT64_MAX, "last page");
}

static void test_long_line(void **state)
{
	char *map = xmalloc(300000), *got;
	size_t len;

	(void)state;
	strcpy(map, "1000 10 first\n1000 10 ");
	memset(map + strlen(map), 'x', 200000);
	strcpy(map + 22 + 200000, "\n2000 10 after\n");
	len = strlen(map);
	got = ask(map, len, 4096, 0x1000);
	assert_string_equal(got, "first");
	free(got);
	got = ask(map, len, len, 0x2000);
	assert_string_equal(got, "after");
	free(got);
	free(map);
}

/* ---- the recorded map -------------------------------------------------------------------- */

struct line {
	uint64_t start, size;
	char *name;
	size_t end; /* in the file */
};

static char *read_map(size_t *ret_len)
{
	FILE *f = fopen("tests/golden/perf-node.map", "re");
	char *map = xmalloc(1 << 20);

	assert_non_null(f);
	*ret_len = fread(map, 1, (1 << 20) - 1, f);
	map[*ret_len] = 0;
	fclose(f);
	return map;
}

static size_t parse_lines(const char *map, struct line **ret)
{
	struct line *lines = NULL;
	size_t nr = 0, alloc = 0;

	for (const char *p = map; *p;) {
		const char *end = strchr(p, '\n');
		char *rest;

		assert_non_null(end);
		lines = xgrow(lines, &alloc, nr + 1, sizeof(*lines));
		lines[nr].start = strtoull(p, &rest, 16);
		lines[nr].size = strtoull(rest, &rest, 16);
		lines[nr].name = xstrndup(rest + 1, (size_t)(end - rest - 1));
		lines[nr++].end = (size_t)(end + 1 - map);
		p = end + 1;
	}
	*ret = lines;
	return nr;
}

static int by_address(const void *a, const void *b)
{
	const struct perfmap_query *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* First, middle and last byte of every line, and the byte behind it. */
static size_t make_queries(const struct line *lines, size_t nr, struct perfmap_query **ret)
{
	struct perfmap_query *q = xcalloc(nr * 4, sizeof(*q));

	for (size_t i = 0; i < nr; i++) {
		q[4 * i].address = lines[i].start;
		q[4 * i + 1].address = lines[i].start + lines[i].size / 2;
		q[4 * i + 2].address = lines[i].start + lines[i].size - 1;
		q[4 * i + 3].address = lines[i].start + lines[i].size;
	}
	qsort(q, nr * 4, sizeof(*q), by_address);
	*ret = q;
	return nr * 4;
}

static void test_recorded(void **state)
{
	struct perfmap_query *queries;
	struct line *lines;
	size_t len, nr_changed = 0, nr_lines, nr;
	char *map = read_map(&len), **before;

	(void)state;
	nr_lines = parse_lines(map, &lines);
	assert_true(nr_lines > 1000);
	nr = make_queries(lines, nr_lines, &queries);
	before = xcalloc(nr, sizeof(*before));
	/* the file as it grew; some of its lengths are in the middle of a line */
	for (size_t part = len / 5; part <= len; part += len / 5) {
		struct perfmap p;

		for (size_t i = 0; i < nr; i++)
			queries[i].name = NULL;
		perfmap_init(&p, queries, nr);
		for (size_t at = 0; at < part; at += 1000)
			perfmap_feed(&p, map + at, part - at < 1000 ? part - at : 1000);
		perfmap_release(&p);
		for (size_t i = 0; i < nr; i++) {
			const char *want = NULL;

			for (size_t k = 0; k < nr_lines && lines[k].end <= part; k++) {
				if (queries[i].address - lines[k].start < lines[k].size)
					want = lines[k].name;
			}
			if (want)
				assert_string_equal(queries[i].name, want);
			else
				assert_null(queries[i].name);
			nr_changed += before[i] && strcmp(before[i], want);
			free(before[i]);
			before[i] = queries[i].name;
		}
	}
	/* else this map would show nothing */
	assert_true(nr_changed > 100);
	for (size_t i = 0; i < nr; i++)
		free(before[i]);
	for (size_t i = 0; i < nr_lines; i++)
		free(lines[i].name);
	free(before);
	free(queries);
	free(lines);
	free(map);
}

/* ---- whose file it is -------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static bool readable(const struct perfmap_process *process, const char *name)
{
	struct perfmap_query query = {0x1000, NULL};
	bool found = perfmap_read(process, &query, 1);

	if (found)
		assert_string_equal(query.name, name);
	free(query.name);
	return found;
}

static void test_whose(void **state)
{
	struct perfmap_process process = {.pid = (uint32_t)getpid(),
					  .uid = geteuid(),
					  .alive = true,
					  .start_ns = now_ns()};
	char path[64], other[80];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", process.pid);
	snprintf(other, sizeof(other), "%s.other", path);
	unlink(path);
	assert_false(readable(&process, ""));
	f = fopen(path, "wxe");
	assert_non_null(f);
	fputs("1000 10 mine\n1000 10 ", f);
	fclose(f);
	assert_true(readable(&process, "mine"));
	/* a process that has ended, and one under its number that started later */
	process.alive = false;
	process.end_ns = now_ns();
	assert_true(readable(&process, "mine"));
	process.end_ns -= UINT64_C(60) * 1000000000;
	assert_false(readable(&process, ""));
	process.alive = true;
	process.start_ns += UINT64_C(60) * 1000000000;
	assert_false(readable(&process, ""));
	process.start_ns = process.end_ns;
	assert_true(readable(&process, "mine"));
	process.uid++;
	assert_false(readable(&process, ""));
	process.uid--;
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_false(readable(&process, ""));
	unlink(path);
	unlink(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_whose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
