/* SPDX-License-Identifier: MIT */
/*
 * strings.h - strings that are kept once each: paths and names repeat in almost every frame.
 */
#ifndef HEAPSTORY_SYMBOLIZER_STRINGS_H
#define HEAPSTORY_SYMBOLIZER_STRINGS_H

struct kept_string;

/* All zero is an empty one. */
struct strings {
	struct kept_string *all;
};

/* The string that equals s, which lives as long as strings; NULL for NULL. Frees s. */
const char *strings_take(struct strings *strings, char *s);
void strings_release(struct strings *strings);

#endif
