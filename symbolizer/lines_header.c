/* SPDX-License-Identifier: MIT */
/*
 * lines_header.c - the header of a line table: what opcodes mean, and the names of files.
 *
 * Offline only. DWARF 5, section 6.2.4; DWARF 4, section 6.2.4.
 */
#include "symbolizer/lines_internal.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/dwarf_names.h"
#include "symbolizer/form.h"
#include "symbolizer/lines.h"
#include "util/alloc.h"
#include "util/buffer.h"

static void add_dir(struct line_table *table, const char *dir)
{
	table->dirs = xgrow(table->dirs, &table->alloc_dirs, table->nr_dirs + 1,
			    sizeof(*table->dirs));
	table->dirs[table->nr_dirs++] = dir;
}

static void add_file(struct line_table *table, const char *name, uint64_t dir)
{
	table->files = xgrow(table->files, &table->alloc_files, table->nr_files + 1,
			     sizeof(*table->files));
	table->files[table->nr_files++] = (struct line_file){ name, dir };
}

void line_header_file(struct line_table *table, struct dwarf_cursor *c, const char *name)
{
	uint64_t dir = dwarf_uleb(c);

	dwarf_skip_leb(c); /* time */
	dwarf_skip_leb(c); /* size */
	if (!c->bad)
		add_file(table, name, dir);
}

/* Before DWARF 5: strings up to an empty one, folders first. */
static void read_old_names(struct line_table *table, struct dwarf_cursor *c)
{
	const char *name;

	while ((name = dwarf_string(c)) && *name)
		add_dir(table, name);
	while ((name = dwarf_string(c)) && *name)
		line_header_file(table, c, name);
}

struct entry_format {
	uint64_t content, form;
};

/*
 * DWARF 5: a description of the entries, then the entries; once for folders, once for files. An
 * entry takes at least one byte here, or a short table could claim any number of them.
 */
static void read_entries(struct line_table *table, const struct line_header *header,
			 const struct line_source *source, struct dwarf_cursor *c, bool files)
{
	struct entry_format formats[UINT8_MAX];
	size_t nr_formats = dwarf_u8(c), i;
	uint64_t count;

	for (i = 0; i < nr_formats; i++) {
		formats[i].content = dwarf_uleb(c);
		formats[i].form = dwarf_uleb(c);
	}
	for (count = dwarf_uleb(c); count && !c->bad; count--) {
		const uint8_t *start = c->at;
		const char *name = NULL;
		uint64_t dir = 0;

		for (i = 0; i < nr_formats; i++) {
			if (formats[i].content == DW_LNCT_path)
				name = form_read_string(c, formats[i].form, header->format,
							source->str, source->line_str);
			else if (formats[i].content == DW_LNCT_directory_index)
				dir = form_read(c, formats[i].form, 0, header->format).value;
			else
				form_read(c, formats[i].form, 0, header->format);
		}
		if (c->at == start)
			dwarf_fail(c);
		if (c->bad)
			return;
		if (files)
			add_file(table, name, dir);
		else
			add_dir(table, name);
	}
}

/* The fields between the lengths and the names. */
static void read_fields(struct line_header *header, struct dwarf_cursor *c)
{
	header->min_instruction = dwarf_u8(c);
	header->max_operations = header->format.version >= 4 ? dwarf_u8(c) : 1;
	if (!header->max_operations)
		header->max_operations = 1;
	dwarf_u8(c); /* default_is_stmt */
	header->line_base = (int8_t)dwarf_u8(c);
	header->line_range = dwarf_u8(c);
	header->opcode_base = dwarf_u8(c);
	header->opcode_lengths = c->at;
	if (!header->line_range || !header->opcode_base)
		dwarf_fail(c);
	else
		dwarf_skip(c, header->opcode_base - 1u);
}

bool line_header_read(struct line_header *header, struct line_table *table,
		      const struct line_source *source, uint64_t offset,
		      struct dwarf_cursor *ret_program)
{
	struct dwarf_cursor c = dwarf_cursor_at(source->line, offset), names;
	uint64_t header_len;

	memset(header, 0, sizeof(*header));
	dwarf_initial_length(&c, &header->format.offset_size);
	header->format.version = dwarf_u16(&c);
	header->format.address_size = source->address_size;
	if (header->format.version >= 5) {
		header->format.address_size = dwarf_u8(&c);
		dwarf_u8(&c); /* segment selectors: of size 0 on every machine we know */
	}
	header_len = dwarf_fixed(&c, header->format.offset_size);
	if (c.bad || header->format.version < 2 || header->format.version > 5 ||
	    header_len > dwarf_left(&c))
		return false;
	names = c;
	names.end = c.at + header_len;
	dwarf_skip(&c, header_len);
	read_fields(header, &names);
	if (names.bad)
		return false;
	table->version = header->format.version;
	table->comp_dir = source->comp_dir;
	/* A damaged list of names costs only names. */
	if (table->version >= 5) {
		read_entries(table, header, source, &names, false);
		read_entries(table, header, source, &names, true);
	} else {
		read_old_names(table, &names);
	}
	*ret_program = c;
	return true;
}

static void append_part(struct buffer *path, const char *part)
{
	if (!part || !*part)
		return;
	if (*part == '/')
		path->len = 0;
	else if (path->len && path->data[path->len - 1] != '/')
		buffer_add_byte(path, '/');
	buffer_add_string(path, part);
}

char *line_table_path(const struct line_table *table, uint64_t number)
{
	struct buffer path = { 0 };
	const struct line_file *file;
	uint64_t dir;

	if (table->version < 5)
		number--;
	if (number >= table->nr_files || !table->files[number].name)
		return NULL;
	file = &table->files[number];
	dir = file->dir;
	/* Folder 0 is the unit's; before DWARF 5 it stands in no list. */
	if (table->version < 5 || dir || !table->nr_dirs)
		append_part(&path, table->comp_dir);
	if (table->version < 5)
		dir--;
	if (dir < table->nr_dirs)
		append_part(&path, table->dirs[dir]);
	append_part(&path, file->name);
	return buffer_detach(&path);
}
