/* SPDX-License-Identifier: MIT */
/*
 * export.h - stacks and what they hold, in the formats of other tools.
 *
 * Frames of allocators and language runtimes and the program's entry are left out, as in text,
 * unless all_frames asks for them; a stack that has no others is whole. A stack that was cut has
 * "[cut]" as its outermost frame, a block without a stack is in "[no stack]".
 */
#ifndef HEAPSTORY_REPORTS_EXPORT_H
#define HEAPSTORY_REPORTS_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct hs_error;
struct frame;
struct names;

/* In a difference count and bytes are changes and may be negative. */
struct export_sample {
	struct names *names;
	uint32_t stack;
	int64_t count, bytes;
};

struct export_profile {
	struct export_sample *samples;
	size_t nr_samples;
	bool all_frames;
	uint64_t time_ns; /* of the (later) snapshot, wall clock; 0: unknown */
	uint64_t duration_ns; /* between the snapshots of a difference, else 0 */
	const char *const *comments;
	size_t nr_comments;
};

/*
 * "main;serve;cache_insert 48000" for each stack, outermost frame first, with its bytes. Sorted;
 * stacks that read the same are one line; lines of 0 bytes are left out.
 */
void export_folded(const struct export_profile *profile, struct buffer *ret);

/*
 * pprof's protocol buffer (profile.proto), packed by gzip, with values inuse_objects and
 * inuse_space. Holds names, and modules with their build ids. 0, or -HS_E_SYSTEM.
 */
int export_pprof(const struct export_profile *profile, struct buffer *ret, struct hs_error *err);

/* Whether an export leaves the frame out; shared by the formats. */
bool export_leaves_out(const struct export_profile *profile, const struct frame *frame);

#endif
