/* SPDX-License-Identifier: MIT */
/*
 * filter.c - which blocks a report is about; see filter.h.
 */
#include "analysis/filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"

enum verdict {
	VERDICT_OPEN,
	VERDICT_NO,
	VERDICT_YES,
};

bool filter_is_empty(const struct filter *f)
{
	return !f->zone && !f->module && !f->has_function && !f->has_class && !f->thread &&
	       !f->min_size && !f->has_older && !f->has_younger;
}

void filter_side_init(struct filter_side *side, const struct filter *filter, struct names *names,
		      uint64_t now_ms)
{
	const struct snapshot *s = names_snapshot(names);

	side->filter = filter;
	side->names = names;
	side->now_ms = now_ms;
	side->stacks = xcalloc(s->nr_stacks + 1, 1);
	side->classes = (struct pattern_verdicts){NULL};
	side->threads = xcalloc(s->nr_threads + 1, 1);
}

void filter_side_release(struct filter_side *side)
{
	free(side->stacks);
	free(side->threads);
	pattern_verdicts_release(&side->classes);
	side->stacks = side->threads = NULL;
}

static bool function_in_stack(const struct filter *f, struct names *names, uint32_t stack)
{
	const struct frame *const *frames;
	enum stack_cut cut;
	size_t nr = names_stack(names, stack, &frames, &cut);

	for (size_t i = 0; i < nr; i++) {
		const struct frame *frame = frames[i];

		if (frame->function && (!regexec(&f->function, frame->function, 0, NULL, 0) ||
					!regexec(&f->function, frame->shown, 0, NULL, 0)))
			return true;
	}
	return false;
}

static bool stack_passes(const struct filter *f, struct names *names, uint32_t stack)
{
	const struct frame *site = names_site(names, stack);
	const char *path = site && site->module ? site->module : "";

	if (f->zone && fnmatch(f->zone, names_zone(names, stack), 0))
		return false;
	if (f->module && fnmatch(f->module, path_basename(path), 0) && fnmatch(f->module, path, 0))
		return false;
	return !f->has_function || function_in_stack(f, names, stack);
}

static bool thread_passes(const struct filter *f, const struct snap_thread *thread)
{
	char tid[16];

	snprintf(tid, sizeof(tid), "%u", thread->tid);
	return !strcmp(f->thread, tid) || !strncmp(f->thread, thread->name, sizeof(thread->name));
}

bool filter_passes(struct filter_side *side, const struct snap_block *b)
{
	const struct filter *f = side->filter;
	const struct snapshot *s = names_snapshot(side->names);
	uint64_t age_ms = side->now_ms > b->birth_ms ? side->now_ms - b->birth_ms : 0;
	uint8_t *known;

	if (b->size < f->min_size || (f->has_older && age_ms < f->older_ms) ||
	    (f->has_younger && age_ms > f->younger_ms))
		return false;
	if (f->thread) {
		known = &side->threads[b->thread];
		if (!*known)
			*known = b->thread && thread_passes(f, &s->threads[b->thread])
					 ? VERDICT_YES
					 : VERDICT_NO;
		if (*known == VERDICT_NO)
			return false;
	}
	if (f->has_class && !pattern_matches(&f->class, &side->classes, side->names, b))
		return false;
	if (f->zone || f->module || f->has_function) {
		known = &side->stacks[b->stack];
		if (!*known)
			*known = stack_passes(f, side->names, b->stack) ? VERDICT_YES : VERDICT_NO;
		return *known == VERDICT_YES;
	}
	return true;
}
