/* SPDX-License-Identifier: MIT */
/*
 * elf.c - bounds-checked reading of ELF files that nobody vouches for.
 *
 * Offline only. Invariant: nothing is taken from the file but through elf_read(), which knows its
 * size, and no loop is longer than a table that fits into the file.
 */
#include "symbolizer/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/clock.h"
#include "util/error.h"

#define COPY_MAX (UINT64_C(4) << 30)  /* offsets of names have 32 bits */
#define NOTE_BYTES_MAX (64u << 10)  /* of one section or segment of notes; a build id comes early */
#define NOTE_PLACES_MAX 64u         /* sections or segments of notes that are looked into */

void elf_init(struct elf_file *elf)
{
	memset(elf, 0, sizeof(*elf));
	elf->fd = -1;
}

void elf_close(struct elf_file *elf)
{
	if (elf->fd >= 0)
		close(elf->fd);
	elf->fd = -1;
}

void elf_release(struct elf_file *elf)
{
	size_t i;

	for (i = 0; i < elf->nr_sections; i++)
		free(elf->sections[i].data);
	free(elf->sections);
	free(elf->segments);
	free(elf->names);
	free(elf->path);
	elf_close(elf);
	elf_init(elf);
}

bool elf_read(const struct elf_file *elf, uint64_t offset, void *buf, size_t len)
{
	uint8_t *to = buf;

	if (offset > elf->size || len > elf->size - offset)
		return false;
	if (elf->memory) {
		memcpy(to, elf->memory + offset, len);
		return true;
	}
	if (elf->fd < 0)
		return false;
	while (len) {
		ssize_t n = pread(elf->fd, to, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

/* A copy of len bytes at offset and a 0 byte after them; NULL where they are not there. */
static uint8_t *read_copy(const struct elf_file *elf, uint64_t offset, uint64_t len)
{
	uint8_t *copy;

	if (offset > elf->size || len > elf->size - offset || len > COPY_MAX)
		return NULL;
	copy = malloc((size_t)len + 1); /* a sparse file may be larger than the memory */
	if (!copy)
		return NULL;
	if (!elf_read(elf, offset, copy, (size_t)len)) {
		free(copy);
		return NULL;
	}
	copy[len] = 0;
	return copy;
}

static void read_segments(struct elf_file *elf, const Elf64_Ehdr *header, uint64_t count)
{
	Elf64_Phdr *table;
	uint64_t i;

	if (!count || header->e_phentsize != sizeof(*table) || count > elf->size / sizeof(*table))
		return;
	table = (Elf64_Phdr *)read_copy(elf, header->e_phoff, count * sizeof(*table));
	if (!table)
		return;
	elf->segments = xcalloc((size_t)count, sizeof(*elf->segments));
	elf->nr_segments = (size_t)count;
	for (i = 0; i < count; i++)
		elf->segments[i] = (struct elf_segment){
			.type = table[i].p_type,
			.flags = table[i].p_flags,
			.offset = table[i].p_offset,
			.vaddr = table[i].p_vaddr,
			.filesz = table[i].p_filesz,
			.memsz = table[i].p_memsz,
			.align = table[i].p_align,
		};
	free(table);
}

/* Names of the sections, from section nr names_nr; all "" where that one is damaged. */
static void name_sections(struct elf_file *elf, const Elf64_Shdr *table, uint64_t names_nr)
{
	uint64_t len = 0;
	size_t i;

	if (names_nr < elf->nr_sections && table[names_nr].sh_type == SHT_STRTAB) {
		len = table[names_nr].sh_size;
		elf->names = read_copy(elf, table[names_nr].sh_offset, len);
		if (!elf->names)
			len = 0;
	}
	for (i = 0; i < elf->nr_sections; i++)
		elf->sections[i].name =
			table[i].sh_name < len ? (const char *)elf->names + table[i].sh_name : "";
}

static void read_sections(struct elf_file *elf, const Elf64_Ehdr *header, uint64_t count,
			  uint64_t names_nr)
{
	Elf64_Shdr *table;
	uint64_t i;

	if (!count || header->e_shentsize != sizeof(*table) || count > elf->size / sizeof(*table))
		return;
	table = (Elf64_Shdr *)read_copy(elf, header->e_shoff, count * sizeof(*table));
	if (!table)
		return;
	elf->sections = xcalloc((size_t)count, sizeof(*elf->sections));
	elf->nr_sections = (size_t)count;
	for (i = 0; i < count; i++)
		elf->sections[i] = (struct elf_section){
			.type = table[i].sh_type,
			.link = table[i].sh_link,
			.info = table[i].sh_info,
			.flags = table[i].sh_flags,
			.addr = table[i].sh_addr,
			.offset = table[i].sh_offset,
			.size = table[i].sh_size,
			.align = table[i].sh_addralign,
			.entsize = table[i].sh_entsize,
		};
	name_sections(elf, table, names_nr);
	free(table);
}

/* Looks for the build id among notes of which each part is padded to align bytes. */
static bool find_build_id(struct elf_file *elf, const uint8_t *notes, size_t len, size_t align)
{
	size_t at = 0;

	while (len - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, desc, next;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		if (note.n_namesz > len - name)
			return false;
		desc = (name + note.n_namesz + align - 1) & ~(align - 1);
		if (desc > len || note.n_descsz > len - desc)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) && note.n_descsz &&
		    note.n_descsz <= ELF_BUILD_ID_MAX) {
			memcpy(elf->build_id, notes + desc, note.n_descsz);
			elf->build_id_len = note.n_descsz;
			return true;
		}
		next = (desc + note.n_descsz + align - 1) & ~(align - 1);
		if (next > len)
			return false;
		at = next;
	}
	return false;
}

static bool build_id_at(struct elf_file *elf, uint64_t offset, uint64_t len, uint64_t align)
{
	uint8_t *notes;
	bool found;

	if (len > NOTE_BYTES_MAX)
		len = NOTE_BYTES_MAX;
	notes = read_copy(elf, offset, len);
	if (!notes)
		return false;
	found = find_build_id(elf, notes, (size_t)len, align == 8 ? 8 : 4);
	free(notes);
	return found;
}

/*
 * Sections first: in a file that holds only debug information the segments still describe the
 * file that it was split from.
 */
static void read_build_id(struct elf_file *elf)
{
	unsigned int places = 0;
	size_t i;

	for (i = 0; i < elf->nr_sections && places < NOTE_PLACES_MAX; i++) {
		const struct elf_section *s = &elf->sections[i];

		if (s->type != SHT_NOTE || s->flags & SHF_COMPRESSED)
			continue;
		if (build_id_at(elf, s->offset, s->size, s->align))
			return;
		places++;
	}
	for (i = 0; i < elf->nr_segments && places < NOTE_PLACES_MAX; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (s->type != PT_NOTE)
			continue;
		if (build_id_at(elf, s->offset, s->filesz, s->align))
			return;
		places++;
	}
}

static int read_headers(struct elf_file *elf, const char *name, struct hs_error *err)
{
	uint64_t nr_segments, nr_sections, names_nr;
	Elf64_Ehdr header;
	Elf64_Shdr first;

	if (!elf_read(elf, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB) {
		elf_release(elf);
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is no 64-bit little-endian ELF file", name);
	}
	elf->type = header.e_type;
	elf->machine = header.e_machine;
	nr_segments = header.e_phnum;
	nr_sections = header.e_shnum;
	names_nr = header.e_shstrndx;
	/* Numbers that do not fit into the header stand in section 0. */
	if (header.e_shoff && header.e_shentsize == sizeof(first) &&
	    elf_read(elf, header.e_shoff, &first, sizeof(first))) {
		if (!nr_sections)
			nr_sections = first.sh_size;
		if (names_nr == SHN_XINDEX)
			names_nr = first.sh_link;
		if (nr_segments == PN_XNUM)
			nr_segments = first.sh_info;
	}
	read_segments(elf, &header, nr_segments);
	if (header.e_shoff)
		read_sections(elf, &header, nr_sections, names_nr);
	read_build_id(elf);
	return 0;
}

int elf_open(struct elf_file *elf, const char *path, struct hs_error *err)
{
	struct stat st;

	elf_init(elf);
	/* Not to wait for the writer of a pipe that has the name of a library. */
	elf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (elf->fd < 0)
		return hs_error_system(err, "open", path);
	if (fstat(elf->fd, &st) < 0) {
		int ret = hs_error_system(err, "read", path);

		elf_release(elf);
		return ret;
	}
	if (!S_ISREG(st.st_mode)) {
		elf_release(elf);
		return hs_error_set(err, HS_E_FORMAT, "'%s' is not a regular file", path);
	}
	elf->path = xstrdup(path);
	elf->size = (uint64_t)st.st_size;
	elf->dev = st.st_dev;
	elf->inode = st.st_ino;
	elf->changed_ns = timespec_ns(st.st_nlink ? &st.st_ctim : &st.st_mtim);
	return read_headers(elf, path, err);
}

int elf_open_memory(struct elf_file *elf, const uint8_t *data, size_t len, struct hs_error *err)
{
	elf_init(elf);
	elf->memory = data;
	elf->size = len;
	return read_headers(elf, "memory", err);
}

struct elf_section *elf_section_named(struct elf_file *elf, const char *name)
{
	size_t i;

	for (i = 0; i < elf->nr_sections; i++)
		if (!strcmp(elf->sections[i].name, name))
			return &elf->sections[i];
	return NULL;
}

struct elf_section *elf_section_of_type(struct elf_file *elf, uint32_t type)
{
	size_t i;

	for (i = 0; i < elf->nr_sections; i++)
		if (elf->sections[i].type == type)
			return &elf->sections[i];
	return NULL;
}

const uint8_t *elf_section_data(struct elf_file *elf, struct elf_section *section, size_t *ret_len)
{
	if (!section->data) {
		if (section->type == SHT_NOBITS || section->type == SHT_NULL ||
		    section->flags & SHF_COMPRESSED)
			return NULL;
		section->data = read_copy(elf, section->offset, section->size);
		if (!section->data)
			return NULL;
		section->data_len = (size_t)section->size;
	}
	*ret_len = section->data_len;
	return section->data;
}

bool elf_offset_of(const struct elf_file *elf, uint64_t vaddr, uint64_t *ret_offset,
		   uint64_t *ret_len)
{
	size_t i;

	for (i = 0; i < elf->nr_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];
		uint64_t in = vaddr - s->vaddr;

		if (s->type != PT_LOAD || vaddr < s->vaddr || in >= s->filesz)
			continue;
		if (s->offset > elf->size || in >= elf->size - s->offset)
			return false;
		*ret_offset = s->offset + in;
		*ret_len = s->filesz - in;
		if (*ret_len > elf->size - *ret_offset)
			*ret_len = elf->size - *ret_offset;
		return true;
	}
	return false;
}
