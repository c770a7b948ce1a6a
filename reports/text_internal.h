/* SPDX-License-Identifier: MIT */
/*
 * text_internal.h - what the files of the text format share.
 */
#ifndef HEAPSTORY_REPORTS_TEXT_INTERNAL_H
#define HEAPSTORY_REPORTS_TEXT_INTERNAL_H

#include <jansson.h>
#include <stddef.h>

struct report;

/* s, or its ends with ".." between them, in at most width bytes (0: no limit). Caller frees. */
char *text_elided(const char *s, size_t width);

/* As text_chain(), with this name for the innermost function; NULL: its own. */
char *text_named_chain(const struct report *report, const char *first, const json_t *stack,
		       size_t width);

/* Lines on the target and the coverage, and an empty one. */
void text_header(struct report *report);

#endif
