/* SPDX-License-Identifier: MIT */
/*
 * alloc.c - memory that is there or ends the program; see alloc.h.
 */
#include "util/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *p, size_t size)
{
	if (p)
		return p;
	fprintf(stderr, "heapstory: out of memory (%zu bytes)\n", size);
	exit(2);
}

void *xmalloc(size_t size)
{
	return or_die(malloc(size ? size : 1), size);
}

void *xcalloc(size_t nr, size_t size)
{
	return or_die(calloc(nr ? nr : 1, size ? size : 1), nr);
}

void *xrealloc(void *p, size_t size)
{
	return or_die(realloc(p, size ? size : 1), size);
}

void *xmallocarray(size_t nr, size_t size)
{
	return xreallocarray(NULL, nr, size);
}

void *xreallocarray(void *p, size_t nr, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, size, &bytes))
		or_die(NULL, SIZE_MAX);
	return xrealloc(p, bytes);
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xstrndup(const char *s, size_t len)
{
	size_t n = strnlen(s, len);
	char *copy = xmalloc(n + 1);

	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	char *s = NULL;

	va_start(args, format);
	if (vasprintf(&s, format, args) < 0)
		s = NULL;
	va_end(args);
	return or_die(s, 0);
}

void *xgrow(void *array, size_t *alloc, size_t want, size_t elem_size)
{
	size_t room = *alloc;

	if (want <= room && array)
		return array;
	room = room + room / 2 > want ? room + room / 2 : want;
	if (room < 16)
		room = 16;
	array = xreallocarray(array, room, elem_size);
	*alloc = room;
	return array;
}
