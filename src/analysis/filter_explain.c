/* SPDX-License-Identifier: MIT */
/*
 * filter_explain.c - why no block passes a filter; see filter.h.
 *
 * Most often a name was mistyped. So each name of the filter is tried alone; for the first one that
 * fits nothing those that are there are looked through for what comes nearest to it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/block_stream.h"
#include "analysis/filter.h"
#include "analysis/names.h"
#include "analysis/nearest.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"
#include "util/error.h"

/* One name of a filter, alone. */
struct part {
	const char *what; /* "zone" */
	const char *wanted; /* NULL: not asked for */
	struct filter alone;
	/* Adds what there is of this in a block, beside its stack's. */
	void (*add)(struct names *names, const struct snap_block *block, const char *wanted,
		    struct nearest *nearest);
};

static void add_zone(struct names *names, const struct snap_block *b, const char *wanted,
		     struct nearest *n)
{
	const char *zone = names_zone(names, b->stack);

	if (*zone)
		nearest_add(n, wanted, zone);
}

static void add_module(struct names *names, const struct snap_block *b, const char *wanted,
		       struct nearest *n)
{
	const struct frame *site = names_site(names, b->stack);

	if (site && site->module)
		nearest_add(n, wanted, path_basename(site->module));
}

static void add_functions(struct names *names, const struct snap_block *b, const char *wanted,
			  struct nearest *n)
{
	const struct frame *const *frames;
	enum stack_cut cut;
	size_t nr = names_stack(names, b->stack, &frames, &cut);

	for (size_t i = 0; i < nr; i++) {
		char *name = frames[i]->function ? frame_short(frames[i]) : NULL;

		if (name)
			nearest_add(n, wanted, name);
		free(name);
	}
}

static void add_thread(struct names *names, const struct snap_block *b, const char *wanted,
		       struct nearest *n)
{
	const struct snap_thread *thread = &names_snapshot(names)->threads[b->thread];
	char name[sizeof(thread->name) + 1] = "";

	memcpy(name, thread->name, sizeof(thread->name));
	if (b->thread && !*name)
		snprintf(name, sizeof(name), "%" PRIu32, thread->tid);
	if (b->thread)
		nearest_add(n, wanted, name);
}

/*
 * Whether any block of the snapshot passes the part; else adds what there is to nearest. Sets
 * *ret_blocks where there is a block at all.
 */
static bool look(const struct part *part, struct names *names, struct nearest *nearest,
		 bool *ret_blocks)
{
	const struct snapshot *s = names_snapshot(names);
	bool *seen = xcalloc(s->nr_stacks + s->nr_threads + 2, sizeof(*seen)), any = false;
	const struct snap_block *blocks;
	struct block_stream *stream;
	struct filter_side side;
	struct hs_error err;
	size_t nr = 0;

	filter_side_init(&side, &part->alone, names, s->taken_ms);
	if (block_stream_open(s, &stream, &err))
		goto out;
	while (!any && !block_stream_next(stream, &blocks, &nr, &err) && nr) {
		*ret_blocks = true;
		for (size_t i = 0; i < nr && !any; i++) {
			size_t key = part->alone.thread ? s->nr_stacks + 1 + blocks[i].thread
							: blocks[i].stack;

			any = filter_passes(&side, &blocks[i]);
			if (!any && !seen[key])
				part->add(names, &blocks[i], part->wanted, nearest);
			seen[key] = true;
		}
	}
	block_stream_close(stream);
out:
	filter_side_release(&side);
	free(seen);
	return any;
}

/* The line for one part; NULL: some block passes it. */
static char *explain_part(const struct part *part, struct names *const *sides, size_t nr_sides)
{
	struct nearest nearest = {.names = {NULL}};
	char *near, *text;
	bool any = false, blocks = false;

	for (size_t i = 0; i < nr_sides && !any; i++)
		any = look(part, sides[i], &nearest, &blocks);
	near = any ? NULL : nearest_text(&nearest, part->what);
	if (!near)
		near = blocks ? xasprintf("of no block the %s is known", part->what)
			      : xstrdup("there are no live blocks");
	text = any ? NULL
		   : xasprintf("no block is of %s '%s'; %s", part->what, part->wanted, near);
	free(near);
	nearest_release(&nearest);
	return text;
}

static char *explain_class(const struct filter *f, struct names *const *sides, size_t nr_sides)
{
	struct pattern_nearest nearest = {.fits = false};
	char *text;

	for (size_t i = 0; i < nr_sides; i++)
		pattern_nearest_add(&f->class, sides[i], &nearest);
	text = pattern_nearest_text(&nearest, f->class_text);
	nearest_release(&nearest.classes);
	return text;
}

char *filter_misfit(const struct filter *f, struct names *const *sides, size_t nr_sides)
{
	const struct part parts[] = {
		{"zone", f->zone, {.zone = f->zone}, add_zone},
		{"module", f->module, {.module = f->module}, add_module},
		{"function",
		 f->has_function ? f->function_text : NULL,
		 {.has_function = f->has_function, .function = f->function},
		 add_functions},
		{"thread", f->thread, {.thread = f->thread}, add_thread},
	};
	char *text = NULL;

	if (f->has_class)
		text = explain_class(f, sides, nr_sides);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !text; i++) {
		if (parts[i].wanted)
			text = explain_part(&parts[i], sides, nr_sides);
	}
	return text;
}

char *filter_explain(const struct filter *f, struct names *const *sides, size_t nr_sides)
{
	char *text = filter_misfit(f, sides, nr_sides);

	return text ? text : xstrdup("no live block passes the filters");
}
