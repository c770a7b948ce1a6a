/* SPDX-License-Identifier: MIT */
/*
 * text.c - a report as text for people: a header, an aligned table, lines beneath its rows.
 *
 * The first rows wait until their widths are known; later ones are printed as they come, so that
 * a list of millions of blocks needs no memory for them.
 */
#include "reports/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/text_internal.h"
#include "util/alloc.h"
#include "util/escape.h"
#include "util/units.h"

#define MIN_CHAIN   4 /* and what is behind "malloc in " there */
#define LAYOUT_ROWS 1000u /* so many decide about the widths */
#define MIN_LAST    10 /* bytes that the last column gets at least */

/* ---- cells ------------------------------------------------------------------------------- */

static bool is_number(enum report_unit unit)
{
	return unit != UNIT_TEXT && unit != UNIT_CHAIN && unit != UNIT_CLASS && unit != UNIT_OK;
}

static char *signed_text(double value, int decimals)
{
	return xasprintf("%+.*f", decimals, value);
}

/*
 * The callers of the heaviest stack of the row, and how many stacks there are. first: what stands
 * for its site; NULL: the function, without its generics.
 */
static char *chain_cell(const struct report *r, const json_t *row, const char *first,
			const json_t *stack, size_t width)
{
	json_int_t nr = json_integer_value(json_object_get(row, "stacks"));
	char *chain, *cell, more[48] = "";

	if (nr > 1)
		snprintf(more, sizeof(more), "  (%" JSON_INTEGER_FORMAT " stacks)", nr);
	chain = text_named_chain(r, first, stack,
				 width > strlen(more) + MIN_LAST ? width - strlen(more) : width);
	if (width && strlen(chain) + strlen(more) > width)
		more[0] = 0;
	cell = xasprintf("%s%s", chain, more);
	free(chain);
	return cell;
}

/*
 * "Visitor at open_visitor <- serve"; where the class says no more than who called malloc or mmap,
 * "malloc in cache_insert <- serve".
 */
static char *class_cell(const struct report *r, const json_t *row, bool in_full,
			const json_t *stack, size_t width)
{
	static const char *const callers[] = {"malloc in ", "mapping in "};
	const char *class = json_string_value(json_object_get(row, "class"));
	const char *site = NULL;
	char *head = NULL, *chain, *cell;
	bool named;
	size_t len;

	for (size_t i = 0; class && i < 2; i++) {
		if (!strncmp(class, callers[i], strlen(callers[i]))) {
			head = xstrdup(callers[i]);
			site = class + strlen(head);
		}
	}
	named = !head;
	head = head ? head : xasprintf("%s at ", class ? class : "?");
	len = strlen(head);
	chain = chain_cell(r, row, in_full ? site : NULL, stack,
			   !width ? 0 : width > len + MIN_CHAIN ? width - len : MIN_CHAIN);
	/* the name of a class may be so long that nothing else has room */
	if (named && width && len + strlen(chain) > width)
		cell = text_elided(class, width);
	else
		cell = xasprintf("%s%s", head, chain);
	free(chain);
	free(head);
	return cell;
}

/* The key of a row that is of one function or site, which it begins with; else NULL. */
static const char *site_key(const json_t *row, const json_t *stack)
{
	const char *key = json_string_value(json_object_get(row, "key")), *function;
	const json_t *frame;
	size_t i;

	json_array_foreach(stack, i, frame)
	{
		function = json_string_value(json_object_get(frame, "function"));
		if (key && function && !strncmp(key, function, strlen(function)))
			return key;
	}
	return NULL;
}

/* What made the row, in at most width bytes; in full: as exactly as its group is. Caller frees. */
static char *origin_cell(const struct report *r, const struct report_column *c, const json_t *row,
			 const json_t *stack, bool in_full, size_t width)
{
	if (c->unit == UNIT_CLASS)
		return class_cell(r, row, in_full, stack, width);
	return chain_cell(r, row, in_full ? site_key(row, stack) : NULL, stack, width);
}

/* The same, so that it differs from those of other rows where that is possible. */
static char *unlike_cell(const struct report *r, const struct report_column *c, const json_t *row,
			 const json_t *stack, size_t width)
{
	char *cell = origin_cell(r, c, row, stack, false, width);

	if (json_is_true(json_object_get(r->alike, cell))) {
		free(cell);
		cell = origin_cell(r, c, row, stack, true, width);
	}
	return cell;
}

/* Text of a cell; width only for the last column. Caller frees. */
static char *cell_text(const struct report *r, const struct report_column *c, const json_t *row,
		       size_t width)
{
	const json_t *value = report_get(row, c->path);
	json_int_t number = json_integer_value(value);
	char text[UNITS_LEN];

	if ((c->unit == UNIT_CHAIN || c->unit == UNIT_CLASS) && json_array_size(value))
		return unlike_cell(r, c, row, value, width);
	/* a group that is not of stacks, or without one: its key */
	if (c->unit == UNIT_CHAIN || c->unit == UNIT_CLASS)
		return text_elided(json_string_value(json_object_get(row, "key")), width);
	if (!value || json_is_null(value))
		return xstrdup("");
	switch (c->unit) {
	case UNIT_COUNT:
		return xasprintf("%" JSON_INTEGER_FORMAT, number);
	case UNIT_COUNT_DELTA:
		return xasprintf(number ? "%+" JSON_INTEGER_FORMAT : "%" JSON_INTEGER_FORMAT,
				 number);
	case UNIT_RATE:
		return signed_text(json_number_value(value), 3);
	case UNIT_BYTES_RATE:
		return signed_text(json_number_value(value), 1);
	case UNIT_BYTES:
		return xstrdup(number < 0 ? units_format_size_delta(number, text)
					  : units_format_size((uint64_t)number, text));
	case UNIT_AVERAGE:
		return xstrdup(units_format_size((uint64_t)(json_number_value(value) + 0.5), text));
	case UNIT_SHARE: {
		double all = json_number_value(report_get(r->totals, c->path));

		return all > 0 ? xasprintf("%.1f%%", 100 * json_number_value(value) / all)
			       : xstrdup("");
	}
	case UNIT_BYTES_DELTA:
		return xstrdup(units_format_size_delta(number, text));
	case UNIT_BYTES_SLOPE:
		return xstrdup(units_format_size_delta((int64_t)json_number_value(value), text));
	case UNIT_AGO:
		return xstrdup(units_format_duration_ms((uint64_t)(json_number_value(value) * 1000),
							text));
	case UNIT_OK:
		return xstrdup(json_is_true(value) ? "ok" : "damaged");
	default:
		return text_elided(json_string_value(value), width);
	}
}

static bool is_empty(const json_t *value)
{
	return !value || json_is_null(value) || json_number_value(value) == 0;
}

/* ---- layout ------------------------------------------------------------------------------ */

static void hide_columns(struct report *r)
{
	const struct report_view *v = r->view;

	for (size_t i = 0; i < v->nr_columns; i++) {
		const char *path = v->columns[i].path;
		const json_t *row;
		size_t k;

		r->hidden[i] = v->columns[i].hide_empty && is_empty(report_get(r->totals, path));
		json_array_foreach(r->waiting, k, row)
		{
			if (!is_empty(report_get(row, path)) ||
			    json_is_string(report_get(row, path)))
				r->hidden[i] = false;
		}
	}
}

static void widen(struct report *r, const json_t *row)
{
	const struct report_view *v = r->view;

	for (size_t i = 0; i + 1 < v->nr_columns; i++) {
		char *cell = cell_text(r, &v->columns[i], row, 0);
		int len = (int)strlen(cell);

		if (len > r->widths[i])
			r->widths[i] = len;
		free(cell);
	}
}

static void print_titles(struct report *r)
{
	const struct report_view *v = r->view;
	FILE *out = r->style.out;

	fputs(text_colour(r, "bold"), out);
	for (size_t i = 0; i < v->nr_columns; i++) {
		const struct report_column *c = &v->columns[i];
		bool last = i + 1 == v->nr_columns;

		if (r->hidden[i])
			continue;
		if (last)
			fputs(c->title, out);
		else
			fprintf(out, is_number(c->unit) ? "%*s  " : "%-*s  ", r->widths[i],
				c->title);
	}
	fprintf(out, "%s\n", text_colour(r, "reset"));
}

/* Width that is left for the last column; 0: no limit. */
static size_t last_width(const struct report *r)
{
	const struct report_view *v = r->view;
	int left = (int)r->style.width;

	if (!left)
		return 0;
	for (size_t i = 0; i + 1 < v->nr_columns; i++)
		left -= r->hidden[i] ? 0 : r->widths[i] + 2;
	return (size_t)(left < MIN_LAST ? MIN_LAST : left);
}

/* Which rows that wait would read the same: of functions that differ in generics or line only. */
static void find_alike(struct report *r)
{
	const struct report_column *c = &r->view->columns[r->view->nr_columns - 1];
	const json_t *row;
	size_t k;

	json_array_foreach(r->waiting, k, row)
	{
		json_t *key = json_object_get(row, "key"), *other;
		char *cell;

		if (!key)
			continue;
		cell = cell_text(r, c, row, last_width(r));
		other = json_object_get(r->alike, cell);
		json_object_set(r->alike, cell,
				!other || json_equal(other, key) ? key : json_true());
		free(cell);
	}
}

static const char *delta_colour(const struct report *r, const struct report_column *c,
				const json_t *row)
{
	double value = json_number_value(report_get(row, c->path));

	if (c->unit != UNIT_BYTES_DELTA && c->unit != UNIT_COUNT_DELTA &&
	    c->unit != UNIT_BYTES_SLOPE)
		return "";
	return value > 0 ? text_colour(r, "red") : value < 0 ? text_colour(r, "green") : "";
}

static void print_cells(struct report *r, const json_t *row, const char *last_text)
{
	const struct report_view *v = r->view;
	FILE *out = r->style.out;

	for (size_t i = 0; i < v->nr_columns; i++) {
		const struct report_column *c = &v->columns[i];
		bool last = i + 1 == v->nr_columns;
		const char *colour;
		char *cell;

		if (r->hidden[i])
			continue;
		if (last && last_text) {
			fputs(last_text, out);
			continue;
		}
		cell = cell_text(r, c, row, last ? last_width(r) : 0);
		colour = delta_colour(r, c, row);
		fputs(colour, out);
		if (last)
			fputs(cell, out);
		else
			fprintf(out, is_number(c->unit) ? "%*s" : "%-*s", r->widths[i], cell);
		fputs(*colour ? text_colour(r, "reset") : "", out);
		fputs(last ? "" : "  ", out);
		free(cell);
	}
	fputc('\n', out);
}

static void print_row(struct report *r, const json_t *row)
{
	if (r->view->above)
		r->view->above(r, row);
	if (r->view->nr_columns)
		print_cells(r, row, NULL);
	if (r->view->beneath)
		r->view->beneath(r, row);
	r->nr_printed++;
}

/* Now the widths are known: prints what waited. */
static void lay_out(struct report *r)
{
	const struct report_view *v = r->view;
	const json_t *row;
	size_t k;

	r->widths = xcalloc(v->nr_columns + 1, sizeof(*r->widths));
	r->hidden = xcalloc(v->nr_columns + 1, sizeof(*r->hidden));
	hide_columns(r);
	for (size_t i = 0; i < v->nr_columns; i++)
		r->widths[i] = (int)strlen(v->columns[i].title);
	json_array_foreach(r->waiting, k, row) widen(r, row);
	if (v->total_key)
		widen(r, r->totals);
	if (v->nr_columns && json_array_size(r->waiting)) {
		find_alike(r);
		print_titles(r);
	}
	json_array_foreach(r->waiting, k, row) print_row(r, row);
	json_array_clear(r->waiting);
}

/* ---- the three steps --------------------------------------------------------------------- */

static void begin(struct report *r)
{
	r->waiting = json_array();
	r->alike = json_object();
	if (!r->style.no_header)
		text_header(r);
}

static void row(struct report *r, json_t *value)
{
	if (r->widths) {
		print_row(r, value);
		return;
	}
	json_array_append(r->waiting, value);
	if (json_array_size(r->waiting) >= LAYOUT_ROWS)
		lay_out(r);
}

static void end(struct report *r, size_t nr_left)
{
	if (!r->widths)
		lay_out(r);
	if (!r->nr_rows && !nr_left && r->view->empty) {
		char *empty = escape_controls(r->view->empty);

		fprintf(r->style.out, "%s\n", empty);
		free(empty);
	}
	if (nr_left)
		fprintf(r->style.out, "%s(%zu more row%s; -n all shows %s)%s\n",
			text_colour(r, "dim"), nr_left, nr_left == 1 ? "" : "s",
			nr_left == 1 ? "it" : "them", text_colour(r, "reset"));
	if (r->view->total_key && r->nr_rows)
		print_cells(r, r->totals, r->view->total_key);
}

const struct report_ops report_text = {begin, row, end};
