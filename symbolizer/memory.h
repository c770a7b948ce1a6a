/* SPDX-License-Identifier: MIT */
/*
 * memory.h - what earlier runs found of one module, and what this one adds for later ones.
 */
#ifndef HEAPSTORY_SYMBOLIZER_MEMORY_H
#define HEAPSTORY_SYMBOLIZER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/cache.h"
#include "util/buffer.h"
#include "util/name_table.h"

struct debug_dirs;
struct symbolizer_module;

/* All zero: nothing is known, and nothing is kept. */
struct memory {
	bool asked;
	struct buffer source;            /* which files names come from; empty: nothing is kept */
	struct cache_key key;
	struct cached_names known;
	struct name_frame *frames;       /* of known, found last */
	size_t nr_alloc;
	struct name_table added;
};

/*
 * Looks for what earlier runs found of a module by the files that are there now, to which only as
 * much is asked as tells them from others. The module's build id must outlive the memory.
 */
void memory_recall(struct memory *memory, const struct cache *cache,
		   const struct symbolizer_module *module, const struct debug_dirs *dirs);

/*
 * Whether an earlier run asked for this address; then *ret_nr is the number of its frames, which
 * are at *ret until the next call; their strings live as long as the memory.
 */
bool memory_find(struct memory *memory, uint64_t address, size_t *ret_nr,
		 const struct name_frame **ret);

/* Notes what was found now; for memory_keep(). */
void memory_add(struct memory *memory, uint64_t address, const struct name_frame *frames, size_t nr);

/* Keeps for later runs what was noted. */
void memory_keep(struct memory *memory, const struct cache *cache);

void memory_release(struct memory *memory);

#endif
