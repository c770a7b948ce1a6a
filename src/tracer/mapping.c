/* SPDX-License-Identifier: MIT */
/*
 * mapping.c - what the program itself got from mmap, mremap and brk.
 *
 * Runs in the traced program with `in` set, under one lock: mapping memory is a system call, so
 * this is on no hot path. The lock is never held across a real call, and a signal handler that
 * comes while it is held passes through, because `in` is set. One that does not return to the
 * holder leaves it held: waiting for it has an end.
 *
 * The store has a record a mapping, as of a block, with a lineage once it was resized. Beside it
 * there is an index of our own: entries by address, highest first, because the kernel hands out
 * addresses from the top, and so most new entries go to the end. Entries never overlap.
 */
#include "tracer/mapping.h"

#include "tracer/lineage.h"
#include "tracer/sys.h"

#include <string.h>
#include <sys/auxv.h>

#define LOCK_WAIT_MS 200 /* much more than a change takes, on a busy machine too */

struct entry {
	uint64_t start, end; /* end of a mapped file or memory: of its last page */
	uint64_t order; /* of mappings.order, when it came to its place */
	uint32_t nr; /* of its record */
};

static struct {
	uint32_t lock;
	bool given_up; /* whoever has the lock does not come back with it */
	uint32_t free_nr; /* records that are free, linked by `serial`; 0: none */
	uint64_t order;
	struct entry *entries;
	size_t nr, room;
} mappings;

uint64_t mapping_clock(void)
{
	return __atomic_load_n(&mappings.order, __ATOMIC_ACQUIRE);
}

bool mapping_any(void)
{
	return __atomic_load_n(&mappings.nr, __ATOMIC_RELAXED) != 0 &&
	       !__atomic_load_n(&mappings.given_up, __ATOMIC_RELAXED);
}

/*
 * False, counted: the lock can't be had. A signal handler that left a thread which had it by
 * siglongjmp, or that thread's cancellation, has taken it along. From then on mappings stay
 * recorded as they are, and no call waits again.
 */
static bool lock(void)
{
	uint64_t start = 0;

	for (unsigned spins = 0; !__atomic_load_n(&mappings.given_up, __ATOMIC_RELAXED); spins++) {
		if (!__atomic_exchange_n(&mappings.lock, 1, __ATOMIC_ACQUIRE))
			return true;
		if (spins < 100)
			continue;
		if (spins == 100)
			start = store_now_ms();
		else if (store_now_ms() - start > LOCK_WAIT_MS)
			__atomic_store_n(&mappings.given_up, true, __ATOMIC_RELAXED);
		sys_futex_wait(&mappings.lock, 1, 1000000);
	}
	store_lost(HS_LOST_STOPPED);
	return false;
}

static uint64_t next_order(void)
{
	return __atomic_add_fetch(&mappings.order, 1, __ATOMIC_RELEASE);
}

static uint64_t page_end(uint64_t start, uint64_t size)
{
	uint64_t mask = getauxval(AT_PAGESZ) - 1;

	return (start + size + mask) & ~mask;
}

/* ---- the index ---- */

/* Number of the first entry that starts below the address. */
static size_t first_below(uint64_t address)
{
	size_t low = 0, high = mappings.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (mappings.entries[mid].start < address)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* The entry that the address is in and that was there at that time, or NULL. */
static struct entry *find(uint64_t address, uint64_t clock)
{
	size_t at = first_below(address + 1);
	struct entry *e = &mappings.entries[at];

	return at < mappings.nr && e->end > address && e->order <= clock ? e : NULL;
}

static bool make_room(void)
{
	size_t room = mappings.room ? mappings.room * 2 : 128;
	struct entry *entries;

	if (mappings.nr < mappings.room)
		return true;
	entries = sys_map(room * sizeof(*entries));
	if (!entries)
		return false;
	if (mappings.nr) {
		memcpy(entries, mappings.entries, mappings.nr * sizeof(*entries));
		sys_unmap(mappings.entries, mappings.room * sizeof(*entries));
	}
	mappings.entries = entries;
	mappings.room = room;
	return true;
}

static void set_nr(size_t nr)
{
	__atomic_store_n(&mappings.nr, nr, __ATOMIC_RELAXED);
}

/* With room. */
static void insert(const struct entry *e)
{
	size_t at = first_below(e->start);

	memmove(&mappings.entries[at + 1], &mappings.entries[at],
		(mappings.nr - at) * sizeof(*e));
	mappings.entries[at] = *e;
	set_nr(mappings.nr + 1);
}

static void take_out(struct entry *e)
{
	size_t at = (size_t)(e - mappings.entries);

	memmove(e, e + 1, (mappings.nr - at - 1) * sizeof(*e));
	set_nr(mappings.nr - 1);
}

/* ---- records ---- */

static struct hs_record *record_of(const struct entry *e)
{
	return store_place(HS_ARRAY_MAPPINGS, e->nr);
}

static uint64_t size_of(const struct hs_record *r)
{
	return lineage_holds_size(r->size) ? store_long_lineage(r->birth)->size :
					     r->size & HS_SIZE_MAX;
}

static uint32_t birth_of(const struct hs_record *r)
{
	return r->word & HS_RECORD_LINEAGE ? lineage_head(r)->birth : r->birth;
}

static void commit(struct hs_record *r, const struct hs_record *from)
{
	__atomic_store_n(&r->word, 0, __ATOMIC_RELEASE);
	r->size = from->size;
	r->serial = from->serial;
	r->stack = from->stack;
	r->birth = from->birth;
	__atomic_store_n(&r->word, from->word, __ATOMIC_RELEASE);
}

/* The number of a record for a new mapping; 0: no room. */
static uint32_t take_number(void)
{
	uint32_t nr = mappings.free_nr;

	if (!nr)
		return (uint32_t)store_take(HS_ARRAY_MAPPINGS, 1);
	mappings.free_nr = (uint32_t)((struct hs_record *)store_place(HS_ARRAY_MAPPINGS, nr))->serial;
	return nr;
}

static void give_number(uint32_t nr)
{
	struct hs_record *r = store_place(HS_ARRAY_MAPPINGS, nr);

	__atomic_store_n(&r->word, 0, __ATOMIC_RELEASE);
	r->serial = mappings.free_nr;
	mappings.free_nr = nr;
}

/* The mapping of e ends. Its entry is the caller's affair. */
static void end_entry(struct thread *t, const struct entry *e)
{
	const struct hs_record *r = record_of(e);
	uint64_t word = r->word;
	uint32_t lineage = r->birth;

	give_number(e->nr);
	if (word & HS_RECORD_LINEAGE)
		lineage_give(t, word & HS_RECORD_LONG, lineage);
}

/* A new mapping of `size` bytes at [e->start, e->end). Counted where there is no room. */
static void begin(struct thread *t, struct entry *e, uint64_t size, uint32_t family, uint32_t stack,
		  uint32_t birth)
{
	struct hs_record fresh = {
		.word = e->start | (uint64_t)family << HS_RECORD_FAMILY_SHIFT,
		.size = lineage_pack(size, e->end - e->start),
		.serial = (uint64_t)t->slot_nr << HS_SERIAL_SLOT_SHIFT | t->slot->next_serial,
		.stack = stack,
		.birth = birth,
	};

	e->nr = store_recording() && make_room() ? take_number() : 0;
	if (!e->nr) {
		store_lost(HS_LOST_STOPPED);
		return;
	}
	if (lineage_holds_size(fresh.size) &&
	    !lineage_start_long(t, &fresh, size, e->end - e->start)) {
		give_number(e->nr);
		store_lost(HS_LOST_STOPPED);
		return;
	}
	t->slot->next_serial++;
	commit(record_of(e), &fresh);
	insert(e);
}

/*
 * The mapping of e, which is at [e->start, e->end) by now, has `size` bytes, by this stack. False:
 * no room for its lineage, it can't be kept.
 */
static bool change(struct thread *t, const struct entry *e, uint64_t size, uint32_t stack)
{
	struct hs_record *r = record_of(e), copy = *r;

	if (size != size_of(r) &&
	    !lineage_step(t, &copy, size, e->end - e->start, stack, store_tick()))
		return false;
	copy.word = (copy.word & ~HS_RECORD_ADDRESS) | e->start;
	commit(r, &copy);
	return true;
}

/* ---- what leaves a mapping in parts ---- */

/* Bytes asked for that [start, end) has of a mapping whose asked-for bytes end at asked_end. */
static uint64_t share(uint64_t start, uint64_t end, uint64_t asked_end)
{
	if (asked_end < end)
		end = asked_end;
	return end > start ? end - start : 0;
}

/* Leaves of e only [start, end), by the stack that it has. */
static bool cut(struct thread *t, struct entry *e, uint64_t start, uint64_t end)
{
	const struct hs_record *r = record_of(e);
	uint64_t asked_end = e->start + size_of(r);

	e->start = start;
	e->end = end;
	return change(t, e, share(start, end, asked_end), r->stack);
}

/* A hole in the middle of e: what is above it becomes a mapping of its own, of the same birth. */
static void split(struct thread *t, struct entry *e, uint64_t start, uint64_t end)
{
	const struct hs_record *r = record_of(e);
	struct entry above = { .start = end, .end = e->end, .order = e->order };
	uint64_t size = share(end, e->end, e->start + size_of(r));
	uint32_t family = HS_RECORD_FAMILY(r->word), stack = r->stack, birth = birth_of(r);

	if (!cut(t, e, e->start, start)) {
		struct entry gone = *e;

		take_out(e);
		end_entry(t, &gone);
	}
	begin(t, &above, size, family, stack, birth);
}

/* Takes [start, end) out of all mappings that were there at that time. */
static void carve(struct thread *t, uint64_t start, uint64_t end, uint64_t clock)
{
	size_t from = first_below(end), to = from, at;

	for (at = from; at < mappings.nr && mappings.entries[at].end > start; at++) {
		struct entry *e = &mappings.entries[at];
		bool head = e->start < start, tail = e->end > end;

		if (e->order <= clock && head && tail) {
			split(t, e, start, end);
			return;
		}
		if (e->order <= clock &&
		    ((!head && !tail) || !cut(t, e, head ? e->start : end, head ? start : e->end)))
			end_entry(t, e);
		else
			mappings.entries[to++] = *e;
	}
	if (to == at)
		return;
	memmove(&mappings.entries[to], &mappings.entries[at],
		(mappings.nr - at) * sizeof(*mappings.entries));
	set_nr(mappings.nr - (at - to));
}

/* ---- events ---- */

static void born(struct thread *t, struct entry *e, uint64_t size, uint32_t family, uint32_t stack)
{
	carve(t, e->start, e->end, UINT64_MAX);
	e->order = next_order();
	if (!(t->special & THREAD_DRAINING))
		begin(t, e, size, family, stack, store_tick());
}

void mapping_born(struct thread *t, uint64_t start, uint64_t size, enum hs_family family,
		  uint32_t stack)
{
	struct entry e = { .start = start, .end = page_end(start, size) };

	if (!lock())
		return;
	born(t, &e, size, family, stack);
	sys_unlock(&mappings.lock);
}

void mapping_gone(struct thread *t, uint64_t start, uint64_t size, uint64_t clock)
{
	if (!lock())
		return;
	carve(t, start, page_end(start, size), clock);
	sys_unlock(&mappings.lock);
}

/* The mapping of e, all of it, is now `size` bytes at [start, end). */
static void move(struct thread *t, struct entry *at, uint64_t start, uint64_t end, uint64_t size,
		 uint32_t stack)
{
	struct entry e = *at;

	take_out(at);
	carve(t, start, end, UINT64_MAX);
	e.start = start;
	e.end = end;
	e.order = next_order();
	if (make_room() && change(t, &e, size, stack)) {
		insert(&e);
		return;
	}
	end_entry(t, &e);
	store_lost(HS_LOST_STOPPED);
}

void mapping_moved(struct thread *t, const struct mapping_move *m, uint32_t stack)
{
	uint64_t old_end = page_end(m->old, m->old_size), end = page_end(m->start, m->size);
	struct entry *e;

	if (!lock())
		return;
	e = find(m->old, m->clock);
	if (e && e->start == m->old && e->end == old_end) {
		move(t, e, m->start, end, m->size, stack);
	} else if (e && e->end == old_end && m->start == m->old) {
		move(t, e, e->start, end, m->old - e->start + m->size, stack);
	} else {
		struct entry fresh = { .start = m->start, .end = end };
		uint32_t family = e ? HS_RECORD_FAMILY(record_of(e)->word) : HS_FAMILY_MMAP;

		carve(t, m->old, old_end, m->clock);
		born(t, &fresh, m->size, family, stack);
	}
	sys_unlock(&mappings.lock);
}

/* The module that called, 0: not known. */
static uint32_t caller_module(uint32_t stack)
{
	return stack ? HS_NODE_MODULE(store_node(store_stack(stack)->node)->pc) : 0;
}

/* Whether e is what this caller has grown the break by before: an allocator may do the same. */
static bool same_break(const struct entry *e, uint32_t stack)
{
	const struct hs_record *r = record_of(e);

	return HS_RECORD_FAMILY(r->word) == HS_FAMILY_BRK &&
	       caller_module(r->stack) == caller_module(stack);
}

void mapping_break(struct thread *t, uint64_t old_end, uint64_t new_end, uint32_t stack)
{
	struct entry fresh = { .start = old_end, .end = new_end }, *e;

	if (!lock())
		return;
	if (new_end < old_end) {
		carve(t, new_end, old_end, UINT64_MAX);
	} else if (new_end > old_end) {
		e = find(old_end - 1, UINT64_MAX);
		if (e && e->end == old_end && same_break(e, stack))
			move(t, e, e->start, new_end, new_end - e->start, stack);
		else
			born(t, &fresh, new_end - old_end, HS_FAMILY_BRK, stack);
	}
	sys_unlock(&mappings.lock);
}
