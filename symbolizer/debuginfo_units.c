/* SPDX-License-Identifier: MIT */
/*
 * debuginfo_units.c - what is read of units: their functions and lines, kept while they are used.
 *
 * Offline only.
 */
#include "symbolizer/debuginfo_internal.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "symbolizer/strings.h"
#include "util/alloc.h"

static void forget_unit(struct unit_cache *cache, struct loaded_unit *u)
{
	u->source->loaded[u->nr] = NULL;
	DL_DELETE(cache->units, u);
	cache->bytes -= u->bytes;
	scope_tree_release(&u->tree);
	line_table_release(&u->lines);
	free(u->paths);
	free(u);
}

void unit_cache_trim(struct unit_cache *cache)
{
	while (cache->bytes > cache->max && cache->units)
		forget_unit(cache, cache->units->prev);
}

static void count_bytes(struct unit_cache *cache, struct loaded_unit *u)
{
	cache->bytes -= u->bytes;
	u->bytes = sizeof(*u) + scope_tree_size(&u->tree) + line_table_size(&u->lines) +
		u->nr_paths * sizeof(*u->paths);
	cache->bytes += u->bytes;
}

static struct loaded_unit *use_unit(struct unit_cache *cache, struct source *source, size_t nr)
{
	struct loaded_unit *u = source->loaded[nr];

	if (u) {
		DL_DELETE(cache->units, u);
	} else {
		u = source->loaded[nr] = xcalloc(1, sizeof(*u));
		u->source = source;
		u->nr = nr;
	}
	DL_PREPEND(cache->units, u);
	return u;
}

void unit_cache_forget(struct unit_cache *cache, struct source *source)
{
	size_t i;

	for (i = 0; source->loaded && i < source->nr_units; i++)
		if (source->loaded[i])
			forget_unit(cache, source->loaded[i]);
}

struct range_source debuginfo_ranges(struct debuginfo *info, struct source *source)
{
	struct range_source ranges = {
		/* Those of split units before DWARF 5 stand in the executable. */
		.ranges = dwarf_section(&info->main.sections, DWARF_RANGES),
		.rnglists = dwarf_section(&source->sections, DWARF_RNGLISTS),
		.addr = dwarf_section(&info->main.sections, DWARF_ADDR),
		.split = source->sections.split,
	};

	return ranges;
}

static const struct abbrev_table *abbrevs_of(struct source *source, const struct dwarf_unit *unit)
{
	struct abbrev_table *t = &source->abbrevs;

	if (!t->abbrevs || t->offset != unit->abbrev ||
	    t->format.version != unit->format.version ||
	    t->format.address_size != unit->format.address_size ||
	    t->format.offset_size != unit->format.offset_size) {
		abbrev_table_release(t);
		abbrev_table_init(t, dwarf_section(&source->sections, DWARF_ABBREV), unit->abbrev,
				  unit->format);
	}
	return t;
}

struct loaded_unit *debuginfo_load_tree(struct debuginfo *info, struct source *source, size_t nr,
					bool places)
{
	struct loaded_unit *u = use_unit(info->cache, source, nr);
	const struct dwarf_unit *unit = &source->units[nr];
	struct scan_source scan;

	places |= unit->rust;
	if (u->has_tree && (!places || u->has_places))
		return u;
	scan = (struct scan_source){
		.info = dwarf_section(&source->sections, DWARF_INFO),
		.ranges = debuginfo_ranges(info, source),
		.abbrevs = abbrevs_of(source, unit),
		.with_places = places,
		.max_bytes = UNIT_BYTES_MAX,
	};
	scope_tree_release(&u->tree);
	time_limit_start(&info->limit);
	if (!time_limit_passed(&info->limit))
		scope_tree_init(&u->tree, &scan, unit, &info->limit);
	time_limit_stop(&info->limit);
	u->has_tree = true;
	u->has_places = places;
	count_bytes(info->cache, u);
	return u;
}

struct loaded_unit *debuginfo_load_lines(struct debuginfo *info, struct source *source, size_t nr)
{
	struct loaded_unit *u = use_unit(info->cache, source, nr);
	const struct dwarf_unit *unit = &source->units[nr];

	if (u->has_lines)
		return u;
	if (unit->line != DWARF_NONE) {
		struct line_source lines = {
			.line = dwarf_section(&source->sections, DWARF_LINE),
			.str = dwarf_section(&source->sections, DWARF_STR),
			.line_str = dwarf_section(&source->sections, DWARF_LINE_STR),
			.comp_dir = unit->comp_dir,
			.address_size = unit->format.address_size,
			.max_bytes = UNIT_BYTES_MAX,
		};

		time_limit_start(&info->limit);
		if (!time_limit_passed(&info->limit))
			line_table_init(&u->lines, &lines, unit->line, &info->limit);
		time_limit_stop(&info->limit);
	}
	u->has_lines = true;
	u->nr_paths = u->lines.nr_files + 1;
	u->paths = xcalloc(u->nr_paths, sizeof(*u->paths));
	count_bytes(info->cache, u);
	return u;
}

const char *debuginfo_path(struct debuginfo *info, struct loaded_unit *u, uint32_t file)
{
	if (file >= u->nr_paths)
		return NULL;
	if (!u->paths[file])
		u->paths[file] = strings_take(info->strings, line_table_path(&u->lines, file));
	return u->paths[file];
}
