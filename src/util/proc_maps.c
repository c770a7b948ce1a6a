/* SPDX-License-Identifier: MIT */
/*
 * proc_maps.c - the lines of /proc/PID/maps; see proc_maps.h.
 */
#include "util/proc_maps.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

bool proc_maps_open(struct proc_maps *maps, pid_t pid)
{
	char path[64];

	memset(maps, 0, sizeof(*maps));
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps->file = fopen(path, "re");
	return maps->file;
}

bool proc_maps_next(struct proc_maps *maps, struct proc_map *ret)
{
	unsigned int major, minor;
	int at_path = 0;
	char perms[5];

	if (!maps->file || getline(&maps->line, &maps->alloc, maps->file) <= 0)
		return false;
	maps->line[strcspn(maps->line, "\n")] = 0;
	if (sscanf(maps->line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &ret->start, &ret->end, perms, &ret->offset, &major, &minor, &ret->inode,
		   &at_path) != 7)
		return false;
	ret->dev = makedev(major, minor);
	ret->code = perms[2] == 'x';
	ret->path = at_path ? maps->line + at_path : "";
	return true;
}

void proc_maps_close(struct proc_maps *maps)
{
	if (maps->file)
		fclose(maps->file);
	free(maps->line);
	memset(maps, 0, sizeof(*maps));
}

void proc_map_stat_device(struct proc_map *map, pid_t pid)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, map->path) <
		    (int)sizeof(path) &&
	    !stat(path, &st) && st.st_ino == map->inode)
		map->dev = st.st_dev;
}
