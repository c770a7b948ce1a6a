/* SPDX-License-Identifier: MIT */
/*
 * class_text.h - names of types and functions as text, and the shortest form that people know.
 *
 * All texts here are "tight": without blanks that mean nothing ("> >", ", "), without inline
 * namespaces ("std::__1::", "std::__cxx11::") and "[abi:cxx11]", and with the types of debug
 * information spelled as the demangler does: "long int" is "long", "const A" in front of an argument
 * "A const".
 */
#ifndef HEAPSTORY_ANALYSIS_CLASS_TEXT_H
#define HEAPSTORY_ANALYSIS_CLASS_TEXT_H

#include <stddef.h>

/* A copy, made tight. Caller frees. */
char *class_tight(const char *text);

/*
 * What is left of a function's name without its return type, its parameters and what follows them:
 * "void a::B<T>::f<U>(int) const" is "a::B<T>::f<U>". Rust's "<a::B<T>>::f" is "a::B<T>::f", its
 * "<T as a::C>::f" is "T::f". Tight; caller frees.
 */
char *class_function(const char *function);

/*
 * A tight type as people write it: without arguments that are defaults (allocators, hashes,
 * comparisons), numbers without theirs, with std::string for basic_string<char>, Rust's own types
 * without their modules, and a blank behind each comma. Caller frees.
 */
char *class_type(const char *tight);

#endif
