/* SPDX-License-Identifier: MIT */
/*
 * verdict.c - whether a diff passes; see verdict.h.
 */
#include "cli/verdict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff.h"
#include "analysis/match.h"
#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"
#include "util/units.h"

static bool recorded(const struct snapshot *s)
{
	return s->state != HS_STATE_STOPPED && s->coverage.mode != HS_MODE_OFF &&
	       s->coverage.mode != HS_MODE_DRAIN;
}

static const char *obstacle_of(const struct snapshot *b, const struct snapshot *a, bool across)
{
	if (!recorded(b))
		return "recording was off or had stopped when BEFORE was taken";
	if (!recorded(a))
		return "recording was off or had stopped when AFTER was taken";
	if (!b->coverage.consistent)
		return "BEFORE is inconsistent: the program went on while it was taken";
	if (!a->coverage.consistent)
		return "AFTER is inconsistent: the program went on while it was taken";
	if (!match_same_image(b, a))
		return across ? NULL
			      : "BEFORE and AFTER are of different processes, or of one that became "
				"another program; --across gives a verdict all the same";
	return b->taken_ms > a->taken_ms ? "BEFORE was taken after AFTER" : NULL;
}

char *verdict_obstacle(const struct snapshot *b, const struct snapshot *a,
		       const struct verdict_options *options)
{
	const char *obstacle = obstacle_of(b, a, options->across);
	uint64_t off_ms = diff_unrecorded_ms(b, a);
	char text[UNITS_LEN];

	if (obstacle)
		return xstrdup(obstacle);
	if (off_ms)
		return xasprintf("recording was off for %s between BEFORE and AFTER",
				 units_format_duration_ms(off_ms, text));
	return NULL;
}

static int64_t bytes_more(const struct diff_sums *s)
{
	return s->after.bytes - s->before.bytes;
}

static bool grew(const struct diff_sums *s)
{
	return bytes_more(s) > 0 || s->after.count > s->before.count;
}

/*
 * What a row is called: stacks go by their site, with a class it is said where it is made, and of a
 * size or an age what it is.
 */
static char *row_label(const struct diff *d, const struct diff_row *row,
		       struct names *const names[2], enum group_by by)
{
	const char *key = grouping_get(d->grouping, row->group)->key;
	const struct frame *site = NULL;
	char *place, *label;

	if (by == GROUP_SIZE)
		return xasprintf("blocks of %s bytes", key);
	if (by == GROUP_AGE)
		return xasprintf("blocks of age %s", key);
	if (by == GROUP_STACK || by == GROUP_CLASS)
		site = names_site(names[row->side], row->stack);
	if (by == GROUP_STACK)
		return site ? frame_label(site) : xstrdup("(no stack)");
	if (!site)
		return xstrdup(key);
	place = frame_place(site);
	label = xasprintf("%s (%s)", key, place);
	free(place);
	return label;
}

/* "; most in KEY, +1200" for the row that grew most, or "". */
static char *most_text(const struct diff *d, const struct diff_row *most,
		       struct names *const names[2], enum group_by by)
{
	char *label, *text;

	if (!most)
		return xstrdup("");
	label = row_label(d, most, names, by);
	text = xasprintf("; most in %s, %+" PRId64, label, bytes_more(&most->sums));
	free(label);
	return text;
}

/* Row of the group that grew most, NULL if none did, and how many did. */
static const struct diff_row *find_most(const struct diff *d, size_t *ret_nr)
{
	const struct diff_row *most = NULL;

	*ret_nr = 0;
	for (size_t i = 0; i < d->nr_rows; i++) {
		if (!grew(&d->rows[i].sums))
			continue;
		++*ret_nr;
		if (!most || bytes_more(&d->rows[i].sums) > bytes_more(&most->sums))
			most = &d->rows[i];
	}
	return most;
}

static bool above(int64_t bytes, uint64_t limit)
{
	return bytes > 0 && (uint64_t)bytes > limit;
}

/* "+48000 bytes (+46.9k)", "+12 bytes". Caller frees. */
static char *change_text(int64_t bytes)
{
	char size[UNITS_LEN];

	if (bytes < 1024 && bytes > -1024)
		return xasprintf("%+" PRId64 " bytes", bytes);
	return xasprintf("%+" PRId64 " bytes (%s)", bytes, units_format_size_delta(bytes, size));
}

void verdict_init(struct verdict *v, const struct diff *d, struct names *const names[2],
		  enum group_by by, const struct verdict_options *options)
{
	int64_t total = bytes_more(&d->totals);
	char *change = change_text(total), *where;
	const struct diff_row *most;
	size_t nr;

	most = find_most(d, &nr);
	where = most_text(d, most, names, by);
	if (options->has_limit) {
		v->failed = above(total, options->limit) ||
			    (most && above(bytes_more(&most->sums), options->limit));
		v->text = xasprintf("%s: %s in all, %" PRIu64 " allowed%s",
				    v->failed ? "GREW" : "clean", change, options->limit, where);
	} else {
		v->failed = nr > 0;
		v->text =
			xasprintf("%s: %s in all, %zu group%s grew%s", v->failed ? "GREW" : "clean",
				  change, nr, nr == 1 ? "" : "s", where);
	}
	free(where);
	free(change);
}

void verdict_release(struct verdict *v)
{
	free(v->text);
	v->text = NULL;
}
