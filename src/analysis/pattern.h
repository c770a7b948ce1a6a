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

bool pattern_matches(const struct pattern *pattern, struct pattern_verdicts *verdicts,
		     struct names *names, const struct snap_block *block);

#define PATTERN_NR_NAMES 3u

/*
 * For a pattern that fits nothing: the classes most like it, if none fits its class; else the
 * nearest sizes of live blocks of its class below and above. 0, NULL: none.
 */
struct pattern_nearest {
	uint64_t below, above; /* sizes */
	size_t nr_below, nr_above; /* blocks of exactly these */
	const char *classes[PATTERN_NR_NAMES]; /* of names */
};

void pattern_nearest(const struct pattern *pattern, struct names *names,
		     struct pattern_nearest *ret);

#endif
