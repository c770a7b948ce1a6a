/* SPDX-License-Identifier: MIT */
/*
 * funcname.h - the names of functions that DWARF describes, each made once.
 */
#ifndef HEAPSTORY_SYMBOLIZER_FUNCNAME_H
#define HEAPSTORY_SYMBOLIZER_FUNCNAME_H

struct debug_frame;
struct debuginfo;
struct function_name;
struct strings;

/* Those of one module. All zero is an empty one. */
struct function_names {
	struct function_name *all;
};

/* Strings are kept by a struct strings. */
struct function_spellings {
	const char *linked;     /* from the name that the linker knows; NULL: DWARF has none */
	const char *raw;        /* that name, else the compiler's, where ours is another; or NULL */
	const char *scoped;     /* the name in its scopes; NULL: not made, or there is none */
};

/* Names of a frame's function. scoped is made for Rust, and where there is no other. */
struct function_spellings function_names_find(struct function_names *names, struct debuginfo *info,
					      const struct debug_frame *frame,
					      struct strings *strings);
void function_names_release(struct function_names *names);

#endif
