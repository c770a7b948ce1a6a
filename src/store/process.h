/* SPDX-License-Identifier: MIT */
/*
 * process.h - what /proc says of processes and threads. Offline side.
 */
#ifndef HEAPSTORY_STORE_PROCESS_H
#define HEAPSTORY_STORE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_stat {
	char state; /* R, S, D, T, t, Z, X, ... */
	char comm[16];
	uint32_t nr_threads;
	uint64_t start_ticks; /* field 22 */
};

/* Of a process (tid 0) or of one of its threads. False if there is none (any more). */
bool process_stat_read(pid_t pid, pid_t tid, struct process_stat *ret);
/* Whether this process runs and started then; a zombie has no memory and does not count. */
bool process_runs(pid_t pid, uint64_t start_ticks);
/* Whether the thread is stopped (by a signal or a debugger), or gone. */
bool process_thread_halted(pid_t pid, pid_t tid);
/* Whether all threads are stopped or gone. */
bool process_halted(pid_t pid);
/*
 * Whether the process has the file mapped that is open as fd; false also where its maps may not be
 * read.
 */
bool process_maps_file(pid_t pid, int fd);
/* The kernel's boot id, 16 bytes. False if it cannot be read. */
bool process_boot_id(uint8_t ret[static 16]);
/* Path of the executable, without " (deleted)"; false if it may not be read. */
bool process_exe(pid_t pid, char *ret, size_t size);

#endif
