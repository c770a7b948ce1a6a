/* SPDX-License-Identifier: MIT */
/*
 * timeline_log.c - reading and thinning out a timeline; see timeline_log.h.
 */
#include "cli/timeline_log.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/thin.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/error.h"

static void section_release(struct timeline_log_section *s)
{
	for (size_t i = 0; i < s->nr_modules; i++)
		free(s->modules[i].path);
	for (size_t i = 0; i < s->nr_lines; i++)
		free((char *)s->lines[i].moment.name);
	free(s->modules);
	free(s->nodes);
	free(s->lines);
	free(s->changes);
}

void timeline_log_release(struct timeline_log *log)
{
	for (size_t i = 0; i < log->nr_sections; i++)
		section_release(&log->sections[i]);
	free(log->sections);
	memset(log, 0, sizeof(*log));
}

/* ---- values ------------------------------------------------------------------------------ */

/* A whole number of 0 or more; else *ok becomes false. */
static uint64_t number(const json_t *value, bool *ok)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		*ok = false;
	return (uint64_t)json_integer_value(value);
}

static uint64_t member(const json_t *object, const char *name, bool *ok)
{
	return number(json_object_get(object, name), ok);
}

static uint64_t item(const json_t *array, size_t i, bool *ok)
{
	return number(json_array_get(array, i), ok);
}

/* A word of 64 bits, which JSON has as a signed number. */
static uint64_t word(const json_t *array, size_t i, bool *ok)
{
	const json_t *value = json_array_get(array, i);

	if (!json_is_integer(value))
		*ok = false;
	return (uint64_t)json_integer_value(value);
}

/* A number of something of which there are `nr`. */
static uint32_t reference(const json_t *array, size_t i, size_t nr, bool *ok)
{
	uint64_t value = item(array, i, ok);

	if (value >= nr)
		*ok = false;
	return *ok ? (uint32_t)value : 0;
}

static void text_of(const json_t *object, const char *name, char *ret, size_t size, bool *ok)
{
	const char *text = json_string_value(json_object_get(object, name));

	if (!text || strlen(text) >= size)
		*ok = false;
	else
		snprintf(ret, size, "%s", text);
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes of a string of hexadecimal digits; returns how many. */
static size_t bytes_of(const json_t *value, uint8_t *ret, size_t size, bool *ok)
{
	const char *text = json_string_value(value);
	size_t len = text ? strlen(text) : 0;

	if (!text || len % 2 || len / 2 > size) {
		*ok = false;
		return 0;
	}
	for (size_t i = 0; i < len; i += 2) {
		int high = digit(text[i]), low = digit(text[i + 1]);

		if (high < 0 || low < 0)
			*ok = false;
		ret[i / 2] = (uint8_t)((unsigned int)high << 4 | (unsigned int)low);
	}
	return len / 2;
}

/* ---- lines ------------------------------------------------------------------------------- */

static bool parse_header(struct timeline_log *log, const json_t *o)
{
	struct timeline_log_section *s;
	bool ok = true;

	if (member(o, "timeline", &ok) != 1)
		return false;
	log->sections =
		xgrow(log->sections, &log->alloc, log->nr_sections + 1, sizeof(*log->sections));
	s = &log->sections[log->nr_sections++];
	memset(s, 0, sizeof(*s));
	s->modules = xgrow(NULL, &s->alloc_modules, 1, sizeof(*s->modules));
	s->modules[s->nr_modules++] = (struct snap_module){.path = xstrdup("")};
	s->nodes = xgrow(NULL, &s->alloc_nodes, 1, sizeof(*s->nodes));
	s->nodes[s->nr_nodes++] = (struct timeline_node){0, 0, 0, false};
	s->image.pid = (uint32_t)member(o, "pid", &ok);
	s->image.generation = (uint32_t)member(o, "generation", &ok);
	bytes_of(json_object_get(o, "image"), s->image.id, sizeof(s->image.id), &ok);
	text_of(o, "comm", s->image.comm, sizeof(s->image.comm), &ok);
	text_of(o, "start", s->image.start, sizeof(s->image.start), &ok);
	return ok;
}

static bool add_module(struct timeline_log_section *s, const json_t *a)
{
	const char *path = json_string_value(json_array_get(a, 0));
	struct snap_module m = {.path = NULL};
	bool ok = path != NULL;

	m.build_id_len = (uint32_t)bytes_of(json_array_get(a, 1), m.build_id, HS_BUILD_ID_LEN, &ok);
	m.load_bias = word(a, 2, &ok);
	m.dev = item(a, 3, &ok);
	m.inode = item(a, 4, &ok);
	if (!ok)
		return false;
	m.path = xstrdup(path);
	s->modules = xgrow(s->modules, &s->alloc_modules, s->nr_modules + 1, sizeof(*s->modules));
	s->modules[s->nr_modules++] = m;
	return true;
}

static bool add_node(struct timeline_log_section *s, const json_t *a)
{
	struct timeline_node n;
	bool ok = true;

	n.parent = reference(a, 0, s->nr_nodes, &ok);
	n.module = reference(a, 1, s->nr_modules, &ok);
	n.offset = word(a, 2, &ok);
	n.signal = json_array_size(a) > 3 && item(a, 3, &ok) == 1;
	s->nodes = xgrow(s->nodes, &s->alloc_nodes, s->nr_nodes + 1, sizeof(*s->nodes));
	s->nodes[s->nr_nodes++] = n;
	return ok;
}

static bool add_change(struct timeline_log_section *s, const json_t *a)
{
	struct timeline_change c;
	bool ok = true;

	c.node = reference(a, 0, s->nr_nodes, &ok);
	c.totals.count = item(a, 1, &ok);
	c.totals.bytes = item(a, 2, &ok);
	c.totals.born_count = item(a, 3, &ok);
	c.totals.born_bytes = item(a, 4, &ok);
	s->changes = xgrow(s->changes, &s->alloc_changes, s->nr_changes + 1, sizeof(*s->changes));
	s->changes[s->nr_changes++] = c;
	return ok;
}

static bool add_all(struct timeline_log_section *s, const json_t *o, const char *name,
		    bool (*add)(struct timeline_log_section *s, const json_t *a))
{
	const json_t *array = json_object_get(o, name), *value;
	bool ok = json_is_array(array);
	size_t i;

	json_array_foreach(array, i, value) ok = ok && add(s, value);
	return ok;
}

static bool parse_snapshot(struct timeline_log *log, const json_t *o)
{
	struct timeline_log_section *s = &log->sections[log->nr_sections - 1];
	const char *name = json_string_value(json_object_get(o, "snapshot"));
	double at_s = json_number_value(json_object_get(o, "s"));
	struct timeline_line line = {.first = s->nr_changes};
	struct timeline_totals *totals = &line.moment.totals;
	bool ok = name && at_s >= 0 && at_s < 1e15;

	if (!ok)
		return false;
	line.moment.at_ms = (uint64_t)(at_s * 1000 + 0.5);
	text_of(o, "wall", line.moment.wall, sizeof(line.moment.wall), &ok);
	totals->count = member(o, "count", &ok);
	totals->bytes = member(o, "bytes", &ok);
	totals->born_count = member(o, "born_count", &ok);
	totals->born_bytes = member(o, "born_bytes", &ok);
	line.moment.peak_bytes = member(o, "peak_bytes", &ok);
	ok = ok && add_all(s, o, "modules", add_module) && add_all(s, o, "nodes", add_node) &&
	     add_all(s, o, "stacks", add_change);
	line.nr = s->nr_changes - line.first;
	line.moment.name = xstrdup(name);
	s->lines = xgrow(s->lines, &s->alloc_lines, s->nr_lines + 1, sizeof(*s->lines));
	s->lines[s->nr_lines++] = line;
	return ok;
}

static bool parse_line(struct timeline_log *log, const char *text, size_t len)
{
	json_t *o = json_loadb(text, len, 0, NULL);
	bool ok = false;

	if (json_object_get(o, "timeline"))
		ok = parse_header(log, o);
	else if (o && log->nr_sections)
		ok = parse_snapshot(log, o);
	json_decref(o);
	return ok;
}

static int read_lines(FILE *file, const char *name, struct timeline_log *ret, struct hs_error *err)
{
	struct timeline_log log = {NULL, 0, 0};
	size_t alloc = 0, nr = 0;
	char *text = NULL;
	ssize_t len;
	int status = 0;

	while (!status && (len = getline(&text, &alloc, file)) > 0) {
		nr++;
		if (text[len - 1] == '\n' && !parse_line(&log, text, (size_t)len))
			status = hs_error_set(err, HS_E_FORMAT, "'%s' is damaged: line %zu", name,
					      nr);
	}
	if (!status && ferror(file))
		status = hs_error_system(err, "read", name);
	free(text);
	if (status)
		timeline_log_release(&log);
	else
		*ret = log;
	return status;
}

int timeline_log_read(const char *path, struct timeline_log *ret, struct hs_error *err)
{
	FILE *file = fopen(path, "re");
	int status;

	if (!file)
		return hs_error_system(err, "open", path);
	status = read_lines(file, path, ret, err);
	fclose(file);
	return status;
}

int timeline_log_read_data(const uint8_t *data, size_t len, const char *name,
			   struct timeline_log *ret, struct hs_error *err)
{
	/* it is opened for reading only; there is no const in its type */
	FILE *file = len ? fmemopen((void *)(uintptr_t)data, len, "r") : NULL;
	int status;

	if (!len) {
		memset(ret, 0, sizeof(*ret));
		return 0;
	}
	if (!file)
		return hs_error_system(err, "read", name);
	status = read_lines(file, name, ret, err);
	fclose(file);
	return status;
}

/* ---- states ------------------------------------------------------------------------------ */

void timeline_state_init(struct timeline_state *state, const struct timeline_log_section *section)
{
	state->section = section;
	state->totals = xcalloc(section->nr_nodes, sizeof(*state->totals));
	state->line = 0;
}

void timeline_state_release(struct timeline_state *state)
{
	free(state->totals);
	state->totals = NULL;
}

void timeline_state_next(struct timeline_state *state)
{
	const struct timeline_line *line = &state->section->lines[state->line++];

	for (size_t i = line->first; i < line->first + line->nr; i++)
		state->totals[state->section->changes[i].node] = state->section->changes[i].totals;
}

/* ---- thinning ---------------------------------------------------------------------------- */

/* Sections [from, to) are of one image. */
struct run {
	const struct timeline_log_section *from, *to;
};

static struct run run_at(const struct timeline_log *log, size_t section)
{
	struct run run = {&log->sections[section], &log->sections[section]};
	const struct timeline_log_section *end = log->sections + log->nr_sections;

	while (run.to < end &&
	       !memcmp(run.to->image.id, run.from->image.id, sizeof(run.to->image.id)))
		run.to++;
	return run;
}

/* Frames of the section that is written, by node of the one that is read; caller frees. */
static struct timeline_frame **frames_of(struct timeline_section *out,
					 const struct timeline_log_section *s)
{
	struct timeline_frame **frames = xcalloc(s->nr_nodes, sizeof(struct timeline_frame *));
	uint32_t *modules = xcalloc(s->nr_modules, sizeof(*modules));

	for (size_t i = 1; i < s->nr_modules; i++)
		modules[i] = timeline_section_module(out, &s->modules[i]);
	for (size_t i = 1; i < s->nr_nodes; i++)
		frames[i] = timeline_section_frame(out, frames[s->nodes[i].parent],
						   modules[s->nodes[i].module], s->nodes[i].offset,
						   s->nodes[i].signal);
	free(modules);
	return frames;
}

static void write_lines(struct timeline_section *out, const struct timeline_log_section *s,
			const bool *keep, struct buffer *ret)
{
	struct timeline_frame **frames = frames_of(out, s);
	struct timeline_state state;

	timeline_state_init(&state, s);
	while (state.line < s->nr_lines) {
		const struct timeline_moment *moment = &s->lines[state.line].moment;
		bool kept = keep[state.line];

		timeline_state_next(&state);
		if (!kept)
			continue;
		timeline_section_begin(out);
		for (size_t i = 1; i < s->nr_nodes; i++)
			if (state.totals[i].count || state.totals[i].bytes)
				timeline_section_put(out, frames[i], &state.totals[i]);
		timeline_section_end(out, moment, ret);
	}
	timeline_state_release(&state);
	free(frames);
}

/* All of one image, with every `sparse`th line or so. Returns how many lines it had. */
static size_t write_run(struct run run, size_t sparse, struct buffer *ret)
{
	struct timeline_section out = {.frames = NULL};
	size_t nr = 0, k = 0;
	uint64_t *at;
	bool *keep;

	for (const struct timeline_log_section *s = run.from; s < run.to; s++)
		nr += s->nr_lines;
	at = xcalloc(nr + 1, sizeof(*at));
	keep = xcalloc(nr + 1, sizeof(*keep));
	for (const struct timeline_log_section *s = run.from; s < run.to; s++)
		for (size_t i = 0; i < s->nr_lines; i++, k++)
			at[k] = s->lines[i].moment.at_ms;
	thin_evenly(at, nr, nr / sparse, keep);
	timeline_section_header(&run.from->image, ret);
	k = 0;
	for (const struct timeline_log_section *s = run.from; s < run.to; s++) {
		write_lines(&out, s, keep + k, ret);
		k += s->nr_lines;
	}
	timeline_section_clear(&out);
	free(at);
	free(keep);
	return nr;
}

void timeline_log_thin(const struct timeline_log *log, uint64_t bytes, struct buffer *ret)
{
	for (size_t sparse = 1, most = 0;; sparse *= 2) {
		ret->len = 0;
		for (size_t i = 0; i < log->nr_sections;) {
			struct run run = run_at(log, i);
			size_t nr = write_run(run, sparse, ret);

			most = nr > most ? nr : most;
			i = (size_t)(run.to - log->sections);
		}
		if (ret->len <= bytes || sparse >= most)
			return;
	}
}
