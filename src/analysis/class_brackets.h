/* SPDX-License-Identifier: MIT */
/*
 * class_brackets.h - words and brackets in names of types and functions.
 *
 * "operator<" and "->" have no brackets. Names come from files that may be anything: brackets need
 * not match.
 */
#ifndef HEAPSTORY_ANALYSIS_CLASS_BRACKETS_H
#define HEAPSTORY_ANALYSIS_CLASS_BRACKETS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether c may be in a name. */
bool name_is_word(char c);
/* Whether s begins with start. */
bool name_starts(const char *s, const char *start);
/* Whether word stands in front of p, which is in s. */
bool name_follows(const char *s, const char *p, const char *word);

/* 1 at a bracket that opens, -1 at one that closes, else 0. p is in the text. */
int bracket(const char *text, const char *p);

/* Where the group that opens at p is closed, or the end of the text. */
const char *group_end(const char *text, const char *p);

#endif
