/* SPDX-License-Identifier: MIT */
/*
 * lineage.h - how a buffer grew: what the steps that a block remembers say together.
 */
#ifndef HEAPSTORY_ANALYSIS_LINEAGE_H
#define HEAPSTORY_ANALYSIS_LINEAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names;
struct snap_lineage;
struct snap_step;
struct snapshot;

struct lineage_grower {
	char *function;
	uint64_t count; /* of kept steps */
};

/*
 * factor: median of the ratios of one size to the one before it, over growth steps that follow
 * one another (born size included; the gap between the first and the latest steps is left out);
 * 0 where there is none. increment: where at least three quarters of the differences (of two or
 * more) are the same, that difference, else 0.
 * growers: functions of the innermost program frame at which the stacks of the steps differ, most
 * steps first; where they never differ, the one function at which they part from the stack of the
 * birth, or the site's if they do not. Wrappers of allocators do not count.
 * elsewhere: some growth came through another function than the birth, or through several.
 */
struct lineage_shape {
	double factor;
	uint64_t increment;
	struct lineage_grower *growers;
	size_t nr_growers;
	bool elsewhere;
};

/* Of a lineage of the snapshot that names are of. */
void lineage_shape_init(struct lineage_shape *shape, const struct snap_lineage *lineage,
			struct names *names);
/* The same where its steps are elsewhere. */
void lineage_shape_of(struct lineage_shape *shape, const struct snap_lineage *lineage,
		      const struct snap_step *steps, struct names *names);
void lineage_shape_release(struct lineage_shape *shape);

#endif
