/* SPDX-License-Identifier: MIT */
/*
 * section.h - the sections of an ELF file that hold DWARF, as plain bytes.
 *
 * Each is made at the first request: mapped where the file has it as it is, else inflated
 * (SHF_COMPRESSED with zlib or zstd as the ELF specification has it, and the older .zdebug_*),
 * into memory or, where it is large, into a file without a name. So private memory stays small
 * whatever the size of the debug file.
 */
#ifndef HEAPSTORY_SYMBOLIZER_SECTION_H
#define HEAPSTORY_SYMBOLIZER_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/mapping.h"

struct elf_file;
struct time_limit;

enum dwarf_section {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_LINE,
	DWARF_STR,
	DWARF_LINE_STR,
	DWARF_STR_OFFSETS,
	DWARF_ADDR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_CU_INDEX,         /* of a .dwp */
	DWARF_NR_SECTIONS
};

/* data is NULL where len is 0. */
struct bytes {
	const uint8_t *data;
	size_t len;
};

struct dwarf_bytes {
	bool made;              /* also if there is none */
	struct bytes bytes;
	struct mapping map;
	uint8_t *heap;
};

struct dwarf_sections {
	struct elf_file *elf;   /* borrowed */
	struct time_limit *limit; /* borrowed; of inflating */
	bool split;             /* the .dwo ones */
	struct dwarf_bytes all[DWARF_NR_SECTIONS];
};

/* elf stays open, and it and limit outlive sections. split: names end in .dwo. */
void dwarf_sections_init(struct dwarf_sections *sections, struct elf_file *elf,
			 struct time_limit *limit, bool split);
void dwarf_sections_release(struct dwarf_sections *sections);

/* The bytes of a section; none where it is missing or damaged. They live as long as sections. */
struct bytes dwarf_section(struct dwarf_sections *sections, enum dwarf_section nr);

/* Whether the file has it, without making its bytes. */
bool dwarf_has_section(const struct dwarf_sections *sections, enum dwarf_section nr);

/* ".debug_info", without .dwo. */
const char *dwarf_section_name(enum dwarf_section nr);

#endif
