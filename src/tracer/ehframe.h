/* SPDX-License-Identifier: MIT */
/*
 * ehframe.h - entries of .eh_frame in the memory of the program, read within bounds.
 *
 * Nothing in it is trusted: reads stay inside an image's spans and every loop is bounded by them.
 */
#ifndef HEAPSTORY_TRACER_EHFRAME_H
#define HEAPSTORY_TRACER_EHFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rows_image;

/* A cursor in unwind data. Reads past the end give 0 and set `bad`. */
struct span {
	const uint8_t *p, *end;
	bool bad;
};

void span_skip(struct span *s, uint64_t size);
uint8_t span_u8(struct span *s);
uint16_t span_u16(struct span *s);
uint32_t span_u32(struct span *s);
uint64_t span_u64(struct span *s);
uint64_t span_uleb(struct span *s);
int64_t span_sleb(struct span *s);
/* A pointer in this encoding; `data` is what data-relative ones are relative to. */
uintptr_t span_pointer(struct span *s, uint8_t encoding, uintptr_t data);

/* What is common to the entries of many functions. */
struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_reg;
	uint8_t fde_encoding;
	bool has_augmentation; /* 'z' */
	bool signal; /* 'S': frames of signal handlers' return */
	struct span program; /* initial instructions */
};

/* The entry of one function. */
struct fde {
	struct cie cie;
	uintptr_t start, end; /* the code that it describes */
	struct span program; /* instructions */
};

/*
 * Searches .eh_frame_hdr for the entry that holds address key. 1: found. 0: none does, and
 * *ret_next is the start of the first function behind key, 0 if there is none. -1: the data is
 * damaged or of a form not known.
 */
int ehframe_find(const struct rows_image *image, uintptr_t key, struct fde *ret_fde,
		 uintptr_t *ret_next);

/*
 * The search table of .eh_frame_hdr: *ret_nr pairs of int32_t (code, entry), relative to the
 * header's address and sorted by code. False: there is none of that form.
 */
bool ehframe_table(const struct rows_image *image, uintptr_t *ret_at, uint64_t *ret_nr);

#endif
