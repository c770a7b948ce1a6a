/* SPDX-License-Identifier: MIT */
/*
 * report.h - the model that all reports are made of, and how it is printed.
 *
 * A report is one object: schema, command, target, coverage, totals and rows, each a JSON value
 * with the members that docs/ describe. The rows come one at a time. JSON prints them as they
 * are; text picks members of them by path into the columns of a view, and lets the view print
 * lines beneath a row. A view holds no numbers of its own, so text and JSON cannot disagree.
 */
#ifndef HEAPSTORY_REPORTS_REPORT_H
#define HEAPSTORY_REPORTS_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct report;
struct report_ops;

enum report_unit {
	UNIT_TEXT,
	UNIT_COUNT,
	UNIT_COUNT_DELTA,
	UNIT_RATE, /* number with three decimals, signed */
	UNIT_BYTES,
	UNIT_BYTES_DELTA,
	UNIT_BYTES_RATE, /* with one decimal, signed */
	UNIT_BYTES_SLOPE, /* a number that need not be whole, as UNIT_BYTES_DELTA */
	UNIT_AVERAGE, /* bytes, rounded */
	UNIT_SHARE, /* percent of the same member of totals */
	UNIT_AGO, /* seconds as a duration */
	UNIT_CHAIN, /* callers of the stack; path is that of the stack */
	UNIT_CLASS, /* class of the row, and where it is made; the same */
	UNIT_OK, /* true: "ok", false: "damaged" */
};

struct report_column {
	const char *title;
	const char *path; /* member of the row: "bytes.delta" */
	enum report_unit unit;
	bool hide_empty; /* not shown where all rows have 0, null or "" */
};

/* How text shows a report. */
struct report_view {
	const struct report_column *columns; /* the last one takes the width that is left */
	size_t nr_columns; /* 0: no table, `beneath` prints all of a row */
	const char *total_key; /* text of the last column in the line of totals; NULL: no line */
	void (*above)(struct report *report, const json_t *row); /* lines before a row, or NULL */
	void (*beneath)(struct report *report, const json_t *row); /* lines after a row, or NULL */
	const char *empty; /* what is said where there are no rows, or NULL */
};

/* All zero but `out` is fine. */
struct report_style {
	FILE *out;
	bool json;
	bool colour;
	bool all_frames; /* allocator and runtime frames too */
	bool no_header; /* text: no lines on target and coverage */
	unsigned int width; /* columns of the terminal; 0: as wide as it gets */
};

struct report {
	struct report_style style;
	const struct report_ops *ops;
	const struct report_view *view;
	const char *command;
	json_t *target, *coverage, *totals, *suspects; /* suspects: of `heap` only, else NULL */
	size_t nr_rows;
	bool *hidden; /* text: columns */
	int *widths; /* text: of columns; NULL: not laid out yet */
	json_t *waiting; /* text: rows that come before the layout */
	json_t *alike; /* text: last cells of groups, and their keys; true: there are several */
	size_t nr_printed; /* text: rows that above and beneath were called for */
	const char *zone; /* for `above`: what it last printed */
};

/*
 * Starts a report; takes the references of target, coverage and totals (NULL: an empty object).
 * view must outlive it.
 */
void report_begin(struct report *report, const struct report_style *style, const char *command,
		  const struct report_view *view, json_t *target, json_t *coverage, json_t *totals);
/* Adds `suspects` beside the rows; before the first row. Takes the reference. */
void report_suspects(struct report *report, json_t *suspects);
/* Takes the reference. */
void report_row(struct report *report, json_t *row);
/* nr_left: rows that there are beyond those shown. */
void report_end(struct report *report, size_t nr_left);

/* What a format is: text.c, json.c. */
struct report_ops {
	void (*begin)(struct report *report);
	void (*row)(struct report *report, json_t *row);
	void (*end)(struct report *report, size_t nr_left);
};
extern const struct report_ops report_text, report_json;

/* ---- values ------------------------------------------------------------------------------ */

/* A copy in which bytes that are no UTF-8 have become U+FFFD. Caller frees. */
char *report_utf8(const char *text);
/* A string that may hold such bytes; NULL: null. */
json_t *report_string(const char *s);
/* "0x7f..." */
json_t *report_address(uint64_t address);
/* RFC 3339 in UTC with milliseconds; null for 0. */
json_t *report_wall(uint64_t ns);
/* Member by path "bytes.delta"; NULL if there is none. Borrowed. */
const json_t *report_get(const json_t *object, const char *path);

/* ---- text -------------------------------------------------------------------------------- */

/* "64 B", "1.5 KiB", "32.0 MiB"; "+0.25 s", "+1803 s". Return ret. */
#define REPORT_TEXT_LEN 32u
char *text_bytes(uint64_t bytes, char ret[static REPORT_TEXT_LEN]);
char *text_moment(double s, char ret[static REPORT_TEXT_LEN]);
/* "40 s", "15 min", "2 h 5 min", "3 d 4 h", "2 y 30 d". Returns ret. */
char *text_duration(double s, char ret[static REPORT_TEXT_LEN]);
/* "function <- caller <- its caller" in at most width bytes (0: no limit). Caller frees. */
char *text_chain(const struct report *report, const json_t *stack, size_t width);
/*
 * One frame a line, indented, without the middle of a deep stack unless all frames are asked for;
 * cut: the row's "cut" member, or NULL.
 */
void text_stack(struct report *report, const json_t *stack, const json_t *cut, int indent);
/*
 * How a buffer came to its size (text_lineage.c), in a few lines. shown: a stack that is printed
 * anyway and need not be told again, or NULL.
 */
void text_lineage(struct report *report, const json_t *lineage, const json_t *shown, int indent);
/* Prints text, wrapped at blanks to the width, each line indented. */
void text_wrapped(struct report *report, const char *text, int indent);
/* Colours where the style has them; names as in "bold", "red", "green", "dim". */
const char *text_colour(const struct report *report, const char *name);

#endif
