/* SPDX-License-Identifier: MIT */
/*
 * cmd_check.c - heapstory check: verify every chunk of a snapshot file or store.
 */
#include "cli/chunks.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/read.h"
#include "store/place.h"
#include "util/error.h"

const struct report_column chunk_columns[NR_CHUNK_COLUMNS] = {
	{"OFFSET", "offset", UNIT_COUNT, false},
	{"BYTES", "bytes", UNIT_COUNT, false},
	{"UNPACKED", "raw_bytes", UNIT_COUNT, false},
	{"ITEMS", "items", UNIT_COUNT, true},
	{"STATE", "ok", UNIT_OK, false},
	{"CHUNK", "chunk", UNIT_TEXT, false},
};

json_t *chunk_row(const struct snap_chunk *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "chunk", report_string(c->name));
	json_object_set_new(o, "offset", json_integer((json_int_t)c->offset));
	json_object_set_new(o, "bytes", json_integer((json_int_t)c->bytes));
	json_object_set_new(o, "ok", json_boolean(c->ok));
	json_object_set_new(o, "raw_bytes", json_integer((json_int_t)c->raw_bytes));
	json_object_set_new(o, "items", json_integer((json_int_t)c->items));
	json_object_set_new(o, "problem", c->problem[0] ? report_string(c->problem) : json_null());
	return o;
}

/* Says what is wrong with the file in one line; EXIT_DONE if nothing is. */
static int verdict(const char *path, const struct snap_chunk *chunks, size_t nr)
{
	const struct snap_chunk *first = NULL;
	size_t nr_bad = 0;

	for (size_t i = 0; i < nr; i++) {
		if (chunks[i].ok)
			continue;
		nr_bad++;
		if (!first)
			first = &chunks[i];
	}
	if (!first)
		return EXIT_DONE;
	if (nr_bad == 1)
		return say("'%s' is damaged: chunk '%s' at offset %" PRIu64 ": %s", path,
			   first->name, first->offset, first->problem);
	return say("'%s' is damaged: chunk '%s' at offset %" PRIu64 ": %s; %zu more damaged", path,
		   first->name, first->offset, first->problem, nr_bad - 1);
}

static json_t *totals_of(const struct snap_chunk *chunks, size_t nr)
{
	uint64_t bytes = 0, nr_bad = 0;

	for (size_t i = 0; i < nr; i++) {
		bytes += chunks[i].bytes;
		nr_bad += !chunks[i].ok;
	}
	return json_pack("{s:I,s:I,s:I,s:b}", "chunks", (json_int_t)nr, "bytes", (json_int_t)bytes,
			 "damaged", (json_int_t)nr_bad, "ok", nr_bad == 0);
}

static int check(const struct read_options *o)
{
	static const struct report_view view = {.columns = chunk_columns,
						.nr_columns = NR_CHUNK_COLUMNS};
	struct report_style style = style_for(o);
	struct snap_chunk *chunks = NULL;
	struct hs_error err = {0};
	struct report report;
	const char *target = o->operands[0];
	char path[PATH_MAX];
	json_t *about;
	size_t nr = 0;
	int status;

	if (target_find(target, path, sizeof(path), &err) ||
	    snapshot_check(path, &chunks, &nr, &err))
		return say_error(&err);
	style.no_header = true;
	about = json_object();
	json_object_set_new(about, "path", report_string(path));
	report_begin(&report, &style, "check", &view, about, NULL, totals_of(chunks, nr));
	for (size_t i = 0; i < nr; i++)
		report_row(&report, chunk_row(&chunks[i]));
	report_end(&report, 0);
	status = verdict(target, chunks, nr);
	free(chunks);
	return status;
}

static int run(int argc, char **argv)
{
	return read_command(argc, argv, 1, "FILE", check);
}

const struct command cmd_check = {
	.name = "check",
	.summary = "verify every chunk of a snapshot file or store",
	.usage = "FILE [--json]",
	.options = READ_HELP_JSON,
	.example = "heapstory check 0001.hs\n",
	.run = run,
};
