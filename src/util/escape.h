/* SPDX-License-Identifier: MIT */
/*
 * escape.h - names that a program chose may hold control characters, which must not reach a terminal.
 */
#ifndef HEAPSTORY_UTIL_ESCAPE_H
#define HEAPSTORY_UTIL_ESCAPE_H

#include <stdbool.h>

/* Whether there are any: below a blank, DEL, and U+0080 to U+009F in UTF-8. */
bool has_controls(const char *text);

/* A copy in which each byte of these is "\x1b", and "\n" and "\t" are so. Caller frees. */
char *escape_controls(const char *text);

#endif
