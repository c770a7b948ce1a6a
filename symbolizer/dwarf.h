/* SPDX-License-Identifier: MIT */
/*
 * dwarf.h - what libdwarf is used for: the units of a file, and the names of functions.
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

/* A DIE of a file. */
struct dwarf_place {
	struct dwarf_file *file;        /* NULL: none */
	uint64_t die;                   /* in its .debug_info */
};

/* Names of a function. Strings live as long as the sections of their file. */
struct dwarf_names {
	const char *linkage;            /* NULL: it has none */
	const char *name;               /* without scopes; NULL: it has none */
	struct dwarf_place declared;    /* the DIE whose parents are its scopes */
};

/*
 * The names of the function at a DIE, by way of abstract_origin and specification. False where
 * there is no such DIE.
 */
bool dwarf_function_names(struct dwarf_place place, struct dwarf_names *ret);

/* DW_AT_name of a DIE, or NULL. */
const char *dwarf_die_name(struct dwarf_place place);

#endif
