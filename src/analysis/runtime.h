/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - which frames are not the program's own: allocators and language runtimes, by the
 * name of the module or of the function.
 */
#ifndef HEAPSTORY_ANALYSIS_RUNTIME_H
#define HEAPSTORY_ANALYSIS_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

/* Whether all of a module is allocator, C library, loader or language runtime; by its file name. */
bool runtime_module(const char *path);

/* Whether a function is such, wherever it is linked into. function is its full demangled name. */
bool runtime_function(const char *function);

/*
 * Whether a function of the program is a well-known wrapper around an allocator: xmalloc, zmalloc.
 * As a site it would say nothing, since all blocks have it.
 */
bool runtime_wrapper(const char *function);

/*
 * Makes functions wrappers whose short name (function_short()) fits a glob, from then on, for names
 * that are looked up later. The glob is borrowed for good.
 */
void runtime_add_wrapper(const char *glob);

/*
 * Whether a source file is a header of the C library or a part of a language's standard library:
 * what is inlined from there is not the program's own either.
 */
bool runtime_file(const char *path);

/* Whether code made at run time is the runtime's own; by the name in its perf map file. */
bool runtime_jit(const char *name);

#endif
