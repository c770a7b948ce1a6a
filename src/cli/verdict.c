/* SPDX-License-Identifier: MIT */
/*
 * verdict.c - whether a diff passes; see verdict.h.
 */
#include "cli/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/diff.h"
#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"
#include "util/units.h"

static bool recorded(const struct snapshot *s)
{
	return s->state != HS_STATE_STOPPED && s->coverage.mode != HS_MODE_OFF &&
	       s->coverage.mode != HS_MODE_DRAIN;
}

const char *verdict_obstacle(const struct snapshot *b, const struct snapshot *a)
{
	if (!recorded(b))
		return "recording was off or had stopped when BEFORE was taken";
	if (!recorded(a))
		return "recording was off or had stopped when AFTER was taken";
	if (!b->coverage.consistent)
		return "BEFORE is inconsistent: the program went on while it was taken";
	if (!a->coverage.consistent)
		return "AFTER is inconsistent: the program went on while it was taken";
	if (!memcmp(b->image, a->image, sizeof(b->image)) && b->taken_ms > a->taken_ms)
		return "BEFORE was taken after AFTER";
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

/* "; most in KEY, +1.2k" for the row that grew most, or "". Stacks go by their site. */
static char *most_text(const struct diff *d, const struct diff_row *most,
		       struct names *const names[2], enum group_by by)
{
	const struct frame *site = NULL;
	char size[UNITS_LEN], *label, *text;

	if (!most)
		return xstrdup("");
	if (by == GROUP_STACK)
		site = names_site(names[most->side], most->stack);
	if (by == GROUP_STACK)
		label = site ? frame_label(site) : xstrdup("(no stack)");
	else
		label = xstrdup(grouping_get(d->grouping, most->group)->key);
	text = xasprintf("; most in %s, %s", label,
			 units_format_size_delta(bytes_more(&most->sums), size));
	free(label);
	return text;
}

void verdict_init(struct verdict *v, const struct diff *d, struct names *const names[2],
		  enum group_by by, const struct verdict_options *options)
{
	const struct diff_row *most = NULL;
	int64_t total = bytes_more(&d->totals);
	char change[UNITS_LEN], limit[UNITS_LEN];
	size_t nr = 0;
	char *where;

	for (size_t i = 0; i < d->nr_rows; i++) {
		if (!grew(&d->rows[i].sums))
			continue;
		nr++;
		if (!most || bytes_more(&d->rows[i].sums) > bytes_more(&most->sums))
			most = &d->rows[i];
	}
	units_format_size_delta(total, change);
	units_format_size(options->limit, limit);
	where = most_text(d, most, names, by);
	v->failed = nr > 0;
	if (options->has_limit)
		v->failed = (total > 0 && (uint64_t)total > options->limit) ||
			    (most && bytes_more(&most->sums) > 0 &&
			     (uint64_t)bytes_more(&most->sums) > options->limit);
	if (!v->failed && !options->has_limit)
		v->text = xasprintf("clean: no group grew, %s in all", change);
	else if (!v->failed)
		v->text = xasprintf("clean: %s in all, within %s%s", change, limit, where);
	else if (options->has_limit)
		v->text = xasprintf("GREW by more than %s: %s in all%s", limit, change, where);
	else
		v->text = xasprintf("GREW: %s in all, %zu group%s grew%s", change, nr,
				    nr == 1 ? "" : "s", where);
	free(where);
}

void verdict_release(struct verdict *v)
{
	free(v->text);
	v->text = NULL;
}
