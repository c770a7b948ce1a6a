/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - whether a diff passes: --exit-code, --fail-above.
 */
#ifndef HEAPSTORY_CLI_VERDICT_H
#define HEAPSTORY_CLI_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/group.h"

struct diff;
struct names;
struct snapshot;

struct verdict_options {
	bool wanted;
	bool across; /* also over different processes */
	bool has_limit;
	uint64_t limit; /* bytes */
};

/*
 * With a limit a diff fails where the whole or any one group grew by more than that; without, where
 * any group grew in bytes or blocks at all. What shrank makes up for nothing.
 */
struct verdict {
	bool failed;
	char *text; /* one line */
};

/*
 * Why the snapshots allow no verdict, as "recording had stopped when AFTER was taken"; NULL: they
 * do. Caller frees.
 */
char *verdict_obstacle(const struct snapshot *before, const struct snapshot *after,
		       const struct verdict_options *options);

/* names: of BEFORE and AFTER; by: what the diff is grouped by. */
void verdict_init(struct verdict *verdict, const struct diff *diff, struct names *const names[2],
		  enum group_by by, const struct verdict_options *options);
void verdict_release(struct verdict *verdict);

#endif
