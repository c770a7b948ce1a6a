/* SPDX-License-Identifier: MIT */
/*
 * samples.h - the moments that a trend is over: snapshots that were named, and what is in the
 * folders that were named, snapshots and timeline.
 *
 * The snapshot of a folder that was taken when the program had ended is left out where three others
 * are left: on its way out a program frees what it had all its life.
 *
 * Moments of one process image only, the latest one that has enough. A moment that both a
 * snapshot and the timeline tell of is one. Where there are very many, some are left out evenly.
 */
#ifndef HEAPSTORY_CLI_SAMPLES_H
#define HEAPSTORY_CLI_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/kind.h"
#include "analysis/series.h"
#include "cli/timeline_log.h"

struct hs_error;

/*
 * More moments than this say no more, but take time: the slopes of all pairs are looked at, in each
 * group.
 */
#define SAMPLES_MOST 256u

#define UNKNOWN_MS UINT64_MAX

/* One moment. Either a snapshot or a line of a timeline, or both. */
struct sample {
	uint8_t image[32];
	uint64_t at_ms; /* since the start of the process */
	uint64_t wall_ms;
	uint64_t recorded_ms; /* snapshot_recorded_ms(); UNKNOWN_MS where only a timeline tells of it */
	char *name; /* file name of its snapshot, also where that is gone */
	char *path; /* of its snapshot; NULL: it is gone, or was not named */
	struct snapshot *snapshot; /* of a store, which was read at once; else NULL */
	bool at_exit; /* of a folder, when the program had ended */
	size_t log, section, line; /* of the timeline; log SIZE_MAX: none tells of it */
};

struct samples {
	enum block_kind kind; /* of the blocks that it is about */
	struct sample *samples; /* by time */
	size_t nr, alloc;
	struct timeline_log *logs;
	size_t nr_logs, alloc_logs;
	size_t nr_others, nr_left_out; /* of other images; for being too many */
	uint64_t ran_on_ms; /* from the last of them to an exit that was left out; 0: none was */
	char *problem; /* a timeline that could not be read, or NULL */
};

/*
 * Finds them. need_blocks: only snapshots will do, not lines of a timeline. 0 or -HS_E_*, also if
 * there are fewer than three. The caller releases *ret in any case.
 */
int samples_find(struct samples *ret, const char *const *operands, size_t nr, bool need_blocks,
		 enum block_kind kind, struct hs_error *err);
void samples_release(struct samples *samples);

/* How long recording was off between the samples, in ms, as far as their snapshots tell. */
uint64_t samples_unrecorded_ms(const struct samples *samples);

/*
 * How long the program ran on behind the last sample, where that is far longer than any interval
 * between two: as if it was looked at for as long as it grew only. Else 0.
 */
uint64_t samples_unseen_end_ms(const struct samples *samples);

/* Opens the snapshot of a sample that has a path, once. Caller frees *ret. */
int sample_open(struct sample *sample, enum block_kind kind, struct snapshot **ret,
		struct hs_error *err);

/* Fills the series, one sample after the other; *ret_latest: the last that has a snapshot. */
int samples_series(struct samples *samples, struct series *series, struct sample **ret_latest,
		   struct hs_error *err);

#endif
