/* SPDX-License-Identifier: MIT */
/*
 * group.h - which group a block belongs to, by site, stack, thread, ...
 *
 * A grouping works on one snapshot or on two at once. Numbers of stacks, modules and threads mean
 * nothing in another snapshot, so groups are told apart by content: names, build id (or path) of
 * modules with offsets in them, thread ids. The same content is the same group on both sides.
 */
#ifndef HEAPSTORY_ANALYSIS_GROUP_H
#define HEAPSTORY_ANALYSIS_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names;
struct snap_block;

enum group_by {
	GROUP_SITE,
	GROUP_STACK, /* by return addresses */
	GROUP_CLASS, /* class of the block, names_class() */
	GROUP_FUNCTION, /* function of the site */
	GROUP_FILE, /* source file of the site */
	GROUP_MODULE, /* file name of the site's module */
	GROUP_ZONE,
	GROUP_THREAD, /* that made the block */
	GROUP_SIZE,
	GROUP_AGE,
};

struct group_options {
	enum group_by by;
	bool split_sizes; /* each size of block is a group of its own */
	bool split_zones; /* each zone too */
	uint64_t now_ms; /* what ages are counted to */
};

struct group {
	char *key; /* for people and JSON */
	char *zone; /* NULL: blocks of several zones, or not known by stack */
	bool is_class; /* the key is a class */
	bool has_size;
	uint64_t size; /* of its blocks, with split_sizes and GROUP_SIZE */
	uint64_t order; /* of ages: youngest first */
	uint32_t kinds; /* of its blocks so far: 1u << enum block_kind each */
};

/* The groups of GROUP_AGE, youngest first: how many, the one of an age, its key ("1m to 10m"). */
size_t group_age_count(void);
size_t group_age_of(uint64_t age_ms);
const char *group_age_key(size_t age);

struct grouping;

/* Options are copied. Caller: grouping_free(). */
struct grouping *grouping_new(const struct group_options *options);
void grouping_free(struct grouping *grouping);

/* Adds a snapshot; returns its side: 0, then 1. names must outlive the grouping. */
uint32_t grouping_add(struct grouping *grouping, struct names *names);

/* Number of the group of a block of a side: 0, 1, ..., as groups are met. */
uint32_t grouping_of(struct grouping *grouping, uint32_t side, const struct snap_block *block);

/* Number of the group of a stack; only where grouping_by_stack(). */
uint32_t grouping_of_stack(struct grouping *grouping, uint32_t side, uint32_t stack);

/* Whether the stack alone decides about the group; ask after the last grouping_add(). */
bool grouping_by_stack(const struct grouping *grouping);

/* Whether a block goes from group to group as it grows, or gets older. */
bool grouping_is_passed_through(const struct grouping *grouping);

/* Valid until the next grouping_of(). */
const struct group *grouping_get(const struct grouping *grouping, uint32_t group);

/* Order by key, then size: for rows that are equal otherwise. As strcmp. */
int grouping_compare(const struct grouping *grouping, uint32_t a, uint32_t b);

#endif
