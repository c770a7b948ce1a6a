/* SPDX-License-Identifier: MIT */
/*
 * preloadable.h - whether a program can have our library preloaded.
 */
#ifndef HEAPSTORY_TRACER_PRELOADABLE_H
#define HEAPSTORY_TRACER_PRELOADABLE_H

#include <stdbool.h>

/*
 * True if the program at path (looked for in PATH if `search` and it has no slash) is dynamically
 * linked for our machine with the loader of our C library. A script is judged by its
 * interpreter. No malloc; opens and reads the file.
 */
bool preloadable(const char *path, bool search);

#endif
