/* SPDX-License-Identifier: MIT */
/*
 * where.h - the choice of the folder that stores are made in. Offline side.
 */
#ifndef HEAPSTORY_STORE_WHERE_H
#define HEAPSTORY_STORE_WHERE_H

#include <limits.h>
#include <stdbool.h>

struct hs_error;

struct store_where {
	char folder[PATH_MAX]; /* absolute */
	bool on_tmpfs;
	bool in_dir; /* it is the output folder itself */
};

/*
 * Chooses the folder for the stores of a program whose output folder is `dir` (which exists; NULL:
 * there is none). `asked` is what the user said (--store DIR), or NULL: then it is /dev/shm where
 * that has room and no memory limit is near, else dir, unless that is a file system on which a
 * shared mapping is slow or unsafe (NFS, SMB, FUSE, 9p and the like). 0 or -HS_E_*: the text says
 * what was in the way of each.
 */
int store_where(const char *dir, const char *asked, struct store_where *ret, struct hs_error *err);

#endif
