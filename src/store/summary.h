/* SPDX-License-Identifier: MIT */
/*
 * summary.h - the few numbers of a store that need no copy of it, whether its program runs, and the
 * switch of its mode. Offline side; nothing here freezes the program.
 */
#ifndef HEAPSTORY_STORE_SUMMARY_H
#define HEAPSTORY_STORE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "store/format.h"

struct hs_error;

/* What `list` and `mode` want to know. */
struct store_summary {
	uint32_t pid, state, flags, generation;
	uint32_t mode; /* enum hs_mode */
	int64_t live_bytes, live_count; /* what the threads are in the middle of may be missing */
	uint64_t start_real_ns, start_after_ms;
	uint64_t start_ns; /* CLOCK_MONOTONIC of the tracer's start */
	uint64_t since_ms; /* when the mode was set, after the tracer's start */
	uint64_t now_ms; /* after the tracer's start; 0 if the process is gone */
	uint64_t nr_snapshots;
	uint64_t supervisor; /* pid, or 0 */
	char comm[16];
	bool process_runs; /* if not as this image, as a later one */
	bool alive; /* as this one */
};

/* 0 or -HS_E_*. */
int store_summary(const char *path, struct store_summary *ret, struct hs_error *err);

/* The same process_runs and alive, by a header; fd is open for the store. */
bool store_process_runs(const struct hs_header *h);
bool store_image_runs(const struct hs_header *h, int fd);
/* The same alive, by path; false too where there is no store. */
bool store_alive(const char *path);

/*
 * Switches the mode of a running program; live -> off becomes HS_MODE_DRAIN, which the tracer
 * itself ends. -HS_E_STATE if it has gone or does not record any more.
 */
int store_mode_set(const char *path, enum hs_mode mode, struct hs_error *err);
/* Whether births are recorded in this enum hs_mode. */
bool store_mode_records(uint32_t mode);

#endif
