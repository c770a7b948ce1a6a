/* SPDX-License-Identifier: MIT */
/*
 * trend.h - which groups grow over three or more snapshots of one process, how surely, how fast,
 * in what shape, and when that ends badly.
 */
#ifndef HEAPSTORY_ANALYSIS_TREND_H
#define HEAPSTORY_ANALYSIS_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/group.h"
#include "analysis/spread.h"
#include "analysis/trend_shape.h"

struct filter;
struct names;
struct series;
struct series_map;
struct snap_block;
struct snapshot;

#define TREND_MIN_SAMPLES 3u
#define TREND_NO_BLOCK	  SIZE_MAX

/* When a limit is reached if all goes on as it does. Times are seconds of the process. */
struct trend_forecast {
	bool reached; /* within what can be foreseen */
	bool faster; /* by a buffer that accelerates, in less than half the time of a line */
	double at_s;
};

struct trend_age {
	uint64_t count, bytes;
};

struct trend_row {
	uint32_t group;
	double *bytes, *count; /* by sample */
	bool changed; /* not the same in all samples */
	struct trend_view view;
	struct trend_belief belief;
	/* Of the series: the one that gained most, or where blocks are added, of the largest; 0: none. */
	uint32_t stack;
	uint64_t stack_size; /* of that block */
	uint32_t
		nr_stacks; /* that ever had live blocks; 0 where the group says nothing of stacks */
	/* Of the snapshot given to trend_add_latest(): */
	struct spread spread;
	struct trend_age *ages; /* by group_age_of(); NULL: not looked at */
	size_t grown; /* the largest block that was ever resized, or TREND_NO_BLOCK */
	uint64_t grown_size;
	double grew_s; /* when that block first grew, since the start of the process */
	struct trend_stairs stairs; /* of that block's lineage, since the first sample */
	struct trend_forecast limit; /* of the whole process, if this group alone goes on */
};

struct trend {
	struct grouping *grouping;
	struct trend_row *rows; /* the surest and fastest first, after trend_finish() */
	size_t nr_rows, alloc_rows;
	size_t nr_samples;
	double *at_s; /* since the start of the process */
	double *bytes, *count; /* totals of the rows */
	double slope; /* per second: of all rows that grow */
	struct trend_forecast limit; /* if these go on */
	struct trend_work *work;
};

/* Whether groups or filter look at blocks: the totals of stacks are not enough then. */
bool trend_needs_blocks(const struct group_options *options, const struct filter *filter);

/*
 * names are of the series' snapshot; they, the series and the filter must outlive the trend.
 * options->now_ms: what ages are counted to, in each sample.
 */
void trend_init(struct trend *trend, const struct series *series, struct names *names,
		const struct filter *filter, const struct group_options *options);
void trend_release(struct trend *trend);

/* All samples of the series, by the totals of its stacks. Not where blocks are needed. */
void trend_add_series(struct trend *trend);
/* Or sample by sample, a snapshot each, with its blocks. */
void trend_add_blocks(struct trend *trend, size_t sample, const struct snapshot *snapshot,
		      const struct series_map *map);
/* What the blocks of one snapshot, the latest there is, tell of ages and lineages. */
void trend_add_latest(struct trend *trend, const struct snapshot *snapshot, struct names *own,
		      const struct series_map *map);

/* Judges and orders. limit_bytes 0: no forecast. */
void trend_finish(struct trend *trend, uint64_t limit_bytes);

/*
 * Whether the row is one of the answer: above low confidence, or with too few samples for any
 * confidence, whatever seems to grow.
 */
bool trend_row_grows(const struct trend *trend, const struct trend_row *row);
/* Whether it is to be shown: that, or with too few samples for any confidence, all that has grown. */
bool trend_row_shown(const struct trend *trend, const struct trend_row *row);

/*
 * Whether most of the row's bytes at the end are one block that grew, `grown`, and which has been in
 * this group all the time.
 */
bool trend_row_is_buffer(const struct trend *trend, const struct trend_row *row);
/*
 * When the row first grew, in seconds of the process: for such a buffer when it first did, else the
 * first sample from which on it was always larger than before. False: it did not.
 */
bool trend_first_growth(const struct trend *trend, const struct trend_row *row, double *ret_s);

/* Size after, and time of, the next step of a row of shape TREND_DOUBLING. */
void trend_next_step(const struct trend *trend, const struct trend_row *row, double *ret_bytes,
		     double *ret_at_s);

#endif
