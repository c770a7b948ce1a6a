/* SPDX-License-Identifier: MIT */
/*
 * form.h - values of attributes in each form: read or skipped. DWARF 5, section 7.5.6.
 */
#ifndef HEAPSTORY_SYMBOLIZER_FORM_H
#define HEAPSTORY_SYMBOLIZER_FORM_H

#include <stdint.h>

#include "symbolizer/dwarf_cursor.h"
#include "symbolizer/dwarf_unit.h"

/* Bytes of a value; -1: differs, or an unknown form. */
int32_t form_size(uint64_t form, struct dwarf_format format);

/* Reads a value; an unknown form makes the cursor bad. implicit: that of the abbreviation. */
struct form_value form_read(struct dwarf_cursor *c, uint64_t form, int64_t implicit,
			    struct dwarf_format format);

/* The string of DW_FORM_string, strp, line_strp, as line tables have them; else NULL, skipped. */
const char *form_read_string(struct dwarf_cursor *c, uint64_t form, struct dwarf_format format,
			     struct bytes str, struct bytes line_str);

#endif
