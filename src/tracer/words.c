/* SPDX-License-Identifier: MIT */
/*
 * words.c - at a regular exit, the first words of C++ objects that are still there: their classes.
 *
 * A reader takes them out of a running program by itself; when it has gone, only what is written
 * here is left. The work is done by the destructor of this library, and only where no other thread
 * is known: then nobody gives memory back meanwhile. A block whose free was not seen may lie where
 * nothing is mapped any more, so the kernel is asked before memory is read, and where it cannot be
 * asked (before 5.14) nothing is. It stops after a tenth of a second, and says so.
 */
#include "store/format.h"
#include "store/writer.h"
#include "tracer/sys.h"
#include "tracer/thread.h"

#include <stdbool.h>
#include <stddef.h>

#define BUDGET_MS   100u
#define CHECK_EVERY 4096u /* records between two looks at the clock */
#define PIECE	    ((uintptr_t)64 << 10) /* memory that is asked for at once */
#define PAGE	    ((uintptr_t)4096)
#define NR_KNOWN    512u

/* All of it is used by one thread, at the very end. */
static struct {
	uintptr_t readable[NR_KNOWN]; /* addresses / 4096 + 1 of pages that can be read, by hash */
	uint64_t words[NR_KNOWN]; /* met last, by hash */
	bool in_module[NR_KNOWN]; /* the same */
	struct hs_words *last; /* the one that is being filled */
} work;

static bool is_readable(uintptr_t address)
{
	uintptr_t page = address / PAGE, piece = address & ~(PIECE - 1);
	uintptr_t *known = &work.readable[page % NR_KNOWN];

	if (*known == page + 1)
		return true;
	if (!sys_probe_read((const void *)piece, PIECE)) {
		for (uintptr_t p = piece / PAGE; p < (piece + PIECE) / PAGE; p++)
			work.readable[p % NR_KNOWN] = p + 1;
		return true;
	}
	if (sys_probe_read((const void *)(page * PAGE), PAGE))
		return false;
	*known = page + 1;
	return true;
}

static bool find_module(uint64_t word)
{
	uint64_t nr = __atomic_load_n(&store.header->arrays[HS_ARRAY_MODULES].count, __ATOMIC_RELAXED);

	for (uint64_t i = 1; i < nr; i++) {
		const struct hs_module *m = store_place(HS_ARRAY_MODULES, i);

		if (!m->unloaded && word >= m->start && word < m->end)
			return true;
	}
	return false;
}

static bool is_in_module(uint64_t word)
{
	size_t slot = (word >> 3) % NR_KNOWN;

	if (!word || word & 7)
		return false;
	if (work.words[slot] != word) {
		work.in_module[slot] = find_module(word);
		work.words[slot] = word;
	}
	return work.in_module[slot];
}

/* False if there is no room. */
static bool keep(uint64_t serial, uint64_t word)
{
	struct hs_words *w = work.last;
	uint64_t place;

	if (!w || w->count == HS_NR_WORDS) {
		place = store_reserve(sizeof(*w), PAGE);
		if (!place)
			return false;
		work.last = (struct hs_words *)(store.base + place);
		__atomic_store_n(w ? &w->next : &store.header->words_off, place, __ATOMIC_RELEASE);
		w = work.last;
	}
	w->words[w->count] = (struct hs_word){serial, word};
	__atomic_store_n(&w->count, w->count + 1, __ATOMIC_RELEASE);
	return true;
}

static bool keep_word_of(const struct hs_record *r)
{
	uintptr_t address = r->word & HS_RECORD_ADDRESS;
	uint64_t word;

	if (!r->word || HS_RECORD_FAMILY(r->word) != HS_FAMILY_NEW || address & 7 ||
	    (r->size & HS_SIZE_MAX) < sizeof(word) || !is_readable(address))
		return true;
	word = *(const uint64_t *)address;
	return !is_in_module(word) || keep(r->serial, word);
}

static bool is_alone(void)
{
	uint64_t nr = __atomic_load_n(&store.header->arrays[HS_ARRAY_THREADS].count, __ATOMIC_ACQUIRE);
	uint64_t nr_threads = 0;

	for (uint64_t i = 1; i < nr; i++) {
		const struct hs_thread *t = store_place(HS_ARRAY_THREADS, i);
		uint32_t state = __atomic_load_n(&t->state, __ATOMIC_ACQUIRE);

		nr_threads += state == HS_THREAD_LIVE || state == HS_THREAD_DYING;
	}
	return nr_threads <= 1;
}

static __attribute__((destructor)) void keep_words(void)
{
	uint64_t start, nr, i;

	/* a forked child has no gate */
	if (!tracer_gate->control || !tracer_active() || !store_recording() || !is_alone())
		return;
	start = store_now_ms();
	nr = __atomic_load_n(&store.header->arrays[HS_ARRAY_RECORDS].count, __ATOMIC_RELAXED);
	for (i = 1; i < nr; i++) {
		if (!keep_word_of(store_record((uint32_t)i)) ||
		    (!(i % CHECK_EVERY) && store_now_ms() - start > BUDGET_MS))
			break;
	}
	__atomic_store_n(&store.header->words_state, i >= nr ? HS_WORDS_ALL : HS_WORDS_SOME,
			 __ATOMIC_RELEASE);
}
