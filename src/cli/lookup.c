/* SPDX-License-Identifier: MIT */
/*
 * lookup.c - from the modules of a snapshot to the symbolizer; see lookup.h.
 */
#include "cli/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot.h"
#include "symbolizer/symbolizer.h"
#include "util/alloc.h"

#define NO_ID UINT32_MAX

struct lookup {
	struct symbolizer *symbolizer;
	uint32_t *ids; /* of the symbolizer, by module; NO_ID: not known to it yet */
};

struct lookup *lookup_new(const struct snapshot *s, struct symbolizer *symbolizer)
{
	struct lookup *l = xcalloc(1, sizeof(*l));

	l->symbolizer = symbolizer;
	l->ids = xmallocarray(s->nr_modules + 1, sizeof(*l->ids));
	memset(l->ids, 0xff, (s->nr_modules + 1) * sizeof(*l->ids));
	return l;
}

void lookup_free(struct lookup *l)
{
	if (!l)
		return;
	free(l->ids);
	free(l);
}

static struct symbolizer_module module_of(const struct snapshot *s, uint32_t nr)
{
	const struct snap_module *m = &s->modules[nr];
	bool mapped = s->source == SNAPSHOT_LIVE_STORE && !m->unloaded_ms;
	/* told to the tick, and the clock of file systems is not finer */
	uint64_t loaded_ms = m->loaded_ms + HS_TICK_MS;

	return (struct symbolizer_module){
		.path = m->path,
		.build_id = m->build_id,
		.build_id_len = m->build_id_len,
		.dev = m->dev,
		.inode = m->inode,
		.loaded_ns = s->start_real_ns + loaded_ms * 1000000,
		.pid = s->source == SNAPSHOT_LIVE_STORE ? s->pid : 0,
		.mapped = mapped ? m->start : 0,
	};
}

static uint32_t module_id(struct lookup *l, const struct snapshot *s, uint32_t module)
{
	if (l->ids[module] == NO_ID) {
		struct symbolizer_module wanted = module_of(s, module);

		l->ids[module] = symbolizer_add(l->symbolizer, &wanted);
	}
	return l->ids[module];
}

size_t lookup_names(void *context, const struct snapshot *s, uint32_t module, uint64_t address,
		    const struct name_frame **ret)
{
	struct lookup *l = context;

	return symbolizer_lookup(l->symbolizer, module_id(l, s, module), address, ret);
}

const char *lookup_vtable(void *context, const struct snapshot *s, uint32_t module,
			  uint64_t address)
{
	struct lookup *l = context;

	return symbolizer_class(l->symbolizer, module_id(l, s, module), address);
}

const char *lookup_problem(const struct lookup *l, uint32_t module)
{
	return l->ids[module] == NO_ID ? NULL : symbolizer_problem(l->symbolizer, l->ids[module]);
}

bool lookup_file_lost(const struct snapshot *s, uint32_t module)
{
	struct symbolizer_module wanted = module_of(s, module);

	/* of one that was unloaded nothing is left in the process */
	return (wanted.mapped || s->source == SNAPSHOT_DEAD_STORE) && symbolizer_file_lost(&wanted);
}
