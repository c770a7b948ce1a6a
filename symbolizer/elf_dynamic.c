/* SPDX-License-Identifier: MIT */
/*
 * elf_dynamic.c - the dynamic segment: what is left of a file without section headers.
 *
 * Offline only. Addresses in it are turned into places in the file by the PT_LOADs; each read is
 * checked by elf_read().
 */
#include "symbolizer/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

#define DYNAMIC_MAX 4096u           /* entries that are looked at; real files have dozens */

static void take_entry(struct elf_dynamic *dynamic, const Elf64_Dyn *entry)
{
	switch (entry->d_tag) {
	case DT_SYMTAB:
		dynamic->symtab = entry->d_un.d_ptr;
		break;
	case DT_STRTAB:
		dynamic->strtab = entry->d_un.d_ptr;
		break;
	case DT_STRSZ:
		dynamic->strsz = entry->d_un.d_val;
		break;
	case DT_HASH:
		dynamic->hash = entry->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		dynamic->gnu_hash = entry->d_un.d_ptr;
		break;
	case DT_SONAME:
		dynamic->soname = entry->d_un.d_val;
		break;
	case DT_FLAGS_1:
		dynamic->pie = entry->d_un.d_val & DF_1_PIE;
		break;
	}
}

bool elf_dynamic(const struct elf_file *elf, struct elf_dynamic *ret)
{
	struct elf_dynamic dynamic = { 0 };
	const struct elf_segment *segment = NULL;
	uint64_t i, count;
	Elf64_Dyn entry;

	for (i = 0; i < elf->nr_segments && !segment; i++)
		if (elf->segments[i].type == PT_DYNAMIC)
			segment = &elf->segments[i];
	if (!segment)
		return false;
	count = segment->filesz / sizeof(entry);
	for (i = 0; i < count && i < DYNAMIC_MAX; i++) {
		if (segment->offset > elf->size ||
		    !elf_read(elf, segment->offset + i * sizeof(entry), &entry, sizeof(entry)))
			return false;
		if (entry.d_tag == DT_NULL)
			break;
		take_entry(&dynamic, &entry);
	}
	*ret = dynamic;
	return true;
}

/* Highest number in the buckets, and from there to the end of its chain. */
static uint64_t count_gnu_hash(const struct elf_file *elf, uint64_t offset, uint64_t len)
{
	uint32_t head[4], *buckets, last = 0, word;
	uint64_t at, chains;
	uint32_t i;

	if (len < sizeof(head) || !elf_read(elf, offset, head, sizeof(head)))
		return 0;
	/* head: buckets, first symbol in them, 8-byte words of the filter, its shift */
	at = sizeof(head) + (uint64_t)head[2] * 8;
	if (at > len || head[0] > (len - at) / 4)
		return 0;
	buckets = xmalloc((size_t)head[0] * 4 + 1);
	if (!elf_read(elf, offset + at, buckets, (size_t)head[0] * 4))
		head[0] = 0;
	for (i = 0; i < head[0]; i++)
		if (buckets[i] > last)
			last = buckets[i];
	free(buckets);
	if (last < head[1])
		return head[0] ? head[1] : 0;
	chains = at + (uint64_t)head[0] * 4;
	for (at = chains + (uint64_t)(last - head[1]) * 4; at + 4 <= len; at += 4, last++) {
		if (!elf_read(elf, offset + at, &word, sizeof(word)))
			return 0;
		if (word & 1)
			return (uint64_t)last + 1;
	}
	return 0;
}

uint64_t elf_dynamic_count(const struct elf_file *elf, const struct elf_dynamic *dynamic)
{
	uint64_t offset, len;
	uint32_t head[2];

	if (dynamic->hash && elf_offset_of(elf, dynamic->hash, &offset, &len) &&
	    len >= sizeof(head) && elf_read(elf, offset, head, sizeof(head)))
		return head[1];
	if (dynamic->gnu_hash && elf_offset_of(elf, dynamic->gnu_hash, &offset, &len))
		return count_gnu_hash(elf, offset, len);
	return 0;
}

/* The string at an index of the dynamic strings; false where it is not in the file. */
static bool read_string(const struct elf_file *elf, const struct elf_dynamic *dynamic,
			uint64_t index, char *ret, size_t size)
{
	uint64_t offset, len;

	if (!dynamic->strtab || !elf_offset_of(elf, dynamic->strtab, &offset, &len) ||
	    index >= len)
		return false;
	len -= index;
	if (len > size - 1)
		len = size - 1;
	if (!elf_read(elf, offset + index, ret, (size_t)len))
		return false;
	ret[len] = '\0';
	return true;
}

static bool any_needed(const struct elf_file *elf, const struct elf_dynamic *dynamic,
		       bool (*each)(const char *name, enum elf_name what))
{
	const struct elf_segment *segment = elf->segments;
	char name[256];
	Elf64_Dyn entry;
	uint64_t i;

	while (segment->type != PT_DYNAMIC) /* elf_dynamic() has found one */
		segment++;
	for (i = 0; i < segment->filesz / sizeof(entry) && i < DYNAMIC_MAX; i++) {
		if (!elf_read(elf, segment->offset + i * sizeof(entry), &entry, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_NEEDED &&
		    read_string(elf, dynamic, entry.d_un.d_val, name, sizeof(name)) &&
		    each(name, ELF_NAME_LIBRARY))
			return true;
	}
	return false;
}

static bool any_dynamic(const struct elf_file *elf,
			bool (*each)(const char *name, enum elf_name what))
{
	struct elf_dynamic dynamic;
	uint64_t offset, len, count, i;
	Elf64_Sym symbol;
	char name[256];

	if (!elf_dynamic(elf, &dynamic))
		return false;
	if (any_needed(elf, &dynamic, each))
		return true;
	if (!dynamic.symtab || !elf_offset_of(elf, dynamic.symtab, &offset, &len))
		return false;
	count = elf_dynamic_count(elf, &dynamic);
	for (i = 0; i < count && i < len / sizeof(symbol); i++) {
		if (!elf_read(elf, offset + i * sizeof(symbol), &symbol, sizeof(symbol)))
			return false;
		if (read_string(elf, &dynamic, symbol.st_name, name, sizeof(name)) &&
		    each(name, symbol.st_shndx == SHN_UNDEF ? ELF_NAME_WANTED : ELF_NAME_DEFINED))
			return true;
	}
	return false;
}

bool elf_names_any(struct elf_file *elf, bool (*each)(const char *name, enum elf_name what))
{
	struct elf_section *section = elf_section_of_type(elf, SHT_SYMTAB);
	const uint8_t *symbols, *names;
	size_t len, names_len, i;
	Elf64_Sym symbol;

	if (any_dynamic(elf, each))
		return true;
	if (!section || section->link >= elf->nr_sections)
		return false;
	symbols = elf_section_data(elf, section, &len);
	names = elf_section_data(elf, &elf->sections[section->link], &names_len);
	for (i = 0; symbols && names && i < len / sizeof(symbol); i++) {
		memcpy(&symbol, symbols + i * sizeof(symbol), sizeof(symbol));
		if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < names_len &&
		    each((const char *)names + symbol.st_name, ELF_NAME_DEFINED))
			return true;
	}
	return false;
}

bool elf_soname(const struct elf_file *elf, char *ret, size_t size)
{
	struct elf_dynamic dynamic;

	return elf_dynamic(elf, &dynamic) && dynamic.soname &&
	       read_string(elf, &dynamic, dynamic.soname, ret, size);
}
