/* SPDX-License-Identifier: MIT */
/*
 * cmd_list.c - heapstory list: traced processes that run now.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/read.h"
#include "reports/report.h"
#include "store/place.h"
#include "store/summary.h"
#include "util/error.h"

static const char *mode_name(const struct store_summary *s)
{
	if (s->state == HS_STATE_STOPPED)
		return "stopped";
	switch (s->mode) {
	case HS_MODE_LIVE:
		return "live";
	case HS_MODE_SAMPLE:
		return "sample";
	case HS_MODE_FULL:
		return "full";
	default:
		return "off";
	}
}

static json_int_t not_below_zero(int64_t value)
{
	return value > 0 ? value : 0;
}

static json_t *row_of(const struct registry_entry *entry, const struct store_summary *s)
{
	uint64_t age_ms = s->now_ms + s->start_after_ms;
	json_t *o = json_object();

	json_object_set_new(o, "pid", json_integer(entry->pid));
	json_object_set_new(o, "name", report_string(entry->comm));
	json_object_set_new(o, "mode", json_string(mode_name(s)));
	json_object_set_new(o, "bytes", json_integer(not_below_zero(s->live_bytes)));
	json_object_set_new(o, "count", json_integer(not_below_zero(s->live_count)));
	json_object_set_new(o, "since_s",
			    json_real((double)(s->since_ms + s->start_after_ms) / 1000));
	json_object_set_new(o, "age_s", json_real((double)age_ms / 1000));
	json_object_set_new(o, "wall",
			    s->start_real_ns ? report_wall(s->start_real_ns + s->since_ms * 1000000)
					     : json_null());
	json_object_set_new(o, "exe", report_string(entry->exe));
	json_object_set_new(o, "store", report_string(entry->store));
	return o;
}

static int by_pid(const void *a, const void *b)
{
	const struct registry_entry *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int list(const struct read_options *o)
{
	static const struct report_column columns[] = {
		{"PID", "pid", UNIT_COUNT, false},     {"MODE", "mode", UNIT_TEXT, false},
		{"BYTES", "bytes", UNIT_BYTES, false}, {"BLOCKS", "count", UNIT_COUNT, false},
		{"AGE", "age_s", UNIT_AGO, false},     {"SINCE", "since_s", UNIT_AGO, false},
		{"NAME", "name", UNIT_TEXT, false},
	};
	static const struct report_view view = {
		.columns = columns,
		.nr_columns = sizeof(columns) / sizeof(columns[0]),
		.empty = "no traced process runs",
	};
	struct report_style style = style_for(o);
	struct registry_entry *entries = NULL;
	struct hs_error err = {0};
	struct report report;
	size_t nr = 0;

	if (registry_list(&entries, &nr, &err))
		return say_error(&err);
	if (nr)
		qsort(entries, nr, sizeof(*entries), by_pid);
	style.no_header = true;
	report_begin(&report, &style, "list", &view, NULL, NULL, NULL);
	for (size_t i = 0; i < nr; i++) {
		struct store_summary summary;

		if (store_summary(entries[i].store, &summary, &err))
			say_error(&err);
		else if (summary.alive)
			report_row(&report, row_of(&entries[i], &summary));
	}
	report_end(&report, 0);
	free(entries);
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	return read_command(argc, argv, 0, "", list);
}

const struct command cmd_list = {
	.name = "list",
	.summary = "traced processes that run now",
	.usage = "[--json]",
	.options = READ_HELP_JSON,
	.example = "heapstory list\n",
	.run = run,
};
