/* SPDX-License-Identifier: MIT */
/*
 * writer.c - the tracer's side of the store: mapping it, growing its arrays.
 *
 * Runs on any thread of the traced program, perhaps in a signal handler.
 * Invariant: a number below `ready` of its array has pages, so touching it can't fault, however
 * full the file system is. Pages come from MADV_POPULATE_WRITE, whose refusal stops the recording
 * and never the program.
 * The one lock is taken only where room is reserved or given back, with signals blocked. It is
 * never held across anything but madvise and munmap.
 * Invariant: used <= cap <= mapped, so what is reserved stays mapped.
 */
#include "store/writer.h"

#include "tracer/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define MIN_STEP (64u << 10)
#define MAX_STEP (4u << 20)
#define MIN_CAP (UINT64_C(1) << 20)
#define LOCK_WAIT_MS 10000u /* more than pages take to come, also from a slow disk */

struct store store;

/* Of this machine: madvise takes no smaller parts. */
static uint64_t page_size(void)
{
	return getauxval(AT_PAGESZ);
}

static uint64_t page_down(uint64_t off)
{
	return off & ~(page_size() - 1);
}

static uint64_t page_up(uint64_t off)
{
	return page_down(off + page_size() - 1);
}

/* ---- attach ---- */

static bool header_fits(const struct hs_header *h, uint64_t size)
{
	return !memcmp(h->magic, HS_STORE_MAGIC, 16) && h->version == HS_STORE_VERSION &&
	       h->header_size == sizeof(*h) && h->must_know == 0 && h->state == HS_STATE_NEW &&
	       h->cap == size && h->used >= HS_DATA_OFF && h->used <= h->cap &&
	       h->arrays[HS_ARRAY_RECORDS].elem_size == sizeof(struct hs_record);
}

/* What the limit of the address space leaves to the store. */
static uint64_t share_of_limit(void)
{
	uint64_t soft, hard;

	return sys_getrlimit(RLIMIT_AS, &soft, &hard) ? UINT64_MAX : store_share(soft);
}

/* Maps all of the file, or as much of it as the address space allows. */
static long map_store(int fd, uint64_t size)
{
	uint64_t share = page_down(share_of_limit());

	for (size = size < share ? size : share; size >= MIN_CAP; size /= 2) {
		char *base = sys_map_file(fd, size);

		if (!base)
			continue;
		store.base = base;
		store.mapped = size;
		store.header = (struct hs_header *)(base + HS_HEADER_OFF);
		store.control = (struct hs_control *)(base + HS_CONTROL_OFF);
		store.messages = (struct hs_messages *)(base + HS_MESSAGES_OFF);
		sys_madvise(base, size, MADV_DONTDUMP);
		return (long)size;
	}
	return -ENOMEM;
}

static void detach(uint64_t mapped)
{
	sys_unmap(store.base, mapped);
	store.base = NULL;
}

/* Without MADV_POPULATE_WRITE the file gets its blocks now, while there is a descriptor: 1/256 of
 * the cap or what there is; the cap is cut down to that. */
static long take_ahead(int fd)
{
	uint64_t size = store.header->cap / 256;

	for (; size >= MIN_CAP; size /= 2) {
		if (sys_fallocate(fd, 0, size) == 0) {
			store.header->cap = size;
			store.no_populate = true;
			return 0;
		}
	}
	return -ENOSPC;
}

/* Number 0 of every array is "none". */
static long take_zeros(void)
{
	for (uint32_t id = 0; id < HS_ARRAY_CELLS; id++) {
		if (!store_ensure(id, 0))
			return -ENOSPC;
		store.header->arrays[id].count = 1;
	}
	return 0;
}

long store_attach(const char *path)
{
	struct sys_stat st;
	long fd = sys_open(path, O_RDWR | O_NOFOLLOW, 0);
	long err, mapped;

	if (fd < 0)
		return fd;
	err = sys_fstat((int)fd, &st);
	if (!err && st.uid != (uint32_t)sys_getuid())
		err = -EPERM;
	mapped = err ? err : map_store((int)fd, st.size);
	if (mapped < 0) {
		sys_close((int)fd);
		return mapped;
	}
	err = sys_populate_write(store.base, HS_DATA_OFF);
	if (err == -EINVAL)
		err = take_ahead((int)fd);
	sys_close((int)fd);
	if (!err && !header_fits(store.header, st.size))
		err = -EINVAL;
	if (!err) {
		if (store.header->cap > (uint64_t)mapped)
			store.header->cap = (uint64_t)mapped;
		err = take_zeros();
	}
	if (err)
		detach((uint64_t)mapped);
	return err;
}

/* ---- a copy for a fork child ---- */

/* A part of the file without pages: the end of an extent that is not ready yet. */
struct hole {
	uint64_t start, end;
};

#define MAX_HOLES (HS_NR_ARRAYS)

/* Each array has at most one: in its latest extent. Sorted by place. */
static uint32_t find_holes(struct hole *holes)
{
	uint32_t nr = 0;

	for (uint32_t id = 0; id < HS_NR_ARRAYS; id++) {
		const struct hs_array *a = &store.header->arrays[id];
		uint32_t k = 0, at;
		struct hole h;

		while (k + 1 < HS_NR_EXTENTS && a->extent[k + 1])
			k++;
		if (!a->extent[k])
			continue;
		h.start = a->extent[k] + (a->ready - hs_array_first(a->shift, k)) * a->elem_size;
		h.end = a->extent[k] + hs_array_extent_len(a->shift, k) * a->elem_size;
		h.start = page_up(h.start);
		h.end = page_up(h.end);
		if (h.start >= h.end)
			continue;
		for (at = nr++; at > 0 && holes[at - 1].start > h.start; at--)
			holes[at] = holes[at - 1];
		holes[at] = h;
	}
	return nr;
}

static long copy_range(char *to, uint64_t start, uint64_t end)
{
	long err;

	end = page_up(end);
	if (start >= end)
		return 0;
	err = sys_populate_write(to + page_down(start), end - page_down(start));
	if (!err)
		memcpy(to + start, store.base + start, end - start);
	return err;
}

/* The header last: a child that is killed meanwhile leaves a store that nobody has begun with. */
static long copy_all(char *to)
{
	struct hole *holes = sys_map(MAX_HOLES * sizeof(*holes));
	uint64_t at = HS_CONTROL_OFF;
	uint32_t nr;
	long err = 0;

	if (!holes)
		return -ENOMEM;
	nr = find_holes(holes);
	for (uint32_t i = 0; i < nr && !err; i++) {
		err = copy_range(to, at, holes[i].start);
		at = holes[i].end;
	}
	err = err ? err : copy_range(to, at, store.header->used);
	err = err ? err : copy_range(to, HS_HEADER_OFF, HS_CONTROL_OFF);
	sys_unmap(holes, MAX_HOLES * sizeof(*holes));
	return err;
}

/* Threads that the child does not have may have been giving back or withholding. */
static void forget_others(void)
{
	store.lock = 0;
	if (store.nr_withheld)
		store.header->cap = store.withheld_cap;
	if (store.header->cap > store.mapped)
		store.header->cap = store.mapped;
	store.nr_withheld = 0;
}

long store_clone(const char *path, bool (*copied)(void))
{
	long fd = sys_open(path, O_RDWR | O_NOFOLLOW, 0);
	char *copy = NULL;
	struct sys_stat st;
	long err = fd < 0 ? fd : sys_fstat((int)fd, &st);

	if (!err && (st.size < store.mapped || store.no_populate))
		err = -EFBIG;
	if (!err) {
		copy = sys_map_file((int)fd, store.mapped);
		err = copy ? copy_all(copy) : -ENOMEM;
	}
	if (!copied() && !err)
		err = -EAGAIN;
	if (fd >= 0)
		sys_close((int)fd);
	if (!err) {
		sys_madvise(copy, store.mapped, MADV_DONTDUMP);
		err = sys_move_map(copy, store.base, store.mapped);
	}
	if (err && copy)
		sys_unmap(copy, store.mapped);
	if (!err)
		forget_others();
	return err;
}

/* ---- state ---- */

uint64_t store_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec - store.header->start_ns) /
	       1000000u;
}

uint32_t store_tick(void)
{
	uint64_t tick = store_now_ms() / HS_TICK_MS;

	return tick < UINT32_MAX ? (uint32_t)tick : UINT32_MAX;
}

void store_stop(enum hs_stop why)
{
	uint32_t state = __atomic_load_n(&store.header->state, __ATOMIC_RELAXED);

	do {
		if (state != HS_STATE_RECORDING && state != HS_STATE_EXECED)
			return;
	} while (!__atomic_compare_exchange_n(&store.header->state, &state, HS_STATE_STOPPED, false,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	store.header->stopped_ms = store_now_ms();
	__atomic_store_n(&store.header->stop_reason, why, __ATOMIC_RELEASE);
}

bool store_lock(uint32_t *word, uint64_t *ret_mask)
{
	bool stopped = __atomic_load_n(&store.header->state, __ATOMIC_RELAXED) == HS_STATE_STOPPED;
	bool locked = sys_lock_masked(word, stopped ? 0 : LOCK_WAIT_MS, ret_mask);

	if (!locked)
		store_stop(HS_STOP_FAULT);
	return locked;
}

void store_unlock(uint32_t *word, bool locked, uint64_t mask)
{
	sys_unlock_masked(word, locked, mask);
}

void store_lost(enum hs_lost why)
{
	__atomic_fetch_add(&store.header->lost[why], 1, __ATOMIC_RELAXED);
}

void store_not_lost(enum hs_lost why)
{
	__atomic_fetch_sub(&store.header->lost[why], 1, __ATOMIC_RELAXED);
}

/* ---- growth ---- */

/* With the lock: so the bound can't change between the look at it and the reservation. */
static uint64_t reserve_range(uint64_t size, uint64_t align)
{
	uint64_t start = (store.header->used + align - 1) & ~(align - 1);

	if (size > store.header->cap || start > store.header->cap - size) {
		store_stop(HS_STOP_CAP);
		return 0;
	}
	__atomic_store_n(&store.header->used, start + size, __ATOMIC_RELAXED);
	return start;
}

static bool give_pages(uint64_t start, uint64_t end)
{
	start = page_down(start);
	end = page_up(end);
	if (store.no_populate || sys_populate_write(store.base + start, end - start) == 0)
		return true;
	store_stop(HS_STOP_NO_SPACE);
	return false;
}

uint64_t store_reserve(size_t size, size_t align)
{
	uint64_t mask, start;
	bool locked = store_lock(&store.lock, &mask);

	start = locked ? reserve_range(size, align) : 0;
	store_unlock(&store.lock, locked, mask);
	return start && give_pages(start, start + size) ? start : 0;
}

uint64_t store_string(const char *text, size_t len)
{
	uint64_t off = store_reserve(len + 1, 8);

	if (off)
		memcpy(store.base + off, text, len); /* the file is zeroed */
	return off;
}

/* How many bytes to give pages at once: more as the array grows, so that there are few calls. */
static uint64_t step_bytes(uint64_t extent_bytes)
{
	uint64_t step = extent_bytes / 8;

	return step < MIN_STEP ? MIN_STEP : step > MAX_STEP ? MAX_STEP : step;
}

/* Gives the elements from `ready` on some more pages; with the lock. */
static bool grow(struct hs_array *a)
{
	uint64_t ready = a->ready, done, want;
	uint32_t k = hs_array_extent(a->shift, ready);
	uint64_t first = hs_array_first(a->shift, k);
	uint64_t bytes = hs_array_extent_len(a->shift, k) * a->elem_size;

	if (k >= HS_NR_EXTENTS) {
		store_stop(HS_STOP_CAP);
		return false;
	}
	if (!a->extent[k]) {
		uint64_t start = reserve_range(page_up(bytes), page_size());

		if (!start)
			return false;
		__atomic_store_n(&a->extent[k], start, __ATOMIC_RELEASE);
	}
	done = (ready - first) * a->elem_size;
	want = done + step_bytes(bytes);
	if (want > bytes)
		want = bytes;
	if (!give_pages(a->extent[k] + done, a->extent[k] + want))
		return false;
	__atomic_store_n(&a->ready, first + want / a->elem_size, __ATOMIC_RELEASE);
	return true;
}

static bool grow_to(struct hs_array *a, uint64_t nr)
{
	uint64_t mask;
	bool locked = store_lock(&store.lock, &mask), good = locked;

	while (good && a->ready <= nr)
		good = store_recording() || store.header->state == HS_STATE_NEW ? grow(a) : false;
	store_unlock(&store.lock, locked, mask);
	return good;
}

uint64_t store_take(enum hs_array_id id, uint64_t n)
{
	struct hs_array *a = &store.header->arrays[id];
	uint64_t first = __atomic_fetch_add(&a->count, n, __ATOMIC_RELAXED);

	if (__atomic_load_n(&a->ready, __ATOMIC_ACQUIRE) >= first + n || grow_to(a, first + n - 1))
		return first;
	return 0;
}

/* All that is ready counts as in use: zeroed elements say nothing. */
bool store_ensure(uint32_t id, uint64_t nr)
{
	struct hs_array *a = &store.header->arrays[id];
	uint64_t count = __atomic_load_n(&a->count, __ATOMIC_RELAXED);
	uint64_t ready;

	if (a->ready <= nr && !grow_to(a, nr))
		return false;
	ready = __atomic_load_n(&a->ready, __ATOMIC_RELAXED);
	while (count < ready && !__atomic_compare_exchange_n(&a->count, &count, ready, true,
							     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return true;
}

/* ---- giving back ---- */

static void unmap_from(uint64_t bound)
{
	uint64_t end = store.mapped;

	if (bound >= end)
		return;
	/* Before: a fork child must not map over what comes there. */
	__atomic_store_n(&store.mapped, bound, __ATOMIC_RELEASE);
	sys_unmap(store.base + bound, end - bound);
}

void store_shrink(uint64_t spare)
{
	uint64_t mask, bound;

	if (sys_lock_masked(&store.lock, LOCK_WAIT_MS, &mask)) {
		if (__builtin_add_overflow(page_up(store.header->used), page_up(spare), &bound))
			bound = store.mapped;
		if (bound < store.header->cap)
			__atomic_store_n(&store.header->cap, bound, __ATOMIC_RELAXED);
		unmap_from(bound);
		sys_unlock_masked(&store.lock, true, mask);
	} else {
		sys_unlock_masked(&store.lock, false, mask);
	}
}

void store_leave(void)
{
	unmap_from(page_up(HS_DATA_OFF));
}

bool store_withhold(void)
{
	uint64_t mask, bound;
	bool locked = sys_lock_masked(&store.lock, LOCK_WAIT_MS, &mask);

	if (locked && !store.nr_withheld++) {
		bound = page_up(store.header->used) + STORE_WITHHOLD_SPARE;
		if (bound > store.mapped)
			bound = store.mapped;
		store.withheld_from = bound;
		store.withheld_cap = store.header->cap;
		if (bound < store.withheld_cap)
			__atomic_store_n(&store.header->cap, bound, __ATOMIC_RELAXED);
		if (bound < store.mapped)
			sys_forbid(store.base + bound, store.mapped - bound);
	}
	sys_unlock_masked(&store.lock, locked, mask);
	return locked;
}

/* Meanwhile store_shrink() may have unmapped some of it. */
void store_restore(void)
{
	uint64_t mask, cap;
	bool locked = sys_lock_masked(&store.lock, LOCK_WAIT_MS, &mask);

	if (locked && !--store.nr_withheld) {
		sys_munlock(store.base, store.mapped);
		if (store.withheld_from < store.mapped)
			sys_allow(store.base + store.withheld_from,
				  store.mapped - store.withheld_from);
		cap = store.withheld_cap < store.mapped ? store.withheld_cap : store.mapped;
		__atomic_store_n(&store.header->cap, cap, __ATOMIC_RELAXED);
	}
	sys_unlock_masked(&store.lock, locked, mask);
}
