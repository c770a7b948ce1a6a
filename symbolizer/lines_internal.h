/* SPDX-License-Identifier: MIT */
/*
 * lines_internal.h - between the header of a line table and its program.
 */
#ifndef HEAPSTORY_SYMBOLIZER_LINES_INTERNAL_H
#define HEAPSTORY_SYMBOLIZER_LINES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/dwarf_cursor.h"
#include "symbolizer/dwarf_unit.h"

struct line_source;
struct line_table;

/* What the program's opcodes mean. */
struct line_header {
	struct dwarf_format format;
	uint8_t min_instruction;
	uint8_t max_operations;         /* in one VLIW instruction; at least 1 */
	int8_t line_base;
	uint8_t line_range;             /* never 0 */
	uint8_t opcode_base;            /* never 0 */
	const uint8_t *opcode_lengths;  /* of opcodes 1 to opcode_base - 1 */
};

/*
 * Reads the header at offset, with the names of folders and files into table. On success program
 * stands on the first opcode and ends with the table.
 */
bool line_header_read(struct line_header *header, struct line_table *table,
		      const struct line_source *source, uint64_t offset,
		      struct dwarf_cursor *ret_program);

/* Adds a file as DW_LNE_define_file and headers before DWARF 5 have it: name, folder, two more. */
void line_header_file(struct line_table *table, struct dwarf_cursor *c, const char *name);

#endif
