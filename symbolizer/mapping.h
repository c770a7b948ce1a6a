/* SPDX-License-Identifier: MIT */
/*
 * mapping.h - parts of files mapped for reading, which may shrink meanwhile, and files without a
 * name for what is too large for memory.
 */
#ifndef HEAPSTORY_SYMBOLIZER_MAPPING_H
#define HEAPSTORY_SYMBOLIZER_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	const uint8_t *data;    /* NULL: nothing is mapped */
	size_t len;
	void *base;             /* of whole pages, with one page of zeros behind them */
	size_t base_len;
	void *guard;            /* its entry among those that a SIGBUS is checked against */
};

/*
 * Maps len > 0 bytes at offset, shared with the page cache: no private memory. At least one 0 byte
 * can be read behind them, though not at once. Where the file is cut short while it is mapped, the
 * rest reads as zeros: a handler of SIGBUS stands behind it. False if it cannot be mapped.
 */
bool mapping_open(struct mapping *map, int fd, uint64_t offset, size_t len);

/* Harmless on one that is all zero; it is all zero again. */
void mapping_close(struct mapping *map);

/*
 * A file without a name, in $TMPDIR, /var/tmp or /tmp, else in memory; -1: none. It goes away
 * with its descriptor and mappings.
 */
int mapping_temporary(void);

#endif
