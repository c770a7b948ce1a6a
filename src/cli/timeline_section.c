/* SPDX-License-Identifier: MIT */
/*
 * timeline_section.c - lines of a timeline; see timeline_section.h.
 */
#include "cli/timeline_section.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uthash.h>

#include "analysis/growth_totals.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"
#include "util/buffer.h"

struct frame_key {
	uint64_t offset;
	struct timeline_frame *parent;
	uint32_t module, signal;
};

struct timeline_frame {
	struct frame_key key;
	uint32_t nr; /* in the lines; 0: not told yet */
	uint32_t seen; /* number of the line that `now` is of */
	struct timeline_totals told, now; /* all zero where no stack ends here */
	UT_hash_handle hh;
};

void timeline_section_clear(struct timeline_section *s)
{
	struct timeline_frame *f, *next;

	HASH_ITER(hh, s->frames, f, next) {
		HASH_DEL(s->frames, f);
		free(f);
	}
	for (size_t i = 0; i < s->nr_modules; i++)
		free(s->modules[i]);
	free(s->modules);
	free(s->infos);
	free(s->module_numbers);
	memset(s, 0, sizeof(*s));
}

/* ---- text -------------------------------------------------------------------------------- */

static void add_json_string(struct buffer *b, const char *text)
{
	json_t *string = json_string(text);
	char *copy, *dump;

	if (!string) { /* not UTF-8: a path may be anything */
		copy = xstrdup(text);
		for (char *p = copy; *p; p++)
			if (*p & 0x80)
				*p = '?';
		string = json_string(copy);
		free(copy);
	}
	dump = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
	buffer_add_string(b, dump ? dump : "\"\"");
	free(dump);
	json_decref(string);
}

static void wall_text(uint64_t real_ns, char ret[static TIMELINE_WALL_LEN])
{
	time_t s = (time_t)(real_ns / 1000000000u);
	char text[TIMELINE_WALL_LEN - 8];
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(ret, TIMELINE_WALL_LEN, "%s.%03uZ", text,
		 (unsigned int)(real_ns / 1000000u % 1000));
}

static void add_hex(struct buffer *b, const uint8_t *bytes, size_t len)
{
	buffer_add_byte(b, '"');
	for (size_t i = 0; i < len; i++)
		buffer_addf(b, "%02x", bytes[i]);
	buffer_add_byte(b, '"');
}

void timeline_section_header(const struct timeline_image *image, struct buffer *b)
{
	buffer_addf(b, "{\"timeline\":1,\"pid\":%" PRIu32 ",\"generation\":%" PRIu32 ",\"image\":",
		    image->pid, image->generation);
	add_hex(b, image->id, sizeof(image->id));
	buffer_add_string(b, ",\"comm\":");
	add_json_string(b, image->comm);
	buffer_addf(b, ",\"start\":\"%s\"}\n", image->start);
}

/* ---- modules and frames ------------------------------------------------------------------ */

/* Path and build id as members of an array, without its end: what tells modules apart. */
static char *module_text(const struct snap_module *m)
{
	struct buffer b = {NULL, 0, 0};

	buffer_add_byte(&b, '[');
	add_json_string(&b, m->path);
	buffer_add_byte(&b, ',');
	add_hex(&b, m->build_id,
		m->build_id_len < HS_BUILD_ID_LEN ? m->build_id_len : HS_BUILD_ID_LEN);
	return buffer_detach(&b);
}

uint32_t timeline_section_module(struct timeline_section *s, const struct snap_module *m)
{
	char *text = module_text(m);

	for (size_t i = 0; i < s->nr_modules; i++) {
		if (!strcmp(s->modules[i], text)) {
			free(text);
			return (uint32_t)i + 1;
		}
	}
	s->modules = xgrow(s->modules, &s->alloc_modules, s->nr_modules + 1, sizeof(*s->modules));
	s->infos = xgrow(s->infos, &s->alloc_infos, s->nr_modules + 1, sizeof(*s->infos));
	s->module_numbers = xgrow(s->module_numbers, &s->alloc_numbers, s->nr_modules + 1,
				  sizeof(*s->module_numbers));
	s->modules[s->nr_modules] = text;
	s->infos[s->nr_modules] = *m;
	s->infos[s->nr_modules].path = NULL;
	s->module_numbers[s->nr_modules++] = 0;
	return (uint32_t)s->nr_modules;
}

struct timeline_frame *timeline_section_frame(struct timeline_section *s,
					      struct timeline_frame *parent, uint32_t module,
					      uint64_t offset, bool signal)
{
	struct timeline_frame *f;
	struct frame_key key;

	memset(&key, 0, sizeof(key));
	key.offset = offset;
	key.parent = parent;
	key.module = module;
	key.signal = signal;
	HASH_FIND(hh, s->frames, &key, sizeof(key), f);
	if (f)
		return f;
	f = xcalloc(1, sizeof(*f));
	f->key = key;
	HASH_ADD(hh, s->frames, key, sizeof(key), f);
	return f;
}

/* ---- a line ------------------------------------------------------------------------------ */

/* Its three arrays while they are made. */
struct line {
	struct buffer modules, nodes, stacks;
};

static uint32_t tell_module(struct timeline_section *s, struct line *line, uint32_t module)
{
	const struct snap_module *info = &s->infos[module - 1];
	uint32_t *nr = &s->module_numbers[module - 1];

	if (*nr)
		return *nr;
	*nr = ++s->nr_told_modules;
	if (line->modules.len)
		buffer_add_byte(&line->modules, ',');
	buffer_addf(&line->modules, "%s,%" PRId64 ",%" PRIu64 ",%" PRIu64 "]",
		    s->modules[module - 1], (int64_t)info->load_bias, info->dev, info->inode);
	return *nr;
}

/* Tells a frame and those outside it, outermost first, unless that is done. */
static void tell_frame(struct timeline_section *s, struct line *line, struct timeline_frame *f)
{
	struct timeline_frame *up;
	uint32_t module;

	while (!f->nr) {
		for (up = f; up->key.parent && !up->key.parent->nr;)
			up = up->key.parent;
		module = up->key.module ? tell_module(s, line, up->key.module) : 0;
		up->nr = ++s->nr_told_frames;
		if (line->nodes.len)
			buffer_add_byte(&line->nodes, ',');
		buffer_addf(&line->nodes, "[%" PRIu32 ",%" PRIu32 ",%" PRId64 "%s]",
			    up->key.parent ? up->key.parent->nr : 0, module,
			    (int64_t)up->key.offset, up->key.signal ? ",1" : "");
	}
}

void timeline_section_begin(struct timeline_section *s)
{
	s->line++;
}

void timeline_section_put(struct timeline_section *s, struct timeline_frame *f,
			  const struct timeline_totals *totals)
{
	if (f->seen != s->line)
		f->now = (struct timeline_totals){0, 0, 0, 0};
	f->seen = s->line;
	f->now.count += totals->count;
	f->now.bytes += totals->bytes;
	f->now.born_count += totals->born_count;
	f->now.born_bytes += totals->born_bytes;
}

static void tell_stacks(struct timeline_section *s, struct line *line)
{
	struct timeline_frame *f, *next;

	HASH_ITER(hh, s->frames, f, next) {
		if (f->seen != s->line)
			f->now.count = f->now.bytes = 0;
		if (f->now.count == f->told.count && f->now.bytes == f->told.bytes)
			continue;
		tell_frame(s, line, f);
		f->told = f->now;
		if (line->stacks.len)
			buffer_add_byte(&line->stacks, ',');
		buffer_addf(&line->stacks,
			    "[%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", f->nr,
			    f->now.count, f->now.bytes, f->now.born_count, f->now.born_bytes);
	}
}

void timeline_section_end(struct timeline_section *s, const struct timeline_moment *m,
			  struct buffer *b)
{
	struct line line = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};

	tell_stacks(s, &line);
	buffer_add_string(b, "{\"snapshot\":");
	add_json_string(b, m->name);
	buffer_addf(b,
		    ",\"s\":%" PRIu64 ".%03u,\"wall\":\"%s\""
		    ",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"born_count\":%" PRIu64
		    ",\"born_bytes\":%" PRIu64 ",\"peak_bytes\":%" PRIu64,
		    m->at_ms / 1000, (unsigned int)(m->at_ms % 1000), m->wall, m->totals.count,
		    m->totals.bytes, m->totals.born_count, m->totals.born_bytes, m->peak_bytes);
	buffer_addf(b, ",\"modules\":[%s]", buffer_string(&line.modules));
	buffer_addf(b, ",\"nodes\":[%s]", buffer_string(&line.nodes));
	buffer_addf(b, ",\"stacks\":[%s]}\n", buffer_string(&line.stacks));
	buffer_clear(&line.modules);
	buffer_clear(&line.nodes);
	buffer_clear(&line.stacks);
}

/* ---- of a snapshot ----------------------------------------------------------------------- */

void timeline_image_of(const struct snapshot *s, struct timeline_image *ret)
{
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->id, s->image, sizeof(ret->id));
	memcpy(ret->comm, s->comm, sizeof(s->comm));
	ret->pid = s->pid;
	ret->generation = s->generation;
	wall_text(s->start_real_ns - s->start_after_ms * 1000000u, ret->start);
}

/* Frames of the snapshot's nodes; caller frees. */
static struct timeline_frame **frames_of(struct timeline_section *section, const struct snapshot *s)
{
	struct timeline_frame **frames = xcalloc(s->nr_nodes + 1, sizeof(struct timeline_frame *));
	uint32_t *modules = xcalloc(s->nr_modules + 1, sizeof(*modules));

	for (size_t i = 1; i < s->nr_nodes; i++) {
		const struct snap_node *n = &s->nodes[i];
		uint64_t bias = n->module ? s->modules[n->module].load_bias : 0;

		if (n->module && !modules[n->module])
			modules[n->module] =
				timeline_section_module(section, &s->modules[n->module]);
		frames[i] = timeline_section_frame(section, frames[n->parent], modules[n->module],
						   n->pc - bias, n->signal);
	}
	free(modules);
	return frames;
}

void timeline_section_add(struct timeline_section *section, const struct snapshot *s,
			  const char *name, struct buffer *lines)
{
	struct timeline_frame **frames = frames_of(section, s);
	struct growth_total *live = growth_totals_of(s);
	struct timeline_moment m = {
		.name = name,
		.at_ms = s->start_after_ms + s->taken_ms,
		.totals = {s->live_count, s->live_bytes, s->born_count, s->born_bytes},
		.peak_bytes = s->peak_bytes,
	};

	wall_text(s->start_real_ns + s->taken_ms * 1000000u, m.wall);
	timeline_section_begin(section);
	for (size_t i = 0; i < s->nr_stacks; i++) {
		const struct snap_stack *st = &s->stacks[i];
		struct timeline_totals totals = {live[i].count, live[i].bytes, st->born_count,
						 st->born_bytes};

		if (frames[st->node]) /* blocks without a stack are in the sums alone */
			timeline_section_put(section, frames[st->node], &totals);
	}
	timeline_section_end(section, &m, lines);
	free(live);
	free(frames);
}
