/* SPDX-License-Identifier: MIT */
/*
 * test_snapshot_file.c - snapshots to files and back, and what damage does to a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/folder.h"
#include "tests/unit/snapshot_fixture.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/name_table.h"

#define CAP (UINT64_C(8) << 20)

static uint8_t *read_all(const char *path, size_t *ret_len)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	uint8_t *data;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	data = xmalloc((size_t)st.st_size);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_len = (size_t)st.st_size;
	return data;
}

static void write_all(const char *path, const uint8_t *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	close(fd);
}
/* A file of the small store at file_path; returns its snapshot. */
static struct snapshot *write_small(const char *label)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct hs_error err;
	struct snapshot *s;

	fake_small(f);
	s = snap_of(f);
	fake_store_free(f, true);
	if (snapshot_write(s, file_path, label, &err))
		fail_msg("%s", err.text);
	return s;
}

static void test_round_trip(void **state)
{
	struct snapshot *s = write_small("before load"), *back = open_good(file_path);
	struct hs_error err;
	size_t len, len2;
	uint8_t *data, *data2;

	(void)state;
	assert_int_equal(back->source, SNAPSHOT_FILE);
	assert_string_equal(back->label, "before load");
	assert_string_equal(back->path, file_path);
	assert_same(s, back);
	/* Written again it is the same file, label and all. */
	assert_int_equal(snapshot_write(back, other_path, NULL, &err), 0);
	data = read_all(file_path, &len);
	data2 = read_all(other_path, &len2);
	assert_int_equal(len, len2);
	assert_memory_equal(data, data2, len);
	free(data);
	free(data2);
	snapshot_free(back);
	snapshot_free(s);
}

static void test_round_trip_random(void **state)
{
	struct fake_store *f = fake_store_new(store_path, UINT64_C(64) << 20);
	uint32_t stacks[50], slots[5], nodes[51] = {0};
	uint64_t address = 0x7f0000000000, x = 12345;
	struct snapshot *s, *back;
	struct hs_error err;

	(void)state;
	for (int i = 0; i < 50; i++) {
		nodes[i + 1] = fake_node(f, nodes[i / 2], 0x400000 + (uint64_t)i * 77, 0);
		stacks[i] = fake_stack(f, nodes[i + 1]);
	}
	for (uint32_t i = 0; i < 5; i++)
		slots[i] = fake_thread(f, i + 1, "t");
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t nr;

		x = x * 6364136223846793005u + 1442695040888963407u;
		nr = fake_block(f, address ^ (i % 2 ? 0x100000000 : 0), x >> 40 & 0xfff,
				stacks[x >> 20 & 31], slots[x >> 30 & 3], i / 10);
		address += ((x >> 40 & 0xfff) + 0x40) & ~UINT64_C(15);
		for (uint64_t j = 0; i % 7 == 0 && j < (x >> 50 & 63) && j < 40; j++)
			fake_resize(f, nr, (fake_record(f, nr)->size & 1) + j * 16, stacks[j],
				    i / 10 + 1);
	}
	s = snap_of(f);
	assert_true(s->coverage.consistent);
	assert_int_equal(snapshot_write(s, file_path, NULL, &err), 0);
	back = open_good(file_path);
	assert_same(s, back);
	assert_null(back->label);
	snapshot_free(back);
	snapshot_free(s);
	fake_store_free(f, true);
}

static void test_empty_snapshot(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct snapshot *s = snap_of(f), *back;
	struct hs_error err;

	(void)state;
	assert_int_equal(snapshot_write(s, file_path, "", &err), 0);
	back = open_good(file_path);
	assert_int_equal(back->nr_blocks, 0);
	assert_string_equal(back->label, "");
	snapshot_free(back);
	snapshot_free(s);
	fake_store_free(f, true);
}

/* Whether check finds something, in the table or in a chunk. Everything must be said in one line. */
static bool check_finds(const char *path, size_t *ret_nr_bad)
{
	struct snap_chunk *rows;
	struct hs_error err = {0};
	size_t nr;
	bool found = false;

	*ret_nr_bad = 0;
	if (snapshot_check(path, &rows, &nr, &err)) {
		assert_true(err.text[0]);
		assert_null(strchr(err.text, '\n'));
		return true;
	}
	for (size_t i = 0; i < nr; i++) {
		*ret_nr_bad += !rows[i].ok;
		found |= !rows[i].ok;
		assert_int_equal(rows[i].ok, rows[i].problem[0] == '\0');
	}
	free(rows);
	return found;
}

static void test_damage_every_byte(void **state)
{
	struct snapshot *s = write_small(NULL), *other;
	struct hs_error err;
	size_t len, nr_bad;
	uint8_t *data = read_all(file_path, &len);

	(void)state;
	snapshot_free(s);
	assert_false(check_finds(file_path, &nr_bad));
	for (size_t i = 0; i < len; i++) {
		uint8_t saved = data[i];

		data[i] ^= (uint8_t)(1u << i % 8);
		write_all(other_path, data, len);
		if (!check_finds(other_path, &nr_bad))
			fail_msg("byte %zu of %zu changed and check found nothing", i, len);
		assert_true(nr_bad <= 1);
		assert_true(snapshot_open(other_path, &other, &err) < 0);
		assert_null(strchr(err.text, '\n'));
		data[i] = saved;
	}
	free(data);
}

static void test_truncation_everywhere(void **state)
{
	struct snapshot *s = write_small(NULL), *other;
	size_t len, nr_bad;
	uint8_t *data = read_all(file_path, &len);

	(void)state;
	snapshot_free(s);
	for (size_t i = 0; i < len; i++) {
		struct hs_error err = {0};

		write_all(other_path, data, i);
		assert_true(check_finds(other_path, &nr_bad));
		assert_int_equal(snapshot_open(other_path, &other, &err), -HS_E_FORMAT);
		assert_null(strchr(err.text, '\n'));
		if (i >= 16 && !strstr(err.text, "cut short"))
			fail_msg("%zu bytes: %s", i, err.text);
	}
	/* And something at the end that does not belong there. */
	data = xrealloc(data, len + 1);
	data[len] = 0;
	write_all(other_path, data, len + 1);
	assert_true(check_finds(other_path, &nr_bad));
	free(data);
}

/* A whole chunk damaged: just that one is reported, the others are judged by themselves. */
static void test_damage_each_chunk(void **state)
{
	struct snapshot *s = write_small(NULL);
	struct snap_chunk *rows, *after;
	size_t nr, nr_after, len;
	struct hs_error err;
	uint8_t *data = read_all(file_path, &len);

	(void)state;
	snapshot_free(s);
	assert_int_equal(snapshot_check(file_path, &rows, &nr, &err), 0);
	for (size_t i = 0; i < nr; i++) {
		if (!rows[i].bytes)
			continue;
		for (uint64_t j = 0; j < rows[i].bytes; j++)
			data[rows[i].offset + j] ^= 0xff;
		write_all(other_path, data, len);
		assert_int_equal(snapshot_check(other_path, &after, &nr_after, &err), 0);
		assert_int_equal(nr_after, nr);
		for (size_t j = 0; j < nr; j++)
			assert_int_equal(after[j].ok, j != i);
		for (uint64_t j = 0; j < rows[i].bytes; j++)
			data[rows[i].offset + j] ^= 0xff;
		free(after);
	}
	free(rows);
	free(data);
}

/* Files that are sound as files and wrong inside: the writer writes what it is given. */
static void wrong_inside(struct snapshot *s, const char *part)
{
	struct hs_error err = {0};
	struct snapshot *other;
	size_t nr_bad;

	assert_int_equal(snapshot_write(s, other_path, NULL, &err), 0);
	assert_int_equal(snapshot_open(other_path, &other, &err), -HS_E_FORMAT);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
	assert_true(check_finds(other_path, &nr_bad));
	assert_int_equal(nr_bad, 1);
}

static void test_wrong_inside(void **state)
{
	struct snapshot *s = write_small(NULL);

	(void)state;
	s->live_bytes++;
	wrong_inside(s, "META");
	s->live_bytes--;
	s->stacks[1].live_count++;
	wrong_inside(s, "STAK");
	s->stacks[1].live_count--;
	s->blocks[1].stack = 9;
	wrong_inside(s, "BSTK");
	s->blocks[1].stack = 2;
	s->blocks[1].thread = 9;
	wrong_inside(s, "BTHR");
	s->blocks[1].thread = 2;
	s->blocks[1].family = 9;
	wrong_inside(s, "BFAM");
	s->blocks[1].family = 0;
	s->blocks[1].address = 0x10010;
	wrong_inside(s, "overlaps");
	s->blocks[1].address = 0x20000;
	s->nodes[2].module = 5;
	wrong_inside(s, "NODE");
	s->nodes[2].module = 1;
	s->nodes[3] = s->nodes[2];
	wrong_inside(s, "twice");
	s->nodes[3].pc++;
	s->steps[0].stack = 99;
	wrong_inside(s, "STEP");
	s->steps[0].stack = 2;
	s->lineages[0].born_stack = 99;
	wrong_inside(s, "LINE");
	snapshot_free(s);
}

/* Writes the file anew, with one more chunk (0: none) and without another (0: none). */
static void change_chunks(const struct snapshot *s, uint32_t add, uint32_t flags, uint32_t leave_out)
{
	struct snapshot_file file;
	struct snapshot_writer w;
	struct hs_error err;

	assert_int_equal(snapshot_write(s, file_path, NULL, &err), 0);
	assert_int_equal(snapshot_file_open(file_path, &file, &err), 0);
	assert_int_equal(snapshot_writer_open(&w, other_path, &err), 0);
	if (add)
		assert_int_equal(snapshot_writer_add(&w, add, flags, 1, "hello", 5, &err), 0);
	for (size_t i = 0; i < file.nr_chunks; i++) {
		uint8_t *raw;

		if (snapshot_chunk_id(&file.chunks[i]) == leave_out)
			continue;
		assert_int_equal(snapshot_file_load(&file, &file.chunks[i], &raw, &err), 0);
		assert_int_equal(snapshot_writer_add(&w, snapshot_chunk_id(&file.chunks[i]),
						     file.chunks[i].flags, file.chunks[i].items,
						     raw, file.chunks[i].raw_bytes, &err),
				 0);
		free(raw);
	}
	assert_int_equal(snapshot_writer_commit(&w, &err), 0);
	snapshot_file_close(&file);
}

static void add_chunk(const struct snapshot *s, uint32_t flags)
{
	change_chunks(s, HS_CHUNK_ID('X', 'T', 'R', 'A'), flags, 0);
}

static void expect_raw_name(struct snapshot *s, const char *raw)
{
	const struct name_frame *frames;

	assert_int_equal(name_table_find(s->names, 1, 0x10, &frames), 1);
	assert_string_equal(frames[0].function, "a::f");
	if (raw)
		assert_string_equal(frames[0].raw, raw);
	else
		assert_null(frames[0].raw);
	assert_int_equal(s->names->lacks_raw, !raw);
}

/* Raw names are a chunk of their own, which older files do not have. */
static void test_raw_names(void **state)
{
	const struct name_frame frame = {.function = "a::f", .raw = "_ZN1a1fEv"};
	struct snapshot *s = write_small(NULL), *other;
	struct hs_error err;
	size_t nr_bad;

	(void)state;
	s->names = xcalloc(1, sizeof(*s->names));
	name_table_add(s->names, 1, 0x10, &frame, 1);
	change_chunks(s, 0, 0, 0);
	other = open_good(other_path);
	expect_raw_name(other, frame.raw);
	snapshot_free(other);
	change_chunks(s, 0, 0, HS_CHUNK_ID('N', 'R', 'A', 'W'));
	other = open_good(other_path);
	expect_raw_name(other, NULL);
	snapshot_free(other);
	assert_false(check_finds(other_path, &nr_bad));
	change_chunks(s, 0, 0, HS_CHUNK_ID('N', 'A', 'M', 'S'));
	assert_int_equal(snapshot_open(other_path, &other, &err), -HS_E_FORMAT);
	assert_non_null(strstr(err.text, "raw names of names that are not there"));
	assert_true(check_finds(other_path, &nr_bad));
	snapshot_free(s);
}

static void test_unknown_chunk(void **state)
{
	struct snapshot *s = write_small(NULL), *other;
	struct hs_error err;
	size_t nr_bad;

	(void)state;
	add_chunk(s, 0);
	other = open_good(other_path);
	assert_same(s, other);
	snapshot_free(other);
	assert_false(check_finds(other_path, &nr_bad));
	add_chunk(s, HS_CHUNK_MUST_KNOW);
	assert_int_equal(snapshot_open(other_path, &other, &err), -HS_E_VERSION);
	assert_non_null(strstr(err.text, "XTRA"));
	assert_true(check_finds(other_path, &nr_bad));
	snapshot_free(s);
}

static void test_foreign(void **state)
{
	struct hs_error err = {0};
	struct snapshot *s;

	(void)state;
	write_all(other_path, (const uint8_t *)"hello, this is text\n", 20);
	assert_int_equal(snapshot_open(other_path, &s, &err), -HS_E_FORMAT);
	assert_non_null(strstr(err.text, "neither a snapshot nor a store"));
	write_all(other_path, (const uint8_t *)"", 0);
	assert_int_equal(snapshot_open(other_path, &s, &err), -HS_E_FORMAT);
	assert_non_null(strstr(err.text, "empty"));
	assert_int_equal(snapshot_open("/nonexistent/a.hs", &s, &err), -HS_E_SYSTEM);
	assert_string_equal(err.text, "cannot open '/nonexistent/a.hs': No such file or directory");
	assert_int_equal(snapshot_open(folder(), &s, &err), -HS_E_SYSTEM);
	assert_int_equal(snapshot_open("/dev/null", &s, &err), -HS_E_FORMAT);
}

static void test_versions(void **state)
{
	struct snapshot *s = write_small(NULL), *other;
	struct hs_error err;
	size_t len;
	uint8_t *data = read_all(file_path, &len);

	(void)state;
	snapshot_free(s);
	data[offsetof(struct hs_file_header, version)] = 9;
	write_all(other_path, data, len);
	assert_int_equal(snapshot_open(other_path, &other, &err), -HS_E_VERSION);
	assert_non_null(strstr(err.text, "version 9"));
	assert_non_null(strstr(err.text, "version 1"));
	free(data);
}

/* A highly regular snapshot is padded rather than packed beyond what readers take. */
static void test_ratio(void **state)
{
	struct fake_store *f = fake_store_new(store_path, UINT64_C(64) << 20);
	uint32_t slot = fake_thread(f, 1, "t"), stack = fake_stack(f, fake_node(f, 0, 0x5000, 0));
	struct snapshot *s, *back;
	struct hs_error err;
	size_t nr_bad;

	(void)state;
	for (uint64_t i = 0; i < 200000; i++)
		fake_block(f, 0x10000000 + i * 64, 48, stack, slot, 1);
	s = snap_of(f);
	fake_store_free(f, true);
	assert_int_equal(snapshot_write(s, file_path, NULL, &err), 0);
	assert_false(check_finds(file_path, &nr_bad));
	back = open_good(file_path);
	assert_same(s, back);
	snapshot_free(back);
	snapshot_free(s);
}

static void test_unwritable(void **state)
{
	struct snapshot *s = write_small(NULL);
	struct hs_error err;

	(void)state;
	assert_int_equal(snapshot_write(s, "/nonexistent/x.hs", NULL, &err), -HS_E_SYSTEM);
	assert_string_equal(err.text, "cannot write '/nonexistent/x.hs': No such file or "
				      "directory");
	assert_int_equal(snapshot_write(s, "/dev/full", NULL, &err), -HS_E_SYSTEM);
	assert_string_equal(err.text, "cannot write '/dev/full': No space left on device");
	assert_int_equal(snapshot_write(s, folder(), NULL, &err), -HS_E_SYSTEM);
	assert_int_equal(snapshot_write(s, "/dev/null", NULL, &err), 0);
	assert_int_equal(access("/dev/null", W_OK), 0);
	snapshot_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_round_trip_random),
		cmocka_unit_test(test_empty_snapshot),
		cmocka_unit_test(test_damage_every_byte),
		cmocka_unit_test(test_truncation_everywhere),
		cmocka_unit_test(test_damage_each_chunk),
		cmocka_unit_test(test_wrong_inside),
		cmocka_unit_test(test_unknown_chunk),
		cmocka_unit_test(test_raw_names),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_unwritable),
	};

	return cmocka_run_group_tests(tests, make_paths, folder_remove);
}
