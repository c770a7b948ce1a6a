/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - the file `timeline` of an output folder: per-stack totals at each snapshot.
 *
 * Text, one JSON object a line, only appended to until it outgrows its budget; a line without its
 * newline was cut by a kill and does not count. Two kinds of lines:
 *
 *   {"timeline":1,"pid":P,"generation":G,"image":HEX,"comm":"C","start":"WALL"}
 *       begins a section: all numbers below start anew. One for each process image, and wherever
 *       one writer (the supervisor, `heapstory snap`) goes on behind another.
 *   {"snapshot":"0001.hs","s":S,"wall":"WALL","count":N,"bytes":N,"born_count":N,"born_bytes":N,
 *    "peak_bytes":N,"modules":[[PATH,BUILD_ID,BIAS,DEV,INODE],…],"nodes":[[PARENT,MODULE,OFFSET],…],
 *    "stacks":[[NODE,COUNT,BYTES,BORN_COUNT,BORN_BYTES],…]}
 *       one for each snapshot. `modules` and `nodes` are those that no earlier line of the section
 *       had and that `stacks` need; they are numbered from 1 in the order in which they stand.
 *       PARENT is the node of the caller's frame, 0 for the outermost; MODULE 0 is none, OFFSET
 *       then an address, or 1 or 2 where the stack was cut (enum hs_pseudo_pc). A node of four
 *       members, the last being 1, was interrupted there, not called from there. `stacks` are those
 *       whose live totals changed since the line before; a stack that was never named has none.
 *       COUNT and BYTES have a buffer that grew where it first grew (growth_totals.h), the BORN ones
 *       each call where it was.
 *
 * The section is whole by itself: it stays good when snapshots of it are removed. When the file
 * outgrows its budget, it is written anew without some of its lines, never the first and the
 * latest, so that the others span the time evenly.
 */
#ifndef HEAPSTORY_CLI_TIMELINE_H
#define HEAPSTORY_CLI_TIMELINE_H

#include <stdint.h>

struct hs_error;
struct snapshot;
struct timeline;

/* The timeline has this share of the budget for snapshots (--keep) on top of it. */
#define TIMELINE_SHARE 32u

/*
 * For the file at path, which is opened by the first timeline_add(). budget: bytes that the file
 * may have, 0: no limit. Never fails.
 */
struct timeline *timeline_new(const char *path, uint64_t budget);
/* NULL is fine. */
void timeline_free(struct timeline *t);

/*
 * Appends a snapshot under this name. 0 or -HS_E_SYSTEM; the file then ends with a whole line all
 * the same, and the next line begins a section.
 */
int timeline_add(struct timeline *t, const struct snapshot *snapshot, const char *name,
		 struct hs_error *err);

#endif
