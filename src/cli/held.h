/* SPDX-License-Identifier: MIT */
/*
 * held.h - the files that a running program has its code from, kept open: so that names can still
 * be found at its exit when somebody has replaced them meanwhile.
 */
#ifndef HEAPSTORY_CLI_HELD_H
#define HEAPSTORY_CLI_HELD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct held_file;
struct proc_map;

/* All zero holds nothing. */
struct held_files {
	struct held_file *all;
	uint64_t next_ns, pause_ns; /* when to look again; how long the latest wait is */
};

/*
 * Looks, if it is time, which files the process has mapped as code: opens those that are new, and
 * closes those that it has no more. Often at first, when a program loads its libraries, and ever
 * more seldom. now_ns: on any clock that runs on. Returns when to call again on that clock. Where
 * the process is gone what is held stays.
 */
uint64_t held_look(struct held_files *held, pid_t pid, uint64_t now_ns);

/* Paths by which they can be opened; valid until the next look. Caller frees the array. */
size_t held_paths(const struct held_files *held, const char ***ret);

/*
 * Where the code of all of them was at the last look, whether a file could be opened or not. Caller
 * frees the array; paths in it are as above.
 */
size_t held_maps(const struct held_files *held, struct proc_map **ret);

void held_release(struct held_files *held);

#endif
