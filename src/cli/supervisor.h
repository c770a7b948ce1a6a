/* SPDX-License-Identifier: MIT */
/*
 * supervisor.h - what looks after a traced program from outside: snapshots while it runs and when
 * it has ended, the timeline, and the store's move into the output folder.
 *
 * Knows nothing of how the program was started and does not wait for it: whoever owns the loop
 * (`run`, `run --exec`, `supervise`) calls supervisor_tick() when it is due and
 * supervisor_finish() once the program is gone. Trouble is said on standard error and never stops
 * the program.
 */
#ifndef HEAPSTORY_CLI_SUPERVISOR_H
#define HEAPSTORY_CLI_SUPERVISOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/held.h"
#include "util/buffer.h"
#include "util/error.h"

struct timeline;

#define SUPERVISOR_DEFAULT_KEEP (UINT64_C(2) << 30)

struct supervisor_options {
	pid_t pid; /* of the program */
	uint64_t every_ns; /* 0: no periodic snapshots */
	uint64_t growth_bytes; /* 0: none on growth */
	uint64_t keep_bytes; /* budget of the snapshots; 0: all are kept */
	bool exit_snapshot;
	bool follow; /* children have folders below dir */
};

/* A numbered snapshot that is on disk. */
struct kept_snapshot {
	uint32_t number;
	uint64_t bytes, taken_ns; /* size of the file; when, on the wall clock */
};

struct supervisor {
	struct supervisor_options options;
	char dir[PATH_MAX]; /* absolute; has store.live */
	char store[PATH_MAX]; /* the file that store.live in dir led to when it was last looked at */
	char stores[PATH_MAX]; /* path of all images' stores up to "N.store"; "": not needed */
	struct held_files held; /* the program's */
	uint32_t generation; /* image that store.live is of; kept only with `stores` */
	struct timeline *timeline;
	uint64_t next_every_ns, next_children_ns; /* monotonic; UINT64_MAX: never */
	uint64_t bytes_before; /* live at the latest snapshot */
	uint32_t next_number;
	struct kept_snapshot *kept; /* by time */
	size_t nr_kept, alloc_kept;
	uint32_t nr_written; /* snapshots, the exit's too */
	uint64_t nr_untraced; /* children that nobody followed */
	struct buffer running; /* text: followed children that outlive the program, "42 (name), ..." */
	size_t nr_running;
	bool trouble; /* something that was asked for could not be written */
	struct hs_error said; /* the latest trouble, not to be said again */
};

/* For the program whose store is dir/store.live. */
void supervisor_init(struct supervisor *s, const char *dir,
		     const struct supervisor_options *options);

/*
 * The folder is not known to the tracer: when the program goes on as another one, it is for us to
 * make links to the new image's store. They all lie at stores + N + ".store"; generation is the N
 * of store.live. False if the path is too long.
 */
bool supervisor_follow_images(struct supervisor *s, const char *stores, uint32_t generation);
void supervisor_release(struct supervisor *s);

/* Writes our pid into the store, so that nobody else supervises it; 0 takes it out. */
void supervisor_sign(struct supervisor *s, uint64_t pid);

/* Takes the snapshots that are due. Returns the milliseconds until it wants to be called, -1: never. */
int supervisor_tick(struct supervisor *s);

/* The program is gone: exit snapshot, stores moved into the folder, children counted. */
void supervisor_finish(struct supervisor *s);

/*
 * Lines for people after supervisor_finish(): children that were not traced, or that run on; on a
 * terminal what there is.
 */
void supervisor_report(struct supervisor *s);

#endif
