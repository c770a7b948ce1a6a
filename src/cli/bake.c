/* SPDX-License-Identifier: MIT */
/*
 * bake.c - puts names into a snapshot; see bake.h.
 */
#include "cli/bake.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "cli/held.h"
#include "cli/lookup.h"
#include "symbolizer/perfmap.h"
#include "symbolizer/symbolizer.h"
#include "util/alloc.h"
#include "util/name_table.h"
#include "util/proc_maps.h"

static struct name_table *table_of(struct snapshot *s)
{
	if (!s->names)
		s->names = xcalloc(1, sizeof(*s->names));
	return s->names;
}

/* Node 0 and those that say why a stack ends are no places in code. */
static bool is_code(const struct snapshot *s, size_t node)
{
	return node && s->nodes[node].pc >= HS_PC_FIRST_REAL;
}

/* ---- code made at run time ----------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
	const struct perfmap_query *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* The addresses outside of all modules, ascending, each once. */
static size_t jit_queries(const struct snapshot *s, struct perfmap_query **ret)
{
	struct perfmap_query *queries = xcalloc(s->nr_nodes + 1, sizeof(*queries));
	size_t nr = 0, kept = 0;

	for (size_t i = 1; i < s->nr_nodes; i++) {
		if (is_code(s, i) && !s->nodes[i].module)
			queries[nr++].address = names_address(s, &s->nodes[i]);
	}
	qsort(queries, nr, sizeof(*queries), by_address);
	for (size_t i = 0; i < nr; i++) {
		if (!i || queries[i].address != queries[kept - 1].address)
			queries[kept++] = queries[i];
	}
	*ret = queries;
	return kept;
}

void bake_jit(struct snapshot *s)
{
	struct perfmap_process process = {
		.pid = s->pid,
		.uid = s->uid,
		.alive = s->source == SNAPSHOT_LIVE_STORE,
		.start_ns = s->start_real_ns - s->start_after_ms * 1000000,
		.end_ns = s->start_real_ns + s->taken_ms * 1000000,
	};
	struct perfmap_query *queries;
	size_t nr;

	if (s->source == SNAPSHOT_FILE)
		return;
	nr = jit_queries(s, &queries);
	if (nr)
		perfmap_read(&process, queries, nr);
	for (size_t i = 0; i < nr; i++) {
		struct name_frame frame = {.function = queries[i].name};

		if (frame.function)
			name_table_add(table_of(s), 0, queries[i].address, &frame, 1);
		free(queries[i].name);
	}
	free(queries);
}

/* ---- names of older versions ----------------------------------------------------------------- */

static bool is_mangled(const char *name)
{
	return name && (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2));
}

/* Adds a place of an older table with its names demangled; whether any was raw. */
static bool add_demangled(struct name_table *to, const struct name_table_place *place,
			  const struct name_frame *from)
{
	struct name_frame *frames = xmallocarray(place->nr_frames + 1, sizeof(*frames));
	char **plain = xcalloc(place->nr_frames + 1, sizeof(*plain));
	bool any = false;

	for (uint32_t i = 0; i < place->nr_frames; i++) {
		frames[i] = from[i];
		if (!place->module || !is_mangled(from[i].function))
			continue;
		plain[i] = symbolizer_demangle(from[i].function);
		frames[i].raw = from[i].function;
		frames[i].function = plain[i];
		any = true;
	}
	name_table_add(to, place->module, place->address, frames, place->nr_frames);
	for (uint32_t i = 0; i < place->nr_frames; i++)
		free(plain[i]);
	free(plain);
	free(frames);
	return any;
}

void bake_demangle(struct snapshot *s)
{
	struct name_table plain = {0};
	bool any = false;

	if (!s->names || !s->names->lacks_raw)
		return;
	for (size_t i = 0; i < s->names->nr_places; i++) {
		const struct name_table_place *place = &s->names->places[i];

		any |= add_demangled(&plain, place, s->names->frames + place->first_frame);
	}
	plain.lacks_raw = !any;
	name_table_release(s->names);
	*s->names = plain;
}

/* ---- modules ------------------------------------------------------------------------------- */

/* The classes of the vtables that blocks point to. */
static void bake_vtables(const struct snapshot *s, struct lookup *lookup, const bool *wanted,
			 struct name_table *to)
{
	for (size_t i = 1; i < s->nr_class_words; i++) {
		const struct snap_class_word *w = &s->class_words[i];
		struct name_frame frame = {0};

		if (wanted[w->module])
			frame.function = lookup_vtable(lookup, s, w->module, w->address);
		if (frame.function)
			name_table_add(to, w->module, w->address, &frame, 1);
	}
}

/* Bakes the names of the modules that `wanted` says, by number. */
static void bake_modules(struct snapshot *s, struct symbolizer *symbolizer, const bool *wanted,
			 struct bake_result *ret)
{
	struct lookup *lookup = lookup_new(s, symbolizer);
	struct name_table found = {0};
	bool *seen = xcalloc(s->nr_modules + 1, 2 * sizeof(*seen)), *named = seen + s->nr_modules;

	for (size_t i = 1; i < s->nr_nodes; i++) {
		uint32_t module = s->nodes[i].module;
		const struct name_frame *frames;
		uint64_t address;
		size_t nr;

		if (!is_code(s, i) || !module || !wanted[module])
			continue;
		address = names_address(s, &s->nodes[i]);
		nr = lookup_names(lookup, s, module, address, &frames);
		if (nr)
			name_table_add(&found, module, address, frames, nr);
		else if (s->names)
			nr = name_table_find(s->names, module, address, &frames);
		ret->nr_places++;
		ret->nr_named += nr != 0;
		ret->nr_modules += !seen[module];
		ret->nr_modules_named += nr && !named[module];
		seen[module] = true;
		named[module] = named[module] || nr;
	}
	bake_vtables(s, lookup, wanted, &found);
	if (!table_of(s)->nr_places) {
		name_table_release(s->names);
		*s->names = found;
	} else {
		name_table_add_all(s->names, &found);
		name_table_release(&found);
	}
	free(seen);
	lookup_free(lookup);
}

/*
 * Libraries without a build id are told from other files at their paths by their inodes, which a
 * process that has ended has no more.
 */
static void identify_modules(struct snapshot *s, const struct held_files *held)
{
	struct snap_module *module;
	struct proc_map *maps;
	size_t nr = held_maps(held, &maps);

	for (size_t i = 0; i < nr; i++) {
		module = snapshot_unidentified(s, &maps[i]);
		if (!module)
			continue;
		module->dev = maps[i].dev;
		module->inode = maps[i].inode;
	}
	free(maps);
}

void bake_fleeting(struct snapshot *s, const struct held_files *held)
{
	struct symbolizer_options options = {.nr_files = 0};
	struct bake_result result = {0};
	struct symbolizer *symbolizer;
	const char **paths = NULL;
	bool any = false, *lost;

	bake_jit(s);
	if (s->source != SNAPSHOT_LIVE_STORE && (s->source == SNAPSHOT_FILE || !held))
		return;
	if (held)
		identify_modules(s, held);
	lost = xcalloc(s->nr_modules + 1, sizeof(*lost));
	for (uint32_t i = 1; i < s->nr_modules; i++) {
		lost[i] = lookup_file_lost(s, i);
		any = any || lost[i];
	}
	if (any) {
		options.nr_files = held ? held_paths(held, &paths) : 0;
		options.files = paths;
		symbolizer = symbolizer_new(&options);
		bake_modules(s, symbolizer, lost, &result);
		symbolizer_free(symbolizer);
		free(paths);
	}
	free(lost);
}

void bake_all(struct snapshot *s, struct symbolizer *symbolizer, struct bake_result *ret)
{
	bool *all = xmallocarray(s->nr_modules + 1, sizeof(*all));

	memset(all, true, (s->nr_modules + 1) * sizeof(*all));
	memset(ret, 0, sizeof(*ret));
	bake_modules(s, symbolizer, all, ret);
	free(all);
}
