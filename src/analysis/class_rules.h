/* SPDX-License-Identifier: MIT */
/*
 * class_rules.h - the table of what frames and types say of the class of a block; see class.h.
 */
#ifndef HEAPSTORY_ANALYSIS_CLASS_RULES_H
#define HEAPSTORY_ANALYSIS_CLASS_RULES_H

#include <stddef.h>

struct class_rule {
	const char *form; /* class_match() of a function, as class_function() has it, or of a type */
	const char *class; /* class_expand() of it */
	/*
	 * Only where the frames further in have already said that the class is this, which it makes
	 * more exact; "?" is any class that is provisional, "~" one that the very next frame further
	 * in has said, of the same container, as a function that only the container itself calls.
	 */
	const char *after;
	const char *element; /* what the block is full of, or holds; NULL: nothing that counts */
};

/* Of functions, from the innermost frame out; the first that fits a frame counts for it. */
extern const struct class_rule class_function_rules[];
extern const size_t class_nr_function_rules;

/* Of the type that an allocator or a box was asked for, or that a vtable is of. */
extern const struct class_rule class_type_rules[];
extern const size_t class_nr_type_rules;

#endif
