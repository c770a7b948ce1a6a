/* SPDX-License-Identifier: MIT */
/*
 * fallback.h - steps out of frames that rows can't express, by libunwind.
 *
 * libunwind is loaded once, apart from the host's symbols, and used only through an address space
 * of our own accessors: it reads the stack within the bounds that are known, unwind data within
 * its module, and makes no system call but rt_sigprocmask. It runs on one of a few stacks of the
 * tracer's with signals blocked; a thread that finds all busy, or may not block, goes without.
 */
#ifndef HEAPSTORY_TRACER_FALLBACK_H
#define HEAPSTORY_TRACER_FALLBACK_H

#include <stdbool.h>

struct cursor;

/* Loads libunwind. From unwind_load() only; false: not to be had. */
bool fallback_start(void);

/*
 * Moves c to the frame of its caller: pc, sp, fp, slot and interrupted. False: the next frame
 * can't be found, c is as before.
 */
bool fallback_step(struct cursor *c);

#endif
