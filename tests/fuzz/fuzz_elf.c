/* SPDX-License-Identifier: MIT */
/*
 * fuzz_elf.c - an ELF file that may be anything: headers, build id, symbol tables, look-ups.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolizer/elf.h"
#include "symbolizer/symtab.h"
#include "util/error.h"

void fuzz_one(const uint8_t *data, size_t len)
{
	struct elf_file elf;
	struct symtab table;
	struct elf_dynamic dynamic;
	struct hs_error err;
	char soname[256];

	if (elf_open_memory(&elf, data, len, &err))
		return;
	symtab_init(&table);
	symtab_add_full(&table, &elf);
	symtab_add_dynamic(&table, &elf);
	symtab_finish(&table);
	for (uint64_t address = 0; address < 0x20000; address += 0x11)
		symtab_find(&table, address);
	if (elf_dynamic(&elf, &dynamic))
		elf_dynamic_count(&elf, &dynamic);
	elf_soname(&elf, soname, sizeof(soname));
	symtab_release(&table);
	elf_release(&elf);
}
