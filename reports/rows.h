/* SPDX-License-Identifier: MIT */
/*
 * rows.h - from results of the analysis to the JSON values of a report: frames, lineages, blocks,
 * groups, target and coverage. Members and their order are those that the manual pages list.
 */
#ifndef HEAPSTORY_REPORTS_ROWS_H
#define HEAPSTORY_REPORTS_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff;
struct diff_row;
struct diff_sums;
struct group;
struct heap;
struct heap_row;
struct ignore;
struct names;
struct snap_block;
struct snapshot;

/* All return a new reference. */

/* Frames of a stack, innermost first; *ret_cut: "depth", "caller" or null. */
json_t *rows_stack(struct names *names, uint32_t stack, json_t **ret_cut);

/* null for a block that was never resized. */
json_t *rows_lineage(struct names *names, const struct snap_block *block);

/* Row of `largest`, `heap --addresses` and (with events) `history`. */
json_t *rows_block(struct names *names, const struct snap_block *block);

/* Row of `heap`. */
json_t *rows_heap(const struct heap *heap, const struct heap_row *row, struct names *names);

/* per: operations between the snapshots, 0: not told. names: of BEFORE and AFTER. */
json_t *rows_diff(const struct diff *diff, const struct diff_row *row, struct names *const names[2],
		  double per);
json_t *rows_diff_totals(const struct diff *diff, double per);
/* What fell under the rules, in all and by rule; null without rules. */
json_t *rows_diff_ignored(const struct diff *diff, const struct ignore *ignore);

/* The kind of a group's blocks; "all" where there are both. */
const char *rows_group_kind(const struct group *group);

/* Who and when. */
json_t *rows_target(const struct snapshot *snapshot);
json_t *rows_coverage(const struct snapshot *snapshot);
/* Where no snapshot is left to tell: its members are null, without notes. */
json_t *rows_coverage_unknown(void);
/* Coverage of a diff: the weaker of both where there is a choice; notes of both. */
json_t *rows_coverage_of_two(const struct snapshot *before, const struct snapshot *after);
/* Adds a line to the notes of a coverage. */
void rows_add_note(json_t *coverage, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Milliseconds after the tracer's start as seconds after that of the process. */
double rows_seconds(const struct snapshot *snapshot, uint64_t ms);

#endif
