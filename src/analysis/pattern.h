/* SPDX-License-Identifier: MIT */
/*
 * pattern.h - which blocks `--addresses` lists:
 *
 *      pattern := "all" | [ class-regex ] [ "[" size "]" ]
 *      size    := N | LO "-" HI | LO "+" | LO "-" | "-" HI     with k, m, g, t (1024)
 *
 * Sizes are those asked for; bounds belong to the range. The regular expression is a POSIX extended
 * one, and the whole class (names_class()) has to fit it.
 */
#ifndef HEAPSTORY_ANALYSIS_PATTERN_H
#define HEAPSTORY_ANALYSIS_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/nearest.h"

struct hs_error;
struct names;
struct snap_block;

struct pattern {
	uint64_t low, high;
	bool has_class; /* else every class fits */
	regex_t class;
	char *class_text; /* as it was given */
};

/* What a pattern says of classes, each asked once; for one struct names. All zero is none yet. */
struct pattern_verdict;
struct pattern_verdicts {
	struct pattern_verdict *all;
};

void pattern_verdicts_release(struct pattern_verdicts *verdicts);

/* 0, then pattern_release(); or -HS_E_USAGE. */
int pattern_parse(const char *text, struct pattern *ret, struct hs_error *err);
/* Harmless on one that is all zero. */
void pattern_release(struct pattern *pattern);

/* The block is one of the snapshot of names, which the verdicts are for. */
bool pattern_matches(const struct pattern *pattern, struct pattern_verdicts *verdicts,
		     struct names *names, const struct snap_block *block);

/*
 * For a pattern that fits nothing: the classes most like it, if none fits its class; else the
 * nearest sizes of live blocks of its class below and above. All zero is nothing yet;
 * nearest_release() of its classes.
 */
struct pattern_nearest {
	bool fits; /* some block does after all */
	bool class_fits; /* some block's does; the classes are of no use then */
	uint64_t below, above; /* sizes */
	size_t nr_below, nr_above; /* blocks of exactly these; 0: none */
	struct nearest classes;
};

/* Looks at all blocks of a snapshot, too. */
void pattern_nearest_add(const struct pattern *pattern, struct names *names,
			 struct pattern_nearest *nearest);
/*
 * "no block matches 'TEXT'; the nearest sizes are 40 (1) and 201 (3)"; text: the pattern. NULL:
 * some block fits. Caller frees.
 */
char *pattern_nearest_text(const struct pattern_nearest *nearest, const char *text);

#endif
