/* SPDX-License-Identifier: MIT */
/*
 * fuzz_names.c - names from a symbol table that may be anything: demangling.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolizer/symbolizer.h"

#include <stdlib.h>
#include <string.h>

void fuzz_one(const uint8_t *data, size_t len)
{
	char *name = malloc(len + 1);

	if (!name)
		return;
	memcpy(name, data, len);
	name[len] = 0;
	free(symbolizer_demangle(name));
	free(name);
}
