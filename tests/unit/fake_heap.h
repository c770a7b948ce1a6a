/* SPDX-License-Identifier: MIT */
/*
 * fake_heap.h - a made-up process whose heap is changed event by event, and snapshots of it.
 *
 * Its stacks have numbers that stay (`struct fake_block.stack`); in each snapshot modules, nodes,
 * stacks and threads are numbered anew and differently, as in snapshots of real programs.
 */
#ifndef HEAPSTORY_TESTS_FAKE_HEAP_H
#define HEAPSTORY_TESTS_FAKE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/names.h"
#include "analysis/snapshot.h"

#define FAKE_STACKS  24u /* 1 .. FAKE_STACKS - 1; 0: no stack */
#define FAKE_THREADS 5u /* 1 .. FAKE_THREADS - 1 */

/* A block as the made-up process knows it. */
struct fake_block {
	uint64_t address, size, serial, birth_ms;
	uint32_t stack, thread;
	uint32_t born_stack, growth_stack; /* of its first resizing; before that, of its birth */
	uint64_t born_size, nr_steps;
};

struct fake_heap {
	uint64_t random; /* state */
	uint64_t now_ms, next_serial;
	struct fake_block *blocks;
	size_t nr, alloc;
	uint8_t image;
};

void fake_heap_init(struct fake_heap *heap, uint64_t seed);
void fake_heap_release(struct fake_heap *heap);
uint64_t fake_heap_random(struct fake_heap *heap, uint64_t below);
/* A malloc, free or realloc of some kind. */
void fake_heap_event(struct fake_heap *heap);
/* Adds a block; its place in heap->blocks. */
size_t fake_heap_add(struct fake_heap *heap, uint64_t size, uint32_t stack, uint32_t thread);
/* Caller: snapshot_free(). shuffle: another numbering for each value. */
struct snapshot *fake_heap_snapshot(const struct fake_heap *heap, uint32_t shuffle);

/* A names_lookup of the functions that the stacks go through. */
size_t fake_heap_lookup(void *context, const struct snapshot *snapshot, uint32_t module,
			uint64_t address, const struct name_frame **ret);

/* What groups a stack has to fall into; static strings, or of a ring of buffers. */
const char *fake_heap_function(uint32_t stack);
const char *fake_heap_module(uint32_t stack);
const char *fake_heap_site(uint32_t stack);
const char *fake_heap_thread(uint32_t thread);

#endif
