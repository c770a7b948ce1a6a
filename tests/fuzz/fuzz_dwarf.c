/* SPDX-License-Identifier: MIT */
/*
 * fuzz_dwarf.c - an ELF file with debug information that may be anything: sections (compressed
 * ones too), units, ranges, lines, functions, names, as a look-up goes through them; or a .dwp.
 */
#include "tests/fuzz/fuzz.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/debugfile.h"
#include "symbolizer/debuginfo.h"
#include "symbolizer/elf.h"
#include "symbolizer/dwarf_unit.h"
#include "symbolizer/funcname.h"
#include "symbolizer/section.h"
#include "symbolizer/split.h"
#include "symbolizer/strings.h"
#include "symbolizer/timelimit.h"
#include "util/error.h"

#define LIMIT_NS UINT64_C(200000000)
#define LOOKUPS 64u

static void look_up(struct debuginfo *info, struct function_names *names, struct strings *strings,
		    uint64_t address)
{
	const struct debug_frame *frames = NULL;
	size_t nr = debuginfo_lookup(info, address, &frames);

	for (size_t i = 0; i < nr; i++) {
		struct function_spellings found =
			function_names_find(names, info, &frames[i], strings);

		/* each string has an end and is there */
		if ((found.linked && strlen(found.linked) > SIZE_MAX / 2) ||
		    (found.raw && strlen(found.raw) > SIZE_MAX / 2) ||
		    (found.scoped && strlen(found.scoped) > SIZE_MAX / 2) ||
		    (frames[i].path && strlen(frames[i].path) > SIZE_MAX / 2))
			abort();
		/* all but the outermost are inlined into the next */
		if (i + 1 < nr && !frames[i].inlined)
			abort();
	}
}

/* The same file as a package of split DWARF. */
static void read_package(struct elf_file *elf)
{
	struct time_limit limit = {.left_ns = LIMIT_NS};
	struct dwarf_sections sections;
	struct dwarf_unit *units;
	size_t nr;

	dwarf_sections_init(&sections, elf, &limit, true);
	nr = package_units(&sections, &units);
	for (size_t i = 0; i < nr; i++)
		if (units[i].offset >= units[i].die || units[i].die > units[i].end ||
		    units[i].end > dwarf_section(&sections, DWARF_INFO).len ||
		    (i && units[i].offset < units[i - 1].offset))
			abort();
	free(units);
	dwarf_sections_release(&sections);
}

void fuzz_one(const uint8_t *data, size_t len)
{
	struct unit_cache cache = {.max = 1 << 16};
	struct function_names names = {NULL};
	struct strings strings = {NULL};
	struct debug_dirs dirs = {0};
	struct debuginfo *info;
	struct elf_file elf;

	if (elf_open_memory(&elf, data, len, NULL))
		return;
	info = debuginfo_open(&elf, "/nonexistent/module", &dirs, &cache, &strings);
	if (info) {
		debuginfo_set_limit(info, LIMIT_NS);
		for (size_t i = 0; i < elf.nr_sections && i < 16; i++) {
			const struct elf_section *s = &elf.sections[i];
			uint64_t step = s->size / LOOKUPS + 1;

			if (!(s->flags & SHF_EXECINSTR))
				continue;
			for (uint64_t n = 0; n < LOOKUPS; n++)
				look_up(info, &names, &strings, s->addr + n * step);
		}
	}
	debuginfo_close(info);
	read_package(&elf);
	if (cache.units || cache.bytes)
		abort();
	function_names_release(&names);
	strings_release(&strings);
	elf_release(&elf);
}
