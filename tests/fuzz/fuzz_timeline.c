/* SPDX-License-Identifier: MIT */
/*
 * fuzz_timeline.c - a timeline: read, thinned out, and what was written read again.
 */
#include "tests/fuzz/fuzz.h"

#include "cli/timeline_log.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdlib.h>

static void walk(const struct timeline_log *log)
{
	for (size_t i = 0; i < log->nr_sections; i++) {
		struct timeline_state state;

		timeline_state_init(&state, &log->sections[i]);
		while (state.line < log->sections[i].nr_lines)
			timeline_state_next(&state);
		timeline_state_release(&state);
	}
}

void fuzz_one(const uint8_t *data, size_t len)
{
	struct buffer b = {NULL, 0, 0};
	struct timeline_log log, again;
	struct hs_error err;

	if (timeline_log_read_data(data, len, "fuzz", &log, &err))
		return;
	walk(&log);
	timeline_log_thin(&log, 100, &b);
	if (timeline_log_read_data(b.data, b.len, "again", &again, &err))
		abort(); /* what we write we can read */
	walk(&again);
	timeline_log_release(&again);
	timeline_log_release(&log);
	buffer_clear(&b);
}
