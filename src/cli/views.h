/* SPDX-License-Identifier: MIT */
/*
 * views.h - columns and lines that the text of several commands has in common.
 */
#ifndef HEAPSTORY_CLI_VIEWS_H
#define HEAPSTORY_CLI_VIEWS_H

#include "analysis/group.h"
#include "reports/report.h"

/* The last column of a table of groups. */
const struct report_column *view_group_column(enum group_by by);

/* Beneath a row: its stack, a frame a line. */
void view_full_stack(struct report *report, const json_t *row);

/* Above the first row of a zone: its name and totals.zones of it. */
void view_zone_title(struct report *report, const json_t *row);

/* Behind the rows of a diff: what its rules left out, from totals.ignored. */
void view_ignored(struct report *report, const json_t *ignored);

/* Behind the table of `heap`: the first of its suspects; nothing where there are none. */
void view_suspects(struct report *report, const json_t *suspects);

/* Beneath nothing: all of a row of `largest`. */
void view_block(struct report *report, const json_t *row);

#endif
