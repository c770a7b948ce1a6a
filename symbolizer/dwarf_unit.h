/* SPDX-License-Identifier: MIT */
/*
 * dwarf_unit.h - what the header and the first DIE of a unit say, for everyone who reads in it,
 * and what a value of an attribute is.
 */
#ifndef HEAPSTORY_SYMBOLIZER_DWARF_UNIT_H
#define HEAPSTORY_SYMBOLIZER_DWARF_UNIT_H

#include <stdbool.h>
#include <stdint.h>

/* Sizes that decide how long a form is. */
struct dwarf_format {
	uint16_t version;               /* 2 to 5 */
	uint8_t address_size;           /* 4 or 8 */
	uint8_t offset_size;            /* 4 or 8 */
};

enum form_kind {
	FORM_OTHER,             /* strings, blocks: skipped, value 0 */
	FORM_ADDRESS,
	FORM_ADDRESS_INDEX,     /* in .debug_addr, from the unit's addr_base */
	FORM_CONSTANT,          /* flags too; signed ones are extended to 64 bits */
	FORM_SECTION_OFFSET,
	FORM_RANGES_INDEX,      /* DW_FORM_rnglistx */
	FORM_UNIT_REF,          /* from the unit's start */
	FORM_INFO_REF,          /* in .debug_info */
	FORM_ALT_REF,           /* in .debug_info of the file that .gnu_debugaltlink names */
};

struct form_value {
	enum form_kind kind;
	uint64_t value;
};

/* All offsets are from the start of their section; DWARF_NONE: there is none. */
#define DWARF_NONE UINT64_MAX

struct dwarf_unit {
	uint64_t offset, end;           /* of the unit, header included, in .debug_info */
	uint64_t die;                   /* of its first DIE */
	uint64_t abbrev;                /* of its table in .debug_abbrev */
	struct dwarf_format format;
	uint8_t type;                   /* DW_UT_*; DW_UT_compile before DWARF 5 */
	bool rust;                      /* DW_AT_language */
	bool cplusplus;                 /* the same */
	struct form_value low, high;    /* DW_AT_low_pc, DW_AT_high_pc; FORM_OTHER: none */
	uint64_t low_pc;                /* also the base of its ranges; DWARF_NONE */
	bool has_ranges;
	struct form_value ranges;       /* DW_AT_ranges */
	uint64_t line;                  /* DW_AT_stmt_list, in .debug_line */
	uint64_t addr_base;             /* in .debug_addr */
	uint64_t rnglists_base;         /* in .debug_rnglists */
	uint64_t str_offsets_base;      /* in .debug_str_offsets */
	uint64_t ranges_base;           /* what GNU's split DWARF 4 adds to DW_AT_ranges; or 0 */
	uint64_t dwo_id;
	const char *comp_dir, *name;    /* NULL: none. In the file's sections */
	const char *dwo_name;           /* the unit is a skeleton: the rest is in that file */
};

/* Sets what a value of DW_AT_language says. */
static inline void dwarf_unit_language(struct dwarf_unit *unit, uint64_t language)
{
	switch (language) {
	case 0x04: /* C++, then of 2003, 2011, 2014, 2017, 2020 */
	case 0x19:
	case 0x1a:
	case 0x21:
	case 0x2a:
	case 0x2b:
		unit->cplusplus = true;
		break;
	case 0x1c: /* Rust */
	case 0x9000: /* of rustc before 1.16 */
		unit->rust = true;
		break;
	}
}

#endif
