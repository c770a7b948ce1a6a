/* SPDX-License-Identifier: MIT */
/*
 * create.h - making the file of a new store. Used by the launcher and by the tracer itself.
 *
 * Runs in either world: no malloc, no stdio, system calls through tracer/sys.h.
 */
#ifndef HEAPSTORY_STORE_CREATE_H
#define HEAPSTORY_STORE_CREATE_H

#include <stdint.h>

#define STORE_DEFAULT_CAP (UINT64_C(64) << 30) /* bytes; the file is sparse */
#define STORE_DEFAULT_DEPTH 128u

struct store_options {
	uint64_t cap;        /* bytes; 0: default */
	uint32_t depth;      /* frames; 0: default */
	uint32_t mode;       /* enum hs_mode to start in */
	uint32_t flags;      /* enum hs_store_flags: HS_STORE_FOLLOW, HS_STORE_SUPERVISED, ... */
	uint32_t generation;
	const char *dir;     /* output folder, absolute; NULL: none. At most 4095 bytes */
};

/*
 * Makes a store in state HS_STATE_NEW at path, mode 0600; never follows a link or takes an
 * existing file. A soft RLIMIT_FSIZE below the cap is raised for the moment, where the hard
 * limit allows; else, and where the file system does, the cap is made smaller, down to 1 MiB.
 * Returns 0 or -errno; nothing is left behind on failure.
 */
long store_create(const char *path, const struct store_options *options);

#endif
