/* SPDX-License-Identifier: MIT */
/*
 * class.h - what kind of thing a block is, from the frames that allocated it.
 *
 * A container or smart pointer is recognised by the functions between the allocator and the
 * program's own code; class_rules.c is the table of them. What no rule fits is "malloc in CALLER".
 */
#ifndef HEAPSTORY_ANALYSIS_CLASS_H
#define HEAPSTORY_ANALYSIS_CLASS_H

#include <stddef.h>

struct frame;

struct stack_class {
	char *name; /* NULL: no rule fits */
	char *element; /* what a buffer is full of, where its first word may be that one's; or NULL */
};

/* From the frames of a stack, innermost first. class_release() takes it back. */
void class_of_stack(const struct frame *const *frames, size_t nr, struct stack_class *ret);
void class_release(struct stack_class *c);

/* "malloc in CALLER", or "non-object" where site is NULL: there is no stack. Caller frees. */
char *class_of_site(const struct frame *site);
/* The same of what the program mapped: "mapping in CALLER". */
char *class_of_mapping(const struct frame *site);

/* The class of an object with a vtable, from the class that the vtable is of. Caller frees. */
char *class_of_vtable(const char *type);

#endif
