/* SPDX-License-Identifier: MIT */
/*
 * nearest.h - the names that are most like one that is not there: for who mistyped it.
 */
#ifndef HEAPSTORY_ANALYSIS_NEAREST_H
#define HEAPSTORY_ANALYSIS_NEAREST_H

#include <stddef.h>

#define NEAREST_NR 3u

/* The nearest first, of equals in the order of the alphabet. All zero is none yet. */
struct nearest {
	char *names[NEAREST_NR]; /* NULL behind the last; owned */
	size_t distances[NEAREST_NR];
};

void nearest_release(struct nearest *nearest);

/* Puts a name among them if it is as near to the wanted one as they are; each text once. */
void nearest_add(struct nearest *nearest, const char *wanted, const char *name);

/* The nearest one if it is so near that it must have been meant, else NULL; lives as long as nearest. */
const char *nearest_meant(const struct nearest *nearest, const char *wanted);

/*
 * "the nearest zones are 'a', 'b'", "the nearest zone is 'a'"; what: "zone". NULL: none. Caller
 * frees.
 */
char *nearest_text(const struct nearest *nearest, const char *what);

#endif
