/* SPDX-License-Identifier: MIT */
/*
 * lines.h - the line table of a unit: from an address to file, line and column.
 *
 * DWARF 2 to 5, decoded by our own reader because libdwarf's has two faults that cannot be told
 * from right answers: it starts the file register of DWARF 5 tables at 0 (the standard says 1),
 * and it takes a row with epilogue_begin set for the end of a sequence.
 */
#ifndef HEAPSTORY_SYMBOLIZER_LINES_H
#define HEAPSTORY_SYMBOLIZER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/section.h"

struct time_limit;

/* What its decoding needs. The sections outlive the table. */
struct line_source {
	struct bytes line, str, line_str;
	const char *comp_dir;           /* of the unit; NULL: none */
	uint8_t address_size;           /* of the unit: tables before DWARF 5 do not say */
	size_t max_bytes;               /* of memory for rows; what is beyond it is not read */
};

struct line_row {
	uint32_t address;               /* from the sequence's start */
	uint32_t file, line, column;
};

/* A run of rows with ascending addresses. Sequences may overlap: functions folded into one. */
struct line_sequence {
	uint64_t start, end;
	uint64_t lowest;                /* start of it and of all that follow */
	size_t first, nr;               /* in rows[] */
};

struct line_file {
	const char *name;
	uint64_t dir;
};

struct line_table {
	uint16_t version;
	const char *comp_dir;
	const char **dirs;
	size_t nr_dirs, alloc_dirs;
	struct line_file *files;        /* from 0 in DWARF 5, before it number 1 is files[0] */
	size_t nr_files, alloc_files;
	struct line_row *rows;
	size_t nr_rows, alloc_rows;
	struct line_sequence *sequences; /* by end */
	size_t nr_sequences, alloc_sequences;
};

struct line {
	uint32_t file, line, column;
};

/*
 * Decodes the table at offset. What was read before a damaged place is kept; a table that cannot
 * be read at all is empty.
 */
void line_table_init(struct line_table *table, const struct line_source *source, uint64_t offset,
		     struct time_limit *limit);
void line_table_release(struct line_table *table);

/* Bytes of memory that it takes. */
size_t line_table_size(const struct line_table *table);

/* The row that has the address; false where there is none. */
bool line_table_find(const struct line_table *table, uint64_t address, struct line *ret);

/* Path of a file number, made absolute by the unit's folder; NULL: unknown. Caller frees. */
char *line_table_path(const struct line_table *table, uint64_t file);

#endif
