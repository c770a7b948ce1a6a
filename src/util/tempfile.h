/* SPDX-License-Identifier: MIT */
/*
 * tempfile.h - an output file that appears whole or not at all: written aside, then renamed.
 *
 * Where the file system can, the file has no name until it is finished, so that a killed writer
 * leaves nothing behind. What is not a regular file (/dev/null, a pipe) is written to as it is.
 * Mode 0600: snapshots tell addresses.
 */
#ifndef HEAPSTORY_UTIL_TEMPFILE_H
#define HEAPSTORY_UTIL_TEMPFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_error;

struct tempfile {
	int fd; /* -1: none */
	char *path; /* where it will be; links have been followed */
	char *temp; /* name until then; NULL: has none */
	char *shown; /* path as the user gave it, for messages */
	bool direct; /* written in place */
};

#define TEMPFILE_INIT                       \
	{                                   \
		-1, NULL, NULL, NULL, false \
	}

/* Starts a file for path. 0 or -HS_E_SYSTEM. Then either tempfile_commit() or tempfile_abort(). */
int tempfile_open(struct tempfile *t, const char *path, struct hs_error *err);
/* Adds bytes at the end; a short write is an error. */
int tempfile_write(struct tempfile *t, const void *bytes, size_t len, struct hs_error *err);
/* Gives the file its name, replacing what was there, and releases t, also on failure. */
int tempfile_commit(struct tempfile *t, struct hs_error *err);
/* Drops the file and releases t. Harmless after commit and on TEMPFILE_INIT. */
void tempfile_abort(struct tempfile *t);

#endif
