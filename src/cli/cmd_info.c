/* SPDX-License-Identifier: MIT */
/*
 * cmd_info.c - heapstory info: what a snapshot file or store holds.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot.h"
#include "cli/chunks.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/read.h"
#include "reports/rows.h"
#include "store/place.h"
#include "util/error.h"
#include "util/units.h"

static json_t *module_value(const struct snapshot *s, const struct snap_module *m)
{
	char build_id[2 * HS_BUILD_ID_LEN + 1] = "";
	json_t *o = json_object();

	for (uint32_t i = 0; i < m->build_id_len && i < HS_BUILD_ID_LEN; i++)
		snprintf(build_id + 2 * i, 3, "%02x", m->build_id[i]);
	json_object_set_new(o, "path", m->path[0] ? report_string(m->path) : json_null());
	json_object_set_new(o, "build_id", m->build_id_len ? json_string(build_id) : json_null());
	json_object_set_new(o, "start", report_address(m->start));
	json_object_set_new(o, "end", report_address(m->end));
	json_object_set_new(o, "load_bias", report_address(m->load_bias));
	json_object_set_new(o, "loaded_s", json_real(rows_seconds(s, m->loaded_ms)));
	json_object_set_new(o, "unloaded_s",
			    m->unloaded_ms ? json_real(rows_seconds(s, m->unloaded_ms))
					   : json_null());
	return o;
}

static json_t *totals_of(const struct snapshot *s)
{
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{"count", s->live_count},
		{"bytes", s->live_bytes},
		{"peak_bytes", s->peak_bytes},
		{"peak_count", s->peak_count},
		{"allocations", s->born_count},
		{"temporary", s->temporary},
		{"stacks", s->nr_stacks ? s->nr_stacks - 1 : 0},
		{"frames", s->nr_nodes ? s->nr_nodes - 1 : 0},
		{"lineages", s->nr_lineages},
		{"steps", s->nr_steps},
		{"threads", s->nr_threads ? s->nr_threads - 1 : 0},
		{"depth", s->depth},
		{"page_size", s->page_size},
	};
	json_t *o = json_object(), *modules = json_array();

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_object_set_new(o, numbers[i].name, json_integer((json_int_t)numbers[i].value));
	json_object_set_new(o, "peak_s", json_real(rows_seconds(s, s->peak_ms)));
	json_object_set_new(o, "arch",
			    json_string(s->arch == HS_ARCH_X86_64    ? "x86_64"
					: s->arch == HS_ARCH_AARCH64 ? "aarch64"
								     : "unknown"));
	for (size_t i = 1; i < s->nr_modules; i++)
		json_array_append_new(modules, module_value(s, &s->modules[i]));
	json_object_set_new(o, "modules", modules);
	return o;
}

/* ---- text -------------------------------------------------------------------------------- */

static json_int_t number(const json_t *o, const char *name)
{
	return json_integer_value(json_object_get(o, name));
}

/* "3 threads", "1 thread": the number of a member and its name; singular: without its s. */
static void print_counted(FILE *out, const json_t *o, const char *name, const char *after)
{
	json_int_t nr = number(o, name);

	fprintf(out, "%" JSON_INTEGER_FORMAT " %.*s%s", nr, (int)strlen(name) - (nr == 1), name,
		after);
}

static const char *text(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s ? s : "unknown";
}

/* What the header does not say; the chunks follow as a table. */
static void print_text(const struct report_style *style, const json_t *target, const json_t *totals)
{
	char live[REPORT_TEXT_LEN], peak[REPORT_TEXT_LEN], moment[REPORT_TEXT_LEN];
	const json_t *module;
	FILE *out = style->out;
	size_t i;

	fprintf(out, "program    %s, generation %" JSON_INTEGER_FORMAT ", %s\n",
		text(target, "exe"), number(target, "generation"), text(totals, "arch"));
	fprintf(out, "taken      %s, %s after the start of the program\n", text(target, "wall"),
		text_moment(json_number_value(json_object_get(target, "taken_s")), moment) + 1);
	fprintf(out, "live       %" JSON_INTEGER_FORMAT " block%s, %s; peak %s at %s\n",
		number(totals, "count"), number(totals, "count") == 1 ? "" : "s",
		text_bytes((uint64_t)number(totals, "bytes"), live),
		text_bytes((uint64_t)number(totals, "peak_bytes"), peak),
		text_moment(json_number_value(json_object_get(totals, "peak_s")), moment));
	fprintf(out,
		"ever       %" JSON_INTEGER_FORMAT " allocation%s, %" JSON_INTEGER_FORMAT
		" of them temporary\n",
		number(totals, "allocations"), number(totals, "allocations") == 1 ? "" : "s",
		number(totals, "temporary"));
	fprintf(out, "holds      ");
	print_counted(out, totals, "stacks", " of ");
	print_counted(out, totals, "frames", ", ");
	print_counted(out, totals, "lineages", ", ");
	print_counted(out, totals, "threads", "\n");
	fprintf(out, "modules\n");
	json_array_foreach(json_object_get(totals, "modules"), i, module)
	{
		const char *build_id = json_string_value(json_object_get(module, "build_id"));

		fprintf(out, "  %-14s  %s\n    build id %s%s\n", text(module, "start"),
			text(module, "path"), build_id ? build_id : "none",
			json_is_null(json_object_get(module, "unloaded_s")) ? "" : "; unloaded");
	}
	fputc('\n', out);
}

/* ---- command ----------------------------------------------------------------------------- */

static int info(const struct read_options *o)
{
	static const struct report_view view = {.columns = chunk_columns,
						.nr_columns = NR_CHUNK_COLUMNS};
	struct report_style style = style_for(o);
	struct snap_chunk *chunks = NULL;
	struct snapshot *s = NULL;
	struct hs_error err = {0};
	struct report report;
	const char *target = o->operands[0];
	char path[PATH_MAX];
	size_t nr = 0;
	int status;

	status = target_find(target, path, sizeof(path), &err);
	if (!status)
		status = snapshot_open(path, &s, &err);
	if (!status)
		status = snapshot_check(path, &chunks, &nr, &err);
	if (status) {
		say_error(&err);
		goto out;
	}
	report_begin(&report, &style, "info", &view, rows_target(s), rows_coverage(s),
		     totals_of(s));
	if (!style.json)
		print_text(&style, report.target, report.totals);
	for (size_t i = 0; i < nr; i++)
		report_row(&report, chunk_row(&chunks[i]));
	report_end(&report, 0);
out:
	snapshot_free(s);
	free(chunks);
	return status ? EXIT_TROUBLE : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	return read_command(argc, argv, 1, "FILE", info);
}

const struct command cmd_info = {
	.name = "info",
	.summary = "what a snapshot file or store holds",
	.usage = "FILE [--json]",
	.options = READ_HELP_JSON,
	.example = "heapstory info exit.hs\n",
	.run = run,
};
