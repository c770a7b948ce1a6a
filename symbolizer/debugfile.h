/* SPDX-License-Identifier: MIT */
/*
 * debugfile.h - where the file of a module is, and the file with its debug information.
 *
 * A file is taken only if it is known to be the right one: by build id, else by device and inode
 * and that it has not changed since it was loaded, else by the checksum in .gnu_debuglink.
 */
#ifndef HEAPSTORY_SYMBOLIZER_DEBUGFILE_H
#define HEAPSTORY_SYMBOLIZER_DEBUGFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/symbolizer.h"

struct debuginfod;
struct elf_file;

/* Folders of debug files, in the order in which they are searched. */
struct debug_dirs {
	char **dirs;
	size_t nr, alloc;
	char **files; /* of the options; looked at before the folders */
	size_t nr_files;
	struct debuginfod *server; /* asked after all of them; NULL: not wanted, or not to be had */
};

/* --debug-dir, $HEAPSTORY_DEBUG_PATH, /usr/lib/debug. */
void debug_dirs_init(struct debug_dirs *dirs, const struct symbolizer_options *options);
void debug_dirs_release(struct debug_dirs *dirs);

/*
 * Opens the module's own file: under the root of its process, at its path, among the files of the
 * options, by build id under the debug folders. Returns false if there is none that fits. *ret_problem is then one line that
 * says why, and on success NULL or one line that says what was assumed; the caller frees it.
 */
bool module_file_open(const struct debug_dirs *dirs, const struct symbolizer_module *module,
		      struct elf_file *ret, char **ret_problem);

/*
 * Opens the file with the symbols that were stripped from the module: by build id, then by the
 * .gnu_debuglink of its own file (NULL: it was not found). False if there is none; *ret_why is then
 * one line on the first file that has the right name and is another's, for the caller to free, or
 * NULL: there is no such file, or one was opened. ret_why may be NULL.
 */
bool debug_file_open(const struct debug_dirs *dirs, const struct symbolizer_module *module,
		     struct elf_file *own, struct elf_file *ret, char **ret_why);

/*
 * Opens the file that holds what several debug files have in common, which dwz took out of
 * `debug`: .gnu_debugaltlink names it. It must have the build id that stands there. False if there
 * is none; *ret_why is then one line that says why, or NULL where `debug` names none. ret_why may be
 * NULL.
 */
bool alt_file_open(const struct debug_dirs *dirs, struct elf_file *debug, struct elf_file *ret,
		   char **ret_why);

/* A build id as people write it; returns buf. */
const char *build_id_text(const uint8_t *id, size_t len, char *buf, size_t size);

#endif
