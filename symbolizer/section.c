/* SPDX-License-Identifier: MIT */
/*
 * section.c - the sections of an ELF file that hold DWARF, as plain bytes; see section.h.
 *
 * Offline only. A section that is cut short or inflates to less than it should is used as far as
 * it goes: its readers check every length anyway.
 */
#include "symbolizer/section.h"

#include <elf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/dwarf_cursor.h"
#include "symbolizer/dwarf_names.h"
#include "symbolizer/elf.h"
#include "symbolizer/inflate.h"
#include "symbolizer/timelimit.h"
#include "util/alloc.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

#define HEAP_MAX ((size_t)4 << 20)      /* a larger section is inflated into a file */
#define HEAP_TOTAL ((size_t)32 << 20)   /* all in memory; beyond it small ones go to files too */
#define INFLATED_MAX (UINT64_C(16) << 30) /* a section that claims more is damaged */

/* What inflated sections take of the memory now, of all files. */
static atomic_size_t heap_bytes;

static const char *const names[DWARF_NR_SECTIONS] = {
	[DWARF_INFO] = ".debug_info",
	[DWARF_ABBREV] = ".debug_abbrev",
	[DWARF_LINE] = ".debug_line",
	[DWARF_STR] = ".debug_str",
	[DWARF_LINE_STR] = ".debug_line_str",
	[DWARF_STR_OFFSETS] = ".debug_str_offsets",
	[DWARF_ADDR] = ".debug_addr",
	[DWARF_RANGES] = ".debug_ranges",
	[DWARF_RNGLISTS] = ".debug_rnglists",
	[DWARF_CU_INDEX] = ".debug_cu_index",
};

const char *dwarf_section_name(enum dwarf_section nr)
{
	return names[nr];
}

void dwarf_sections_init(struct dwarf_sections *sections, struct elf_file *elf,
			 struct time_limit *limit, bool split)
{
	memset(sections, 0, sizeof(*sections));
	sections->elf = elf;
	sections->limit = limit;
	sections->split = split;
}

static void section_bytes_release(struct dwarf_bytes *bytes)
{
	if (bytes->heap)
		atomic_fetch_sub(&heap_bytes, bytes->bytes.len);
	free(bytes->heap);
	mapping_close(&bytes->map);
	memset(bytes, 0, sizeof(*bytes));
}

void dwarf_sections_release(struct dwarf_sections *sections)
{
	size_t i;

	for (i = 0; i < DWARF_NR_SECTIONS; i++)
		section_bytes_release(&sections->all[i]);
}

/* The section as the file has it; map or ret->data in the memory that elf was read from. */
static bool stored_bytes(const struct elf_file *elf, const struct elf_section *section,
			 struct mapping *map, struct bytes *ret)
{
	uint64_t len = section->size;

	if (section->type == SHT_NOBITS || section->type == SHT_NULL ||
	    section->offset >= elf->size)
		return false;
	if (len > elf->size - section->offset)
		len = elf->size - section->offset;
	if (!len)
		return false;
	if (elf->memory) {
		*ret = (struct bytes){ elf->memory + section->offset, (size_t)len };
		return true;
	}
	if (elf->fd < 0 || !mapping_open(map, elf->fd, section->offset, (size_t)len))
		return false;
	*ret = (struct bytes){ map->data, map->len };
	return true;
}

/* Reads the header of a compressed section and takes it off `stored`; false: it is none. */
static bool compressed_header(const struct elf_section *section, struct bytes *stored,
			      enum inflate_method *ret_method, uint64_t *ret_size)
{
	Elf64_Chdr header;
	size_t i, skip;

	if (section->flags & SHF_COMPRESSED) {
		skip = sizeof(header);
		if (stored->len < skip)
			return false;
		memcpy(&header, stored->data, skip);
		if (header.ch_type != ELFCOMPRESS_ZLIB && header.ch_type != ELFCOMPRESS_ZSTD)
			return false;
		*ret_method = header.ch_type == ELFCOMPRESS_ZSTD ? INFLATE_ZSTD : INFLATE_ZLIB;
		*ret_size = header.ch_size;
	} else { /* .zdebug_*: "ZLIB" and the size, highest byte first */
		skip = 12;
		if (stored->len < skip || memcmp(stored->data, "ZLIB", 4))
			return false;
		*ret_method = INFLATE_ZLIB;
		*ret_size = 0;
		for (i = 4; i < 12; i++)
			*ret_size = *ret_size << 8 | stored->data[i];
	}
	stored->data += skip;
	stored->len -= skip;
	return *ret_size && *ret_size <= INFLATED_MAX;
}

static void inflate_section(struct dwarf_bytes *ret, enum inflate_method method, uint64_t size,
			    struct bytes stored, struct time_limit *limit)
{
	struct inflate_sink sink = { .fd = -1, .size = size };
	uint64_t got;

	if (size <= HEAP_MAX && atomic_load(&heap_bytes) + size <= HEAP_TOTAL) {
		sink.memory = ret->heap = xmalloc((size_t)size);
		got = inflate_bytes(method, stored.data, stored.len, &sink, limit);
		ret->bytes = (struct bytes){ got ? ret->heap : NULL, (size_t)got };
		atomic_fetch_add(&heap_bytes, (size_t)got);
		return;
	}
	sink.fd = mapping_temporary();
	if (sink.fd < 0)
		return;
	got = inflate_bytes(method, stored.data, stored.len, &sink, limit);
	if (got && mapping_open(&ret->map, sink.fd, 0, (size_t)got))
		ret->bytes = (struct bytes){ ret->map.data, ret->map.len };
	close(sink.fd);
}

static void section_bytes_make(struct dwarf_bytes *ret, const struct elf_file *elf,
			       const struct elf_section *section, struct time_limit *limit)
{
	bool compressed = section->flags & SHF_COMPRESSED ||
		!strncmp(section->name, ".zdebug_", strlen(".zdebug_"));
	struct mapping map = { 0 };
	struct bytes stored;
	enum inflate_method method;
	uint64_t size;

	memset(ret, 0, sizeof(*ret));
	ret->made = true;
	if (!stored_bytes(elf, section, &map, &stored))
		return;
	if (!compressed) {
		ret->map = map;
		ret->bytes = stored;
		return;
	}
	if (compressed_header(section, &stored, &method, &size))
		inflate_section(ret, method, size, stored, limit);
	mapping_close(&map);
}

/* ".debug_x", ".debug_x.dwo", ".zdebug_x": the first such section from *at on, or NULL. */
static const struct elf_section *next_section(const struct dwarf_sections *sections,
					      enum dwarf_section nr, size_t *at)
{
	const char *suffix = sections->split && nr != DWARF_CU_INDEX ? ".dwo" : "";
	char wanted[2][64];

	snprintf(wanted[0], sizeof(wanted[0]), "%s%s", names[nr], suffix);
	snprintf(wanted[1], sizeof(wanted[1]), ".z%s%s", names[nr] + 1, suffix);
	while (*at < sections->elf->nr_sections) {
		const struct elf_section *s = &sections->elf->sections[(*at)++];

		/* A stripped file may still name it, without contents. */
		if (s->type != SHT_NOBITS && s->size &&
		    (!strcmp(s->name, wanted[0]) || !strcmp(s->name, wanted[1])))
			return s;
	}
	return NULL;
}

bool dwarf_has_section(const struct dwarf_sections *sections, enum dwarf_section nr)
{
	size_t at = 0;

	return next_section(sections, nr, &at);
}

/*
 * Whether nothing but a type is here: gcc puts each type unit of a .dwo into a section of its own,
 * all named .debug_info.dwo, in front of the one that has the code.
 */
static bool is_type_unit(struct bytes info)
{
	struct dwarf_cursor c = dwarf_cursor_at(info, 0);
	uint8_t offset_size, type;

	dwarf_initial_length(&c, &offset_size);
	if (dwarf_u16(&c) < 5)
		return false;
	type = dwarf_u8(&c);
	return !c.bad && (type == DW_UT_type || type == DW_UT_split_type);
}

static void make_section(struct dwarf_sections *sections, enum dwarf_section nr)
{
	struct dwarf_bytes *bytes = &sections->all[nr];
	const struct elf_section *section;
	size_t at = 0;

	do {
		section = next_section(sections, nr, &at);
		if (section) {
			section_bytes_release(bytes);
			section_bytes_make(bytes, sections->elf, section, sections->limit);
		}
	} while (section && sections->split && nr == DWARF_INFO && is_type_unit(bytes->bytes));
}

struct bytes dwarf_section(struct dwarf_sections *sections, enum dwarf_section nr)
{
	struct dwarf_bytes *bytes = &sections->all[nr];

	if (!bytes->made) {
		time_limit_start(sections->limit);
		make_section(sections, nr);
		time_limit_stop(sections->limit);
		bytes->made = true;
	}
	return bytes->bytes;
}
