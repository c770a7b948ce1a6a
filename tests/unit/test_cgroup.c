/* SPDX-License-Identifier: MIT */
/*
 * test_cgroup.c - limits and room of made-up hierarchies of memory cgroups, versions 1 and 2, whole
 * and as a container sees them.
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

#include "store/cgroup.h"
#include "tests/unit/folder.h"

#define NONE UINT64_MAX

static char mounts[64], cgroups[64];

static int make_paths(void **state)
{
	int ret = folder_make(state);

	snprintf(mounts, sizeof(mounts), "%s", in_folder("mountinfo"));
	snprintf(cgroups, sizeof(cgroups), "%s", in_folder("cgroup"));
	return ret;
}

/* Writes a file below the folder, and makes the folders that it is in. */
static void put(const char *path, const char *text)
{
	char whole[512];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s", in_folder(path));
	for (char *slash = whole + strlen(folder()) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(whole, 0700);
		*slash = '/';
	}
	f = fopen(whole, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* A line of mountinfo: what is shown at `at` in the folder of a hierarchy. */
static void mount_is(const char *root, const char *at, const char *type, const char *options)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "22 1 0:20 / / rw,relatime - ext4 /dev/root rw\n"
		 "31 23 0:28 %s %s/%s rw,relatime shared:9 - %s cgroup %s\n",
		 root, folder(), at, type, options);
	put("mountinfo", text);
}

static void test_version_2(void **state)
{
	(void)state;
	mount_is("/", "two", "cgroup2", "rw,nsdelegate");
	put("cgroup", "0::/a/b\n");
	put("two/cgroup.procs", "");
	put("two/a/memory.max", "max\n");
	put("two/a/memory.high", "max\n");
	put("two/a/b/memory.max", "max\n");
	assert_true(cgroup_least(mounts, cgroups, false) == NONE);
	put("two/a/memory.max", "1000000\n");
	put("two/a/memory.current", "400000\n");
	assert_true(cgroup_least(mounts, cgroups, false) == 1000000);
	assert_true(cgroup_least(mounts, cgroups, true) == 600000);
	/* the least on the way up; memory.high is one, too */
	put("two/a/b/memory.high", "700000\n");
	put("two/a/b/memory.current", "50000\n");
	assert_true(cgroup_least(mounts, cgroups, false) == 700000);
	assert_true(cgroup_least(mounts, cgroups, true) == 600000);
	put("two/a/memory.current", "1000001\n"); /* above it for a moment */
	assert_true(cgroup_least(mounts, cgroups, true) == 0);
	put("cgroup", "0::/elsewhere\n");
	assert_true(cgroup_least(mounts, cgroups, false) == NONE);
}

static void test_version_1(void **state)
{
	(void)state;
	mount_is("/", "one", "cgroup", "rw,memory");
	put("one/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
	put("one/job/memory.limit_in_bytes", "268435456\n");
	put("one/job/memory.usage_in_bytes", "68435456\n");
	put("cgroup", "5:cpu,cpuacct:/other\n4:memory:/job\n0::/\n");
	assert_true(cgroup_least(mounts, cgroups, false) == 268435456);
	assert_true(cgroup_least(mounts, cgroups, true) == 200000000);
	put("cgroup", "5:cpu,cpuacct:/job\n");
	assert_true(cgroup_least(mounts, cgroups, false) == NONE);
	put("cgroup", "4:memory:/\n");
	assert_true(cgroup_least(mounts, cgroups, false) == NONE);
	/* the memory hierarchy is mounted with others, or not at all */
	put("cgroup", "4:hugetlb,memory:/job\n");
	mount_is("/", "one", "cgroup", "rw,hugetlb,memory");
	assert_true(cgroup_least(mounts, cgroups, false) == 268435456);
	mount_is("/", "one", "cgroup", "rw,hugetlb");
	assert_true(cgroup_least(mounts, cgroups, false) == NONE);
}

/* A container's mount shows its own cgroup at the top. */
static void test_container(void **state)
{
	(void)state;
	mount_is("/docker/abc", "top", "cgroup", "rw,memory");
	put("top/memory.limit_in_bytes", "500000\n");
	put("top/inner/memory.limit_in_bytes", "9223372036854771712\n");
	put("cgroup", "4:memory:/docker/abc/inner\n");
	assert_true(cgroup_least(mounts, cgroups, false) == 500000);
	put("cgroup", "4:memory:/docker/abc\n");
	assert_true(cgroup_least(mounts, cgroups, false) == 500000);
}

static void test_nothing_to_read(void **state)
{
	(void)state;
	assert_true(cgroup_least("/nowhere/mountinfo", cgroups, false) == NONE);
	assert_true(cgroup_least(mounts, "/nowhere/cgroup", false) == NONE);
	put("cgroup", "nonsense\n\n4:\n::\n");
	put("mountinfo", "nonsense - \n31 23 0:28 / - cgroup2\n");
	assert_true(cgroup_least(mounts, cgroups, false) == NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_2),
		cmocka_unit_test(test_version_1),
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_nothing_to_read),
	};

	return cmocka_run_group_tests(tests, make_paths, folder_remove);
}
