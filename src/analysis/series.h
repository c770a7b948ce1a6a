/* SPDX-License-Identifier: MIT */
/*
 * series.h - the live totals of every stack at many moments of one process, buffers that grew at
 * the stack by which they first grew (growth_totals.h).
 *
 * Samples come from snapshots and from lines of a timeline. Modules, nodes, stacks and threads of
 * all of them are put together by content into one snapshot without blocks, so that names and
 * groups are looked up once, not once for each sample. What is kept of a sample is what changed
 * since the one before.
 */
#ifndef HEAPSTORY_ANALYSIS_SERIES_H
#define HEAPSTORY_ANALYSIS_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_error;
struct snap_block;
struct snap_module;
struct snapshot;

struct series_change {
	uint32_t stack;
	uint64_t count, bytes; /* live from now on */
};

struct series_sample {
	uint64_t at_ms; /* since the start of the process */
	uint64_t count, bytes; /* live, blocks without a stack too */
	size_t first, nr; /* changes */
};

struct series {
	/*
	 * What the numbers below mean: modules, nodes, stacks, threads, class words; no blocks, no
	 * totals. Who and when is of the latest snapshot that was given to series_describe().
	 */
	struct snapshot *all;
	struct series_sample *samples;
	struct series_change *changes;
	size_t nr_samples, nr_changes;
	struct series_tables *tables;
};

void series_init(struct series *series);
void series_release(struct series *series);

/* Takes process, command, image and times from a snapshot. */
void series_describe(struct series *series, const struct snapshot *snapshot);

/* ---- numbers ---- */

/* A module, told from others by path and build id; what is given first of it is copied. */
uint32_t series_module(struct series *series, const struct snap_module *module);
/* A node; pc is that in the module's file, or an address or enum hs_pseudo_pc without a module. */
uint32_t series_node(struct series *series, uint32_t parent, uint32_t module, uint64_t pc,
		     bool signal);
/* The stack that ends in a node; 0 for node 0. */
uint32_t series_stack(struct series *series, uint32_t node);

/* The numbers here of a snapshot's own: by stack, thread, class word. Caller frees. */
uint32_t *series_map_stacks(struct series *series, const struct snapshot *snapshot);
uint32_t *series_map_threads(struct series *series, const struct snapshot *snapshot);
uint32_t *series_map_words(struct series *series, const struct snapshot *snapshot);

/* All three, for series_block(). */
struct series_map {
	uint32_t *stacks, *threads, *words;
};

void series_map_init(struct series_map *map, struct series *series,
		     const struct snapshot *snapshot);
void series_map_release(struct series_map *map);
/* A block of the snapshot with the numbers of the series, its stack as it is. */
struct snap_block series_block(const struct series_map *map, const struct snap_block *block);

/* ---- samples, one after the other in the order of time ---- */

void series_begin(struct series *series, uint64_t at_ms);
/* Adds to what a stack has live in the sample. */
void series_put(struct series *series, uint32_t stack, uint64_t count, uint64_t bytes);
void series_end(struct series *series);
/*
 * All of that with the totals of a snapshot, be it one to stream. 0, or -HS_E_* and nothing is added.
 */
int series_add(struct series *series, const struct snapshot *snapshot, struct hs_error *err);

#endif
