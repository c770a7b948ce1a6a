/* SPDX-License-Identifier: MIT */
/*
 * snapshot_modules.c - which files the modules of a running program are, where they have no build id.
 *
 * Offline only. Of a library the tracer knows its path, which may lead to another file by now; what
 * is mapped is told by the kernel. The device is left out: on overlayfs and btrfs the one in
 * /proc/PID/maps is not that of the file.
 */
#include "analysis/snapshot_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether only its inode can tell this module's file from another one. */
static bool needs_inode(const struct snap_module *m)
{
	return !m->build_id_len && !m->inode && !m->unloaded_ms && m->start < m->end &&
	       !(m->flags & HS_MODULE_VDSO);
}

/* Whether code of the module lies in there. */
static bool has_code_in(const struct snap_module *m, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < m->nr_segments; i++)
		if (start < m->segments[i].end && m->segments[i].start < end)
			return true;
	return false;
}

void snapshot_identify_modules(struct snapshot *s)
{
	char path[64], *line = NULL;
	size_t alloc = 0, first = 1;
	FILE *maps;

	while (first < s->nr_modules && !needs_inode(&s->modules[first]))
		first++;
	if (first == s->nr_modules)
		return;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", s->pid);
	maps = fopen(path, "re");
	while (maps && getline(&line, &alloc, maps) > 0) {
		uint64_t start, end, inode;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64, &start, &end,
			   &inode) != 3)
			continue;
		for (size_t i = first; i < s->nr_modules; i++)
			if (needs_inode(&s->modules[i]) && has_code_in(&s->modules[i], start, end))
				s->modules[i].inode = inode;
	}
	free(line);
	if (maps)
		fclose(maps);
}
