/* SPDX-License-Identifier: MIT */
/*
 * thin.h - fewer moments out of many, spread evenly over the time.
 */
#ifndef HEAPSTORY_ANALYSIS_THIN_H
#define HEAPSTORY_ANALYSIS_THIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which of nr moments, ascending, to keep: `want` at most (2 at least), the first and the last
 * among them; all if there are no more. Sets ret_keep[i] of each.
 */
void thin_evenly(const uint64_t *at, size_t nr, size_t want, bool *ret_keep);

/*
 * Which of nr moments to leave out next, one that is neither first nor last: the one whose
 * neighbours are closest together in time. nr >= 3.
 */
size_t thin_next(const uint64_t *at, size_t nr);

#endif
