/* SPDX-License-Identifier: MIT */
/*
 * rows_trend.c - groups over many snapshots as JSON values; see rows_trend.h.
 */
#include "reports/rows_trend.h"

#include <stdlib.h>

#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "analysis/trend.h"
#include "reports/report.h"
#include "reports/rows.h"

static void set(json_t *object, const char *name, json_t *value)
{
	json_object_set_new_nocheck(object, name, value);
}

static json_t *integers(const double *values, size_t nr)
{
	json_t *list = json_array();

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(list, json_integer((json_int_t)values[i]));
	return list;
}

static json_t *reals(const double *values, size_t nr)
{
	json_t *list = json_array();

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(list, json_real(values[i]));
	return list;
}

static json_t *forecast_value(const struct trend_forecast *f, const struct trend_limit *limit)
{
	json_t *o;

	if (!f->reached || !limit->bytes)
		return json_null();
	o = json_object();
	set(o, "limit_bytes", json_integer((json_int_t)limit->bytes));
	set(o, "at_s", json_real(f->at_s));
	set(o, "accelerates", json_boolean(f->faster));
	return o;
}

static json_t *next_step_value(const struct trend *t, const struct trend_row *row)
{
	double bytes, at_s;
	json_t *o;

	if (row->belief.shape != TREND_DOUBLING)
		return json_null();
	trend_next_step(t, row, &bytes, &at_s);
	o = json_object();
	set(o, "bytes", json_integer((json_int_t)bytes));
	set(o, "at_s", json_real(at_s));
	set(o, "factor", json_real(row->view.stairs.factor));
	set(o, "steps", json_integer((json_int_t)row->view.stairs.nr));
	return o;
}

/* Blocks of the latest snapshot by age, youngest first, ages that there are. */
static json_t *survivors_value(const struct trend_row *row)
{
	json_t *list = json_array();

	for (size_t i = 0; row->ages && i < group_age_count(); i++) {
		json_t *o;

		if (!row->ages[i].count)
			continue;
		o = json_object();
		set(o, "age", json_string(group_age_key(i)));
		set(o, "count", json_integer((json_int_t)row->ages[i].count));
		set(o, "bytes", json_integer((json_int_t)row->ages[i].bytes));
		json_array_append_new(list, o);
	}
	return list;
}

static void set_growth(json_t *o, const struct trend *t, const struct trend_row *row)
{
	bool shown = row->changed;
	double first_s;

	set(o, "slope_bytes_per_hour", json_real(shown ? row->view.slope * 3600 : 0));
	set(o, "confidence", json_string(trend_confidence_name(row->belief.confidence)));
	set(o, "shape", json_string(trend_shape_name(row->belief.shape)));
	set(o, "changed", json_boolean(row->changed));
	set(o, "grows", json_boolean(trend_row_grows(t, row)));
	/* nothing is tested of too few, or of what never changed */
	set(o, "p_not_growing",
	    shown && t->nr_samples >= TREND_MIN_SURE ? json_real(row->view.not_growing)
						     : json_null());
	set(o, "first_growth_s",
	    trend_first_growth(t, row, &first_s) ? json_real(first_s) : json_null());
}

json_t *rows_trend(const struct trend *t, const struct trend_row *row, struct names *names,
		   struct names *latest, const struct trend_limit *limit)
{
	const struct group *group = grouping_get(t->grouping, row->group);
	const struct snapshot *s = latest ? names_snapshot(latest) : NULL;
	json_t *o = json_object(), *cut;

	set(o, "key", report_string(group->key));
	set(o, "kind", json_string(rows_group_kind(group)));
	set(o, "class", group->is_class ? report_string(group->key) : json_null());
	set(o, "zone", group->zone && *group->zone ? report_string(group->zone) : json_null());
	set_growth(o, t, row);
	set(o, "forecast", forecast_value(&row->limit, limit));
	set(o, "next_step", next_step_value(t, row));
	set(o, "bytes", integers(row->bytes, t->nr_samples));
	set(o, "count", integers(row->count, t->nr_samples));
	set(o, "at_s", reals(t->at_s, t->nr_samples));
	set(o, "last_bytes", json_integer((json_int_t)row->bytes[t->nr_samples - 1]));
	set(o, "survivors", survivors_value(row));
	set(o, "age_spread", row->ages ? json_real(spread_value(&row->spread)) : json_null());
	set(o, "stack", rows_stack(names, row->stack, &cut));
	set(o, "cut", cut);
	set(o, "stacks", json_integer(row->nr_stacks));
	set(o, "lineage",
	    s && row->grown != TREND_NO_BLOCK ? rows_lineage(latest, &s->blocks[row->grown])
					      : json_null());
	set(o, "buffer", json_boolean(s && trend_row_is_buffer(t, row)));
	return o;
}

/* The site of a row in a few words, or what its key is. */
static json_t *name_of(const struct trend *t, const struct trend_row *row, struct names *names)
{
	const struct frame *site =
		row->stack && row->nr_stacks ? names_site(names, row->stack) : NULL;
	char *label;
	json_t *name;

	if (!site)
		return report_string(grouping_get(t->grouping, row->group)->key);
	label = frame_short(site);
	name = report_string(label);
	free(label);
	return name;
}

/* How many of the groups not shown are of a kind, and the name and bytes of the largest. */
static json_t *rest_value(const struct trend *t, struct names *names,
			  bool (*is)(const struct trend_row *row))
{
	const struct trend_row *largest = NULL;
	size_t last = t->nr_samples - 1;
	json_int_t nr = 0;
	json_t *o = json_object();

	for (size_t i = 0; i < t->nr_rows; i++) {
		const struct trend_row *row = &t->rows[i];

		if (trend_row_shown(t, row) || !is(row))
			continue;
		nr++;
		if (!largest || row->bytes[last] > largest->bytes[last])
			largest = row;
	}
	set(o, "rows", json_integer(nr));
	set(o, "largest", largest ? name_of(t, largest, names) : json_null());
	set(o, "largest_bytes",
	    largest ? json_integer((json_int_t)largest->bytes[last]) : json_null());
	return o;
}

static bool has_stopped(const struct trend_row *row)
{
	return row->changed &&
	       (row->belief.shape == TREND_PLATEAU || row->belief.shape == TREND_STEP);
}

static bool shrinks(const struct trend_row *row)
{
	return row->changed && row->belief.shape == TREND_SHRINKING;
}

static bool varies(const struct trend_row *row)
{
	return row->changed && !has_stopped(row) && !shrinks(row);
}

static bool is_unchanged(const struct trend_row *row)
{
	return !row->changed;
}

json_t *rows_trend_totals(const struct trend *t, struct names *names,
			  const struct trend_limit *limit)
{
	json_t *o = json_object();
	size_t growing = 0;

	for (size_t i = 0; i < t->nr_rows; i++)
		growing += trend_row_grows(t, &t->rows[i]);
	set(o, "samples", json_integer((json_int_t)t->nr_samples));
	set(o, "rows", json_integer((json_int_t)t->nr_rows));
	set(o, "growing", json_integer((json_int_t)growing));
	set(o, "stopped", rest_value(t, names, has_stopped));
	set(o, "varying", rest_value(t, names, varies));
	set(o, "shrinking", rest_value(t, names, shrinks));
	set(o, "unchanged", rest_value(t, names, is_unchanged));
	set(o, "slope_bytes_per_hour", json_real(t->slope * 3600));
	set(o, "limit_bytes", limit->bytes ? json_integer((json_int_t)limit->bytes) : json_null());
	set(o, "limit_of", report_string(limit->what));
	set(o, "forecast", forecast_value(&t->limit, limit));
	set(o, "bytes", integers(t->bytes, t->nr_samples));
	set(o, "count", integers(t->count, t->nr_samples));
	set(o, "at_s", reals(t->at_s, t->nr_samples));
	return o;
}
