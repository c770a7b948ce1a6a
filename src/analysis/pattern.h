/* SPDX-License-Identifier: MIT */
/*
 * pattern.h - which blocks `--addresses` lists:
 *
 *      pattern := "all" | [ class-regex ] [ "[" size "]" ]
 *      size    := N | LO "-" HI | LO "+" | LO "-" | "-" HI     with k, m, g, t (1024)
 *
 * Sizes are those asked for; bounds belong to the range. Blocks have no class in this version: a
 * class-regex other than ".*" is refused.
 */
#ifndef HEAPSTORY_ANALYSIS_PATTERN_H
#define HEAPSTORY_ANALYSIS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_error;
struct snapshot;

struct pattern {
	uint64_t low, high;
};

/* 0 or -HS_E_USAGE. */
int pattern_parse(const char *text, struct pattern *ret, struct hs_error *err);

bool pattern_matches(const struct pattern *pattern, uint64_t size);

/* For a pattern that fits nothing: the nearest sizes of live blocks below and above; 0: none. */
struct pattern_nearest {
	uint64_t below, above; /* sizes */
	size_t nr_below, nr_above; /* blocks of exactly these */
};

void pattern_nearest(const struct pattern *pattern, const struct snapshot *snapshot,
		     struct pattern_nearest *ret);

#endif
