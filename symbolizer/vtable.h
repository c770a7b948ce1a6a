/* SPDX-License-Identifier: MIT */
/*
 * vtable.h - which class a vtable belongs to.
 *
 * An object of C++ with virtual functions begins with a pointer into the vtable of its class: 16
 * bytes in, or further where there are virtual bases; the word at 16 bytes before that address, how
 * far it is to the start of the whole object, is 0 then. The class is told by the symbol of the
 * vtable, and in a file without it by the type information to which the word before the address
 * points.
 */
#ifndef HEAPSTORY_SYMBOLIZER_VTABLE_H
#define HEAPSTORY_SYMBOLIZER_VTABLE_H

#include <stdint.h>

struct debug_dirs;
struct elf_file;
struct symbolizer_module;
struct vtables;

/*
 * From the file itself, which is taken over (it is empty then), and the one with what was stripped
 * from it; NULL: not there. Never NULL.
 */
struct vtables *vtables_new(struct elf_file *own, struct elf_file *debug);
/* The same of the files of a module, opened. Never NULL; where there is no file there are no vtables. */
struct vtables *vtables_open(const struct debug_dirs *dirs, const struct symbolizer_module *module);
void vtables_close(struct vtables *vtables);

/*
 * Name of the class whose objects begin with a pointer to this address of the file, for free();
 * NULL if there is none.
 */
char *vtables_find(struct vtables *vtables, uint64_t address);

#endif
