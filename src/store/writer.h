/* SPDX-License-Identifier: MIT */
/*
 * writer.h - the tracer's side of the store: mapping it, growing its arrays.
 *
 * Runs in the traced program. One store per process. Nothing here allocates or moves; growth is
 * by new extents of the file, which get their pages before they are used.
 */
#ifndef HEAPSTORY_STORE_WRITER_H
#define HEAPSTORY_STORE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/format.h"

#define STORE_MIN_SHARE (UINT64_C(4) << 20)
#define STORE_WITHHOLD_SPARE (UINT64_C(64) << 20)

/* The store of this process. base is NULL until store_attach() succeeded. */
struct store {
	char *base;
	struct hs_header *header;
	struct hs_control *control;
	struct hs_messages *messages;
	uint64_t mapped;        /* bytes, from base; shrinks with `lock` held */
	uint32_t lock;          /* reserving of room, growth of any array, giving back */
	uint32_t nr_withheld;   /* calls of store_withhold() without their store_restore(); with lock */
	uint64_t withheld_from; /* bytes from base: no access beyond while nr_withheld */
	uint64_t withheld_cap;  /* header.cap as it was before */
	bool no_populate;       /* kernel without MADV_POPULATE_WRITE: file space was taken ahead */
};
extern struct store store;

/*
 * Maps the store in the file at path, which must be ours, in HS_STATE_NEW and of this version,
 * and gives its first pages memory. The descriptor is closed again. 0 or -errno. Where the whole
 * cap can't be mapped, or is more than store_share() of RLIMIT_AS, less is, and header.cap says so.
 */
long store_attach(const char *path);

/*
 * In a fork child: takes the new store at path (made by store_create) as its own, filled with all
 * that the present store holds, at the same address. Whoever writes the present store must be
 * waiting. copied() is called when the present store is not needed any more, also on failure;
 * false from it says that the writer did not wait for so long, so the copy is no good (-EAGAIN).
 * 0 or -errno; on failure the present store stays mapped.
 */
long store_clone(const char *path, bool (*copied)(void));

/*
 * Bytes that the store may take of an address space that is limited to so many (RLIMIT_AS): what
 * it takes, the program lacks. A limit of UINT64_MAX is none.
 */
static inline uint64_t store_share(uint64_t limit)
{
	uint64_t share = limit / 16;

	return limit == UINT64_MAX ? limit : share > STORE_MIN_SHARE ? share : STORE_MIN_SHARE;
}

/*
 * Gives address space back for good: what is in use stays, and `spare` bytes for what comes; when
 * these are full, recording stops (HS_STOP_CAP). Any thread, any time; others may be reserving.
 */
void store_shrink(uint64_t spare);

/*
 * Takes access to the unused end of the store away, but for STORE_WITHHOLD_SPARE bytes, so that the
 * kernel gives it no pages when all of the process is to be locked into memory; recording stops
 * if it needs more meanwhile. store_restore() gives the access back and unlocks the store; false
 * from store_withhold() says that it must not be called. Any thread, several at a time.
 */
bool store_withhold(void);
void store_restore(void);

/*
 * In a fork child that is not traced, where nobody uses the store: gives back all but the header,
 * the control and the messages. The parent's is not touched.
 */
void store_leave(void);

/* Now, in units of HS_TICK_MS since the tracer's start; saturates. */
uint32_t store_tick(void);

/* Recording ends for good; the reason is kept for the reports. Any thread, any time. */
void store_stop(enum hs_stop why);

/* True while events are to be recorded: also while one thread tries an exec, which may fail. */
static inline bool store_recording(void)
{
	uint32_t state = __atomic_load_n(&store.header->state, __ATOMIC_RELAXED);

	return state == HS_STATE_RECORDING || state == HS_STATE_EXECED;
}

/*
 * Takes a short lock of the tracer's, with signals blocked. False: whoever has it does not come back
 * with it. Then recording has stopped, and nobody waits again. store_unlock() in either case.
 */
bool store_lock(uint32_t *word, uint64_t *ret_mask);
void store_unlock(uint32_t *word, bool locked, uint64_t mask);

/* Counts a loss; takes one back that did not come to be. */
void store_lost(enum hs_lost why);
void store_not_lost(enum hs_lost why);

/* Reserves size bytes of the file, aligned to align (a power of two), with pages. Returns the
 * offset, or 0 after store_stop() if there is no room. */
uint64_t store_reserve(size_t size, size_t align);

/* Keeps a string in the store; its offset, or 0. */
uint64_t store_string(const char *text, size_t len);

/* Milliseconds since header.start_ns, by the coarse clock. */
uint64_t store_now_ms(void);

/* Makes the numbers [first, first + n) of an array usable, first being the return value; 0 if
 * there is no room (recording was stopped). Number 0 of every array is taken at attach. */
uint64_t store_take(enum hs_array_id id, uint64_t n);

/* Makes sure that element nr has pages; for arrays that are indexed by another's numbers. */
bool store_ensure(uint32_t id, uint64_t nr);

/* Address of element nr, which must be ready. */
static inline void *store_place(uint32_t id, uint64_t nr)
{
	const struct hs_array *a = &store.header->arrays[id];
	uint32_t k = hs_array_extent(a->shift, nr);

	return store.base + a->extent[k] + (nr - hs_array_first(a->shift, k)) * a->elem_size;
}

/* The same with constants for the compiler: id, element type, shift as in create.c. */
#define STORE_PLACE(id, type, array_shift, nr)                                                     \
	((type *)(store.base +                                                                     \
		  store.header->arrays[id].extent[hs_array_extent(array_shift, nr)]) +             \
	 ((nr) - hs_array_first(array_shift, hs_array_extent(array_shift, nr))))

static inline struct hs_record *store_record(uint32_t nr)
{
	return STORE_PLACE(HS_ARRAY_RECORDS, struct hs_record, HS_SHIFT_RECORDS, (uint64_t)nr);
}

static inline struct hs_lineage *store_lineage(uint32_t nr)
{
	return STORE_PLACE(HS_ARRAY_LINEAGES, struct hs_lineage, HS_SHIFT_LINEAGES, (uint64_t)nr);
}

static inline struct hs_long_lineage *store_long_lineage(uint32_t nr)
{
	return STORE_PLACE(HS_ARRAY_LONG_LINEAGES, struct hs_long_lineage, HS_SHIFT_LONG_LINEAGES,
			   (uint64_t)nr);
}

static inline struct hs_node *store_node(uint32_t nr)
{
	return STORE_PLACE(HS_ARRAY_NODES, struct hs_node, HS_SHIFT_NODES, (uint64_t)nr);
}

static inline struct hs_stack *store_stack(uint32_t nr)
{
	return STORE_PLACE(HS_ARRAY_STACKS, struct hs_stack, HS_SHIFT_STACKS, (uint64_t)nr);
}

/* The cell of a stack in a shard, made ready if need be; NULL if there is no room. */
static inline struct hs_cell *store_cell(uint32_t shard, uint32_t stack)
{
	uint32_t id = HS_ARRAY_CELLS + shard;

	if (__builtin_expect(stack >= __atomic_load_n(&store.header->arrays[id].ready,
						      __ATOMIC_ACQUIRE), 0) &&
	    !store_ensure(id, stack))
		return NULL;
	return STORE_PLACE(id, struct hs_cell, HS_SHIFT_CELLS, (uint64_t)stack);
}

#endif
