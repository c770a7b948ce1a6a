/* SPDX-License-Identifier: MIT */
/*
 * function_path.h - what is left of a demangled name without its arguments, generics and return
 * type.
 */
#ifndef HEAPSTORY_ANALYSIS_FUNCTION_PATH_H
#define HEAPSTORY_ANALYSIS_FUNCTION_PATH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * "void a::B<T>::f<U>(int) const" is the path a, B, f; "<a::B as std::C>::f" is a, B, std, C, f.
 * A closure is the function that it is in. nr is at least 1.
 */
struct function_path {
	char *text; /* holds the parts, each with its 0 */
	char **part;
	size_t nr;
	bool qualified; /* it had a namespace or class, also if nr is 1 */
};

/* The function is copied. Caller: function_path_release(). */
void function_path_init(struct function_path *path, const char *function);
void function_path_release(struct function_path *path);

/* "a::B::f": the path of a function as one word for tables. Caller frees. */
char *function_short(const char *function);

#endif
