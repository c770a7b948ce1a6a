/* SPDX-License-Identifier: MIT */
/*
 * symbolizer.h - from (module, address in the file) to functions, files and lines.
 *
 * Offline only. Knows nothing of snapshots: a module is a path, a build id and where its file may
 * be. A wrong name is worse than none: a file whose build id is not the wanted one is not used.
 */
#ifndef HEAPSTORY_SYMBOLIZER_H
#define HEAPSTORY_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_frame;
struct symbolizer;

struct symbolizer_options {
	const char *const *debug_dirs; /* --debug-dir, in order; then $HEAPSTORY_DEBUG_PATH, /usr/lib/debug */
	size_t nr_debug_dirs;
	const char *const *files;      /* that modules may be in, whatever their names */
	size_t nr_files;
	bool debuginfod;               /* ask the servers in $DEBUGINFOD_URLS for files, too */
};

struct symbolizer_module {
	const char *path;              /* as the program saw it */
	const uint8_t *build_id;
	size_t build_id_len;           /* 0: none known */
	uint64_t dev, inode;           /* of the file when it was loaded; 0: unknown */
	uint64_t loaded_ns;            /* not later than 10 ms after it, CLOCK_REALTIME; 0: unknown */
	uint32_t pid;                  /* of the living process it is mapped in, for /proc/PID/root; 0: none */
	uint64_t mapped;               /* an address there where it is mapped; 0: unknown */
};

/* Why options->debuginfod would be of no use, as one line for free(); NULL: it would. */
char *symbolizer_debuginfod_problem(void);

/* options are copied. Never fails; see symbolizer_debuginfod_problem() for what may be missing. */
struct symbolizer *symbolizer_new(const struct symbolizer_options *options);
void symbolizer_free(struct symbolizer *symbolizer);

/*
 * Makes a module known (again: the same id for the same path and build id). Returns an id for
 * symbolizer_lookup(). The file is opened at the first look-up only.
 */
uint32_t symbolizer_add(struct symbolizer *symbolizer, const struct symbolizer_module *module);

/*
 * Frames at an address of the module's file (address in the program less the load bias; the
 * caller has subtracted 1 from return addresses), innermost first; returns how many (0: unknown)
 * and sets *ret_frames, valid until the next look-up; the strings live as long as the symbolizer.
 * Results are kept, so asking again is cheap.
 */
size_t symbolizer_lookup(struct symbolizer *symbolizer, uint32_t module, uint64_t address,
			 const struct name_frame **ret_frames);

/*
 * The class (its full demangled name) whose objects begin with a pointer to this address of the
 * module's file; NULL: none. Lives as long as the symbolizer; results are kept.
 */
const char *symbolizer_class(struct symbolizer *symbolizer, uint32_t module, uint64_t address);

/*
 * Whether a module's path leads to no file or to another one than was loaded, for us and later:
 * it was deleted or replaced, is relative to some folder, or the process has a root of its own. Of a
 * living process the file can still be had.
 */
bool symbolizer_file_lost(const struct symbolizer_module *module);

/* One line on what is missing of a module, and why ("no names of functions: no file …"), or NULL. */
const char *symbolizer_problem(const struct symbolizer *symbolizer, uint32_t module);

/*
 * Demangles C++, Rust legacy and v0 names and those of Fortran's modules; a copy of the name where it
 * is none of these.
 */
char *symbolizer_demangle(const char *name);

enum elf_trace {
	ELF_TRACE_OK,
	ELF_TRACE_STATIC,        /* statically linked */
	ELF_TRACE_SETID,         /* set-user-id, set-group-id or file capabilities, and not ours */
	ELF_TRACE_MUSL,          /* another C library's loader */
	ELF_TRACE_ARCH,          /* other machine or word size */
	ELF_TRACE_SANITIZER,     /* built with a sanitizer that replaces malloc itself */
	ELF_TRACE_UNREADABLE,    /* cannot be opened, or is no program */
};

/*
 * Whether the tracer can be preloaded into the program at path; follows #! lines to the
 * interpreter (then *ret_detail names it). detail: one clear line for people, at least 512 bytes.
 */
enum elf_trace elf_traceable(const char *path, char *ret_detail, size_t detail_size);

#endif
