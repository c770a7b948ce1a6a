/* SPDX-License-Identifier: MIT */
/*
 * fuzz_elf.c - an ELF file that may be anything: headers, build id, symbol tables, look-ups.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolizer/elf.h"
#include "symbolizer/symtab.h"
#include "util/error.h"

#include <stdlib.h>

/* What symtab.h promises of ranges and of the starts of symbols. */
static void check_table(const struct symtab *table)
{
	size_t i;

	for (i = 1; i < table->nr_ranges; i++)
		if (table->ranges[i].start < table->ranges[i - 1].end)
			abort();
	for (i = 0; i < table->nr_symbols; i++) {
		const struct symbol *symbol = &table->symbols[i];
		size_t found = symtab_find(table, symbol->start);

		if (found == SYMTAB_NONE ? !symbol->label :
					   table->symbols[found].start > symbol->start)
			abort();
	}
}

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
	check_table(&table);
	for (uint64_t address = 0; address < 0x20000; address += 0x11)
		symtab_find(&table, address);
	if (elf_dynamic(&elf, &dynamic))
		elf_dynamic_count(&elf, &dynamic);
	elf_soname(&elf, soname, sizeof(soname));
	symtab_release(&table);
	elf_release(&elf);
}
