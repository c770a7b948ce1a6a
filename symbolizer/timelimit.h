/* SPDX-License-Identifier: MIT */
/*
 * timelimit.h - how much CPU time the reading of one file may take.
 *
 * A damaged file may ask for work without end (lists that many refer to, tables inside tables);
 * whoever works on it in a loop asks now and then whether it is enough.
 */
#ifndef HEAPSTORY_SYMBOLIZER_TIMELIMIT_H
#define HEAPSTORY_SYMBOLIZER_TIMELIMIT_H

#include <stdbool.h>
#include <stdint.h>

struct time_limit {
	uint64_t left_ns;       /* CPU time of the thread that may still be spent */
	uint64_t started_ns;    /* by the outermost time_limit_start() */
	unsigned int depth;
	bool passed;            /* for good */
};

/* From here to time_limit_stop() the time counts; may be nested. */
void time_limit_start(struct time_limit *limit);
void time_limit_stop(struct time_limit *limit);

/* Whether it is enough. Asks the kernel: some 200 ns, so not for each byte. */
bool time_limit_passed(struct time_limit *limit);

#endif
