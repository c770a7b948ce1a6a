/* SPDX-License-Identifier: MIT */
/*
 * test_place.c - what TARGET means: a pid, a name, a path; and the registry that knows them.
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

#include "store/place.h"
#include "store/process.h"
#include "store/summary.h"
#include "tests/unit/busy_program.h"
#include "tests/unit/folder.h"
#include "tests/unit/snapshot_fixture.h"
#include "util/error.h"

static char runtime[64], registry[96];

/* A registry of our own, and a traced program that is not in it yet. */
static struct fake_store *store;
static struct process_stat program;
static char pid_text[32];
static char entry[160]; /* its entry in the registry, once there is one */

static void link_entry(pid_t pid, uint64_t ticks, const char *to, char ret[160])
{
	snprintf(ret, 160, "%s/%d.%llu", registry, (int)pid, (unsigned long long)ticks);
	unlink(ret);
	assert_int_equal(symlink(to, ret), 0);
}

static pid_t pid_of_program(void)
{
	return (pid_t)store->header->pid;
}

static int set_up(void **state)
{
	char path[4096];
	struct hs_error err = {0};

	(void)state;
	snprintf(runtime, sizeof(runtime), "%s", in_folder("runtime"));
	snprintf(registry, sizeof(registry), "%s", in_folder("runtime/heapstory"));
	assert_int_equal(mkdir(runtime, 0700), 0);
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	assert_int_equal(registry_path(path, sizeof(path), &err), 0);
	assert_string_equal(path, registry);
	store = busy_store_new(store_path, 0);
	busy_start(store);
	assert_true(process_stat_read(pid_of_program(), 0, &program));
	snprintf(pid_text, sizeof(pid_text), "%d", (int)pid_of_program());
	return 0;
}

static int tear_down(void **state)
{
	busy_end_left(state);
	fake_store_free(store, true);
	unlink(entry);
	rmdir(registry);
	return rmdir(runtime);
}

static void enter_program(void)
{
	link_entry(pid_of_program(), program.start_ticks, store_path, entry);
}

static void expect(const char *target, const char *store_or_file)
{
	struct hs_error err = {0};
	char path[4096];

	if (target_find(target, path, sizeof(path), &err))
		fail_msg("'%s': %s", target, err.text);
	assert_string_equal(path, store_or_file);
}

static void expect_error(const char *target, int code, const char *part)
{
	struct hs_error err = {0};
	char path[4096];

	assert_int_equal(target_find(target, path, sizeof(path), &err), -code);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
}

/* ---- tests ------------------------------------------------------------------------------- */

static void test_pid(void **state)
{
	struct registry_entry *entries;
	struct hs_error err = {0};
	size_t nr, found = 0;

	(void)state;
	expect_error(pid_text, HS_E_NOT_FOUND, "is not traced");
	/* An earlier process of that pid; its entry is tidied away. */
	link_entry(pid_of_program(), program.start_ticks + 1, store_path, entry);
	expect_error(pid_text, HS_E_NOT_FOUND, "is not traced");
	assert_int_equal(access(entry, F_OK), -1);
	enter_program();
	expect(pid_text, store_path);
	assert_int_equal(registry_list(&entries, &nr, &err), 0);
	for (size_t i = 0; i < nr; i++) /* others may be traced meanwhile */
		found += entries[i].pid == pid_of_program();
	assert_int_equal(found, 1);
	free(entries);
	expect_error("2147483646", HS_E_NOT_FOUND, "no process");
}

static void test_path(void **state)
{
	(void)state;
	expect(store_path, store_path);
	expect(folder(), store_path);
	assert_true(store_alive(store_path));
	expect_error("missing.hs", HS_E_SYSTEM,
		     "cannot open 'missing.hs': No such file or directory");
	expect_error("/missing/dir", HS_E_SYSTEM, "No such file or directory");
	expect_error(runtime, HS_E_NOT_FOUND, "has no store.live");
	expect_error("", HS_E_USAGE, "empty");
}

static void test_name(void **state)
{
	struct fake_store *mine;
	struct process_stat self;
	char second_store[96], second[160];

	(void)state;
	enter_program();
	expect(program.comm, store_path);
	expect_error("no-such-thing", HS_E_NOT_FOUND, program.comm);
	/* A second one of the same name: this process, with a store of its own. */
	snprintf(second_store, sizeof(second_store), "%s", in_folder("second"));
	mine = fake_store_new(second_store, UINT64_C(8) << 20);
	fake_store_live(mine, getpid());
	assert_true(process_stat_read(getpid(), 0, &self));
	link_entry(getpid(), self.start_ticks, second_store, second);
	expect_error(program.comm, HS_E_AMBIGUOUS, pid_text);
	fake_store_free(mine, true);
	unlink(second);
	busy_end(pid_of_program());
	assert_false(store_alive(store_path));
	expect_error(program.comm, HS_E_NOT_FOUND, "no traced process is named");
	assert_int_equal(access(entry, F_OK), -1);
}

/* A registry that others could write to is not used. */
static void test_registry_of_others(void **state)
{
	struct hs_error err = {0};
	char path[4096];

	(void)state;
	assert_int_equal(chmod(registry, 0777), 0);
	assert_true(registry_path(path, sizeof(path), &err) < 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pid),
		TEST(test_path),
		TEST(test_name),
		TEST(test_registry_of_others),
	};

	return cmocka_run_group_tests(tests, make_paths, folder_remove);
}
