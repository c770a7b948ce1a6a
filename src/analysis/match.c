/* SPDX-License-Identifier: MIT */
/*
 * match.c - which block of one snapshot is which of another; see match.h.
 */
#include "analysis/match.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/block_stream.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"

/* One side on its way: blocks[at .. nr) are there to be looked at, 0 left: the end. */
struct side {
	struct block_stream *stream;
	const struct snap_block *blocks;
	size_t at, nr;
	uint64_t taken_ms; /* of the other side: no block that was born later can be there */
	struct snap_block *loose; /* not at the same place on the other side, but perhaps there */
	size_t nr_loose, alloc_loose;
};

struct match {
	bool same_image;
	match_pair pair;
	void *context;
	struct side sides[2];
};

static void tell_single(struct match *m, uint32_t side, const struct snap_block *b)
{
	m->pair(m->context, side ? NULL : b, side ? b : NULL);
}

bool match_same_image(const struct snapshot *before, const struct snapshot *after)
{
	return !memcmp(before->image, after->image, sizeof(before->image));
}

static int side_fill(struct side *s, struct hs_error *err)
{
	if (s->at < s->nr)
		return 0;
	s->at = 0;
	return block_stream_next(s->stream, &s->blocks, &s->nr, err);
}

/*
 * A block that is on one side only, as far as places go. What was born after the other snapshot was
 * made is not there; the rest may have been moved by realloc.
 */
static void add_loose(struct match *m, uint32_t side)
{
	struct side *s = &m->sides[side];
	const struct snap_block *b = &s->blocks[s->at++];

	if (!m->same_image || b->birth_ms > s->taken_ms) {
		tell_single(m, side, b);
		return;
	}
	s->loose = xgrow(s->loose, &s->alloc_loose, s->nr_loose + 1, sizeof(*s->loose));
	s->loose[s->nr_loose++] = *b;
}

/* Walks both by address. Most blocks are in both at the same place. */
static int walk(struct match *m, struct hs_error *err)
{
	struct side *sides = m->sides;

	for (;;) {
		const struct snap_block *x, *y;
		int ret = side_fill(&sides[0], err);

		if (!ret)
			ret = side_fill(&sides[1], err);
		if (ret)
			return ret;
		x = sides[0].nr ? &sides[0].blocks[sides[0].at] : NULL;
		y = sides[1].nr ? &sides[1].blocks[sides[1].at] : NULL;
		if (!x && !y)
			return 0;
		if (x && y && x->address == y->address && x->serial == y->serial && m->same_image) {
			m->pair(m->context, x, y);
			sides[0].at++;
			sides[1].at++;
		} else {
			add_loose(m, !x || (y && y->address < x->address));
		}
	}
}

/* Serials of different threads differ in their upper bits, those of one thread in the lower. */
static size_t slot_of(uint64_t serial, size_t mask)
{
	uint64_t h = (serial ^ serial >> 32) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(h ^ h >> 32) & mask;
}

/* Matches what lies elsewhere by its serial: the side with fewer such blocks goes into a table. */
static void match_loose(struct match *m)
{
	struct side *sides = m->sides;
	uint32_t few = sides[0].nr_loose > sides[1].nr_loose, many = !few;
	struct snap_block *blocks = sides[few].loose;
	size_t nr = sides[few].nr_loose, mask = 15, *table;
	bool *matched = xcalloc(nr + 1, sizeof(*matched));

	while (mask < 2 * nr)
		mask = 2 * mask + 1;
	table = xcalloc(mask + 1, sizeof(*table)); /* place in blocks, plus 1 */
	for (size_t i = 0; i < nr; i++) {
		size_t slot = slot_of(blocks[i].serial, mask);

		while (table[slot])
			slot = (slot + 1) & mask;
		table[slot] = i + 1;
	}
	for (size_t k = 0; k < sides[many].nr_loose; k++) {
		const struct snap_block *b = &sides[many].loose[k];
		size_t slot = slot_of(b->serial, mask), i;

		while (table[slot] &&
		       (matched[table[slot] - 1] || blocks[table[slot] - 1].serial != b->serial))
			slot = (slot + 1) & mask;
		if (!table[slot]) {
			tell_single(m, many, b);
			continue;
		}
		i = table[slot] - 1;
		matched[i] = true;
		m->pair(m->context, few ? b : &blocks[i], few ? &blocks[i] : b);
	}
	for (size_t i = 0; i < nr; i++) {
		if (!matched[i])
			tell_single(m, few, &blocks[i]);
	}
	free(table);
	free(matched);
}

/*
 * The latest moment at which a block can have been born that is in the snapshot. The program's
 * clock may be a tick ahead of what was read; one that went on during the copy may be far ahead.
 */
static uint64_t last_birth_ms(const struct snapshot *s)
{
	return s->coverage.consistent ? s->taken_ms + HS_TICK_MS : UINT64_MAX;
}

int match_blocks(const struct snapshot *before, const struct snapshot *after, match_pair pair,
		 void *context, struct hs_error *err)
{
	const struct snapshot *const snapshots[2] = {before, after};
	struct match m = {.same_image = match_same_image(before, after), pair, context};
	int ret = 0;

	for (int i = 0; i < 2 && !ret; i++) {
		m.sides[i].taken_ms = last_birth_ms(snapshots[!i]);
		ret = block_stream_open(snapshots[i], &m.sides[i].stream, err);
	}
	if (!ret)
		ret = walk(&m, err);
	if (!ret)
		match_loose(&m);
	for (int i = 0; i < 2; i++) {
		block_stream_close(m.sides[i].stream);
		free(m.sides[i].loose);
	}
	return ret;
}
