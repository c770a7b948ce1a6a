/* SPDX-License-Identifier: MIT */
/*
 * class_pattern.h - whether a tight name (class_text.h) has a form, and what stands in it.
 */
#ifndef HEAPSTORY_ANALYSIS_CLASS_PATTERN_H
#define HEAPSTORY_ANALYSIS_CLASS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#define CLASS_NR_CAPTURES 4u

/* $1 is captures[1], each a piece of the text that was matched. */
struct class_captures {
	const char *start[CLASS_NR_CAPTURES];
	size_t len[CLASS_NR_CAPTURES];
};

/*
 * Whether a tight text as a whole has the form of the pattern: itself, but that
 *
 *      $1..$3  is one argument: up to a comma, semicolon ("[u8;16]") or bracket that closes; the
 *              same each time
 *      ,*      is any number of further arguments, none included
 *      *       is anything in which brackets match; right behind $1 it is a star
 */
bool class_match(const char *pattern, const char *text, struct class_captures *ret);

/* The text with $1..$3 replaced by what was captured. Caller frees. */
char *class_expand(const char *text, const struct class_captures *captures);

#endif
