/* SPDX-License-Identifier: MIT */
/*
 * rows.c - frames, lineages, blocks and groups as JSON values; see rows.h.
 */
#include "reports/rows.h"

#include <string.h>

#include "analysis/diff.h"
#include "analysis/heap.h"
#include "analysis/ignore.h"
#include "analysis/lineage.h"
#include "analysis/lineage_stream.h"
#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "reports/report.h"

static void set(json_t *object, const char *name, json_t *value)
{
	json_object_set_new_nocheck(object, name, value);
}

static void set_int(json_t *object, const char *name, uint64_t value)
{
	set(object, name, json_integer((json_int_t)value));
}

double rows_seconds(const struct snapshot *s, uint64_t ms)
{
	return (double)(s->start_after_ms + ms) / 1000;
}

/* ---- stacks ------------------------------------------------------------------------------ */

static json_t *frame_value(const struct frame *f)
{
	json_t *o = json_object();

	set(o, "function", report_string(f->shown));
	set(o, "module", report_string(f->module));
	set(o, "offset", f->module ? json_integer((json_int_t)f->offset) : json_null());
	set(o, "file", report_string(f->file));
	set(o, "line", f->line ? json_integer(f->line) : json_null());
	set(o, "column", f->column ? json_integer(f->column) : json_null());
	set(o, "inlined", json_boolean(f->inlined));
	set(o, "address", report_address(f->address));
	set(o, "runtime", json_boolean(f->runtime));
	set(o, "wrapper", json_boolean(f->wrapper));
	return o;
}

json_t *rows_stack(struct names *names, uint32_t stack, json_t **ret_cut)
{
	const struct frame *const *frames;
	json_t *list = json_array();
	enum stack_cut cut;
	size_t nr = names_stack(names, stack, &frames, &cut);

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(list, frame_value(frames[i]));
	if (ret_cut)
		*ret_cut = cut == STACK_WHOLE
				   ? json_null()
				   : json_string(cut == STACK_CUT_DEPTH ? "depth" : "caller");
	return list;
}

static void set_stack(json_t *object, struct names *names, uint32_t stack)
{
	json_t *cut;

	set(object, "stack", rows_stack(names, stack, &cut));
	set(object, "cut", cut);
}

/* ---- lineage ----------------------------------------------------------------------------- */

/* Without its stack. */
static json_t *step_value(const struct names *names, uint64_t ms, uint64_t size)
{
	json_t *o = json_object();

	set(o, "s", json_real(rows_seconds(names_snapshot(names), ms)));
	set_int(o, "size", size);
	return o;
}

static void share_stack(json_t *o, const json_t *from)
{
	set(o, "stack", json_incref(json_object_get(from, "stack")));
	set(o, "cut", json_incref(json_object_get(from, "cut")));
}

/*
 * Growth of a block, step by step. Steps of one stack share its value: a thousand rows wait in a
 * report, of 32 steps each, and stacks may have hundreds of frames.
 */
static json_t *steps_value(struct names *names, const struct snap_lineage *l,
			   const struct snap_step *kept, const json_t *born)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < l->nr_kept; i++) {
		json_t *o = step_value(names, kept[i].ms, kept[i].size);
		uint32_t k = 0;

		while (k < i && kept[k].stack != kept[i].stack)
			k++;
		if (kept[i].stack == l->born_stack)
			share_stack(o, born);
		else if (k < i)
			share_stack(o, json_array_get(list, k));
		else
			set_stack(o, names, kept[i].stack);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *growers_value(const struct lineage_shape *shape)
{
	json_t *list = json_array();

	for (size_t i = 0; i < shape->nr_growers; i++) {
		json_t *o = json_object();

		set(o, "function", report_string(shape->growers[i].function));
		set_int(o, "count", shape->growers[i].count);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *lineage_value(struct names *names, uint64_t birth_ms, const struct snap_lineage *l,
			     const struct snap_step *kept)
{
	json_t *o = json_object(), *born = step_value(names, birth_ms, l->born_size);
	struct lineage_shape shape;

	lineage_shape_of(&shape, l, kept, names);
	set_stack(born, names, l->born_stack);
	set(o, "born", born);
	set(o, "steps", steps_value(names, l, kept, born));
	set_int(o, "nr_steps", l->nr_steps);
	set_int(o, "nr_shrinks", l->nr_shrinks);
	set(o, "factor", shape.factor > 0 ? json_real(shape.factor) : json_null());
	set(o, "increment",
	    shape.increment ? json_integer((json_int_t)shape.increment) : json_null());
	set(o, "growers", growers_value(&shape));
	set(o, "inferred", json_boolean(l->inferred));
	set_int(o, "peak_size", l->peak_size);
	set(o, "elsewhere", json_boolean(shape.elsewhere));
	lineage_shape_release(&shape);
	return o;
}

json_t *rows_lineage(struct names *names, const struct snap_block *b)
{
	const struct snapshot *s = names_snapshot(names);
	const struct snap_lineage *l;

	if (!b->lineage)
		return json_null();
	l = &s->lineages[b->lineage - 1];
	return lineage_value(names, b->birth_ms, l, s->steps + l->first_step);
}

/* ---- blocks ------------------------------------------------------------------------------ */

static json_t *zone_value(const char *zone)
{
	return zone && *zone ? report_string(zone) : json_null();
}

static json_t *thread_value(const struct snapshot *s, uint32_t thread)
{
	return thread ? json_integer(s->threads[thread].tid) : json_null();
}

static json_t *thread_name_value(const struct snapshot *s, uint32_t thread)
{
	return thread && *s->threads[thread].name ? report_string(s->threads[thread].name)
						  : json_null();
}

json_t *rows_block(struct names *names, const struct snap_block *b)
{
	const struct snapshot *s = names_snapshot(names);
	json_t *o = json_object();

	set(o, "address", report_address(b->address));
	set_int(o, "serial", b->serial);
	set_int(o, "size", b->size);
	set_int(o, "usable", b->usable);
	set(o, "class", report_string(names_class(names, b)));
	set(o, "zone", zone_value(names_zone(names, b->stack)));
	set(o, "thread", thread_value(s, b->thread));
	set(o, "birth_s", json_real(rows_seconds(s, b->birth_ms)));
	set(o, "wall",
	    s->start_real_ns ? report_wall(s->start_real_ns + b->birth_ms * 1000000) : json_null());
	set(o, "age_s",
	    json_real(s->taken_ms > b->birth_ms ? (double)(s->taken_ms - b->birth_ms) / 1000
						: 0.0));
	set(o, "kind", json_string(kind_name(kind_of(b))));
	set(o, "thread_name", thread_name_value(s, b->thread));
	set_stack(o, names, b->stack);
	set(o, "lineage", rows_lineage(names, b));
	return o;
}

/* ---- groups ------------------------------------------------------------------------------ */

const char *rows_group_kind(const struct group *group)
{
	if (group->kinds & 1u << KIND_MAPPING)
		return kind_name(group->kinds & 1u << KIND_MALLOC ? KIND_ALL : KIND_MAPPING);
	return kind_name(KIND_MALLOC);
}

static void set_group(json_t *o, const struct group *group)
{
	set(o, "key", report_string(group->key));
	set(o, "kind", json_string(rows_group_kind(group)));
	set(o, "class", group->is_class ? report_string(group->key) : json_null());
	set(o, "zone", zone_value(group->zone));
	if (group->has_size)
		set_int(o, "size", group->size);
}

json_t *rows_heap(const struct heap *heap, const struct heap_row *row, struct names *names)
{
	json_t *o = json_object();

	set_group(o, grouping_get(heap->grouping, row->group));
	set_int(o, "count", row->count);
	set_int(o, "bytes", row->bytes);
	set_int(o, "usable", row->usable);
	set(o, "avg", json_real(row->count ? (double)row->bytes / (double)row->count : 0.0));
	set_stack(o, names, row->stack);
	set_int(o, "stacks", row->nr_stacks);
	return o;
}

static json_t *amount_value(const struct diff_amount *amount)
{
	json_t *o = json_object();

	set(o, "count", json_integer(amount->count));
	set(o, "bytes", json_integer(amount->bytes));
	return o;
}

static json_t *change_value(int64_t before, int64_t after)
{
	json_t *o = json_object();

	set(o, "before", json_integer(before));
	set(o, "after", json_integer(after));
	set(o, "delta", json_integer(after - before));
	return o;
}

/* Not rounded, so that rows add up: text rounds counts to three decimals and bytes to one. */
static json_t *rate_value(const struct diff_sums *s, double per)
{
	json_t *o;

	if (!(per > 0))
		return json_null();
	o = json_object();
	set(o, "count", json_real((double)(s->after.count - s->before.count) / per));
	set(o, "bytes", json_real((double)(s->after.bytes - s->before.bytes) / per));
	return o;
}

static void set_sums(json_t *o, const struct diff_sums *s, double per)
{
	set(o, "count", change_value(s->before.count, s->after.count));
	set(o, "bytes", change_value(s->before.bytes, s->after.bytes));
	set(o, "born", amount_value(&s->born));
	set(o, "freed", amount_value(&s->freed));
	set(o, "resized", amount_value(&s->resized));
	set(o, "survived", amount_value(&s->survived));
	set(o, "per_unit", rate_value(s, per));
}

json_t *rows_diff(const struct diff *diff, const struct diff_row *row, struct names *const names[2],
		  double per)
{
	json_t *o = json_object();

	set_group(o, grouping_get(diff->grouping, row->group));
	set_sums(o, &row->sums, per);
	set_stack(o, names[row->side], row->stack);
	set_int(o, "stacks", row->nr_stacks);
	set(o, "lineage",
	    row->lineage ? lineage_value(names[1], row->grown.birth_ms, &row->lineage->lineage,
					 row->lineage->steps)
			 : json_null());
	return o;
}

json_t *rows_diff_totals(const struct diff *diff, double per)
{
	json_t *o = json_object();

	set(o, "key", json_null());
	set(o, "kind", json_string("malloc"));
	set(o, "class", json_null());
	set(o, "zone", json_null());
	set_sums(o, &diff->totals, per);
	set(o, "stack", json_array());
	set(o, "lineage", json_null());
	set_int(o, "rows", diff->nr_rows);
	return o;
}

/* ---- what is ignored --------------------------------------------------------------------- */

static void set_changes(json_t *o, const struct diff_sums *s)
{
	set(o, "count", change_value(s->before.count, s->after.count));
	set(o, "bytes", change_value(s->before.bytes, s->after.bytes));
}

static json_t *rule_value(const struct ignore_rule *rule, const struct diff_sums *sums)
{
	json_t *o = json_object();

	set(o, "kind", json_string(rule->kind == IGNORE_FUNCTION ? "function" : "module"));
	set(o, "glob", report_string(rule->glob));
	set(o, "reason", report_string(rule->reason));
	set_int(o, "line", rule->line);
	set(o, "matched", json_boolean(sums->before.count || sums->after.count));
	set_changes(o, sums);
	return o;
}

json_t *rows_diff_ignored(const struct diff *diff, const struct ignore *ignore)
{
	struct diff_sums all = {0};
	json_t *o, *rules;

	if (!ignore)
		return json_null();
	o = json_object();
	rules = json_array();
	for (size_t i = 0; i < ignore->nr_rules; i++) {
		diff_sums_add(&all, &diff->ignored[i]);
		json_array_append_new(rules, rule_value(&ignore->rules[i], &diff->ignored[i]));
	}
	set(o, "file", report_string(ignore->path));
	set_changes(o, &all);
	set(o, "rules", rules);
	return o;
}
