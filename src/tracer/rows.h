/* SPDX-License-Identifier: MIT */
/*
 * rows.h - how to get from a frame to its caller's: one word for each code address.
 *
 * A row says where the canonical frame address (CFA: the stack pointer after the return) of the
 * frame is, and where the return address and the caller's frame pointer were saved. Rows are made
 * lazily from .eh_frame, found through .eh_frame_hdr in place, and kept in one process-wide cache.
 *
 * A row is looked up by a key: the return address - 1 (a byte of the call instruction), or the
 * address itself where the frame was interrupted by a signal. Key and row together fill exactly
 * 64 bits beside the index, so an entry is read and written whole, without a lock.
 */
#ifndef HEAPSTORY_TRACER_ROWS_H
#define HEAPSTORY_TRACER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct module_unwind;

typedef uint64_t row_t;

/* Bits 0..2 of a row. A row is never 0. */
enum row_type {
	ROW_SP, /* CFA = stack pointer + offset */
	ROW_FP, /* CFA = frame pointer + offset */
	ROW_DEREF, /* CFA = *(frame pointer + offset); frame pointer saved relative to itself */
	ROW_SIGNAL, /* the frame by which a signal handler returns */
	ROW_END, /* outermost frame */
	ROW_NONE, /* code without unwind data */
	ROW_BAD, /* something that a row can't express */
	ROW_LEAF, /* aarch64: CFA = stack pointer, all in registers; beside it a row would be 0 */
};

/*
 * x86-64: type 3, CFA offset / 8 20 (signed), frame pointer 9: 0 not saved, n: at CFA - 8 n; of a
 * ROW_DEREF: at frame pointer + 8 (n - 256). The return address is at CFA - 8.
 *
 * aarch64: type 3, CFA offset / 8 17 (signed), return address 12: at CFA - 8 n, 0: still in x30;
 * frame pointer 2: 0 not saved, 1 below the return address, 2 above it. Keys are instructions.
 */
#ifdef __aarch64__
#define ROW_CFA_BITS  17
#define ROW_RA_BITS   12
#define ROW_FP_BITS   2
#define ROW_KEY_SHIFT 2
#define ROW_KEY_BITS  46
#else
#define ROW_CFA_BITS  20
#define ROW_RA_BITS   0
#define ROW_FP_BITS   9
#define ROW_KEY_SHIFT 0
#define ROW_KEY_BITS  47
#endif

#define ROW_BITS       (3 + ROW_CFA_BITS + ROW_RA_BITS + ROW_FP_BITS)
#define ROW_INDEX_BITS (ROW_KEY_BITS - (64 - ROW_BITS))
#define ROW_KEY_MASK   ((UINT64_C(1) << ROW_KEY_BITS) - 1)
#define ROW_TAG_MASK   ((UINT64_C(1) << (64 - ROW_BITS)) - 1)
#define ROW_KEY_FACTOR UINT64_C(0x9e3779b97f4a7c15)

static inline enum row_type row_type(row_t row)
{
	return (enum row_type)(row & 7);
}

/* Bytes. */
static inline intptr_t row_cfa_offset(row_t row)
{
	return (intptr_t)((int64_t)(row << (64 - 3 - ROW_CFA_BITS)) >> (64 - ROW_CFA_BITS)) * 8;
}

/* Units of 8 bytes below the CFA; 0: in a register (aarch64). */
static inline uintptr_t row_ra(row_t row)
{
#ifdef __aarch64__
	return (row >> (3 + ROW_CFA_BITS)) & ((1u << ROW_RA_BITS) - 1);
#else
	(void)row;
	return 1;
#endif
}

static inline uintptr_t row_fp(row_t row)
{
	return (row >> (3 + ROW_CFA_BITS + ROW_RA_BITS)) & ((1u << ROW_FP_BITS) - 1);
}

/*
 * The cache: entries of tag and row, direct-mapped by the upper bits of a bijective mix of the
 * key. NULL: there is none, each row is made anew.
 */
struct rows_cache {
	uint64_t *entries;
	uint32_t generation; /* one more with each rows_forget() */
};
extern struct rows_cache rows_cache;

/* Maps the cache. Once, before any other thread. */
void rows_start(void);

/* Slow path of rows_get(). */
row_t rows_miss(uintptr_t key);

/* The row of a key. */
static inline row_t rows_get(uintptr_t key)
{
	uint64_t mix = ((key >> ROW_KEY_SHIFT) * ROW_KEY_FACTOR) & ROW_KEY_MASK;
	uint64_t *entries = rows_cache.entries;
	uint64_t entry;

	if (!entries || key >> (ROW_KEY_BITS + ROW_KEY_SHIFT))
		return rows_miss(key);
	entry = __atomic_load_n(&entries[mix >> (64 - ROW_BITS)], __ATOMIC_RELAXED);
	if ((entry >> ROW_BITS) != (mix & ROW_TAG_MASK))
		return rows_miss(key);
	entry &= (UINT64_C(1) << ROW_BITS) - 1;
	return entry ? entry : rows_miss(key);
}

/*
 * Empties the cache: code was unloaded. Other threads may be filling it at the same moment; a row
 * that one of them began to make before this call does not stay in it.
 */
void rows_forget(void);

/* Where unwind data may be read: the readable segments of one module. */
#define ROWS_NR_SPANS 8
struct rows_image {
	uintptr_t eh_frame_hdr; /* address of the table's header */
	uint32_t nr_spans;
	struct rows_span {
		uintptr_t start, end;
	} spans[ROWS_NR_SPANS];
};

/* What of a module may be read, by its program headers. False: not known. */
bool rows_image(const struct module_unwind *module, struct rows_image *ret_image);

/*
 * Makes the row of a key from unwind data, reading only within the image's spans. Any bytes may
 * stand there: damaged data gives some row, mostly ROW_BAD.
 */
row_t rows_parse(const struct rows_image *image, uintptr_t key);

#endif
