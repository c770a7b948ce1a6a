/* SPDX-License-Identifier: MIT */
/*
 * test_cache.c - names on disk: found again, told apart, damaged, foreign, too many, two at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbolizer/cache.h"
#include "tests/unit/folder.h"
#include "util/name_table.h"

static char cache_folder[128];

static int set_up(void **state)
{
	if (folder_make(state))
		return -1;
	snprintf(cache_folder, sizeof(cache_folder), "%s", in_folder("heapstory"));
	return setenv("XDG_CACHE_HOME", folder(), 1);
}

static struct cache_key key_of(const char *build_id, const char *source)
{
	return (struct cache_key){(const uint8_t *)build_id, strlen(build_id), source,
				  strlen(source)};
}

static void save(const struct cache_key *key, uint64_t first, uint64_t nr,
		 const struct cache_limits *limits)
{
	struct name_table t = {0};
	struct cache cache;

	for (uint64_t i = first; i < first + nr; i++) {
		char name[32];
		struct name_frame f = {.function = name, .line = (uint32_t)i};

		snprintf(name, sizeof(name), "f%u", (unsigned int)i);
		name_table_add(&t, 0, i, &f, 1);
	}
	cache_init(&cache, limits);
	cache_save(&cache, key, &t);
	cache_release(&cache);
	name_table_release(&t);
}

/* How many places are known; all of them must be right. */
static size_t load(const struct cache_key *key)
{
	struct cached_names known;
	struct cache cache;
	size_t nr;

	cache_init(&cache, NULL);
	cache_load(&cache, key, &known);
	nr = known.map.nr_places;
	for (size_t i = 0; i < nr; i++) {
		size_t chain = name_map_find(&known.map, known.map.addresses[i]), first;
		struct name_frame frame;
		char name[32];

		assert_int_not_equal(chain, NAME_MAP_NONE);
		snprintf(name, sizeof(name), "f%u", (unsigned int)known.map.addresses[i]);
		assert_int_equal(name_map_chain(&known.map, chain, &first), 1);
		frame = name_map_frame(&known.map, first);
		assert_string_equal(frame.function, name);
		assert_int_equal(frame.line, known.map.addresses[i]);
	}
	cached_names_release(&known);
	cache_release(&cache);
	return nr;
}

/* The only file in the folder; its number if there are others. */
static int only_file(char *ret, size_t size)
{
	struct dirent *entry;
	DIR *dir = opendir(cache_folder);
	int nr = 0;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		nr++;
		snprintf(ret, size, "%s/%s", cache_folder, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return nr;
}

static void test_round(void **state)
{
	struct cache_key key = key_of("abc", "x"), other = key_of("abc", "y"),
			 none = key_of("", "x");
	struct stat st;
	char path[512];

	(void)state;
	assert_int_equal(load(&key), 0);
	save(&key, 10, 100, NULL);
	assert_int_equal(load(&key), 100);
	assert_int_equal(load(&other), 0);
	save(&none, 10, 100, NULL);
	assert_int_equal(load(&none), 0);
	/* what is there already stays */
	save(&key, 100, 20, NULL);
	assert_int_equal(load(&key), 110);
	assert_int_equal(stat(cache_folder, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(only_file(path, sizeof(path)), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_damaged(void **state)
{
	struct cache_key key = key_of("abc", "x");
	uint8_t bytes[4096];
	char path[512];
	ssize_t len;
	int fd;

	(void)state;
	save(&key, 10, 50, NULL);
	assert_int_equal(only_file(path, sizeof(path)), 1);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	len = pread(fd, bytes, sizeof(bytes), 0);
	assert_true(len > 100 && len < (ssize_t)sizeof(bytes));
	for (ssize_t i = 0; i < len; i += i < 64 ? 1 : 7) {
		uint8_t wrong = bytes[i] ^ 0x40;

		assert_int_equal(pwrite(fd, &wrong, 1, i), 1);
		assert_int_equal(load(&key), 0);
		assert_int_equal(pwrite(fd, bytes + i, 1, i), 1);
	}
	assert_int_equal(load(&key), 50);
	for (ssize_t i = len - 1; i >= 0; i -= i < 64 ? 1 : 7) {
		assert_int_equal(ftruncate(fd, i), 0);
		assert_int_equal(load(&key), 0);
	}
	close(fd);
	/* the next one writes it anew */
	save(&key, 1, 5, NULL);
	assert_int_equal(load(&key), 5);
}

static void test_foreign(void **state)
{
	struct cache_key key = key_of("abc", "x"), other = key_of("abd", "x");
	char path[512], target[128], second[512];

	(void)state;
	save(&key, 10, 50, NULL);
	assert_int_equal(only_file(path, sizeof(path)), 1);
	/* the file of another key under this name */
	snprintf(target, sizeof(target), "%s", in_folder("kept"));
	assert_int_equal(rename(path, target), 0);
	save(&other, 10, 40, NULL);
	assert_int_equal(only_file(second, sizeof(second)), 1);
	assert_int_equal(rename(second, path), 0);
	assert_int_equal(load(&key), 0);
	/* a link is not followed, a folder or a fifo is no file */
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(load(&key), 0);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(load(&key), 0);
	unlink(path);
	/* what others may write to is not believed */
	assert_int_equal(chmod(target, 0666), 0);
	assert_int_equal(rename(target, path), 0);
	assert_int_equal(load(&key), 0);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(load(&key), 50);
	assert_int_equal(chmod(cache_folder, 0777), 0);
	assert_int_equal(load(&key), 0);
	assert_int_equal(chmod(cache_folder, 0700), 0);
	assert_int_equal(load(&key), 50);
}

/* A folder that is a link is nobody's. */
static void test_linked_folder(void **state)
{
	struct cache_key key = key_of("abc", "x");
	char elsewhere[128], path[512];

	(void)state;
	snprintf(elsewhere, sizeof(elsewhere), "%s", in_folder("elsewhere"));
	assert_int_equal(mkdir(elsewhere, 0700), 0);
	assert_int_equal(symlink(elsewhere, cache_folder), 0);
	save(&key, 10, 50, NULL);
	assert_int_equal(only_file(path, sizeof(path)), 0);
	assert_int_equal(load(&key), 0);
}

static void test_home(void **state)
{
	struct cache_key key = key_of("abc", "x");
	char path[256];
	struct stat st;

	(void)state;
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", folder(), 1);
	save(&key, 10, 50, NULL);
	assert_int_equal(load(&key), 50);
	snprintf(path, sizeof(path), "%s", in_folder(".cache/heapstory"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	/* no home at all: nothing is kept, nothing fails */
	unsetenv("HOME");
	save(&key, 10, 50, NULL);
	assert_int_equal(load(&key), 0);
}

static void test_limits(void **state)
{
	const struct cache_limits limits = {20480, 10240};
	const char *const sources[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct cache_key key;
	size_t nr = 0;
	char path[512];

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		key = key_of("abc", sources[i]);
		save(&key, 0, 100, &limits);
	}
	/* about 3600 bytes each: five fit, and of six the limit leaves four */
	assert_in_range(only_file(path, sizeof(path)), 3, 5);
	for (size_t i = 0; i < 8; i++) {
		key = key_of("abc", sources[i]);
		nr += load(&key) == 100;
	}
	assert_in_range(nr, 3, 5);
	/* a file that has grown too large starts afresh; one that is too large at once is not kept */
	save(&key, 1000, 200, &limits);
	assert_int_equal(load(&key), 200);
	save(&key, 5000, 1000, &limits);
	assert_int_equal(load(&key), 200);
}

/* Several processes read and write one key: each read is whole, and some of all is there after. */
static void test_together(void **state)
{
	struct cache_key key = key_of("abc", "x");
	char path[512];
	pid_t pids[4];
	size_t nr;

	(void)state;
	for (uint64_t k = 0; k < 4; k++) {
		pids[k] = fork();
		if (!pids[k]) {
			for (uint64_t i = 0; i < 50; i++) {
				save(&key, k * 1000 + i * 10, 10, NULL);
				if (!load(&key))
					_exit(1);
			}
			_exit(0);
		}
		assert_true(pids[k] > 0);
	}
	for (int k = 0; k < 4; k++) {
		int status;

		assert_int_equal(waitpid(pids[k], &status, 0), pids[k]);
		assert_int_equal(status, 0);
	}
	nr = load(&key);
	assert_in_range(nr, 10, 2000);
	assert_int_equal(only_file(path, sizeof(path)), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round, set_up, folder_remove),
		cmocka_unit_test_setup_teardown(test_damaged, set_up, folder_remove),
		cmocka_unit_test_setup_teardown(test_foreign, set_up, folder_remove),
		cmocka_unit_test_setup_teardown(test_linked_folder, set_up, folder_remove),
		cmocka_unit_test_setup_teardown(test_home, set_up, folder_remove),
		cmocka_unit_test_setup_teardown(test_limits, set_up, folder_remove),
		cmocka_unit_test_setup_teardown(test_together, set_up, folder_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
