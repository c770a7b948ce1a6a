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
 * alt: sections of the file of .gnu_debugaltlink, which strings may be in; NULL: there is none. Both
 * outlive the result. NULL: there is no DWARF, or it cannot be read at all.
 *
 * libdwarf knows no second file: while it looks for a unit of a split one in the executable, damaged
 * headers there keep it in a loop that takes ever more memory (20210528).
 */
struct dwarf_file *dwarf_file_open(struct dwarf_sections *sections, struct dwarf_sections *alt);
void dwarf_file_close(struct dwarf_file *file);

/*
 * All units that have code or names, by offset; those behind a damaged header are missing.
 * Returns how many; the caller frees *ret. Strings in them live as long as the file's sections.
 */
size_t dwarf_file_units(struct dwarf_file *file, struct dwarf_unit **ret);

#endif
