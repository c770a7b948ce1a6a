/* SPDX-License-Identifier: MIT */
/*
 * copy.h - reads pieces of a file by several threads at once. Internal to the reader: while it
 * copies a store the program is held up, and the processors that it ran on have nothing to do.
 */
#ifndef HEAPSTORY_STORE_COPY_H
#define HEAPSTORY_STORE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct copier;

/* One stretch of the file and where it goes. */
struct copy_piece {
	char *to;
	uint64_t off, len;
};

/*
 * With helpers where there are processors for them, else (also where no thread can be made) all
 * is read by the caller. fd is borrowed. They wait without using time; nothing is made later.
 */
struct copier *copier_new(int fd);
void copier_free(struct copier *c);

/*
 * Reads all pieces. 0; or -1: errno says why, 0 standing for "the file ends before". c may be NULL
 * only if nr is 0.
 */
int copier_run(struct copier *c, const struct copy_piece *pieces, size_t nr);

#endif
