/* SPDX-License-Identifier: MIT */
/*
 * where.c - the choice of the folder that stores are made in.
 *
 * A hot table on a disk file system costs gigabytes of write-back a minute and stalls now and
 * then; on tmpfs it costs what anonymous memory costs. But tmpfs is memory: it is charged to the
 * memory cgroup of whoever touches it, and a container's /dev/shm may be very small.
 */
#include "store/where.h"

#include "store/cgroup.h"
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
		uint64_t room = cgroup_room(0);

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
