/* SPDX-License-Identifier: MIT */
/*
 * timeline_log.h - a timeline as it is read: see timeline.h for the format.
 */
#ifndef HEAPSTORY_CLI_TIMELINE_LOG_H
#define HEAPSTORY_CLI_TIMELINE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot.h"
#include "cli/timeline_section.h"

struct buffer;
struct hs_error;

/* Numbers are those of the section, from 1. */
struct timeline_node {
	uint32_t parent, module;
	uint64_t offset;
	bool signal;
};

struct timeline_change {
	uint32_t node;
	struct timeline_totals totals; /* from now on */
};

struct timeline_line {
	struct timeline_moment moment; /* the name is the line's own */
	size_t first, nr; /* changes */
};

struct timeline_log_section {
	struct timeline_image image;
	struct snap_module *modules; /* [0] is none */
	struct timeline_node *nodes; /* [0] is none */
	struct timeline_line *lines;
	struct timeline_change *changes;
	size_t nr_modules, nr_nodes, nr_lines, nr_changes;
	size_t alloc_modules, alloc_nodes, alloc_lines, alloc_changes;
};

struct timeline_log {
	struct timeline_log_section *sections; /* in the order of the file, which is that of time */
	size_t nr_sections, alloc;
};

/*
 * Reads all whole lines. 0 or -HS_E_SYSTEM, or -HS_E_FORMAT with the number of the line; on
 * success the caller releases *ret.
 */
int timeline_log_read(const char *path, struct timeline_log *ret, struct hs_error *err);
/* The same of bytes in memory; `name` stands for them in messages. */
int timeline_log_read_data(const uint8_t *data, size_t len, const char *name,
			   struct timeline_log *ret, struct hs_error *err);
void timeline_log_release(struct timeline_log *log);

/* The totals of a section after some of its lines: see timeline_state_next(). */
struct timeline_state {
	const struct timeline_log_section *section;
	struct timeline_totals *totals; /* by node */
	size_t line; /* so many lines are in them */
};

void timeline_state_init(struct timeline_state *state, const struct timeline_log_section *section);
void timeline_state_release(struct timeline_state *state);
/* Takes in the next line. */
void timeline_state_next(struct timeline_state *state);

/*
 * Writes the timeline anew with so few lines that it takes at most `bytes`, or as few as there can
 * be: of each image the first and the latest. Sections of one image become one.
 */
void timeline_log_thin(const struct timeline_log *log, uint64_t bytes, struct buffer *ret);

#endif
