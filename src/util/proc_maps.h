/* SPDX-License-Identifier: MIT */
/*
 * proc_maps.h - what a process has mapped: the lines of /proc/PID/maps.
 */
#ifndef HEAPSTORY_UTIL_PROC_MAPS_H
#define HEAPSTORY_UTIL_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct proc_map {
	uint64_t start, end;  /* addresses */
	uint64_t offset;      /* of start, in the file */
	uint64_t dev, inode;  /* of the file; inode 0: none */
	bool code;            /* it may be executed */
	const char *path;     /* "" for none; " (deleted)" behind one that is; until the next line */
};

/* All zero has no lines. */
struct proc_maps {
	FILE *file;
	char *line;
	size_t alloc;
};

/* False if they may not be read, or the process is gone. proc_maps_close() takes it back. */
bool proc_maps_open(struct proc_maps *maps, pid_t pid);
bool proc_maps_next(struct proc_maps *maps, struct proc_map *ret);
void proc_maps_close(struct proc_maps *maps);

/*
 * Makes the device what stat() says of the file, as far as it still has its name: btrfs and
 * overlayfs show another one in the maps.
 */
void proc_map_stat_device(struct proc_map *map, pid_t pid);

#endif
