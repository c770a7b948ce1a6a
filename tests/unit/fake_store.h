/* SPDX-License-Identifier: MIT */
/*
 * fake_store.h - builds stores as format.h describes them, without a tracer, for tests of what
 * reads them. Everything it makes is well formed; tests damage it through `base`.
 */
#ifndef HEAPSTORY_TESTS_FAKE_STORE_H
#define HEAPSTORY_TESTS_FAKE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/format.h"

struct fake_store {
	char *path;
	char *base; /* the file, mapped shared */
	uint64_t cap;
	struct hs_header *header;
	struct hs_control *control;
	struct hs_messages *messages;
};

/* A store at path whose process (pid 0x7ffffff0) does not run. Aborts the test if it cannot. */
struct fake_store *fake_store_new(const char *path, uint64_t cap);
/* Unmaps; removes the file if `remove`. */
void fake_store_free(struct fake_store *f, bool remove);
/* Says that its process is pid, which runs. */
void fake_store_live(struct fake_store *f, pid_t pid);

/* Address of an element; makes room and raises count and ready if need be. */
void *fake_place(struct fake_store *f, unsigned int array, uint64_t nr);
/* Places n new elements at the end of an array; the number of the first. */
uint64_t fake_take(struct fake_store *f, unsigned int array, uint64_t n);
uint64_t fake_string(struct fake_store *f, const char *s);

uint32_t fake_module(struct fake_store *f, const char *path, uint64_t start, uint64_t len);
/* A new node, even if there is one alike. */
uint32_t fake_node(struct fake_store *f, uint32_t parent, uint64_t pc, uint32_t module);
uint32_t fake_stack(struct fake_store *f, uint32_t node);
/* Slot of a new thread; shard is the slot's number modulo HS_NR_SHARDS, 0 left out. */
uint32_t fake_thread(struct fake_store *f, uint32_t tid, const char *name);
struct hs_thread *fake_slot(struct fake_store *f, uint32_t slot);

/* A block of `size` bytes, committed, with its totals; usable is rounded up to 16, + 8. Its record. */
uint32_t fake_block(struct fake_store *f, uint64_t address, uint64_t size, uint32_t stack,
		    uint32_t slot, uint32_t birth_ticks);
struct hs_record *fake_record(struct fake_store *f, uint32_t nr);
/* The death of a block, totals too. */
void fake_free_block(struct fake_store *f, uint32_t record);
/*
 * realloc of a block where it lies: its first gives it a lineage, the fifth a long one. Adds a
 * step if it grows.
 */
void fake_resize(struct fake_store *f, uint32_t record, uint64_t size, uint32_t stack,
		 uint32_t ticks);
struct hs_cell *fake_cell(struct fake_store *f, uint32_t shard, uint32_t stack);

/* A module, two stacks, two threads and three blocks, one of them resized: something to start from. */
void fake_small(struct fake_store *f);

#endif
