/* SPDX-License-Identifier: MIT */
/*
 * dwarf.h - what libdwarf is used for: the units of a file and what their first DIEs say.
 *
 * It sees a file only through the sections that it is given (section.h), and of these only those
 * that it reads well: its readers of ranges, locations and lines are kept away from the file.
 */
#ifndef HEAPSTORY_SYMBOLIZER_DWARF_H
#define HEAPSTORY_SYMBOLIZER_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/dwarf_unit.h"

struct dwarf_sections;

/* A file as libdwarf has it open. */
struct dwarf_file;

/*
 * tied: where strings and addresses stand that the file refers to but has not (NULL: nowhere):
 * for an executable that of .gnu_debugaltlink, for a .dwo the executable's. Both outlive the
 * result. NULL: there is no DWARF, or it cannot be read at all.
 */
struct dwarf_file *dwarf_file_open(struct dwarf_sections *sections, struct dwarf_file *tied);
void dwarf_file_close(struct dwarf_file *file);

/*
 * All units that have code or names, by offset; those behind a damaged header are missing.
 * Returns how many; the caller frees *ret. Strings in them live as long as the file's sections.
 */
size_t dwarf_file_units(struct dwarf_file *file, struct dwarf_unit **ret);

#endif
