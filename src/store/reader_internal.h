/* SPDX-License-Identifier: MIT */
/*
 * reader_internal.h - what the files that read a store share: image_check.c, image.c, reader.c.
 */
#ifndef HEAPSTORY_STORE_READER_INTERNAL_H
#define HEAPSTORY_STORE_READER_INTERNAL_H

#include "store/reader.h"

/* ---- image_check.c ---- */

/* Elements of an array that have been handed out and have pages. */
uint64_t image_array_count(const struct hs_array *a);
/* That all elements below the count lie within the file: 0, or -HS_E_FORMAT. */
int image_check_array(const struct store_image *image, unsigned int array, const struct hs_array *a,
		      struct hs_error *err);
/* That this is a store which we can read, its arrays included: 0, -HS_E_FORMAT, -HS_E_VERSION. */
int image_check_header(const struct store_image *image, struct hs_error *err);

/* ---- image.c ---- */

/*
 * Opens a store into which a program has begun to record: all of *ret but the copy. To be released
 * in any case. *ret_writable: whether its program may be frozen. 0 or -HS_E_*.
 */
int image_open(const char *path, struct store_image *ret, bool *ret_writable, struct hs_error *err);
/* All len bytes at off, or -HS_E_*: the file may have been cut short meanwhile. */
int image_read_at(const struct store_image *image, void *buf, uint64_t len, uint64_t off,
		  struct hs_error *err);
/* The header as it is now, checked. 0 or -HS_E_*. */
int image_read_header(struct store_image *image, struct hs_error *err);
/*
 * Makes room for that many bytes; what was there is lost if there was less. touched: it has its
 * pages already, so that no fault happens while the program is held up. Out of memory is fatal.
 */
void image_array_room(struct store_array *a, uint64_t bytes, bool touched);

#endif
