/* SPDX-License-Identifier: MIT */
/*
 * alloc.h - memory for the offline tool: out of memory is fatal, so nothing here returns NULL.
 *
 * Sizes that come from a file are checked against the size of that file before they get here.
 */
#ifndef HEAPSTORY_UTIL_ALLOC_H
#define HEAPSTORY_UTIL_ALLOC_H

#include <stddef.h>

/*
 * As malloc, calloc, realloc and strdup; free() takes it back. Prints one line and exits 2 if
 * refused.
 */
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t nr, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
/* nr * size is checked for overflow. */
void *xmallocarray(size_t nr, size_t size) __attribute__((malloc, returns_nonnull));
void *xreallocarray(void *p, size_t nr, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
/* At most len bytes of s, and a 0. */
char *xstrndup(const char *s, size_t len) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *format, ...)
	__attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

/*
 * Makes room for `want` elements of `elem_size` bytes in an array of *alloc; grows by half, so
 * that adding one at a time costs little. Returns the array; *alloc is its new room.
 */
void *xgrow(void *array, size_t *alloc, size_t want, size_t elem_size)
	__attribute__((returns_nonnull));

#endif
