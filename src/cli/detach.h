/* SPDX-License-Identifier: MIT */
/*
 * detach.h - what keeps a supervisor out of the program's way, and lets it wait for one that is
 * not its child.
 */
#ifndef HEAPSTORY_CLI_DETACH_H
#define HEAPSTORY_CLI_DETACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Fills standard descriptors that are closed with /dev/null, close-on-exec: files of ours do not
 * get their numbers, and the program finds them closed as it would have.
 */
void hold_standard_descriptors(void);

/*
 * Lets go of all descriptors but standard error, so that whoever reads what the program writes
 * sees its end when the program closes it.
 */
void detach_descriptors(void);

/* Limits that were meant for the program do not end us; they go up to what is allowed. */
void detach_limits(void);

/*
 * For a supervisor aside: the above, and the current folder, and the signals by which service
 * managers and terminals end whole groups; it ends when the program does.
 */
void detach_from_session(void);

/*
 * Waits for the end of a process that need not be a child, timeout_ms at most (-1: as long as it
 * takes), or until stop_fd is readable (-1: none). True if the process is gone.
 */
bool watch_process(pid_t pid, uint64_t start_ticks, int timeout_ms, int stop_fd);

#endif
