/* SPDX-License-Identifier: MIT */
/*
 * export_pprof.c - stacks as pprof's protocol buffer; see export.h and profile.proto.
 *
 * Strings, functions, mappings and locations are each there once, found by content, as the two
 * snapshots of a difference number their modules and nodes differently. Ids count from 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <zlib.h>

#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "reports/export.h"
#include "reports/profile.pb-c.h"
#include "reports/report.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/error.h"

#define GZIP_WINDOW (MAX_WBITS + 16)

/* From the bytes that tell a thing from others to its number. */
struct known {
	UT_hash_handle hh;
	uint64_t nr;
	char bytes[];
};

/* Things that are numbered in the order in which they come. */
struct table {
	struct known *known;
	void **things; /* messages, or strings */
	size_t nr, alloc;
};

struct pprof {
	const struct export_profile *profile;
	struct table strings, functions, mappings, locations, samples;
};

/* The place of the thing with these bytes; *ret_new: it is not there yet, and comes next. */
static uint64_t table_find(struct table *t, const void *bytes, size_t len, bool *ret_new)
{
	struct known *k;

	HASH_FIND(hh, t->known, bytes, len, k);
	*ret_new = !k;
	if (k)
		return k->nr;
	k = xmalloc(sizeof(*k) + len);
	memcpy(k->bytes, bytes, len);
	k->nr = t->nr;
	HASH_ADD_KEYPTR(hh, t->known, k->bytes, len, k);
	return k->nr;
}

static void table_add(struct table *t, void *thing)
{
	t->things = xgrow(t->things, &t->alloc, t->nr + 1, sizeof(*t->things));
	t->things[t->nr++] = thing;
}

static void table_release(struct table *t)
{
	struct known *k, *next;

	HASH_ITER(hh, t->known, k, next) {
		HASH_DEL(t->known, k);
		free(k);
	}
	free(t->things);
}

/* The generated names are long. */
typedef Heapstory__Pprof__Profile pb_profile;
typedef Heapstory__Pprof__ValueType pb_value_type;
typedef Heapstory__Pprof__Sample pb_sample;
typedef Heapstory__Pprof__Mapping pb_mapping;
typedef Heapstory__Pprof__Location pb_location;
typedef Heapstory__Pprof__Line pb_line;
typedef Heapstory__Pprof__Function pb_function;

/* A message of protobuf-c on the heap. */
#define NEW_MESSAGE(type, init) memcpy(xmalloc(sizeof(type)), &(type)init, sizeof(type))

/* ---- strings, functions, mappings -------------------------------------------------------- */

/* Names may be any bytes; a string of a protocol buffer is UTF-8, and readers insist on it. */
static int64_t string_nr(struct pprof *w, const char *s)
{
	bool fresh;
	uint64_t nr = table_find(&w->strings, s, strlen(s), &fresh);

	if (fresh)
		table_add(&w->strings, report_utf8(s));
	return (int64_t)nr;
}

static uint64_t function_id(struct pprof *w, const char *name, const char *file)
{
	int64_t key[2] = {string_nr(w, name), string_nr(w, file ? file : "")};
	pb_function *f;
	bool fresh;
	uint64_t nr = table_find(&w->functions, key, sizeof(key), &fresh);

	if (fresh) {
		f = NEW_MESSAGE(pb_function, HEAPSTORY__PPROF__FUNCTION__INIT);
		f->id = nr + 1;
		f->name = f->system_name = key[0];
		f->filename = key[1];
		table_add(&w->functions, f);
	}
	return nr + 1;
}

static const char *build_id_text(const struct snap_module *m, char ret[2 * HS_BUILD_ID_LEN + 1])
{
	ret[0] = 0;
	for (uint32_t i = 0; i < m->build_id_len; i++)
		snprintf(ret + 2 * i, 3, "%02x", m->build_id[i]);
	return ret;
}

/* The first byte of code is what pprof wants the offset in the file of. */
static pb_mapping *mapping_of(struct pprof *w, const struct snap_module *m)
{
	char build_id[2 * HS_BUILD_ID_LEN + 1];
	const struct hs_segment *code = m->nr_segments ? &m->segments[0] : NULL;
	int64_t key[3] = {string_nr(w, m->path), string_nr(w, build_id_text(m, build_id)),
			  (int64_t)m->start};
	pb_mapping *mapping;
	bool fresh;
	uint64_t nr = table_find(&w->mappings, key, sizeof(key), &fresh);

	if (!fresh)
		return w->mappings.things[nr];
	mapping = NEW_MESSAGE(pb_mapping, HEAPSTORY__PPROF__MAPPING__INIT);
	mapping->id = nr + 1;
	mapping->memory_start = code ? code->start : m->start;
	mapping->memory_limit = code ? code->end : m->end;
	mapping->file_offset = code ? code->offset : 0;
	mapping->filename = key[0];
	mapping->build_id = key[1];
	table_add(&w->mappings, mapping);
	return mapping;
}

/* The main program is the first mapping, whether a stack goes through it or not. */
static void add_main_mapping(struct pprof *w, const struct snapshot *s)
{
	for (size_t i = 1; i < s->nr_modules; i++) {
		if (s->modules[i].flags & HS_MODULE_MAIN)
			mapping_of(w, &s->modules[i]);
	}
}

/* ---- locations --------------------------------------------------------------------------- */

static void add_line(struct pprof *w, pb_location *location, pb_mapping *mapping,
		     const struct frame *f)
{
	pb_line *line = NEW_MESSAGE(pb_line, HEAPSTORY__PPROF__LINE__INIT);
	char *label = frame_label(f);

	line->function_id = function_id(w, label, f->file);
	line->line = f->line;
	line->column = f->column;
	location->line = xreallocarray(location->line, location->n_line + 1, sizeof(line));
	location->line[location->n_line++] = line;
	if (mapping && f->function) {
		mapping->has_functions = true;
		mapping->has_filenames |= f->file != NULL;
		mapping->has_line_numbers |= f->line != 0;
		mapping->has_inline_frames |= f->inlined;
	}
	free(label);
}

/* Of a frame that is none: a word in brackets. */
static uint64_t pseudo_location(struct pprof *w, const char *name)
{
	const struct frame frame = {.function = name, .shown = name};
	pb_location *location;
	bool fresh;
	uint64_t nr = table_find(&w->locations, name, strlen(name), &fresh);

	if (fresh) {
		location = NEW_MESSAGE(pb_location, HEAPSTORY__PPROF__LOCATION__INIT);
		location->id = nr + 1;
		add_line(w, location, NULL, &frame);
		table_add(&w->locations, location);
	}
	return nr + 1;
}

/* Frames of a node that are not left out; `whole`: none are. */
static size_t nr_kept(const struct export_profile *p, const struct frame *frames, size_t nr,
		      bool whole)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++)
		kept += whole || !export_leaves_out(p, &frames[i]);
	return kept;
}

/* The location of a node; 0 where all of its frames are left out. */
static uint64_t location_id(struct pprof *w, struct names *names, uint32_t node, bool whole)
{
	const struct snapshot *s = names_snapshot(names);
	const struct snap_node *n = &s->nodes[node];
	pb_mapping *mapping = n->module ? mapping_of(w, &s->modules[n->module]) : NULL;
	/* the address lies in the call, as pprof wants it, not behind it */
	uint64_t key[3] = {mapping ? mapping->id : 0, n->signal ? n->pc : n->pc - 1, whole}, nr;
	pb_location *location;
	const struct frame *frames;
	size_t nr_frames = names_node(names, node, &frames);
	bool fresh;

	if (!nr_kept(w->profile, frames, nr_frames, whole))
		return 0;
	nr = table_find(&w->locations, key, sizeof(key), &fresh);
	if (!fresh)
		return nr + 1;
	location = NEW_MESSAGE(pb_location, HEAPSTORY__PPROF__LOCATION__INIT);
	location->id = nr + 1;
	location->mapping_id = key[0];
	location->address = key[1];
	for (size_t i = 0; i < nr_frames; i++) {
		if (whole || !export_leaves_out(w->profile, &frames[i]))
			add_line(w, location, mapping, &frames[i]);
	}
	table_add(&w->locations, location);
	return nr + 1;
}

/* ---- samples ----------------------------------------------------------------------------- */

static void add_location(pb_sample *sample, uint64_t id)
{
	sample->location_id = xreallocarray(sample->location_id, sample->n_location_id + 1,
					    sizeof(*sample->location_id));
	sample->location_id[sample->n_location_id++] = id;
}

static void add_stack(struct pprof *w, pb_sample *sample, struct names *names, uint32_t stack)
{
	const struct snapshot *s = names_snapshot(names);
	const struct frame *const *frames;
	enum stack_cut cut;
	size_t nr = names_stack(names, stack, &frames, &cut), kept = 0;

	for (size_t i = 0; i < nr; i++)
		kept += !export_leaves_out(w->profile, frames[i]);
	for (uint32_t node = s->stacks[stack].node; nr && node; node = s->nodes[node].parent) {
		uint64_t id = location_id(w, names, node, !kept);

		if (id)
			add_location(sample, id);
	}
	if (!nr)
		add_location(sample, pseudo_location(w, "[no stack]"));
	if (cut != STACK_WHOLE)
		add_location(sample, pseudo_location(w, "[cut]"));
}

static void add_sample(struct pprof *w, const struct export_sample *from)
{
	pb_sample *sample = NEW_MESSAGE(pb_sample, HEAPSTORY__PPROF__SAMPLE__INIT);

	sample->n_value = 2;
	sample->value = xcalloc(2, sizeof(*sample->value));
	sample->value[0] = from->count;
	sample->value[1] = from->bytes;
	add_stack(w, sample, from->names, from->stack);
	table_add(&w->samples, sample);
}

/* ---- the whole --------------------------------------------------------------------------- */

static int gzip(const uint8_t *data, size_t len, struct buffer *ret, struct hs_error *err)
{
	z_stream z = {.next_in = (Bytef *)data};
	int status = deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
				  Z_DEFAULT_STRATEGY);

	/* sizes of zlib have 32 bits: in pieces */
	while (status == Z_OK) {
		size_t left = len - (size_t)(z.next_in - data);

		z.avail_in = left < (1u << 30) ? (uInt)left : 1u << 30;
		z.next_out = buffer_reserve(ret, 65536);
		z.avail_out = 65536;
		status = deflate(&z, z.avail_in == left ? Z_FINISH : Z_NO_FLUSH);
		ret->len += 65536 - z.avail_out;
	}
	deflateEnd(&z);
	if (status != Z_STREAM_END)
		return hs_error_set(err, HS_E_SYSTEM, "cannot pack the profile: zlib says %d",
				    status);
	return 0;
}

static void pprof_release(struct pprof *w)
{
	for (size_t i = 0; i < w->strings.nr; i++)
		free(w->strings.things[i]);
	for (size_t i = 0; i < w->functions.nr; i++)
		free(w->functions.things[i]);
	for (size_t i = 0; i < w->mappings.nr; i++)
		free(w->mappings.things[i]);
	for (size_t i = 0; i < w->locations.nr; i++) {
		pb_location *location = w->locations.things[i];

		for (size_t k = 0; k < location->n_line; k++)
			free(location->line[k]);
		free(location->line);
		free(location);
	}
	for (size_t i = 0; i < w->samples.nr; i++) {
		pb_sample *sample = w->samples.things[i];

		free(sample->location_id);
		free(sample->value);
		free(sample);
	}
	table_release(&w->strings);
	table_release(&w->functions);
	table_release(&w->mappings);
	table_release(&w->locations);
	table_release(&w->samples);
}

static pb_value_type value_type(struct pprof *w, const char *type, const char *unit)
{
	pb_value_type value = HEAPSTORY__PPROF__VALUE_TYPE__INIT;

	value.type = string_nr(w, type);
	value.unit = string_nr(w, unit);
	return value;
}

int export_pprof(const struct export_profile *p, struct buffer *ret, struct hs_error *err)
{
	struct pprof w = {.profile = p};
	pb_profile profile = HEAPSTORY__PPROF__PROFILE__INIT;
	pb_value_type types[2], *type_list[2] = {&types[0], &types[1]};
	int64_t *comments = xcalloc(p->nr_comments + 1, sizeof(*comments));
	struct buffer packed = {0};
	int res;

	string_nr(&w, "");
	types[0] = value_type(&w, "inuse_objects", "count");
	types[1] = value_type(&w, "inuse_space", "bytes");
	for (size_t i = 0; i < p->nr_comments; i++)
		comments[i] = string_nr(&w, p->comments[i]);
	if (p->nr_samples)
		add_main_mapping(&w, names_snapshot(p->samples[0].names));
	for (size_t i = 0; i < p->nr_samples; i++)
		add_sample(&w, &p->samples[i]);

	profile.sample_type = type_list;
	profile.n_sample_type = 2;
	profile.default_sample_type = types[1].type;
	profile.time_nanos = (int64_t)p->time_ns;
	profile.duration_nanos = (int64_t)p->duration_ns;
	profile.comment = comments;
	profile.n_comment = p->nr_comments;
	profile.string_table = (char **)w.strings.things;
	profile.n_string_table = w.strings.nr;
	profile.function = (pb_function **)w.functions.things;
	profile.n_function = w.functions.nr;
	profile.mapping = (pb_mapping **)w.mappings.things;
	profile.n_mapping = w.mappings.nr;
	profile.location = (pb_location **)w.locations.things;
	profile.n_location = w.locations.nr;
	profile.sample = (pb_sample **)w.samples.things;
	profile.n_sample = w.samples.nr;

	buffer_reserve(&packed, heapstory__pprof__profile__get_packed_size(&profile));
	packed.len = heapstory__pprof__profile__pack(&profile, packed.data);
	res = gzip(packed.data, packed.len, ret, err);
	buffer_clear(&packed);
	free(comments);
	pprof_release(&w);
	return res;
}
