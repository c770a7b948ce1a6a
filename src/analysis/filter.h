/* SPDX-License-Identifier: MIT */
/*
 * filter.h - which blocks a report is about: --zone, --module, --function, --class, --thread,
 * --min, --older, --younger. All that are given have to hold.
 */
#ifndef HEAPSTORY_ANALYSIS_FILTER_H
#define HEAPSTORY_ANALYSIS_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/pattern.h"

struct names;
struct snap_block;

/* All zero lets everything pass. Strings are borrowed. */
struct filter {
	const char *zone; /* glob: zone of the block */
	const char *module; /* glob: file name or path of its site's module */
	bool has_function;
	regex_t function; /* found in the name of any frame of its stack */
	const char *function_text; /* as it was given */
	bool has_class;
	const char *class_text;
	struct pattern class;
	const char *thread; /* number or name of the thread that made it */
	uint64_t min_size;
	bool has_older, has_younger;
	uint64_t older_ms, younger_ms; /* age at least, at most */
};

/* Whether it lets everything pass. */
bool filter_is_empty(const struct filter *filter);

/* The filter at work on one snapshot; remembers its answers for each stack and thread. */
struct filter_side {
	const struct filter *filter;
	struct names *names;
	uint64_t now_ms; /* what ages are counted to */
	struct pattern_verdicts classes;
	uint8_t *stacks, *threads; /* 0: not asked yet, 1: no, 2: yes */
};

/* filter and names must outlive it. */
void filter_side_init(struct filter_side *side, const struct filter *filter, struct names *names,
		      uint64_t now_ms);
void filter_side_release(struct filter_side *side);
/* The block is one of that snapshot. */
bool filter_passes(struct filter_side *side, const struct snap_block *block);

/*
 * One line if a name of the filter fits no block of any of the snapshots, even alone, with the
 * nearest names that there are; NULL: all fit some. Caller frees.
 */
char *filter_misfit(const struct filter *filter, struct names *const *sides, size_t nr_sides);

/*
 * One line for a filter that no block passes, in any of some snapshots: which of its parts lets
 * none through even alone, with the nearest names that there are. Caller frees.
 */
char *filter_explain(const struct filter *filter, struct names *const *sides, size_t nr_sides);

#endif
