/* SPDX-License-Identifier: MIT */
/*
 * demangle.h - the spelling of names, beside symbolizer_demangle().
 */
#ifndef HEAPSTORY_SYMBOLIZER_DEMANGLE_H
#define HEAPSTORY_SYMBOLIZER_DEMANGLE_H

/*
 * Takes the standard library's inline namespaces out of a C++ name, and writes std::string as
 * people do. In place.
 */
void name_tidy(char *name);

#endif
