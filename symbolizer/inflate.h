/* SPDX-License-Identifier: MIT */
/*
 * inflate.h - compressed bytes into memory or into a file.
 */
#ifndef HEAPSTORY_SYMBOLIZER_INFLATE_H
#define HEAPSTORY_SYMBOLIZER_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_limit;

enum inflate_method {
	INFLATE_ZLIB,
	INFLATE_ZSTD,
};

/* Where the bytes go: to memory if it is not NULL, else to fd from its start. */
struct inflate_sink {
	uint8_t *memory;
	int fd;
	uint64_t size;          /* how many there should be; more are dropped */
};

/*
 * Inflates `in`. Returns how many bytes came out, at most sink->size: fewer where the input is
 * damaged, the disk full or the time spent. Checks no ratio of sizes: real debug sections reach
 * 84:1.
 */
uint64_t inflate_bytes(enum inflate_method method, const uint8_t *in, size_t in_len,
		       const struct inflate_sink *sink, struct time_limit *limit);

/*
 * Inflates an xz stream of unknown size, of at most `max` bytes. Returns false where it is damaged
 * or larger; the caller frees *ret.
 */
bool inflate_xz(const uint8_t *in, size_t in_len, size_t max, uint8_t **ret, size_t *ret_len);

#endif
