/* SPDX-License-Identifier: MIT */
/*
 * cgroup.c - the memory limits of a process's cgroups, versions 1 and 2; see cgroup.h.
 */
#include "store/cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number that is all of a small file; UINT64_MAX for "max" or if there is none. */
static uint64_t read_limit(const char *folder, const char *file)
{
	char path[PATH_MAX + 64];
	unsigned long long value;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	f = fopen(path, "re");
	if (!f)
		return UINT64_MAX;
	if (fscanf(f, "%llu", &value) != 1)
		value = UINT64_MAX;
	fclose(f);
	return value;
}

/* Bytes that may be charged to the cgroup in this folder: still (usage_file), or at all (NULL). */
static uint64_t room_of(const char *folder, const char *const *limits, const char *usage_file)
{
	uint64_t limit = UINT64_MAX, usage;

	for (; *limits; limits++) {
		uint64_t one = read_limit(folder, *limits);

		if (one < limit)
			limit = one;
	}
	if (limit >= INT64_MAX - (INT64_MAX & 0xfffff))
		return UINT64_MAX; /* version 1 writes "none" as the largest number of pages */
	if (!usage_file)
		return limit;
	usage = read_limit(folder, usage_file);
	if (usage == UINT64_MAX)
		usage = 0;
	return limit > usage ? limit - usage : 0;
}

/* The least room along the path from a cgroup up to the root of its mount. */
static uint64_t room_along(const char *mount, const char *cgroup, bool v2, bool still)
{
	static const char *const limits_v1[] = {"memory.limit_in_bytes", NULL};
	static const char *const limits_v2[] = {"memory.max", "memory.high", NULL};
	char folder[PATH_MAX];
	uint64_t least = UINT64_MAX;
	size_t mount_len = strlen(mount);

	if ((size_t)snprintf(folder, sizeof(folder), "%s%s", mount, cgroup) >= sizeof(folder))
		return UINT64_MAX;
	for (;;) {
		const char *usage = v2 ? "memory.current" : "memory.usage_in_bytes";
		uint64_t room = room_of(folder, v2 ? limits_v2 : limits_v1, still ? usage : NULL);
		char *slash = strrchr(folder, '/');

		if (room < least)
			least = room;
		if (!slash || (size_t)(slash - folder) < mount_len)
			return least;
		*slash = 0;
	}
}

/* Whether a comma separated list has the word. */
static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += len)
		if ((p == list || p[-1] == ',') && (!p[len] || p[len] == ','))
			return true;
	return false;
}

/*
 * Where the hierarchy that limits memory is mounted; false if nowhere. *ret_root is the cgroup
 * that the mount shows at its top (a container sees a part of the tree only).
 */
static bool find_mount(const char *mountinfo, bool v2, char ret_mount[PATH_MAX],
		       char ret_root[PATH_MAX])
{
	FILE *f = fopen(mountinfo, "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (f && !found && getline(&line, &size, f) > 0) {
		char root[PATH_MAX], mount[PATH_MAX], type[64], options[1024];
		char *tail = strstr(line, " - ");

		if (!tail || sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) != 2 ||
		    sscanf(tail, " - %63s %*s %1023s", type, options) != 2)
			continue;
		if (strcmp(type, v2 ? "cgroup2" : "cgroup"))
			continue;
		if (!v2 && !has_word(options, "memory"))
			continue;
		strcpy(ret_mount, mount);
		strcpy(ret_root, root);
		found = true;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* Room under the limits of the cgroup named in a line of /proc/PID/cgroup; UINT64_MAX: no limit. */
static uint64_t room_of_line(const char *mountinfo, char *line, bool still)
{
	char mount[PATH_MAX], root[PATH_MAX];
	char *names = strchr(line, ':');
	char *cgroup = names ? strchr(names + 1, ':') : NULL;
	bool v2;
	size_t len;

	if (!cgroup)
		return UINT64_MAX;
	*cgroup++ = 0;
	names++;
	v2 = !*names;
	cgroup[strcspn(cgroup, "\n")] = 0;
	if ((!v2 && !has_word(names, "memory")) || !find_mount(mountinfo, v2, mount, root))
		return UINT64_MAX;
	len = strcmp(root, "/") ? strlen(root) : 0;
	if (len && !strncmp(cgroup, root, len))
		cgroup += len;
	return room_along(mount, strcmp(cgroup, "/") ? cgroup : "", v2, still);
}

uint64_t cgroup_least(const char *mountinfo, const char *cgroups, bool still)
{
	FILE *f = fopen(cgroups, "re");
	uint64_t least = UINT64_MAX;
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		uint64_t room = room_of_line(mountinfo, line, still);

		if (room < least)
			least = room;
	}
	free(line);
	if (f)
		fclose(f);
	return least;
}

static uint64_t least_of(pid_t pid, bool still)
{
	char path[64] = "/proc/self/cgroup";

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	return cgroup_least("/proc/self/mountinfo", path, still);
}

uint64_t cgroup_room(pid_t pid)
{
	return least_of(pid, true);
}

uint64_t cgroup_limit(pid_t pid)
{
	return least_of(pid, false);
}
