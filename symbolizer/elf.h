/* SPDX-License-Identifier: MIT */
/*
 * elf.h - bounds-checked reading of ELF files that nobody vouches for.
 *
 * 64-bit little-endian files of any machine. Parts are copied out of the file when they are asked
 * for, never mapped: a file that somebody truncates meanwhile (a build that runs again) is a
 * short read then, not a SIGBUS.
 */
#ifndef HEAPSTORY_SYMBOLIZER_ELF_H
#define HEAPSTORY_SYMBOLIZER_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_error;

#define ELF_BUILD_ID_MAX 64u

struct elf_section {
	const char *name;       /* never NULL; "" where the file has none */
	uint32_t type, link, info;
	uint64_t flags, addr, offset, size, align, entsize;
	uint8_t *data;          /* elf_section_data()'s copy, or NULL */
	size_t data_len;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, filesz, memsz, align;
};

struct elf_file {
	char *path;             /* as it was opened; NULL: from memory */
	int fd;                 /* -1: none, or read from memory */
	const uint8_t *memory;  /* borrowed; NULL where fd is used */
	uint64_t size;          /* bytes in the file */
	uint64_t dev, inode;    /* 0: from memory */
	uint64_t changed_ns;    /* when it was written, renamed or given other rights; without a name
				 * (deleted): when it was written */
	uint16_t type, machine; /* ET_*, EM_* */
	struct elf_segment *segments;
	size_t nr_segments;
	struct elf_section *sections;
	size_t nr_sections;     /* 0 where the section headers are missing or damaged */
	uint8_t *names;         /* of the sections */
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t build_id_len;    /* 0: has none */
};

/* Makes elf empty, so that elf_release() may be called. */
void elf_init(struct elf_file *elf);

/*
 * Opens a regular file and reads its headers and build id. Damaged tables are left out rather
 * than refused; what is no 64-bit little-endian ELF file at all is HS_E_FORMAT. On failure elf is
 * empty.
 */
int elf_open(struct elf_file *elf, const char *path, struct hs_error *err);

/* The same for bytes in memory, which must stay until elf_release(). */
int elf_open_memory(struct elf_file *elf, const uint8_t *data, size_t len, struct hs_error *err);

/* Gives everything back; elf is empty again. */
void elf_release(struct elf_file *elf);

/* Closes the descriptor; what was read stays, nothing more can be. */
void elf_close(struct elf_file *elf);

/* Copies len bytes at offset; false where the file has not so many. */
bool elf_read(const struct elf_file *elf, uint64_t offset, void *buf, size_t len);

/* First section of that name, or NULL. */
struct elf_section *elf_section_named(struct elf_file *elf, const char *name);

/* First section of that type (SHT_*), or NULL. */
struct elf_section *elf_section_of_type(struct elf_file *elf, uint32_t type);

/*
 * Contents of a section, or NULL where it has none or the file is too short. Read once, then
 * kept until elf_release(); one 0 byte stands after them, so that each string in them ends.
 */
const uint8_t *elf_section_data(struct elf_file *elf, struct elf_section *section,
				size_t *ret_len);

/* Place in the file of an address; false where no PT_LOAD holds it. */
bool elf_offset_of(const struct elf_file *elf, uint64_t vaddr, uint64_t *ret_offset,
		   uint64_t *ret_len);

/* What PT_DYNAMIC says of the dynamic symbols: for files without section headers. */
struct elf_dynamic {
	bool pie;               /* DF_1_PIE */
	uint64_t symtab, strtab, strsz, hash, gnu_hash, soname; /* addresses, sizes, offset; 0: none */
};

/* False where there is no readable PT_DYNAMIC. */
bool elf_dynamic(const struct elf_file *elf, struct elf_dynamic *ret);

/* Number of dynamic symbols, from the hash tables; 0: unknown. */
uint64_t elf_dynamic_count(const struct elf_file *elf, const struct elf_dynamic *dynamic);

/* Where a name that elf_names_any() gives was found. */
enum elf_name {
	ELF_NAME_LIBRARY,       /* DT_NEEDED */
	ELF_NAME_DEFINED,       /* a symbol of .dynsym or .symtab that the file defines */
	ELF_NAME_WANTED,        /* a dynamic symbol that it leaves to others */
};

/*
 * Calls each with the names of a program, until it says true; those from PT_DYNAMIC are cut at 255
 * bytes. Returns whether it did.
 */
bool elf_names_any(struct elf_file *elf, bool (*each)(const char *name, enum elf_name what));

/* Copies DT_SONAME; false where there is none. */
bool elf_soname(const struct elf_file *elf, char *ret, size_t size);

#endif
