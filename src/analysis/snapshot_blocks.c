/* SPDX-License-Identifier: MIT */
/*
 * snapshot_blocks.c - from the records of a store to the blocks of a snapshot.
 *
 * Of two records that overlap the one that came to its place earlier is a free that was not seen;
 * it is dropped and counted. Blocks in flight (being resized) are no records: they are taken from
 * their threads and put among the others at the end. The place of such a block may have been
 * given to another one already. It is kept all the same, so:
 *
 *   - its address may lie in that other block; then it is set to the address of that block,
 *   - among blocks of one address those that were in flight stand first,
 *
 * and so the last block that begins at or below A is never a stale one while there is one that is
 * not.
 */
#include "analysis/snapshot_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

#define RECORD_FLAGS                                                                      \
	(HS_RECORD_ADDRESS | UINT64_C(15) << HS_RECORD_FAMILY_SHIFT | HS_RECORD_LINEAGE | \
	 HS_RECORD_LONG | HS_RECORD_BUSY)
#define SPAN_END (UINT64_C(1) << 48)

struct take {
	struct snapshot *s;
	struct store_image *image;
	const struct snap_maps *maps;
	struct snap_dropped *dropped;
	struct snap_findings *findings;
	size_t alloc_lineages, alloc_steps;
	uint8_t *seen[2]; /* lineages, short and long, that a block has: a bit each */
};

/* A record understood. */
struct parsed {
	struct snap_block block; /* lineage not yet set */
	uint64_t placed_ms; /* when it came to its place */
	const struct hs_lineage_head *head; /* NULL: never resized */
	const struct hs_lineage *brief; /* its lineage is one of these two */
	const struct hs_long_lineage *full;
};

static uint32_t thread_of(const struct take *t, uint64_t serial)
{
	uint64_t slot = serial >> HS_SERIAL_SLOT_SHIFT;
	uint32_t thread = slot < t->maps->nr_threads ? t->maps->threads[slot] : 0;
	uint64_t count = serial & ((UINT64_C(1) << HS_SERIAL_SLOT_SHIFT) - 1);

	return thread && count >= t->s->threads[thread].first_serial ? thread : 0;
}

/* Finds the lineage that a record names. NULL if there is none. */
static const struct hs_lineage_head *find_lineage(struct take *t, const struct hs_record *r,
						  struct parsed *p)
{
	bool is_long = r->word & HS_RECORD_LONG;
	unsigned int array = is_long ? HS_ARRAY_LONG_LINEAGES : HS_ARRAY_LINEAGES;
	const struct store_array *a = &t->image->arrays[array];
	char *place;

	if (!r->birth || r->birth >= a->count)
		return NULL;
	place = (char *)a->data + (uint64_t)r->birth * store_elem_size(array);
	if (t->seen[is_long][r->birth / 8] & 1u << r->birth % 8)
		snap_finding(t->findings, array, "lineage %u belongs to two blocks", r->birth);
	t->seen[is_long][r->birth / 8] |= (uint8_t)(1u << r->birth % 8);
	if (is_long)
		p->full = (const struct hs_long_lineage *)(const void *)place;
	else
		p->brief = (const struct hs_lineage *)(const void *)place;
	return (const struct hs_lineage_head *)(const void *)place;
}

/* Understands a record of a block or of a mapping. False, with *ret_why, if it cannot be right. */
static bool parse(struct take *t, const struct hs_record *r, bool is_mapping, struct parsed *p,
		  const char **ret_why)
{
	struct snap_block *b = &p->block;
	uint32_t stack = r->stack;

	memset(p, 0, sizeof(*p));
	b->address = r->word & HS_RECORD_ADDRESS;
	b->family = (uint16_t)HS_RECORD_FAMILY(r->word);
	b->serial = r->serial;
	b->birth_ms = snap_ticks_ms(r->birth);
	b->size = r->size & HS_SIZE_MAX;
	b->usable = b->size + (r->size >> HS_SIZE_BITS);
	p->placed_ms = b->birth_ms;
	*ret_why = "flags or address out of range";
	if (r->word & ~RECORD_FLAGS || b->family >= HS_NR_FAMILIES || !b->address)
		return false;
	*ret_why = is_mapping ? "a block's family" : "a mapping's family";
	if (is_mapping != (b->family >= HS_FAMILY_MMAP))
		return false;
	if (r->word & HS_RECORD_LINEAGE) {
		*ret_why = "lineage out of range";
		p->head = find_lineage(t, r, p);
		if (!p->head)
			return false;
		b->birth_ms = snap_ticks_ms(p->head->birth);
		p->placed_ms = b->birth_ms;
		if (snap_ticks_ms(p->head->changed) > p->placed_ms)
			p->placed_ms = snap_ticks_ms(p->head->changed);
	}
	if (b->size == HS_SIZE_MAX || r->size >> HS_SIZE_BITS == HS_SLACK_MAX) {
		*ret_why = "size that is in no lineage";
		if (!p->full)
			return false;
		b->size = p->full->size;
		b->usable = p->full->usable > b->size ? p->full->usable : b->size;
	}
	*ret_why = "stack out of range";
	if (stack >= t->maps->nr_stacks || (p->head && p->head->born_stack >= t->maps->nr_stacks))
		return false;
	*ret_why = "size out of range";
	if (snap_block_span(b) >= SPAN_END || b->address + snap_block_span(b) > SPAN_END)
		return false;
	b->stack = t->maps->stacks[stack];
	b->thread = thread_of(t, b->serial);
	return true;
}

/* Step at place i of the lineage. */
static struct hs_step step_of(const struct parsed *p, uint64_t i)
{
	if (p->full)
		return p->full->steps[i];
	return (struct hs_step){p->brief->steps[i].size, p->brief->steps[i].stack,
				p->brief->steps[i].time};
}

/* Largest size that the block ever had. A short lineage has all of them. */
static uint64_t peak_of(const struct parsed *p)
{
	uint64_t peak;

	if (p->full)
		return p->full->peak_size;
	peak = p->brief->born_size;
	for (uint32_t i = 0; i < p->brief->head.nr_steps && i < HS_SHORT_STEPS; i++)
		if (p->brief->steps[i].size > peak)
			peak = p->brief->steps[i].size;
	return peak;
}

/*
 * Adds the kept steps of a lineage, in order. The oldest of the latest is left out if the block
 * is in flight and its place is the next to be written: it may hold half of a new step.
 */
static void add_steps(struct take *t, const struct parsed *p, struct snap_lineage *l,
		      bool in_flight)
{
	uint64_t nr = p->head->nr_steps, first = nr, last = 0, skip = 0;
	uint64_t room_first = p->full ? HS_FIRST_STEPS : HS_SHORT_STEPS;
	struct snapshot *s = t->s;

	if (first > room_first)
		first = room_first;
	if (nr > first && p->full)
		last = nr - first < HS_LAST_STEPS ? nr - first : HS_LAST_STEPS;
	if (in_flight && last == HS_LAST_STEPS)
		skip = 1;
	s->steps = xgrow(s->steps, &t->alloc_steps, s->nr_steps + first + last, sizeof(*s->steps));
	l->first_step = (uint32_t)s->nr_steps;
	for (uint64_t i = 0; i < first + last; i++) {
		uint64_t nth = i < first ? i : nr - last + (i - first);
		uint64_t place = i < first ? i : first + (nth - first) % HS_LAST_STEPS;
		const struct hs_step step = step_of(p, place);

		if (i >= first && i < first + skip)
			continue;
		if (step.stack >= t->maps->nr_stacks) {
			snap_finding(t->findings, HS_ARRAY_LINEAGES,
				     "step %" PRIu64 " of the block at 0x%" PRIx64
				     " has stack %u, expected less than %" PRIu64,
				     nth, p->block.address, step.stack, t->maps->nr_stacks);
			continue;
		}
		s->steps[s->nr_steps++] = (struct snap_step){
			step.size, snap_ticks_ms(step.time), t->maps->stacks[step.stack]};
		l->nr_kept++;
		l->nr_first += i < first;
	}
}

static uint32_t add_lineage(struct take *t, const struct parsed *p, bool in_flight)
{
	struct snapshot *s = t->s;
	struct snap_lineage *l;

	s->lineages =
		xgrow(s->lineages, &t->alloc_lineages, s->nr_lineages + 1, sizeof(*s->lineages));
	l = &s->lineages[s->nr_lineages++];
	*l = (struct snap_lineage){
		.born_size = p->full ? p->full->born_size : p->brief->born_size,
		.born_stack = t->maps->stacks[p->head->born_stack],
		.nr_steps = p->head->nr_steps,
		.nr_shrinks = p->full ? p->full->nr_shrinks : p->head->nr_shrinks,
		.changed_ms = snap_ticks_ms(p->head->changed),
		.peak_size = peak_of(p),
		.inferred = p->head->flags & HS_LINEAGE_INFERRED,
	};
	add_steps(t, p, l, in_flight);
	return (uint32_t)s->nr_lineages;
}

/* ---- records ----------------------------------------------------------------------------- */

static void drop(struct take *t, const struct snap_block *b)
{
	t->s->coverage.dropped_blocks++;
	t->dropped[b->stack].count++;
	t->dropped[b->stack].bytes += b->size;
}

/* Takes the last block back; its lineage and steps are the last ones as well. */
static void drop_last(struct take *t)
{
	struct snapshot *s = t->s;
	struct snap_block *b = &s->blocks[--s->nr_blocks];

	drop(t, b);
	if (b->lineage)
		s->nr_steps = s->lineages[--s->nr_lineages].first_step;
}

static bool newer(uint64_t placed, const struct snap_block *a, uint64_t other_placed,
		  const struct snap_block *b)
{
	return placed != other_placed ? placed > other_placed : a->serial > b->serial;
}

/* Sorted records to blocks. Blocks so far never overlap, so only the last can meet the next. */
static void take_records(struct take *t, const struct hs_record *records, uint64_t nr)
{
	struct snapshot *s = t->s;
	uint64_t last_placed = 0;
	const char *why;
	struct parsed p;

	for (uint64_t i = 0; i < nr; i++) {
		struct snap_block *last = s->nr_blocks ? &s->blocks[s->nr_blocks - 1] : NULL;

		if (!parse(t, &records[i], false, &p, &why)) {
			s->coverage.dropped_blocks++;
			snap_finding(t->findings, HS_ARRAY_RECORDS,
				     "record of the block at 0x%" PRIx64 ": %s",
				     (uint64_t)(records[i].word & HS_RECORD_ADDRESS), why);
			continue;
		}
		if (last && last->address + snap_block_span(last) > p.block.address) {
			if (!newer(p.placed_ms, &p.block, last_placed, last)) {
				drop(t, &p.block);
				continue;
			}
			drop_last(t);
		}
		if (p.head)
			p.block.lineage = add_lineage(t, &p, false);
		s->blocks[s->nr_blocks++] = p.block;
		last_placed = p.placed_ms;
	}
}

/* Moves the records that are there to the front; returns how many. */
static uint64_t pack_records(struct hs_record *records, uint64_t count)
{
	uint64_t nr = 0;

	for (uint64_t i = 1; i < count; i++) {
		if (records[i].word)
			records[nr++] = records[i];
	}
	return nr;
}

/*
 * Takes out the records of blocks that are freed already (hs_thread.pending). Their stacks'
 * totals still count them.
 */
static void clear_pending(struct take *t)
{
	const struct store_array *threads = &t->image->arrays[HS_ARRAY_THREADS];
	const struct store_array *records = &t->image->arrays[HS_ARRAY_RECORDS];
	const char *why;
	struct parsed p;

	for (uint64_t i = 0; i < threads->count * HS_NR_PENDING; i++) {
		uint32_t nr = ((struct hs_thread *)threads->data)[i / HS_NR_PENDING]
				      .pending[i % HS_NR_PENDING];
		struct hs_record *r;

		if (!nr)
			continue;
		if (nr >= records->count) {
			snap_finding(t->findings, HS_ARRAY_THREADS,
				     "slot %" PRIu64
				     " has record %u pending, expected less than %" PRIu64,
				     i / HS_NR_PENDING, nr, records->count);
			continue;
		}
		r = (struct hs_record *)records->data + nr;
		if (r->word && parse(t, r, false, &p, &why)) {
			t->dropped[p.block.stack].count++;
			t->dropped[p.block.stack].bytes += p.block.size;
		}
		r->word = 0;
	}
}

/* ---- blocks in flight -------------------------------------------------------------------- */

/*
 * Copies the in-flight records of the threads to *ret, for free(). A record that has been
 * committed again is the newer one. Looks at the records, so they must not have been moved yet.
 */
static uint64_t find_in_flight(struct take *t, struct hs_record **ret)
{
	const struct store_array *threads = &t->image->arrays[HS_ARRAY_THREADS];
	const struct store_array *records = &t->image->arrays[HS_ARRAY_RECORDS];
	uint64_t nr = 0;
	struct hs_record *found = xcalloc(threads->count, sizeof(*found));

	for (uint64_t i = 0; i < threads->count; i++) {
		const struct hs_thread *slot = (struct hs_thread *)threads->data + i;
		struct hs_record *r;

		if (!slot->inflight_nr)
			continue;
		if (slot->inflight_nr >= records->count) {
			snap_finding(t->findings, HS_ARRAY_THREADS,
				     "slot %" PRIu64
				     " has record %u in flight, expected less than %" PRIu64,
				     i, slot->inflight_nr, records->count);
			continue;
		}
		r = (struct hs_record *)records->data + slot->inflight_nr;
		if ((!r->word || r->word & HS_RECORD_BUSY) && slot->inflight.word) {
			r->word = 0;
			found[nr++] = slot->inflight;
		}
	}
	*ret = found;
	return nr;
}

/* Number of blocks that begin below the address. */
static size_t count_below(const struct snapshot *s, uint64_t address)
{
	size_t low = 0, high = s->nr_blocks;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->blocks[mid].address < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void insert_in_flight(struct take *t, const struct hs_record *r)
{
	struct snapshot *s = t->s;
	const char *why;
	struct parsed p;
	size_t at;

	if (!parse(t, r, false, &p, &why)) {
		s->coverage.dropped_blocks++;
		snap_finding(t->findings, HS_ARRAY_THREADS, "block in flight at 0x%" PRIx64 ": %s",
			     (uint64_t)(r->word & HS_RECORD_ADDRESS), why);
		return;
	}
	p.block.flags = SNAP_BLOCK_IN_FLIGHT;
	if (p.head)
		p.block.lineage = add_lineage(t, &p, true);
	at = count_below(s, p.block.address);
	if (at) {
		const struct snap_block *before = &s->blocks[at - 1];

		if (before->address + snap_block_span(before) > p.block.address) {
			p.block.address = before->address;
			at = count_below(s, p.block.address);
		}
	}
	memmove(&s->blocks[at + 1], &s->blocks[at], (s->nr_blocks - at) * sizeof(*s->blocks));
	s->blocks[at] = p.block;
	s->nr_blocks++;
}

/* ---- mappings ---------------------------------------------------------------------------- */

/* Adds one; where a kill left it and another one at the same place, the later of them stays. */
static void add_mapping(struct take *t, struct parsed *p, uint64_t *last_placed)
{
	struct snapshot *s = t->s;
	struct snap_block *last = s->nr_mappings ? &s->mappings[s->nr_mappings - 1] : NULL;

	if (last && last->address + snap_block_span(last) > p->block.address) {
		s->coverage.dropped_blocks++;
		if (!newer(p->placed_ms, &p->block, *last_placed, last))
			return;
		if (last->lineage)
			s->nr_steps = s->lineages[--s->nr_lineages].first_step;
		s->nr_mappings--;
	}
	if (p->head)
		p->block.lineage = add_lineage(t, p, false);
	s->mappings[s->nr_mappings++] = p->block;
	*last_placed = p->placed_ms;
}

static void take_mappings(struct take *t)
{
	struct store_array *a = &t->image->arrays[HS_ARRAY_MAPPINGS];
	struct hs_record *records = a->data;
	uint64_t nr = pack_records(records, a->count), last_placed = 0;
	struct parsed p;
	const char *why;

	records_sort(records, nr);
	t->s->mappings = xmallocarray(nr, sizeof(*t->s->mappings));
	for (uint64_t i = 0; i < nr; i++) {
		if (parse(t, &records[i], true, &p, &why)) {
			add_mapping(t, &p, &last_placed);
			continue;
		}
		t->s->coverage.dropped_blocks++;
		snap_finding(t->findings, HS_ARRAY_MAPPINGS, "mapping at 0x%" PRIx64 ": %s",
			     (uint64_t)(records[i].word & HS_RECORD_ADDRESS), why);
	}
}

/* ---- all --------------------------------------------------------------------------------- */

void snapshot_sum_blocks(struct snapshot *s)
{
	for (size_t i = 0; i < s->nr_blocks; i++) {
		struct snap_stack *st = &s->stacks[s->blocks[i].stack];

		st->live_count++;
		st->live_bytes += s->blocks[i].size;
		s->live_count++;
		s->live_bytes += s->blocks[i].size;
	}
	s->coverage.blocks_without_stack = s->stacks[0].live_count;
}

void snapshot_take_blocks(struct snapshot *s, struct store_image *image,
			  const struct snap_maps *maps, struct snap_dropped *dropped,
			  struct snap_findings *findings)
{
	struct take t = {
		.s = s, .image = image, .maps = maps, .dropped = dropped, .findings = findings};
	struct store_array *records = &image->arrays[HS_ARRAY_RECORDS];
	struct hs_record *in_flight;
	uint64_t nr_in_flight, nr;

	t.seen[0] = xcalloc(image->arrays[HS_ARRAY_LINEAGES].count / 8 + 1, 1);
	t.seen[1] = xcalloc(image->arrays[HS_ARRAY_LONG_LINEAGES].count / 8 + 1, 1);
	clear_pending(&t);
	nr_in_flight = find_in_flight(&t, &in_flight);
	nr = pack_records(records->data, records->count);
	records_sort(records->data, nr);
	s->blocks = xmallocarray(nr + nr_in_flight, sizeof(*s->blocks));
	take_records(&t, records->data, nr);
	for (uint64_t i = 0; i < nr_in_flight; i++)
		insert_in_flight(&t, &in_flight[i]);
	snapshot_sum_blocks(s);
	take_mappings(&t);
	free(in_flight);
	free(t.seen[0]);
	free(t.seen[1]);
}
