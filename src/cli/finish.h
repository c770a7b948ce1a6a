/* SPDX-License-Identifier: MIT */
/*
 * finish.h - the stores of a program that is gone find their last place: a regular file in the
 * output folder, no larger than what was used.
 */
#ifndef HEAPSTORY_CLI_FINISH_H
#define HEAPSTORY_CLI_FINISH_H

#include <stdint.h>

struct hs_error;

/* What the finished stores of a folder tell. */
struct finish_result {
	uint64_t nr_untraced; /* children that nobody followed */
	uint32_t nr_stores; /* that a tracer wrote to */
	uint32_t nr_unused; /* that no tracer came to; they were removed */
	uint32_t stop_reason; /* enum hs_stop of the newest that was stopped */
	uint64_t stopped_ms; /* when that was, after the tracer's start */
};

/*
 * Moves each store of the folder (store.live and store.N of earlier generations) into it. A store
 * that cannot be moved stays where it is, and the link to it as well: -HS_E_* then says so, after
 * the others have been seen to. *ret is set in any case.
 */
int finish_stores(const char *dir, struct finish_result *ret, struct hs_error *err);

#endif
