/* SPDX-License-Identifier: MIT */
/*
 * clock.c - see clock.h.
 */
#include "util/clock.h"

#include <time.h>

uint64_t timespec_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return timespec_ns(&ts);
}
