/* SPDX-License-Identifier: MIT */
/*
 * where.c - the choice of the folder that stores are made in.
 *
 * A hot table on a disk file system costs gigabytes of write-back a minute and stalls now and
 * then; on tmpfs it costs what anonymous memory costs. But tmpfs is memory: it is charged to the
 * memory cgroup of whoever touches it, and a container's /dev/shm may be very small.
 */
#include "store/where.h"

#include "util/error.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#define SHM_FOLDER  "/dev/shm"
#define SHM_ROOM    (UINT64_C(512) << 20) /* bytes that must be free there */
#define CGROUP_ROOM (UINT64_C(4) << 30) /* a limit with less than this left is tight */
#define DISK_ROOM   (UINT64_C(32) << 20)

#define MAGIC_TMPFS 0x01021994
#define MAGIC_RAMFS 0x858458f6

/* File systems whose pages another machine or process answers for. */
static const struct {
	uint32_t magic;
	const char *name;
} remote[] = {
	{0x6969, "NFS"},      {0x517b, "SMB"},	      {0xff534d42, "SMB"},    {0xfe534d42, "SMB"},
	{0x65735546, "FUSE"}, {0x01021997, "9p"},     {0x00c36400, "Ceph"},   {0x5346414f, "AFS"},
	{0x73757245, "Coda"}, {0x786f4256, "vboxsf"}, {0x0bd00bd0, "Lustre"},
};

static const char *remote_name(uint32_t magic)
{
	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		if (remote[i].magic == magic)
			return remote[i].name;
	return NULL;
}

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

/* Bytes that may still be charged to the cgroup in this folder. */
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
	usage = read_limit(folder, usage_file);
	if (usage == UINT64_MAX)
		usage = 0;
	return limit > usage ? limit - usage : 0;
}

/* The least room along the path from a cgroup up to the root of its mount. */
static uint64_t room_along(const char *mount, const char *cgroup, bool v2)
{
	static const char *const limits_v1[] = {"memory.limit_in_bytes", NULL};
	static const char *const limits_v2[] = {"memory.max", "memory.high", NULL};
	char folder[PATH_MAX];
	uint64_t least = UINT64_MAX;
	size_t mount_len = strlen(mount);

	if ((size_t)snprintf(folder, sizeof(folder), "%s%s", mount, cgroup) >= sizeof(folder))
		return UINT64_MAX;
	for (;;) {
		uint64_t room = v2 ? room_of(folder, limits_v2, "memory.current")
				   : room_of(folder, limits_v1, "memory.usage_in_bytes");
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
static bool find_mount(bool v2, char ret_mount[PATH_MAX], char ret_root[PATH_MAX])
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (f && !found && getline(&line, &size, f) > 0) {
		char root[PATH_MAX], mount[PATH_MAX], type[64], options[1024];
		char *tail = strstr(line, " - ");

		if (!tail || sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) != 2 ||
		    sscanf(tail, " - %63s %*s %1023s", type, options) != 2)
			continue;
		if (strcmp(type, v2 ? "cgroup2" : "cgroup") || (!v2 && !has_word(options, "memor"
											  "y")))
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

/* Room under the limits of the cgroup named in a line of /proc/self/cgroup; UINT64_MAX: no limit. */
static uint64_t room_of_line(char *line)
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
	if ((!v2 && !has_word(names, "memory")) || !find_mount(v2, mount, root))
		return UINT64_MAX;
	len = strcmp(root, "/") ? strlen(root) : 0;
	if (len && !strncmp(cgroup, root, len))
		cgroup += len;
	return room_along(mount, strcmp(cgroup, "/") ? cgroup : "", v2);
}

/* Bytes that this process may still be charged with by all its memory cgroups. */
static uint64_t cgroup_room(void)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char *line = NULL;
	size_t size = 0;
	uint64_t least = UINT64_MAX;

	while (f && getline(&line, &size, f) > 0) {
		uint64_t room = room_of_line(line);

		if (room < least)
			least = room;
	}
	free(line);
	if (f)
		fclose(f);
	return least;
}

static int take(const char *folder, bool on_tmpfs, bool in_dir, struct store_where *ret,
		struct hs_error *err)
{
	if (!realpath(folder, ret->folder))
		return hs_error_system(err, "use", folder);
	ret->on_tmpfs = on_tmpfs;
	ret->in_dir = in_dir;
	return 0;
}

static bool is_memory(const struct statfs *fs)
{
	return (uint32_t)fs->f_type == MAGIC_TMPFS || (uint32_t)fs->f_type == MAGIC_RAMFS;
}

/* Whether stores may lie in the folder; if not, *ret_why says why in a few words. */
static bool usable(const char *folder, uint64_t room, bool *ret_tmpfs, char *ret_why, size_t size)
{
	struct statfs fs;
	const char *name;

	if (statfs(folder, &fs) || access(folder, W_OK | X_OK)) {
		snprintf(ret_why, size, "%s", strerror(errno));
		return false;
	}
	name = remote_name((uint32_t)fs.f_type);
	if (name) {
		snprintf(ret_why, size, "is on %s", name);
		return false;
	}
	*ret_tmpfs = is_memory(&fs);
	/* A tmpfs without a limit, and ramfs, have no number of blocks. */
	if (fs.f_blocks && (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize < room) {
		snprintf(ret_why, size, "has %llu MiB free",
			 (unsigned long long)fs.f_bavail * (unsigned long long)fs.f_bsize >> 20);
		return false;
	}
	return true;
}

/* What the user decides is not judged, but it must be a folder that we can write to. */
static int take_asked(const char *asked, struct store_where *ret, struct hs_error *err)
{
	struct statfs fs;

	if (access(asked, W_OK | X_OK) || statfs(asked, &fs))
		return hs_error_system(err, "keep the store in", asked);
	return take(asked, is_memory(&fs), false, ret, err);
}

int store_where(const char *dir, const char *asked, struct store_where *ret, struct hs_error *err)
{
	char why_shm[256] = "", why_dir[256] = "no folder given with -o";
	bool tmpfs = false;

	if (asked)
		return take_asked(asked, ret, err);
	if (usable(SHM_FOLDER, SHM_ROOM, &tmpfs, why_shm, sizeof(why_shm)) && tmpfs) {
		uint64_t room = cgroup_room();

		if (room >= CGROUP_ROOM)
			return take(SHM_FOLDER, true, false, ret, err);
		snprintf(why_shm, sizeof(why_shm), "the memory limit leaves %llu MiB",
			 (unsigned long long)(room >> 20));
	} else if (!why_shm[0]) {
		snprintf(why_shm, sizeof(why_shm), "is not on tmpfs");
	}
	if (dir && usable(dir, DISK_ROOM, &tmpfs, why_dir, sizeof(why_dir)))
		return take(dir, tmpfs, true, ret, err);
	return hs_error_set(err, HS_E_STATE,
			    "no room for the store ('%s': %s; '%s': %s); --store DIR names a place",
			    SHM_FOLDER, why_shm, dir ? dir : "output folder", why_dir);
}
