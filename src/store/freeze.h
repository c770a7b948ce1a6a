/* SPDX-License-Identifier: MIT */
/*
 * freeze.h - the reader's side of the protocol of struct hs_control: hold a running program still
 * between two changes of its table. For the reader, and for who switches the mode.
 */
#ifndef HEAPSTORY_STORE_FREEZE_H
#define HEAPSTORY_STORE_FREEZE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/format.h"

struct hs_error;

struct freezer {
	int fd; /* of the store, open for writing; borrowed */
	struct hs_control *control; /* mapped shared */
	void *map;
	size_t map_size;
	bool locked; /* holds flock(LOCK_EX) on fd */
	bool fenced; /* HS_STORE_FENCED */
	bool doubtful; /* no fence could be had: a change may go unseen */
	uint32_t seq; /* of the freeze that is on */
	uint64_t since_ns; /* when it was set */
};

/*
 * Maps the control page and waits for its turn among readers, 3 seconds at most. 0 or -HS_E_*.
 * freezer_release() gives everything back, also after a failure.
 */
int freezer_init(struct freezer *f, int fd, uint32_t store_flags, const char *path,
		 struct hs_error *err);
void freezer_release(struct freezer *f);
/* Maps the control page only, without taking a turn. */
int freezer_map(struct freezer *f, int fd, const char *path, struct hs_error *err);

/* Sets the freeze. Threads begin no change from now on; those in the middle of one finish it. */
void freezer_set(struct freezer *f);
/*
 * Ends the freeze and wakes the waiting threads. True if it was in force all the time: nothing
 * that had no `in` flag set was written between freezer_set() and now.
 */
bool freezer_clear(struct freezer *f);

#endif
