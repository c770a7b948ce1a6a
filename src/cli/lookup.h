/* SPDX-License-Identifier: MIT */
/*
 * lookup.h - the bridge from the modules of a snapshot to the symbolizer, which knows no snapshots.
 */
#ifndef HEAPSTORY_CLI_LOOKUP_H
#define HEAPSTORY_CLI_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lookup;
struct name_frame;
struct snapshot;
struct symbolizer;

/* Both must outlive it. */
struct lookup *lookup_new(const struct snapshot *snapshot, struct symbolizer *symbolizer);
void lookup_free(struct lookup *lookup);

/* A names_lookup (analysis/names.h) with a struct lookup as context. */
size_t lookup_names(void *lookup, const struct snapshot *snapshot, uint32_t module,
		    uint64_t address, const struct name_frame **ret);

/* A names_vtable, with the same context. */
const char *lookup_vtable(void *lookup, const struct snapshot *snapshot, uint32_t module,
			  uint64_t address);

/* One line why a module that was asked about has no names, or NULL. */
const char *lookup_problem(const struct lookup *lookup, uint32_t module);

/* Whether only the process that runs still has the module's file: see symbolizer_file_lost(). */
bool lookup_file_lost(const struct snapshot *snapshot, uint32_t module);

#endif
