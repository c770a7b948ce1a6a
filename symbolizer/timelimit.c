/* SPDX-License-Identifier: MIT */
/*
 * timelimit.c - how much CPU time the reading of one file may take; see timelimit.h.
 */
#include "symbolizer/timelimit.h"

#include <time.h>

#include "util/clock.h"

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return timespec_ns(&now);
}

void time_limit_start(struct time_limit *limit)
{
	if (!limit->depth++)
		limit->started_ns = now_ns();
}

bool time_limit_passed(struct time_limit *limit)
{
	if (!limit->passed && limit->depth && now_ns() - limit->started_ns > limit->left_ns)
		limit->passed = true;
	return limit->passed;
}

void time_limit_stop(struct time_limit *limit)
{
	uint64_t spent;

	if (--limit->depth)
		return;
	spent = now_ns() - limit->started_ns;
	limit->left_ns = spent < limit->left_ns ? limit->left_ns - spent : 0;
	if (!limit->left_ns)
		limit->passed = true;
}
