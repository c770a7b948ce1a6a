/* SPDX-License-Identifier: MIT */
/*
 * json.c - a report as one JSON object. Rows are written as they come, one a line, so that a
 * report of millions of blocks needs no memory for them.
 */
#include "reports/report.h"

/* Reals are times and ratios: 12 digits are more than was measured. */
#define JSON_FLAGS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12))

static void begin(struct report *r)
{
	FILE *out = r->style.out;
	const struct {
		const char *name;
		const json_t *value;
	} members[] = {
		{"target", r->target},
		{"coverage", r->coverage},
		{"totals", r->totals},
	};

	fprintf(out, "{\"schema\":\"heapstory/1\",\"command\":\"%s\"", r->command);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		fprintf(out, ",\n\"%s\":", members[i].name);
		json_dumpf(members[i].value, out, JSON_FLAGS);
	}
	fputs(",\n\"rows\":[", out);
}

static void row(struct report *r, json_t *value)
{
	fputs(r->nr_rows ? ",\n" : "\n", r->style.out);
	json_dumpf(value, r->style.out, JSON_FLAGS);
}

static void end(struct report *r, size_t nr_left)
{
	(void)nr_left; /* totals tell */
	fputs("]", r->style.out);
	if (r->suspects) {
		fputs(",\n\"suspects\":", r->style.out);
		json_dumpf(r->suspects, r->style.out, JSON_FLAGS);
	}
	fputs("}\n", r->style.out);
}

const struct report_ops report_json = {begin, row, end};
