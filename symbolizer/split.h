/* SPDX-License-Identifier: MIT */
/*
 * split.h - where the rest of a skeleton unit is: its .dwo file.
 */
#ifndef HEAPSTORY_SYMBOLIZER_SPLIT_H
#define HEAPSTORY_SYMBOLIZER_SPLIT_H

#include <stdbool.h>

struct dwarf_unit;
struct elf_file;

/*
 * Opens a file that the skeleton's name may mean: as it stands, in the unit's folder, beside the
 * module. Whether it is the right one its unit's dwo_id tells. False: there is none.
 */
bool split_file_open(const struct dwarf_unit *skeleton, const char *module, struct elf_file *ret);

#endif
