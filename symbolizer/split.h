/* SPDX-License-Identifier: MIT */
/*
 * split.h - where the rest of a skeleton unit is: in its .dwo file, or in the module's .dwp.
 */
#ifndef HEAPSTORY_SYMBOLIZER_SPLIT_H
#define HEAPSTORY_SYMBOLIZER_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

struct dwarf_sections;
struct dwarf_unit;
struct elf_file;

/*
 * Opens a file that the skeleton's name may mean: as it stands, in the unit's folder, beside the
 * module. Whether it is the right one its unit's dwo_id tells. False: there is none.
 */
bool split_file_open(const struct dwarf_unit *skeleton, const char *module, struct elf_file *ret);

/* Opens the package of .dwo files that stands beside the module or its debug file. */
bool package_file_open(const char *module, const char *debug, struct elf_file *ret);

/*
 * The units of a package by its .debug_cu_index, each with what belongs to it in the other sections;
 * by offset. Returns how many; the caller frees *ret.
 */
size_t package_units(struct dwarf_sections *sections, struct dwarf_unit **ret);

#endif
