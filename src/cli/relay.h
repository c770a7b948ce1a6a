/* SPDX-License-Identifier: MIT */
/*
 * relay.h - what `run` does about signals between its caller and the program that is its child.
 *
 * What the terminal or somebody else sends to the whole process group has reached the program as
 * well: that is left to it. What somebody sends to us alone (witness.h) is passed on at once, from
 * the handler, also while a snapshot is being written. Stops by the terminal are followed, so that
 * the shell sees the job stop and go on.
 */
#ifndef HEAPSTORY_CLI_RELAY_H
#define HEAPSTORY_CLI_RELAY_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct hs_error;

/* How a child ended, as in siginfo_t: CLD_EXITED and its status, or else the signal. */
struct relay_end {
	bool exited;
	int status;
};

/*
 * Begins to relay to the child. All signals are blocked by the caller; `mask` is the mask from
 * then on. Signals that we were started to ignore stay ignored. 0 or -HS_E_SYSTEM.
 */
int relay_start(pid_t child, const sigset_t *mask, struct hs_error *err);

/*
 * Waits until the child ended, or timeout_ms have gone (-1: as long as it takes). True if it ended:
 * then it has been reaped, *ret says how, and signals to us are no longer passed on.
 */
bool relay_wait(int timeout_ms, struct relay_end *ret);

/* Ends this process as the child ended: the exit status for main(), or by its signal, no core. */
int relay_end_alike(const struct relay_end *end);

#endif
