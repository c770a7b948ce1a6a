/* SPDX-License-Identifier: MIT */
/*
 * name_table.c - names that were found once; see name_table.h.
 */
#include "util/name_table.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Most of the time that a table takes is that of hashing its strings. */
#define HASH_FUNCTION(key, len, hash) (hash) = (unsigned int)XXH3_64bits(key, len)
#include <uthash.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/cursor.h"

#define MAX_STRING 65536u

struct name_table_text {
	UT_hash_handle hh;
	struct name_table_text *next; /* in name_table.read */
	uint32_t mark; /* while encoding: 1 more than its number among those told; 0: not told */
	char string[];
};

void name_table_release(struct name_table *t)
{
	struct name_table_text *text, *next;

	HASH_ITER(hh, t->texts, text, next) {
		HASH_DEL(t->texts, text);
		free(text);
	}
	for (text = t->read; text; text = next) {
		next = text->next;
		free(text);
	}
	free(t->places);
	free(t->frames);
	memset(t, 0, sizeof(*t));
}

/* ---- filling ----------------------------------------------------------------------------- */

static struct name_table_text *new_text(const void *string, size_t len)
{
	struct name_table_text *text = xcalloc(1, sizeof(*text) + len + 1);

	memcpy(text->string, string, len);
	return text;
}

/* Most tables that are read are only searched, so strings are not hashed before it is needed. */
static void hash_read(struct name_table *t)
{
	struct name_table_text *text;

	while ((text = t->read)) {
		size_t len = strlen(text->string);

		t->read = text->next;
		/* one that a foreign hand told twice is there twice: frames point to both */
		HASH_ADD_KEYPTR(hh, t->texts, text->string, len, text);
	}
}

static const char *intern(struct name_table *t, const char *string)
{
	struct name_table_text *text;
	size_t len;

	if (!string)
		return NULL;
	hash_read(t);
	len = strnlen(string, MAX_STRING);
	HASH_FIND(hh, t->texts, string, len, text);
	if (!text) {
		text = new_text(string, len);
		HASH_ADD_KEYPTR(hh, t->texts, text->string, len, text);
	}
	return text->string;
}

static struct name_frame *new_frame(struct name_table *t)
{
	t->frames = xgrow(t->frames, &t->alloc_frames, t->nr_frames + 1, sizeof(*t->frames));
	return &t->frames[t->nr_frames++];
}

static struct name_table_place *new_place(struct name_table *t)
{
	t->places = xgrow(t->places, &t->alloc_places, t->nr_places + 1, sizeof(*t->places));
	return &t->places[t->nr_places++];
}

void name_table_add(struct name_table *t, uint32_t module, uint64_t address,
		    const struct name_frame *frames, size_t nr)
{
	*new_place(t) = (struct name_table_place){address, module, (uint32_t)nr, t->nr_frames};
	for (size_t i = 0; i < nr; i++) {
		struct name_frame frame = frames[i];

		frame.function = intern(t, frames[i].function);
		frame.scope = intern(t, frames[i].scope);
		frame.file = intern(t, frames[i].file);
		frame.raw = intern(t, frames[i].raw);
		*new_frame(t) = frame;
	}
	t->unsorted = true;
}

void name_table_add_all(struct name_table *t, const struct name_table *from)
{
	for (size_t i = 0; i < from->nr_places; i++) {
		const struct name_table_place *p = &from->places[i];

		name_table_add(t, p->module, p->address, from->frames + p->first_frame,
			       p->nr_frames);
	}
}

/* ---- order ------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct name_table_place *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* Of one place the one that was added last comes last: its frames do. */
static int by_place_and_age(const void *a, const void *b)
{
	const struct name_table_place *x = a, *y = b;
	int order = by_place(a, b);

	if (order)
		return order;
	if (x->first_frame != y->first_frame)
		return x->first_frame < y->first_frame ? -1 : 1;
	return (x->nr_frames > y->nr_frames) - (x->nr_frames < y->nr_frames);
}

void name_table_sort(struct name_table *t)
{
	size_t nr = 0;

	if (!t->unsorted)
		return;
	qsort(t->places, t->nr_places, sizeof(*t->places), by_place_and_age);
	for (size_t i = 0; i < t->nr_places; i++) {
		if (i + 1 < t->nr_places && !by_place(&t->places[i], &t->places[i + 1]))
			continue;
		t->places[nr++] = t->places[i];
	}
	t->nr_places = nr;
	t->unsorted = false;
}

size_t name_table_find(struct name_table *t, uint32_t module, uint64_t address,
		       const struct name_frame **ret)
{
	static const struct name_frame none;
	const struct name_table_place key = {.module = module, .address = address}, *place;

	*ret = NULL;
	if (!t->nr_places)
		return 0;
	name_table_sort(t);
	place = bsearch(&key, t->places, t->nr_places, sizeof(*t->places), by_place);
	if (!place)
		return 0;
	*ret = place->nr_frames ? &t->frames[place->first_frame] : &none;
	return place->nr_frames;
}

/* ---- bytes ------------------------------------------------------------------------------- */

void name_table_clear_marks(struct name_table *t)
{
	struct name_table_text *text, *next;

	HASH_ITER(hh, t->texts, text, next)
		text->mark = 0;
	for (text = t->read; text; text = text->next)
		text->mark = 0;
}

uint32_t *name_table_mark(const char *string)
{
	size_t before = offsetof(struct name_table_text, string) -
			offsetof(struct name_table_text, mark);

	return (uint32_t *)(string - before);
}

static void encode_string(struct buffer *b, const char *string, uint32_t *nr_told)
{
	uint32_t *mark;

	if (!string) {
		buffer_add_byte(b, 0);
		return;
	}
	mark = name_table_mark(string);
	if (*mark) {
		buffer_add_varint(b, UINT64_C(1) + *mark);
		return;
	}
	*mark = ++*nr_told;
	buffer_add_byte(b, 1);
	buffer_add_counted(b, string, strlen(string));
}

void name_table_encode(struct name_table *t, struct buffer *b)
{
	const struct name_table_place *before = NULL;
	uint32_t nr_told = 0;

	name_table_sort(t);
	name_table_clear_marks(t);
	for (size_t i = 0; i < t->nr_places; i++) {
		const struct name_table_place *p = &t->places[i];
		const struct name_frame *f = &t->frames[p->first_frame];
		bool same = before && before->module == p->module;

		buffer_add_varint(b, p->module - (before ? before->module : 0));
		buffer_add_varint(b, p->address - (same ? before->address : 0));
		buffer_add_varint(b, p->nr_frames);
		for (uint32_t k = 0; k < p->nr_frames; k++, f++) {
			encode_string(b, f->function, &nr_told);
			encode_string(b, f->scope, &nr_told);
			encode_string(b, f->file, &nr_told);
			buffer_add_varint(b, f->line);
			buffer_add_varint(b, f->column);
			buffer_add_byte(b, f->inlined);
		}
		before = p;
	}
}

uint64_t name_table_count_frames(struct name_table *t)
{
	uint64_t nr = 0;

	name_table_sort(t);
	for (size_t i = 0; i < t->nr_places; i++)
		nr += t->places[i].nr_frames;
	return nr;
}

void name_table_encode_raw(struct name_table *t, struct buffer *b)
{
	uint32_t nr_told = 0;

	name_table_sort(t);
	name_table_clear_marks(t);
	for (size_t i = 0; i < t->nr_places; i++) {
		const struct name_table_place *p = &t->places[i];

		for (uint32_t k = 0; k < p->nr_frames; k++)
			encode_string(b, t->frames[p->first_frame + k].raw, &nr_told);
	}
}

/* Strings in the order in which they were told. */
struct told {
	const char **strings;
	size_t nr, alloc;
};

static const char *decode_string(struct name_table *t, struct cursor *c, struct told *told)
{
	uint64_t number = cursor_varint_max(c, told->nr + 1);
	struct name_table_text *text;
	const uint8_t *string;
	size_t len, start;

	if (number > 1)
		return told->strings[number - 2];
	if (!number)
		return NULL;
	start = c->pos;
	len = cursor_varint_max(c, MAX_STRING);
	string = cursor_bytes(c, len);
	if (string && memchr(string, 0, len))
		cursor_fail(c, start, "zero byte in a string");
	if (!string || c->bad)
		return NULL;
	text = new_text(string, len);
	text->next = t->read;
	t->read = text;
	told->strings =
		xgrow(told->strings, &told->alloc, told->nr + 1, sizeof(*told->strings));
	told->strings[told->nr] = text->string;
	return told->strings[told->nr++];
}

/* The place of the cursor; false at one that does not come after the one before. */
static bool decode_place(struct cursor *c, struct name_table_place *place, bool first)
{
	uint64_t step = cursor_varint_max(c, UINT32_MAX - place->module);
	uint64_t address = cursor_varint(c);

	if (step || first)
		place->address = 0;
	else if (!address)
		cursor_fail(c, c->pos, "a place that is there twice");
	if (__builtin_add_overflow(place->address, address, &place->address))
		cursor_fail(c, c->pos, "address out of range");
	place->module += (uint32_t)step;
	place->nr_frames = (uint32_t)cursor_varint_max(c, cursor_left(c));
	return !c->bad;
}

void name_table_decode(struct name_table *t, struct cursor *c, uint64_t nr_places)
{
	struct name_table_place place = {0};
	struct told told = {0};

	for (uint64_t i = 0; i < nr_places && decode_place(c, &place, !i); i++) {
		place.first_frame = t->nr_frames;
		for (uint32_t k = 0; k < place.nr_frames && !c->bad; k++) {
			struct name_frame frame = {0};

			frame.function = decode_string(t, c, &told);
			frame.scope = decode_string(t, c, &told);
			frame.file = decode_string(t, c, &told);
			frame.line = cursor_varint32(c);
			frame.column = cursor_varint32(c);
			frame.inlined = cursor_varint_max(c, 1);
			*new_frame(t) = frame;
		}
		if (!c->bad)
			*new_place(t) = place;
	}
	free(told.strings);
	t->lacks_raw = true;
}

void name_table_decode_raw(struct name_table *t, struct cursor *c, uint64_t nr_frames)
{
	struct told told = {0};

	if (nr_frames != t->nr_frames)
		cursor_fail(c, c->pos, "raw names of other frames than there are");
	for (uint64_t i = 0; i < nr_frames && !c->bad; i++)
		t->frames[i].raw = decode_string(t, c, &told);
	free(told.strings);
	t->lacks_raw = false;
}
