/* SPDX-License-Identifier: MIT */
/*
 * rows_trend.h - from a trend to the JSON values of its report, and from these to text.
 */
#ifndef HEAPSTORY_REPORTS_ROWS_TREND_H
#define HEAPSTORY_REPORTS_ROWS_TREND_H

#include <jansson.h>
#include <stdint.h>

struct names;
struct report;
struct trend;
struct trend_row;

/* The limit of forecasts: 0: none. `what` says whose it is: "limit of the cgroup". */
struct trend_limit {
	uint64_t bytes;
	const char *what;
};

/*
 * names: of the series' snapshot. latest: of the snapshot that ages and lineages are from, or NULL.
 * Return new references.
 */
json_t *rows_trend(const struct trend *trend, const struct trend_row *row, struct names *names,
		   struct names *latest, const struct trend_limit *limit);
json_t *rows_trend_totals(const struct trend *trend, struct names *names,
			  const struct trend_limit *limit);

/* Text: the lines beneath a row; all that grows, and what does not, behind the table. */
void text_trend_row(struct report *report, const json_t *row);
void text_trend_end(struct report *report, const json_t *totals);

#endif
