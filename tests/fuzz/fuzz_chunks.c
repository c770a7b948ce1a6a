/* SPDX-License-Identifier: MIT */
/*
 * fuzz_chunks.c - the unpacked contents of a snapshot's chunks: what packing keeps from the other
 * target. The input is a list of changes to a sound snapshot: which chunk, where, which byte.
 */
#include "tests/fuzz/fuzz.h"

#include "analysis/snapshot_internal.h"
#include "tests/unit/fake_store.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include "util/error.h"
#include "util/name_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_KINDS    32u
#define CHANGE_BYTES 4u

/* The sound one. */
static struct {
	size_t nr;
	struct buffer raw[MAX_KINDS];
	uint64_t items[MAX_KINDS];
} base;

/* What a store of a made-up process has not: names, and class words of every other block. */
static void add_names(struct snapshot *s)
{
	struct name_frame frames[2] = {{.function = "push", .file = "v.rs", .inlined = true, .raw = "_RNv4push"},
				       {.function = "main", .line = 7}};

	s->names = xcalloc(1, sizeof(*s->names));
	for (uint64_t i = 0; i < 10; i++)
		name_table_add(s->names, i % 2, 100 * i, frames, i % 3);
	s->nr_class_words = 3;
	s->class_words = xcalloc(3, sizeof(*s->class_words));
	s->class_words[1].address = 0x1000;
	s->class_words[2].address = 0x2000;
	for (size_t i = 0; i < s->nr_blocks; i += 2)
		s->blocks[i].class_word = 1 + i / 2 % 2;
}

static void make_base(void)
{
	char path[64];
	struct fake_store *f;
	struct snapshot *s;
	struct hs_error err;

	snprintf(path, sizeof(path), "/tmp/fuzz_chunks.%d", (int)getpid());
	f = fake_store_new(path, 8u << 20);
	fake_small(f);
	for (uint32_t i = 0; i < 20; i++)
		fake_resize(f, fake_block(f, 0x100000 + i * 4096, i * 10, 1, 1, i), 100 * i, 2,
			    i + 1);
	if (snapshot_open(path, &s, &err))
		abort();
	fake_store_free(f, true);
	add_names(s);
	for (; snap_chunk_kinds[base.nr].id; base.nr++) {
		if (base.nr == MAX_KINDS)
			abort();
		snap_chunk_kinds[base.nr].encode(s, &base.raw[base.nr]);
		base.items[base.nr] = snap_chunk_kinds[base.nr].items(s);
	}
	snapshot_free(s);
}

/* Applies the changes that are meant for this kind; its items too may change. */
static uint8_t *changed(size_t kind, const uint8_t *data, size_t len, uint64_t *items,
			size_t *ret_len)
{
	size_t raw_len = base.raw[kind].len;
	uint8_t *raw = malloc(raw_len + 1);

	if (!raw)
		abort();
	if (raw_len)
		memcpy(raw, base.raw[kind].data, raw_len);
	for (; len >= CHANGE_BYTES; data += CHANGE_BYTES, len -= CHANGE_BYTES) {
		size_t at = data[1] | (size_t)(data[2] & 0x7f) << 8;

		if (data[0] % base.nr != kind)
			continue;
		if (data[2] & 0x80)
			*items += data[3] % 5;
		else if (at == 0x7fff)
			raw_len = raw_len < data[3] ? raw_len : data[3];
		else if (raw_len)
			raw[at % raw_len] = data[3];
	}
	*ret_len = raw_len;
	return raw;
}

void fuzz_one(const uint8_t *data, size_t len)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct snap_problem problem;
	bool bad = false;

	if (!s)
		abort();
	if (!base.nr)
		make_base();
	if (len > 64 * CHANGE_BYTES)
		len = 64 * CHANGE_BYTES;
	for (size_t i = 0; i < base.nr && !bad; i++) {
		const struct snap_chunk_kind *kind = &snap_chunk_kinds[i];
		uint64_t items = base.items[i];
		size_t raw_len;
		uint8_t *raw = changed(i, data, len, &items, &raw_len);
		/* Exactly as large as it claims, so that a sanitizer sees a read past its end. */
		uint8_t *exact = realloc(raw, raw_len ? raw_len : 1);
		struct cursor c = cursor_of(exact, raw_len);

		bad = items > raw_len / kind->min_bytes;
		if (!bad) {
			snapshot_decode_bytes(kind, s, &c, items);
			bad = c.bad;
		}
		free(exact);
	}
	if (!bad && snapshot_valid(s, &problem)) {
		struct buffer b = {NULL, 0, 0};

		for (size_t i = 0; i < base.nr; i++) {
			if (!snap_chunk_kinds[i].optional || snap_chunk_kinds[i].items(s))
				snap_chunk_kinds[i].encode(s, &b);
		}
		buffer_clear(&b);
	}
	snapshot_free(s);
}
