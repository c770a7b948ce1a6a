/* SPDX-License-Identifier: MIT */
/*
 * class_text.h - names of types and functions as text: brackets that match, patterns, and the
 * shortest form that people know.
 *
 * All texts here are "tight": without blanks that mean nothing ("> >", ", "), without inline
 * namespaces ("std::__1::", "std::__cxx11::"), and with the types of debug information spelled as the
 * demangler does: "long int" is "long", "const A" in front of an argument "A const".
 */
#ifndef HEAPSTORY_ANALYSIS_CLASS_TEXT_H
#define HEAPSTORY_ANALYSIS_CLASS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A copy, made tight. Caller frees. */
char *class_tight(const char *text);

/*
 * What is left of a function's name without its return type, its parameters and what follows them:
 * "void a::B<T>::f<U>(int) const" is "a::B<T>::f<U>". Rust's "<a::B<T>>::f" is "a::B<T>::f", its
 * "<T as a::C>::f" is "T::f". Tight; caller frees.
 */
char *class_function(const char *function);

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

/*
 * A tight type as people write it: without arguments that are defaults (allocators, hashes,
 * comparisons), numbers without theirs, with std::string for basic_string<char>, Rust's own types without their modules,
 * and a blank behind each comma. Caller frees.
 */
char *class_type(const char *tight);

#endif
