/* SPDX-License-Identifier: MIT */
/*
 * cmd_mode.c - `heapstory mode`: switches a running program's mode.
 */
#include "cli/command.h"
#include "cli/suggest.h"
#include "reports/report.h"
#include "store/format.h"
#include "store/place.h"
#include "store/summary.h"
#include "util/error.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct mode_options {
	bool json;
	const char *target, *mode;
};

static int parse(struct mode_options *o, int argc, char **argv)
{
	bool options = true;

	memset(o, 0, sizeof(*o));
	for (int i = 1; i < argc; i++) {
		if (options && !strcmp(argv[i], "--"))
			options = false;
		else if (options && !strcmp(argv[i], "--json"))
			o->json = true;
		else if (options && argv[i][0] == '-' && argv[i][1])
			return say_no_option("mode", argv[i]);
		else if (!o->target)
			o->target = argv[i];
		else if (!o->mode)
			o->mode = argv[i];
		else
			return say("mode: '%s' is one argument too many", argv[i]);
	}
	if (!o->mode)
		return say("mode: needs a target and a mode; 'heapstory mode --help' shows how");
	return EXIT_DONE;
}

static int mode_of_name(const char *name, enum hs_mode *ret)
{
	if (!strcmp(name, "off"))
		*ret = HS_MODE_OFF;
	else if (!strcmp(name, "live"))
		*ret = HS_MODE_LIVE;
	else if (!strcmp(name, "full") || !strcmp(name, "sample") || !strncmp(name, "sample=", 7))
		return say("mode '%s' is not in this version", name);
	else
		return say("'%s' is no mode (off, live)", name);
	return EXIT_DONE;
}

static const char *mode_name(uint32_t mode)
{
	return mode == HS_MODE_OFF || mode == HS_MODE_DRAIN ? "off" : "live";
}

static double seconds(const struct store_summary *s, uint64_t ms)
{
	return (double)(s->start_after_ms + ms) / 1000;
}

static void print_json(const struct store_summary *s, const char *path)
{
	static const struct report_view no_view;
	struct report_style style = {.out = stdout, .json = true};
	struct report report;
	char comm[sizeof(s->comm) + 1] = "";

	memcpy(comm, s->comm, sizeof(s->comm));
	report_begin(&report, &style, "mode", &no_view,
		     json_pack("{s:I, s:o, s:s, s:o}", "pid", (json_int_t)s->pid, "name",
			       report_string(comm), "source", "running", "path",
			       report_string(path)),
		     json_pack("{s:s, s:f, s:n, s:n, s:n, s:n, s:n, s:[]}", "mode",
			       mode_name(s->mode), "since_s", seconds(s, s->since_ms),
			       "share_of_life", "blocks_without_stack", "events_lost",
			       "unknown_frees", "unexplained_bytes", "notes"),
		     json_pack("{s:I, s:I}", "count", (json_int_t)s->live_count, "bytes",
			       (json_int_t)s->live_bytes));
	report_row(&report,
		   json_pack("{s:I, s:o, s:s, s:I, s:I, s:f}", "pid", (json_int_t)s->pid, "name",
			     report_string(comm), "mode", mode_name(s->mode), "bytes",
			     (json_int_t)s->live_bytes, "count", (json_int_t)s->live_count,
			     "since_s", seconds(s, s->since_ms)));
	report_end(&report, 0);
}

static void print_text(const struct store_summary *s)
{
	printf("%.*s, process %" PRIu32 ": %s", (int)sizeof(s->comm), s->comm, s->pid,
	       mode_name(s->mode));
	if (s->mode == HS_MODE_DRAIN && s->live_count)
		printf("; %" PRId64 " block%s that it knows %s still followed", s->live_count,
		       s->live_count == 1 ? "" : "s", s->live_count == 1 ? "is" : "are");
	putchar('\n');
}

static int run(int argc, char **argv)
{
	struct mode_options options;
	struct store_summary summary;
	struct hs_error err;
	enum hs_mode mode = HS_MODE_OFF;
	char path[PATH_MAX];

	if (parse(&options, argc, argv) || mode_of_name(options.mode, &mode))
		return EXIT_TROUBLE;
	if (target_find(options.target, path, sizeof(path), &err) ||
	    store_mode_set(path, mode, &err) || store_summary(path, &summary, &err))
		return say_error(&err);
	if (options.json)
		print_json(&summary, path);
	else
		print_text(&summary);
	return EXIT_DONE;
}

const struct command cmd_mode = {
	.name = "mode",
	.summary = "switch a running program's mode",
	.usage = "TARGET off|live [--json]",
	.options = "  --json           one JSON object\n",
	.example = "heapstory mode redis-server off\n",
	.run = run,
};
