/* SPDX-License-Identifier: MIT */
/*
 * environment.h - what the launcher said in the environment, and taking it out again.
 */
#ifndef HEAPSTORY_TRACER_ENVIRONMENT_H
#define HEAPSTORY_TRACER_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#define ENVIRONMENT_PATH 4096

/* What was asked for; "" where nothing was. */
struct environment {
	char store[ENVIRONMENT_PATH];
	char dir[ENVIRONMENT_PATH];     /* output folder; of a child: its own, in `root` */
	char root[ENVIRONMENT_PATH];
	char place[ENVIRONMENT_PATH];
	char registry[ENVIRONMENT_PATH];
	char runtime[ENVIRONMENT_PATH]; /* XDG_RUNTIME_DIR, the user's; it stays */
	char library[ENVIRONMENT_PATH]; /* our own path, as it stood in LD_PRELOAD */
	uint32_t mode, depth, generation;
	uint32_t pid;                   /* of the image before an exec; 0: it has to be found out */
	uint32_t folder;                /* N where `dir` is child.PID.N, see paths_settle_dir() */
	uint64_t cap;
	bool follow, child, supervised;
	bool python_malloc;             /* PYTHONMALLOC=malloc is set */
	bool preload;                   /* the user's own LD_PRELOAD was met */
};

/*
 * Reads our variables from the environment that the kernel gave the process, and puts the
 * environment back to what it was without us: HS_ENV_* gone, this library out of LD_PRELOAD. Of
 * two LD_PRELOAD the loader takes the last; the launcher leaves the user's own where it is and puts
 * one with the library behind everything, which goes as a whole. So what /proc/PID/environ shows is
 * what it would be without us, and zeros behind it.
 * Before libc's start its `environ` is not set yet; the strings on the stack are what it will be.
 */
void environment_take(struct environment *env);

#endif
