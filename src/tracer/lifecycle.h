/* SPDX-License-Identifier: MIT */
/*
 * lifecycle.h - the tracer's start, what a fork and an exec do to it.
 */
#ifndef HEAPSTORY_TRACER_LIFECYCLE_H
#define HEAPSTORY_TRACER_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Starts the tracer: finds the real functions, takes our variables out of the environment, maps
 * the store and opens the gate. On the first call of a hook or in the constructor, whichever
 * comes first; later calls do nothing. Where it fails nothing is recorded and all calls pass.
 */
void lifecycle_start(void);

/* What an exec in this pid or of a child is to get. "" where there is none. */
struct lifecycle_env {
	const char *library;     /* path of libheapstory.so */
	const char *dir, *place, *registry;
	char options[200];       /* mode=…,depth=…,cap=…,generation=…,pid=…,folder=…,child=1 */
};

/*
 * The variables for an image that follows: same_pid in this process, else a child. False if it
 * is not to be traced. Strings that are pointed to live as long as the process.
 */
bool lifecycle_env(bool same_pid, struct lifecycle_env *ret);

/* True if the calling process is the traced one (and not a vfork child of it). */
bool lifecycle_is_own_process(void);

#endif
