/* SPDX-License-Identifier: MIT */
/*
 * debuginfo.c - the DWARF of one module; see debuginfo.h.
 *
 * Offline only. Units are found by the ranges of their first DIEs and not by .debug_aranges, which
 * clang does not write. Where several units have an address (folded functions) the first one in
 * the file gets it.
 */
#include "symbolizer/debuginfo_internal.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/debugfile.h"
#include "symbolizer/dwarf.h"
#include "symbolizer/dwarf_names.h"
#include "symbolizer/split.h"
#include "util/alloc.h"
#include "util/buffer.h"

#define TIME_LIMIT_NS UINT64_C(60000000000) /* 2 s read all that 600 MB of DWARF have */

/* ---- files ------------------------------------------------------------------------------- */

/* The addresses that the values in its first DIE stand for. */
static void resolve_low(const struct range_source *ranges, struct dwarf_unit *unit)
{
	unit->low_pc = DWARF_NONE;
	if (unit->low.kind == FORM_ADDRESS)
		unit->low_pc = unit->low.value;
	else if (unit->low.kind == FORM_ADDRESS_INDEX &&
		 !range_address(ranges, unit, unit->low.value, &unit->low_pc))
		unit->low_pc = DWARF_NONE;
}

/* Gives it the sections of a file, none of which is read yet. */
static void source_init(struct debuginfo *info, struct source *source, struct elf_file *elf,
			bool split)
{
	elf_init(&source->own);
	source->elf = elf ? elf : &source->own;
	dwarf_sections_init(&source->sections, source->elf, &info->limit, split);
}

/* What is kept of its units, which are known by now. */
static void source_prepare(struct debuginfo *info, struct source *source)
{
	source->loaded = xcalloc(source->nr_units + 1, sizeof(*source->loaded));
	source->dies = (struct die_source){
		.sections = &source->sections,
		.units = source->units,
		.nr_units = source->nr_units,
		.limit = &info->limit,
		.alt = info->alt.file && source != &info->alt ? &info->alt.dies : NULL,
	};
}

/* Reads the units of source->elf; false where there are none. */
static bool source_read(struct debuginfo *info, struct source *source, struct dwarf_sections *alt)
{
	struct range_source ranges;
	size_t i;

	source->file = dwarf_file_open(&source->sections, alt);
	if (!source->file)
		return false;
	source->nr_units = dwarf_file_units(source->file, &source->units);
	source_prepare(info, source);
	ranges = debuginfo_ranges(info, source);
	for (i = 0; i < source->nr_units; i++)
		resolve_low(&ranges, &source->units[i]);
	return true;
}

static void source_release(struct debuginfo *info, struct source *source)
{
	unit_cache_forget(info->cache, source);
	free(source->loaded);
	free(source->units);
	dwarf_file_close(source->file);
	die_source_release(&source->dies);
	abbrev_table_release(&source->abbrevs);
	dwarf_sections_release(&source->sections);
	elf_release(&source->own);
}

/* Which unit has which addresses. */
static void map_units(struct debuginfo *info)
{
	struct range_source ranges = debuginfo_ranges(info, &info->main);
	struct ranges all = { 0 };
	size_t i;

	all.max = UNIT_BYTES_MAX / sizeof(*all.all);
	for (i = 0; i < info->main.nr_units && i < RANGE_NOBODY; i++) {
		const struct dwarf_unit *unit = &info->main.units[i];
		uint32_t owner = (uint32_t)(info->main.nr_units - 1 - i);
		uint64_t high = unit->high.value;

		if (unit->has_ranges) {
			ranges_read(&all, &ranges, unit, unit->ranges, owner);
			continue;
		}
		if (unit->low_pc == DWARF_NONE || unit->high.kind == FORM_OTHER)
			continue;
		if (unit->high.kind == FORM_CONSTANT)
			high += unit->low_pc;
		else if (unit->high.kind == FORM_ADDRESS_INDEX &&
			 !range_address(&ranges, unit, unit->high.value, &high))
			continue;
		ranges_add(&all, unit->low_pc, high, owner);
	}
	range_map_init(&info->units, &all);
	ranges_release(&all);
}

bool debuginfo_in(struct elf_file *elf)
{
	struct dwarf_sections sections;

	dwarf_sections_init(&sections, elf, NULL, false);
	return dwarf_has_section(&sections, DWARF_INFO) &&
		dwarf_has_section(&sections, DWARF_ABBREV);
}

struct debuginfo *debuginfo_open(struct elf_file *elf, const char *path,
				 const struct debug_dirs *dirs, struct unit_cache *cache,
				 struct strings *strings)
{
	struct debuginfo *info = xcalloc(1, sizeof(*info));
	bool ok;

	info->path = path;
	info->dirs = dirs;
	info->cache = cache;
	info->strings = strings;
	info->limit.left_ns = TIME_LIMIT_NS;
	source_init(info, &info->main, elf, false);
	source_init(info, &info->alt, NULL, false);
	time_limit_start(&info->limit);
	if (alt_file_open(dirs, elf, &info->alt.own, &info->alt_problem))
		source_read(info, &info->alt, NULL);
	ok = source_read(info, &info->main,
			 info->alt.file ? &info->alt.sections : NULL);
	if (ok) {
		info->splits = xcalloc(info->main.nr_units + 1, sizeof(*info->splits));
		map_units(info);
	}
	time_limit_stop(&info->limit);
	if (!ok) {
		debuginfo_close(info);
		return NULL;
	}
	return info;
}

void debuginfo_close(struct debuginfo *info)
{
	size_t i;

	if (!info)
		return;
	for (i = 0; i < info->nr_split_sources; i++) {
		source_release(info, info->split_sources[i]);
		free(info->split_sources[i]);
	}
	free(info->split_sources);
	free(info->splits);
	source_release(info, &info->main);
	source_release(info, &info->alt);
	range_map_release(&info->units);
	free(info->alt_problem);
	free(info->frames);
	free(info);
}

const char *debuginfo_alt_problem(const struct debuginfo *info)
{
	return info->alt_problem;
}

bool debuginfo_timed_out(const struct debuginfo *info)
{
	return info->limit.passed;
}

const char *debuginfo_lost_split(const struct debuginfo *info)
{
	return info->lost_split;
}

bool debuginfo_is_split(const struct debuginfo *info)
{
	size_t i;

	for (i = 0; i < info->main.nr_units; i++)
		if (info->splits[i].looked_for)
			return true;
	return false;
}

void debuginfo_set_limit(struct debuginfo *info, uint64_t cpu_ns)
{
	info->limit.left_ns = cpu_ns;
}

/* ---- split DWARF ------------------------------------------------------------------------- */

static struct source *new_split_source(struct debuginfo *info)
{
	struct source *source = xcalloc(1, sizeof(*source));

	source_init(info, source, NULL, true);
	info->split_sources = xgrow(info->split_sources, &info->alloc_split_sources,
				    info->nr_split_sources + 1, sizeof(*info->split_sources));
	info->split_sources[info->nr_split_sources++] = source;
	return source;
}

/* The unit of that id gets from the skeleton what only the executable knows. */
static bool find_split(struct source *source, const struct dwarf_unit *skeleton,
		       struct split_unit *ret)
{
	size_t i;

	for (i = 0; i < source->nr_units; i++) {
		struct dwarf_unit *unit = &source->units[i];

		if (unit->dwo_id != skeleton->dwo_id)
			continue;
		unit->addr_base = skeleton->addr_base;
		unit->ranges_base = skeleton->ranges_base;
		unit->low_pc = skeleton->low_pc;
		ret->source = source;
		ret->nr = i;
		return true;
	}
	return false;
}

static void open_package(struct debuginfo *info)
{
	struct source *source = new_split_source(info);
	size_t i;

	info->looked_for_package = true;
	if (!package_file_open(info->path, info->main.elf->path, &source->own))
		return;
	source->nr_units = package_units(&source->sections, &source->units);
	source_prepare(info, source);
	for (i = 0; i < source->nr_units; i++)
		dwarf_unit_language(&source->units[i],
				    die_language((struct die_place){ &source->dies,
								     source->units[i].die }));
	info->package = source;
}

static const struct split_unit *split_of(struct debuginfo *info, size_t nr)
{
	const struct dwarf_unit *unit = &info->main.units[nr];
	struct split_unit *split = &info->splits[nr];
	struct source *source;

	if (!unit->dwo_name || split->looked_for)
		return split;
	split->looked_for = true;
	time_limit_start(&info->limit);
	if (!info->looked_for_package)
		open_package(info);
	if (!info->package || !find_split(info->package, unit, split)) {
		source = new_split_source(info);
		if (split_file_open(unit, info->path, &source->own) &&
		    source_read(info, source, NULL))
			find_split(source, unit, split);
	}
	if (!split->source && !info->lost_split)
		info->lost_split = unit->dwo_name;
	time_limit_stop(&info->limit);
	return split;
}

/* ---- look-ups ---------------------------------------------------------------------------- */

static struct debug_frame *add_frame(struct debuginfo *info)
{
	struct debug_frame *frame;

	info->frames = xgrow(info->frames, &info->alloc_frames, info->nr_frames + 1,
			     sizeof(*info->frames));
	frame = &info->frames[info->nr_frames++];
	memset(frame, 0, sizeof(*frame));
	return frame;
}

/* The scope that has the address and those it is inlined into; each one's place is in the next. */
static void add_scopes(struct debuginfo *info, struct loaded_unit *tree, struct loaded_unit *lines,
		       uint64_t address)
{
	const struct dwarf_unit *unit = &tree->source->units[tree->nr];
	const struct scope *scope = scope_tree_find(&tree->tree, address);
	struct line line = { 0 };
	bool known = line_table_find(&lines->lines, address, &line);

	if (!scope && !known)
		return;
	for (;;) {
		struct debug_frame *frame = add_frame(info);

		frame->rust = unit->rust;
		frame->cplusplus = unit->cplusplus;
		if (known) {
			frame->path = debuginfo_path(info, lines, line.file);
			frame->line = line.line;
			frame->column = line.column;
		}
		if (!scope)
			return;
		frame->function = (struct die_place){
			scope->alt ? tree->source->dies.alt : &tree->source->dies, scope->die
		};
		frame->inlined = scope->inlined;
		line = (struct line){ scope->call_file, scope->call_line, scope->call_column };
		known = scope->inlined;
		scope = scope_parent(&tree->tree, scope);
		if (!scope)
			return;
	}
}

size_t debuginfo_lookup(struct debuginfo *info, uint64_t address, const struct debug_frame **ret)
{
	uint32_t owner = range_map_find(&info->units, address);
	struct loaded_unit *lines, *tree;
	const struct split_unit *split;
	size_t nr;

	info->nr_frames = 0;
	if (owner == RANGE_NOBODY)
		return 0;
	nr = info->main.nr_units - 1 - owner;
	unit_cache_trim(info->cache);
	split = split_of(info, nr);
	lines = debuginfo_load_lines(info, &info->main, nr);
	tree = split->source ? debuginfo_load_tree(info, split->source, split->nr, false) :
			       debuginfo_load_tree(info, &info->main, nr, false);
	if (split->source && split->source != info->package)
		elf_close(&split->source->own); /* all of it that is read is mapped by now */
	add_scopes(info, tree, lines, address);
	*ret = info->frames;
	return info->nr_frames;
}

/* ---- names of scopes --------------------------------------------------------------------- */

static struct source *source_of(struct debuginfo *info, const struct die_source *dies)
{
	size_t i;

	if (dies == &info->main.dies)
		return &info->main;
	if (dies == &info->alt.dies)
		return &info->alt;
	for (i = 0; i < info->nr_split_sources; i++)
		if (&info->split_sources[i]->dies == dies)
			return info->split_sources[i];
	return NULL;
}

#define SCOPES_MAX 64u          /* scopes in a name; one that has more helps nobody */

/* Name of a scope; those without one are called as demanglers do. */
static const char *place_name(struct source *source, const struct scope_place *place,
			      const char *inside)
{
	const char *name = die_name((struct die_place){ &source->dies, place->die });

	if (name)
		return name;
	if (place->tag == DW_TAG_namespace)
		return "(anonymous namespace)";
	return !strcmp(inside, "operator()") ? "{lambda}" : "{unnamed type}";
}

char *debuginfo_scope_name(struct debuginfo *info, const struct die_names *names)
{
	struct source *source = source_of(info, names->declared.source);
	const char *parts[SCOPES_MAX], *inside = names->name;
	struct buffer text = { 0 };
	struct loaded_unit *u;
	size_t nr = 0, unit;
	uint32_t place;

	if (!source || !names->name)
		return NULL;
	unit = die_source_unit(&source->dies, names->declared.die);
	if (unit < source->nr_units) {
		u = debuginfo_load_tree(info, source, unit, true);
		place = scope_place_find(&u->tree, names->declared.die);
		while (place != SCOPE_NONE && nr < SCOPES_MAX) {
			place = u->tree.places[place].parent;
			if (place == SCOPE_NONE)
				break;
			inside = place_name(source, &u->tree.places[place], inside);
			parts[nr++] = inside;
		}
	}
	while (nr--) {
		buffer_add_string(&text, parts[nr]);
		buffer_add_string(&text, "::");
	}
	buffer_add_string(&text, names->name);
	return buffer_detach(&text);
}
