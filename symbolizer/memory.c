/* SPDX-License-Identifier: MIT */
/*
 * memory.c - what earlier runs found of one module; see memory.h.
 *
 * A second run over the same addresses opens the module's files only to see that they are the same,
 * and makes frames of what it is asked for, in one place again and again: to keep them all took
 * longer than to make them anew.
 */
#include "symbolizer/memory.h"

#include <elf.h>
#include <stdlib.h>

#include "symbolizer/debugfile.h"
#include "symbolizer/debuginfo.h"
#include "symbolizer/elf.h"
#include "symbolizer/symbolizer.h"
#include "util/alloc.h"

static void add_file(struct buffer *source, const struct elf_file *elf, bool found)
{
	buffer_add_byte(source, found);
	buffer_add_u64(source, found ? elf->size : 0);
}

/*
 * Which files names come from. Each has the build id that it should have, so their sizes tell what
 * was stripped from them. Empty where there is no file, or another one's in its place, which is to be
 * said in each run: then nothing is kept.
 */
static void describe_files(const struct symbolizer_module *module, const struct debug_dirs *dirs,
			   struct buffer *ret)
{
	struct elf_file own, debug, alt, *dwarf;
	bool has_own, has_debug = false, has_alt;
	char *problem = NULL, *misfit = NULL;

	elf_init(&own);
	elf_init(&debug);
	elf_init(&alt);
	has_own = module_file_open(dirs, module, &own, &problem);
	if (!has_own || !elf_section_of_type(&own, SHT_SYMTAB) || !debuginfo_in(&own))
		has_debug = debug_file_open(dirs, module, has_own ? &own : NULL, &debug, &misfit);
	dwarf = has_own && debuginfo_in(&own) ? &own : &debug;
	has_alt = (has_own || has_debug) && alt_file_open(dirs, dwarf, &alt, NULL);
	if ((has_own || has_debug) && !misfit) {
		add_file(ret, &own, has_own);
		add_file(ret, &debug, has_debug);
		add_file(ret, &alt, has_alt);
	}
	elf_release(&own);
	elf_release(&debug);
	elf_release(&alt);
	free(problem);
	free(misfit);
}

void memory_recall(struct memory *memory, const struct cache *cache,
		   const struct symbolizer_module *module, const struct debug_dirs *dirs)
{
	memory->asked = true;
	if (module->build_id_len && cache->folder >= 0)
		describe_files(module, dirs, &memory->source);
	memory->key = (struct cache_key){module->build_id, module->build_id_len,
					 memory->source.data, memory->source.len};
	if (!memory->source.len)
		return;
	cache_load(cache, &memory->key, &memory->known);
}

bool memory_find(struct memory *memory, uint64_t address, size_t *ret_nr,
		 const struct name_frame **ret)
{
	const struct name_map *map = &memory->known.map;
	size_t chain = name_map_find(map, address), first = 0;

	if (chain == NAME_MAP_NONE)
		return false;
	*ret_nr = name_map_chain(map, chain, &first);
	memory->frames = xgrow(memory->frames, &memory->nr_alloc, *ret_nr, sizeof(*memory->frames));
	for (size_t i = 0; i < *ret_nr; i++)
		memory->frames[i] = name_map_frame(map, first + i);
	*ret = memory->frames;
	return true;
}

void memory_add(struct memory *memory, uint64_t address, const struct name_frame *frames, size_t nr)
{
	if (memory->source.len)
		name_table_add(&memory->added, 0, address, frames, nr);
}

void memory_keep(struct memory *memory, const struct cache *cache)
{
	if (memory->source.len)
		cache_save(cache, &memory->key, &memory->added);
}

void memory_release(struct memory *memory)
{
	buffer_clear(&memory->source);
	cached_names_release(&memory->known);
	name_table_release(&memory->added);
	free(memory->frames);
}
