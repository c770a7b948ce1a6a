/* SPDX-License-Identifier: MIT */
/*
 * clock.h - times as nanoseconds, and the time on the clock that only runs on.
 */
#ifndef HEAPSTORY_UTIL_CLOCK_H
#define HEAPSTORY_UTIL_CLOCK_H

#include <stdint.h>

struct timespec;

uint64_t timespec_ns(const struct timespec *time);

/* CLOCK_MONOTONIC; a signal handler may ask too. */
uint64_t monotonic_ns(void);

#endif
