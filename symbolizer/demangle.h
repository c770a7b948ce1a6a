/* SPDX-License-Identifier: MIT */
/*
 * demangle.h - the spelling of names, beside symbolizer_demangle().
 */
#ifndef HEAPSTORY_SYMBOLIZER_DEMANGLE_H
#define HEAPSTORY_SYMBOLIZER_DEMANGLE_H

#include <stdbool.h>

/*
 * Takes the standard library's inline namespaces out of a C++ name, and writes std::string as
 * people do. In place.
 */
void name_tidy(char *name);

/*
 * Whether it has a mangled name's form: C++, Rust, procedures of Fortran's modules. What C has as
 * such is a name of the library's own for what people call by another one (__GI_abort).
 */
bool name_is_mangled(const char *name);

#endif
