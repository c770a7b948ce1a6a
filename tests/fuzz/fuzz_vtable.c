/* SPDX-License-Identifier: MIT */
/*
 * fuzz_vtable.c - vtables and type information of an ELF file that may be anything.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolizer/elf.h"
#include "symbolizer/vtable.h"
#include "util/error.h"

#include <stdlib.h>

void fuzz_one(const uint8_t *data, size_t len)
{
	struct vtables *vtables;
	struct hs_error err;
	struct elf_file elf;

	if (elf_open_memory(&elf, data, len, &err))
		return;
	vtables = vtables_new(&elf, NULL);
	for (uint64_t address = 0; address < 0x8000; address += 8)
		free(vtables_find(vtables, address));
	vtables_close(vtables);
}
