/* SPDX-License-Identifier: MIT */
/*
 * numbered.h - snapshots 0001.hs, 0002.hs, ... of an output folder, which several writers may be
 * after at once: the supervisor and any number of `heapstory snap`.
 */
#ifndef HEAPSTORY_CLI_NUMBERED_H
#define HEAPSTORY_CLI_NUMBERED_H

#include <stdint.h>

struct hs_error;
struct snapshot;

#define NUMBERED_NAME_LEN 16u

/* "0001.hs"; returns ret. */
char *numbered_name(uint32_t number, char ret[static NUMBERED_NAME_LEN]);

/* Number of such a name, else 0. */
uint32_t numbered_number(const char *name);

/*
 * Writes the snapshot under the first number from `from` on that nobody has, and never over a
 * file that is there. from 0: behind the highest number that is there, as lower ones may be free
 * because the snapshots of earlier moments were thinned out. label may be NULL. 0 and the number,
 * or -HS_E_* and nothing left behind.
 */
int numbered_write(const struct snapshot *snapshot, const char *dir, const char *label,
		   uint32_t from, uint32_t *ret_number, struct hs_error *err);

#endif
