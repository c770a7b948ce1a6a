/* SPDX-License-Identifier: MIT */
/*
 * reader.h - the offline side of the store: copies what a running or a dead program left in it.
 *
 * The store is never trusted: sizes and places are checked against the file before they are used,
 * and it is read with pread, so that a file that shrinks underneath gives an error and no signal.
 * Only the control page is mapped, to freeze a running program (see struct hs_control).
 */
#ifndef HEAPSTORY_STORE_READER_H
#define HEAPSTORY_STORE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/format.h"

struct copier;
struct hs_error;

/* Copy of one array: elements [0, count), each of the size that format.h gives it. */
struct store_array {
	void *data; /* own mapping, page aligned; NULL if count is 0 */
	uint64_t count;
	size_t mapped; /* bytes */
};

/*
 * A store as it was at one moment. The copies are the caller's: analysis may write to them (it
 * sorts the records where they lie).
 */
struct store_image {
	int fd; /* the store, for strings */
	struct copier *copier; /* reads arrays; only while copying */
	char *path;
	uint64_t file_size;
	struct hs_header header;
	struct hs_control control;
	struct hs_messages messages;
	struct store_array arrays[HS_NR_ARRAYS];
	bool alive; /* its process ran when it was copied */
	bool consistent; /* nothing was written while it was copied */
	uint32_t attempts; /* freezes it took; 0: none was needed */
	uint32_t nr_stuck; /* threads read as they stood, in the middle of a change */
	uint64_t taken_ms; /* since the tracer's start; of a dead one: the last time it shows */
	uint64_t held_ns; /* how long the program was held up */
};

/*
 * Whether the file begins as a store does. A file that cannot be opened or read is -HS_E_SYSTEM;
 * otherwise 0, with *ret_is_store.
 */
int store_is_store(const char *path, bool *ret_is_store, struct hs_error *err);

/*
 * Copies the store at path, freezing its program for a moment if that runs. Takes a few seconds
 * at the very most, whatever the program and other readers do. 0 or -HS_E_*; on success the
 * caller releases the image.
 */
int store_image_read(const char *path, struct store_image *ret, struct hs_error *err);
/* Gives everything back. Harmless on an image that is all zero but for fd == -1. */
void store_image_release(struct store_image *image);

/*
 * Calls back for the class words that the tracer left at a regular exit, some at a time; what is
 * damaged ends it early.
 */
void store_image_words(const struct store_image *image,
		       void (*each)(void *context, const struct hs_word *words, size_t nr),
		       void *context);

/*
 * Calls back for the records as they are now, some at a time, in no consistent state: only what
 * one record says of itself can be used. A store that cannot be read any more ends it early.
 */
void store_image_records_now(const struct store_image *image,
			     void (*each)(void *context, const struct hs_record *records, size_t nr),
			     void *context);

/* The string at a place, a copy for free(); "" for place 0. -HS_E_FORMAT if there is none. */
int store_image_string(const struct store_image *image, uint64_t off, char **ret,
		       struct hs_error *err);

/* Size of an element of this array as format.h has it. */
uint32_t store_elem_size(unsigned int array);
/* "records", "nodes", "cells of shard 3", ...; returns ret. */
const char *store_array_name(unsigned int array, char ret[static 32]);

#endif
