/* SPDX-License-Identifier: MIT */
/*
 * timeline_section.h - the lines of one section of a timeline; timeline.h has the format.
 *
 * A section knows what its lines have told so far: the numbers of modules and nodes, and the totals
 * of each stack. A line is made by putting the totals of all live stacks; it tells what is new.
 */
#ifndef HEAPSTORY_CLI_TIMELINE_SECTION_H
#define HEAPSTORY_CLI_TIMELINE_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct snap_module;
struct snapshot;
struct timeline_frame;

#define TIMELINE_WALL_LEN 40u

struct timeline_totals {
	uint64_t count, bytes, born_count, born_bytes;
};

/* Whose lines they are. */
struct timeline_image {
	uint8_t id[32];
	uint32_t pid, generation;
	char comm[17];
	char start[TIMELINE_WALL_LEN]; /* RFC 3339 */
};

/* What a line says beside its stacks. */
struct timeline_moment {
	const char *name; /* of the snapshot */
	uint64_t at_ms; /* since the start of the process */
	char wall[TIMELINE_WALL_LEN];
	struct timeline_totals totals; /* of all stacks, and of blocks that have none */
	uint64_t peak_bytes;
};

/* All zero is an empty one. */
struct timeline_section {
	struct timeline_frame *frames; /* hash by content */
	char **modules; /* path and build id, as JSON; by number less 1 */
	struct snap_module *infos; /* the same modules; their paths are in `modules` */
	uint32_t *module_numbers; /* in lines; 0: not told yet */
	size_t nr_modules, alloc_modules, alloc_infos, alloc_numbers;
	uint32_t nr_told_modules, nr_told_frames, line;
};

void timeline_section_clear(struct timeline_section *section);

/* Adds the line that begins a section. */
void timeline_section_header(const struct timeline_image *image, struct buffer *lines);

/* A module: its number for timeline_section_frame(), not that of the lines. */
uint32_t timeline_section_module(struct timeline_section *section,
				 const struct snap_module *module);
/* A frame under another one (NULL: the outermost); lives as long as the section. module 0: none. */
struct timeline_frame *timeline_section_frame(struct timeline_section *section,
					      struct timeline_frame *parent, uint32_t module,
					      uint64_t offset, bool signal);

/* Begins a line; then what is live in it is put; what is not put is gone. */
void timeline_section_begin(struct timeline_section *section);
void timeline_section_put(struct timeline_section *section, struct timeline_frame *frame,
			  const struct timeline_totals *totals);
void timeline_section_end(struct timeline_section *section, const struct timeline_moment *moment,
			  struct buffer *lines);

/* A whole line of a snapshot, its blocks in memory, under this name. */
void timeline_section_add(struct timeline_section *section, const struct snapshot *snapshot,
			  const char *name, struct buffer *lines);
void timeline_image_of(const struct snapshot *snapshot, struct timeline_image *ret);

#endif
