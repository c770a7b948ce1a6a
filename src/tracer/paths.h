/* SPDX-License-Identifier: MIT */
/*
 * paths.h - names of files at the tracer's start, without stdio.
 */
#ifndef HEAPSTORY_TRACER_PATHS_H
#define HEAPSTORY_TRACER_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/environment.h"

/* A text that is being put together in a buffer; len counts on where it does not fit. */
struct path {
	size_t len, size;
	char *text; /* always ends in 0 */
};

void path_start(struct path *path, char *buf, size_t size, const char *text);
void path_add(struct path *path, const char *text);
void path_add_number(struct path *path, uint64_t number);
static inline bool path_fits(const struct path *path)
{
	return path->len < path->size;
}

/*
 * The last number in a link of /proc: of "/proc/self" or "/proc/thread-self", by which id the ones
 * who mounted that /proc know this process or thread. In a pid namespace getpid() gives another
 * one, which says nothing to readers outside. 0: unknown.
 */
uint32_t paths_proc_id(const char *link);

/*
 * Decides on the output folder of a store that the tracer makes itself: env->dir, or, for a
 * followed child and where another process has env->dir already, its folder child.PID, which is
 * made; child.PID.N, the first that is free, where the pid has come before. Sets env->dir (env->root
 * stays what was given), env->child and env->folder (N, else 0). 0 or -errno.
 */
long paths_settle_dir(struct environment *env, uint32_t pid);

/*
 * Makes env->dir/store.live point to env->store. What store.live was before, the store of the
 * image before an exec, is renamed to store.N, N its generation. 0 or -errno.
 */
long paths_link_store(const struct environment *env);

#endif
