/* SPDX-License-Identifier: MIT */
/*
 * test_symtab.c - which symbol has an address, in files made up here; and files that are damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/elf.h"
#include "symbolizer/symtab.h"
#include "util/error.h"

#define TEXT 0x1000u            /* address of .text */
#define TEXT_SIZE 0x1000u
#define DATA 0x3000u

enum { SECTION_NULL, SECTION_TEXT, SECTION_DATA, SECTION_SYMBOLS, SECTION_STRINGS, NR_SECTIONS };

struct made {
	const char *name;
	uint64_t value, size;
	unsigned char bind, type;
	uint16_t section;
};

struct image {
	uint8_t bytes[16384];
	size_t len;
};

/* A file with these symbols in a table of that type (SHT_SYMTAB or SHT_DYNSYM). */
static void make_image(struct image *image, uint32_t type, const struct made *made, size_t nr)
{
	Elf64_Ehdr header = { .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT };
	Elf64_Shdr sections[NR_SECTIONS] = { 0 };
	Elf64_Sym symbols[64] = { 0 };
	char names[2048] = "";
	size_t names_len = 1, i;

	assert_true(nr < 64);
	for (i = 0; i < nr; i++) {
		symbols[i + 1].st_name = (uint32_t)names_len;
		symbols[i + 1].st_value = made[i].value;
		symbols[i + 1].st_size = made[i].size;
		symbols[i + 1].st_info = ELF64_ST_INFO(made[i].bind, made[i].type);
		symbols[i + 1].st_shndx = made[i].section ? made[i].section : SECTION_TEXT;
		strcpy(names + names_len, made[i].name);
		names_len += strlen(made[i].name) + 1;
	}
	memcpy(header.e_ident, ELFMAG "\2\1\1", 7);
	header.e_shoff = sizeof(header);
	header.e_shentsize = sizeof(Elf64_Shdr);
	header.e_shnum = NR_SECTIONS;
	sections[SECTION_TEXT] = (Elf64_Shdr){ .sh_type = SHT_NOBITS, .sh_addr = TEXT,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_size = TEXT_SIZE };
	sections[SECTION_DATA] = (Elf64_Shdr){ .sh_type = SHT_NOBITS, .sh_addr = DATA,
		.sh_flags = SHF_ALLOC, .sh_size = 0x100 };
	sections[SECTION_SYMBOLS] = (Elf64_Shdr){ .sh_type = type, .sh_link = SECTION_STRINGS,
		.sh_offset = sizeof(header) + sizeof(sections),
		.sh_size = (nr + 1) * sizeof(Elf64_Sym), .sh_entsize = sizeof(Elf64_Sym) };
	sections[SECTION_STRINGS] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_size = names_len,
		.sh_offset = sizeof(header) + sizeof(sections) + (nr + 1) * sizeof(Elf64_Sym) };

	memcpy(image->bytes, &header, sizeof(header));
	image->len = sizeof(header);
	memcpy(image->bytes + image->len, sections, sizeof(sections));
	image->len += sizeof(sections);
	memcpy(image->bytes + image->len, symbols, (nr + 1) * sizeof(Elf64_Sym));
	image->len += (nr + 1) * sizeof(Elf64_Sym);
	memcpy(image->bytes + image->len, names, names_len);
	image->len += names_len;
}

struct loaded {
	struct image image;
	struct elf_file elf;
	struct symtab table;
};

static void load(struct loaded *l, uint32_t type, const struct made *made, size_t nr)
{
	make_image(&l->image, type, made, nr);
	assert_int_equal(elf_open_memory(&l->elf, l->image.bytes, l->image.len, NULL), 0);
	symtab_init(&l->table);
	if (type == SHT_SYMTAB)
		symtab_add_full(&l->table, &l->elf);
	else
		symtab_add_dynamic(&l->table, &l->elf);
	symtab_finish(&l->table);
}

static void unload(struct loaded *l)
{
	symtab_release(&l->table);
	elf_release(&l->elf);
}

static void expect(const struct loaded *l, uint64_t address, const char *name)
{
	size_t found = symtab_find(&l->table, address);
	const char *got = found == SYMTAB_NONE ? "??" : l->table.symbols[found].name;

	if (strcmp(got, name))
		fail_msg("%#lx is '%s', expected '%s'", (unsigned long)address, got, name);
}

#define LOAD(l, type, made) load(l, type, made, sizeof(made) / sizeof((made)[0]))

static void test_ends(void **state)
{
	static const struct made made[] = {
		{ "first", 0x1100, 0x10, STB_GLOBAL, STT_FUNC, 0 },
		{ "second", 0x1110, 0x10, STB_LOCAL, STT_FUNC, 0 },
		{ "third", 0x1200, 1, STB_GLOBAL, STT_GNU_IFUNC, 0 },
		{ "beyond", 0x1ff0, 0x1000, STB_GLOBAL, STT_FUNC, 0 },
		{ "table", DATA, 0x10, STB_GLOBAL, STT_OBJECT, SECTION_DATA },
		{ "odd", DATA + 0x20, 0x10, STB_GLOBAL, STT_FUNC, SECTION_DATA },
		{ "blob", 0x1300, 0x10, STB_GLOBAL, STT_OBJECT, 0 },
		{ "absolute", 0x1400, 0x10, STB_GLOBAL, STT_FUNC, SHN_ABS },
		{ "nowhere", 0x9000, 0x10, STB_GLOBAL, STT_FUNC, 0 },
	};
	struct loaded l;

	(void)state;
	LOAD(&l, SHT_SYMTAB, made);
	expect(&l, 0x10ff, "??");
	expect(&l, 0x1100, "first");
	expect(&l, 0x110f, "first");
	expect(&l, 0x1110, "second");
	expect(&l, 0x111f, "second");
	expect(&l, 0x1120, "??");
	expect(&l, 0x1200, "third");
	expect(&l, 0x1201, "??");
	expect(&l, 0x1fff, "beyond");
	expect(&l, 0x2000, "??");       /* the section ends before the symbol does */
	expect(&l, DATA, "??");
	expect(&l, DATA + 0x20, "??");
	expect(&l, 0x1300, "??");
	expect(&l, 0x1400, "??");
	expect(&l, 0x9000, "??");
	expect(&l, 0, "??");
	expect(&l, UINT64_MAX, "??");
	unload(&l);
}

static void test_aliases(void **state)
{
	static const struct made made[] = {
		{ "local_name", 0x1100, 0x20, STB_LOCAL, STT_FUNC, 0 },
		{ "weak_name", 0x1100, 0x10, STB_WEAK, STT_FUNC, 0 },
		{ "strong_name", 0x1100, 0x10, STB_GLOBAL, STT_FUNC, 0 },
		{ "__strdup", 0x1200, 0x10, STB_GLOBAL, STT_FUNC, 0 },
		{ "strdup", 0x1200, 0x10, STB_WEAK, STT_FUNC, 0 },
		{ "__GI_strdup", 0x1200, 0x10, STB_LOCAL, STT_FUNC, 0 },
		{ "same_b", 0x1300, 0x10, STB_GLOBAL, STT_FUNC, 0 },
		{ "same_a", 0x1300, 0x10, STB_GLOBAL, STT_FUNC, 0 },
		{ "same_long", 0x1300, 0x10, STB_GLOBAL, STT_FUNC, 0 },
	};
	struct made turned[sizeof(made) / sizeof(made[0])];
	struct loaded l;
	size_t i, nr = sizeof(made) / sizeof(made[0]);

	(void)state;
	for (i = 0; i < nr; i++)
		turned[i] = made[nr - 1 - i];
	for (i = 0; i < 2; i++) {       /* the order in the file does not matter */
		load(&l, SHT_SYMTAB, i ? turned : made, nr);
		expect(&l, 0x1100, "strong_name");
		expect(&l, 0x110f, "strong_name");
		expect(&l, 0x1110, "local_name");
		expect(&l, 0x1120, "??");
		expect(&l, 0x1205, "strdup");
		expect(&l, 0x1305, "same_a");
		unload(&l);
	}
}

static void test_nested(void **state)
{
	static const struct made made[] = {
		{ "outer", 0x1100, 0x100, STB_GLOBAL, STT_FUNC, 0 },
		{ "inner", 0x1120, 0x10, STB_LOCAL, STT_FUNC, 0 },
		{ "innermost", 0x1124, 0x4, STB_LOCAL, STT_FUNC, 0 },
		{ "across", 0x11f0, 0x20, STB_LOCAL, STT_FUNC, 0 },
	};
	struct loaded l;

	(void)state;
	LOAD(&l, SHT_SYMTAB, made);
	expect(&l, 0x111f, "outer");
	expect(&l, 0x1120, "inner");
	expect(&l, 0x1124, "innermost");
	expect(&l, 0x1127, "innermost");
	expect(&l, 0x1128, "inner");
	expect(&l, 0x1130, "outer");
	expect(&l, 0x11ef, "outer");
	expect(&l, 0x11f0, "across");
	expect(&l, 0x120f, "across");
	expect(&l, 0x1210, "??");
	unload(&l);
}

static const struct made labels[] = {
	{ "start", 0x1000, 0, STB_GLOBAL, STT_NOTYPE, 0 },
	{ "entry", 0x1040, 0, STB_GLOBAL, STT_FUNC, 0 },
	{ "entry_alias", 0x1040, 0, STB_LOCAL, STT_NOTYPE, 0 },
	{ "sized", 0x1100, 0x40, STB_GLOBAL, STT_FUNC, 0 },
	{ "loop", 0x1120, 0, STB_LOCAL, STT_NOTYPE, 0 },
	{ "$x", 0x1180, 0, STB_LOCAL, STT_NOTYPE, 0 },
	{ ".annobin_end", 0x1180, 0, STB_LOCAL, STT_NOTYPE, 0 },
	{ "last", 0x1f00, 0, STB_LOCAL, STT_FUNC, 0 },
};

static void test_labels(void **state)
{
	struct loaded l;

	(void)state;
	LOAD(&l, SHT_SYMTAB, labels);
	expect(&l, 0x1000, "start");
	expect(&l, 0x103f, "start");
	expect(&l, 0x1040, "entry");
	expect(&l, 0x10ff, "entry");
	expect(&l, 0x1120, "sized");
	expect(&l, 0x113f, "sized");
	expect(&l, 0x1140, "??");       /* "loop" is a place inside of "sized" */
	expect(&l, 0x1180, "??");
	expect(&l, 0x1f00, "last");
	expect(&l, 0x1fff, "last");
	expect(&l, 0x2000, "??");
	unload(&l);
}

/* What stands between exported names is unknown, and so is how far a name without size goes. */
static void test_labels_of_partial_tables(void **state)
{
	static const struct made exported[] = {
		{ "start", 0x1000, 0, STB_GLOBAL, STT_NOTYPE, 0 },
		{ "sized", 0x1100, 0x40, STB_GLOBAL, STT_FUNC, 0 },
	};
	struct loaded l;

	(void)state;
	LOAD(&l, SHT_DYNSYM, labels);
	expect(&l, 0x1000, "??");
	expect(&l, 0x1040, "??");
	expect(&l, 0x1120, "sized");
	unload(&l);
	LOAD(&l, SHT_SYMTAB, exported);
	expect(&l, 0x1000, "??");
	expect(&l, 0x1120, "sized");
	unload(&l);
}

/* Random sizes and starts against a search through all. */
static void test_random(void **state)
{
	struct made made[40];
	char names[40][8];
	struct loaded l;
	unsigned int round, i, address, seed = 7;

	(void)state;
	for (round = 0; round < 200; round++) {
		for (i = 0; i < 40; i++) {
			snprintf(names[i], sizeof(names[i]), "f%02u", i);
			made[i] = (struct made){ names[i], TEXT + (uint64_t)(rand_r(&seed) % 200),
				1 + (uint64_t)(rand_r(&seed) % (1 + rand_r(&seed) % 120)), STB_GLOBAL,
				STT_FUNC, 0 };
		}
		LOAD(&l, SHT_SYMTAB, made);
		for (address = TEXT; address < TEXT + 330; address++) {
			const struct made *best = NULL;

			for (i = 0; i < 40; i++)
				if (address >= made[i].value &&
				    address < made[i].value + made[i].size &&
				    (!best || made[i].value > best->value))
					best = &made[i];
			expect(&l, address, best ? best->name : "??");
		}
		unload(&l);
	}
}

static void look_up_all(const uint8_t *bytes, size_t len)
{
	struct symtab table;
	struct elf_file elf;
	uint64_t address;

	if (elf_open_memory(&elf, bytes, len, NULL) < 0)
		return;
	symtab_init(&table);
	symtab_add_full(&table, &elf);
	symtab_add_dynamic(&table, &elf);
	symtab_finish(&table);
	for (address = 0; address < 0x4000; address += 0x111)
		symtab_find(&table, address);
	symtab_release(&table);
	elf_release(&elf);
}

static void test_damage(void **state)
{
	struct image image, damaged;
	unsigned int seed = 3, i;
	uint8_t *exact;
	size_t len;

	(void)state;
	make_image(&image, SHT_SYMTAB, labels, sizeof(labels) / sizeof(labels[0]));
	for (len = 0; len <= image.len; len++) {
		exact = malloc(len + 1); /* a sanitizer sees a read behind it */
		memcpy(exact, image.bytes, len);
		look_up_all(exact, len);
		free(exact);
	}
	for (i = 0; i < 20000; i++) {
		unsigned int changes = 1 + (unsigned int)rand_r(&seed) % 4;

		damaged = image;
		while (changes--)
			damaged.bytes[(size_t)rand_r(&seed) % image.len] = (uint8_t)rand_r(&seed);
		look_up_all(damaged.bytes, damaged.len);
	}
}

static void test_foreign(void **state)
{
	struct hs_error err;
	struct elf_file elf;

	(void)state;
	assert_int_equal(elf_open(&elf, "/dev/null", &err), -HS_E_FORMAT);
	assert_int_equal(elf_open(&elf, "/etc/passwd", &err), -HS_E_FORMAT);
	assert_int_equal(elf_open(&elf, "/nonexistent", &err), -HS_E_SYSTEM);
	assert_int_equal(elf.fd, -1);
	elf_release(&elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_labels_of_partial_tables),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
