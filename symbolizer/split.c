/* SPDX-License-Identifier: MIT */
/*
 * split.c - where the rest of a skeleton unit is: its .dwo file; see split.h.
 *
 * Offline only.
 */
#include "symbolizer/split.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "symbolizer/dwarf_unit.h"
#include "symbolizer/elf.h"

static bool open_in(const char *folder, size_t len, const char *name, struct elf_file *ret)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%.*s/%s", (int)len, folder, name) <
			(int)sizeof(path) &&
		elf_open(ret, path, NULL) == 0;
}

bool split_file_open(const struct dwarf_unit *skeleton, const char *module, struct elf_file *ret)
{
	const char *name = skeleton->dwo_name, *dir = skeleton->comp_dir;
	const char *base = strrchr(name, '/'), *slash = strrchr(module, '/');

	if (name[0] == '/' && elf_open(ret, name, NULL) == 0)
		return true;
	if (name[0] != '/' && dir && dir[0] == '/' && strlen(dir) < PATH_MAX &&
	    open_in(dir, strlen(dir), name, ret))
		return true;
	if (!slash || slash - module >= PATH_MAX)
		return false;
	return open_in(module, (size_t)(slash - module), name, ret) ||
		(base && open_in(module, (size_t)(slash - module), base + 1, ret));
}
