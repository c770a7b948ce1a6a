/* SPDX-License-Identifier: MIT */
/*
 * snapshot_modules.c - which files the modules of a running program are, where they have no build id.
 *
 * Offline only. Of a library the tracer knows its path, which may lead to another file by now; what
 * is mapped is told by the kernel.
 */
#include <string.h>

#include "analysis/snapshot_internal.h"
#include "util/proc_maps.h"

/* Whether only its inode can tell this module's file from another one. */
static bool needs_inode(const struct snap_module *m)
{
	return !m->build_id_len && !m->inode && !m->unloaded_ms && m->start < m->end &&
	       !(m->flags & HS_MODULE_VDSO);
}

/* Whether the code there is the module's: something else may have come in its place. */
static bool is_code_of(const struct snap_module *m, const struct proc_map *map)
{
	for (uint32_t i = 0; map->code && i < m->nr_segments; i++) {
		const struct hs_segment *code = &m->segments[i];

		if (code->start >= map->start && code->start < map->end &&
		    code->start - map->start == code->offset - map->offset)
			return true;
	}
	return false;
}

struct snap_module *snapshot_unidentified(const struct snapshot *s, const struct proc_map *map)
{
	for (size_t i = 1; i < s->nr_modules; i++) {
		if (needs_inode(&s->modules[i]) && (!map || is_code_of(&s->modules[i], map)))
			return &s->modules[i];
	}
	return NULL;
}

void snapshot_identify_modules(struct snapshot *s)
{
	struct snap_module *module;
	struct proc_maps maps;
	struct proc_map map;

	if (!snapshot_unidentified(s, NULL) || !proc_maps_open(&maps, (pid_t)s->pid))
		return;
	while (proc_maps_next(&maps, &map)) {
		module = map.inode ? snapshot_unidentified(s, &map) : NULL;
		if (!module)
			continue;
		proc_map_stat_device(&map, (pid_t)s->pid);
		module->dev = map.dev;
		module->inode = map.inode;
	}
	proc_maps_close(&maps);
}
