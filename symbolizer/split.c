/* SPDX-License-Identifier: MIT */
/*
 * split.c - where the rest of a skeleton unit is; see split.h.
 *
 * Offline only. Packages: DWARF 5, section 7.3.5.3; version 2 of the index is GNU's, for DWARF 4.
 */
#include "symbolizer/split.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/dwarf_cursor.h"
#include "symbolizer/dwarf_names.h"
#include "symbolizer/dwarf_unit.h"
#include "symbolizer/elf.h"
#include "symbolizer/section.h"
#include "util/alloc.h"

static bool open_in(const char *folder, size_t len, const char *name, struct elf_file *ret)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%.*s/%s", (int)len, folder, name) <
			(int)sizeof(path) &&
		elf_open(ret, path, NULL) == 0;
}

bool split_file_open(const struct dwarf_unit *skeleton, const char *module, struct elf_file *ret)
{
	const char *name = skeleton->dwo_name, *dir = skeleton->comp_dir;
	const char *base = strrchr(name, '/'), *slash = strrchr(module, '/');

	if (name[0] == '/' && elf_open(ret, name, NULL) == 0)
		return true;
	if (name[0] != '/' && dir && dir[0] == '/' && strlen(dir) < PATH_MAX &&
	    open_in(dir, strlen(dir), name, ret))
		return true;
	if (!slash || slash - module >= PATH_MAX)
		return false;
	return open_in(module, (size_t)(slash - module), name, ret) ||
		(base && open_in(module, (size_t)(slash - module), base + 1, ret));
}

static bool open_package(const char *path, struct elf_file *ret)
{
	char name[PATH_MAX];

	return path && snprintf(name, sizeof(name), "%s.dwp", path) < (int)sizeof(name) &&
		elf_open(ret, name, NULL) == 0;
}

bool package_file_open(const char *module, const char *debug, struct elf_file *ret)
{
	return open_package(module, ret) || open_package(debug, ret);
}

/* Columns of the index that are read, by their numbers in the file. */
enum column {
	COLUMN_INFO = 1,
	COLUMN_ABBREV = 3,
	COLUMN_STR_OFFSETS = 6,
	COLUMN_RNGLISTS = 8,
	NR_COLUMNS
};

/* The parts of the index; each has as many numbers as the header says. */
struct package_index {
	uint32_t version, nr_columns, nr_units, nr_slots;
	struct dwarf_cursor ids, rows, columns, offsets;
};

static bool read_index(struct bytes section, struct package_index *ret)
{
	struct dwarf_cursor c = dwarf_cursor_at(section, 0);
	uint64_t numbers;

	/* GNU's version is four bytes, DWARF's two and padding: the same, in this order of bytes */
	ret->version = dwarf_u32(&c);
	ret->nr_columns = dwarf_u32(&c);
	ret->nr_units = dwarf_u32(&c);
	ret->nr_slots = dwarf_u32(&c);
	if (c.bad || (ret->version != 2 && ret->version != 5))
		return false;
	ret->ids = c;
	dwarf_skip(&c, (uint64_t)ret->nr_slots * 8);
	ret->rows = c;
	dwarf_skip(&c, (uint64_t)ret->nr_slots * 4);
	ret->columns = c;
	dwarf_skip(&c, (uint64_t)ret->nr_columns * 4);
	ret->offsets = c;
	return !c.bad && !__builtin_mul_overflow((uint64_t)ret->nr_units, ret->nr_columns, &numbers) &&
		numbers <= dwarf_left(&c) / 4;
}

/* Offsets of row `row`, from 0, by column; DWARF_NONE where the index has no such column. */
static void read_row(const struct package_index *index, uint32_t row, uint64_t *ret)
{
	struct dwarf_cursor columns = index->columns, offsets = index->offsets;
	uint32_t i;

	for (i = 0; i < NR_COLUMNS; i++)
		ret[i] = DWARF_NONE;
	dwarf_skip(&offsets, (uint64_t)row * index->nr_columns * 4);
	for (i = 0; i < index->nr_columns; i++) {
		uint32_t column = dwarf_u32(&columns), offset = dwarf_u32(&offsets);

		/* 8 is another section in version 2 */
		if (column < NR_COLUMNS && (column != COLUMN_RNGLISTS || index->version == 5))
			ret[column] = offset;
	}
}

/* Reads the header of the unit at its place; false where there is none. */
static bool read_unit(struct bytes info, const uint64_t *offsets, struct dwarf_unit *ret)
{
	struct dwarf_cursor c = dwarf_cursor_at(info, offsets[COLUMN_INFO]);
	struct dwarf_format *f = &ret->format;
	uint64_t abbrev;

	memset(ret, 0, sizeof(*ret));
	ret->offset = offsets[COLUMN_INFO];
	ret->type = DW_UT_split_compile;
	dwarf_initial_length(&c, &f->offset_size);
	f->version = dwarf_u16(&c);
	if (f->version >= 5) {
		ret->type = dwarf_u8(&c);
		f->address_size = dwarf_u8(&c);
	}
	abbrev = dwarf_fixed(&c, f->offset_size);
	if (f->version < 5)
		f->address_size = dwarf_u8(&c);
	else
		dwarf_u64(&c); /* the id, which the index has too */
	if (c.bad || f->version < 4 || f->version > 5 ||
	    (f->address_size != 4 && f->address_size != 8) || ret->type != DW_UT_split_compile ||
	    offsets[COLUMN_ABBREV] == DWARF_NONE)
		return false;
	ret->end = (uint64_t)(c.end - info.data);
	ret->die = (uint64_t)(c.at - info.data);
	ret->abbrev = offsets[COLUMN_ABBREV] + abbrev;
	ret->line = ret->addr_base = ret->low_pc = DWARF_NONE;
	ret->rnglists_base = offsets[COLUMN_RNGLISTS];
	ret->str_offsets_base = offsets[COLUMN_STR_OFFSETS];
	/* Behind the headers that these parts have in DWARF 5. */
	if (f->version >= 5 && ret->rnglists_base != DWARF_NONE)
		ret->rnglists_base += f->offset_size == 8 ? 20 : 12;
	if (f->version >= 5 && ret->str_offsets_base != DWARF_NONE)
		ret->str_offsets_base += f->offset_size == 8 ? 16 : 8;
	return true;
}

static int by_offset(const void *a, const void *b)
{
	const struct dwarf_unit *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

size_t package_units(struct dwarf_sections *sections, struct dwarf_unit **ret)
{
	struct bytes info = dwarf_section(sections, DWARF_INFO);
	struct dwarf_unit *units = NULL;
	struct package_index index;
	size_t nr = 0, alloc = 0;
	uint32_t slot;

	*ret = NULL;
	if (!read_index(dwarf_section(sections, DWARF_CU_INDEX), &index))
		return 0;
	for (slot = 0; slot < index.nr_slots && nr < index.nr_units; slot++) {
		uint64_t id = dwarf_u64(&index.ids), offsets[NR_COLUMNS];
		uint32_t row = dwarf_u32(&index.rows);
		struct dwarf_unit unit;

		if (!row || row > index.nr_units)
			continue;
		read_row(&index, row - 1, offsets);
		if (offsets[COLUMN_INFO] == DWARF_NONE || !read_unit(info, offsets, &unit))
			continue;
		unit.dwo_id = id;
		units = xgrow(units, &alloc, nr + 1, sizeof(*units));
		units[nr++] = unit;
	}
	if (nr)
		qsort(units, nr, sizeof(*units), by_offset);
	*ret = units;
	return nr;
}
