/* SPDX-License-Identifier: MIT */
/*
 * test_mapping.c - mappings of the program itself, against a model that knows each page's owner.
 *
 * The tracer as a library on a store of its own; nobody maps the addresses. What the table holds is
 * read back as a snapshot. Meant to be run with ThreadSanitizer, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/snapshot.h"
#include "store/writer.h"
#include "tests/unit/folder.h"
#include "tests/unit/tracer_fixture.h"
#include "tracer/index.h"
#include "tracer/mapping.h"
#include "tracer/record.h"
#include "tracer/sys.h"
#include "util/error.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BASE	 UINT64_C(0x7e0000000000)
#define NR_PAGES 96
#define NR_STEPS 12000
#define THREADS	 4

static uint64_t page;

static int set_up(void **state)
{
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	return tracer_set_up(state);
}

/* Each test begins without mappings, whatever became of the one before. */
static int clean(void **state)
{
	struct thread *t = tracer_enter_any_mode();

	(void)state;
	mapping_gone(t, page, UINT64_C(0x7fffffff0000), mapping_clock());
	tracer_leave(t);
	return mapping_any();
}

/* ---- what the hooks do ---- */

static __attribute__((noinline)) uint32_t stack_here(struct thread *t)
{
	struct unwind_regs regs;

	UNWIND_HERE(&regs);
	return record_stack(t, &regs);
}

static struct thread *enter(void)
{
	struct thread *t = tracer_enter_any_mode();

	assert_non_null(t);
	return t;
}

static void map(uint64_t start, uint64_t size)
{
	struct thread *t = enter();

	mapping_born(t, start, size, HS_FAMILY_MMAP, stack_here(t));
	tracer_leave(t);
}

static void unmap(uint64_t start, uint64_t size, uint64_t clock)
{
	struct thread *t = enter();

	mapping_gone(t, start, size, clock);
	tracer_leave(t);
}

static void remap(uint64_t old, uint64_t old_size, uint64_t start, uint64_t size)
{
	struct mapping_move m = { old, old_size, start, size, mapping_clock() };
	struct thread *t = enter();

	mapping_moved(t, &m, stack_here(t));
	tracer_leave(t);
}

static void set_break(uint64_t from, uint64_t to)
{
	struct thread *t = enter();

	mapping_break(t, from, to, stack_here(t));
	tracer_leave(t);
}

/* ---- what a reader finds ---- */

static struct snapshot *look(void)
{
	struct snapshot *s = NULL;
	struct hs_error err = { 0 };
	uint64_t end = 0;

	if (snapshot_open(tracer_store_path, &s, &err))
		fail_msg("%s", err.text);
	assert_int_equal(s->coverage.dropped_blocks, 0);
	assert_int_equal(s->nr_blocks, 0);
	for (size_t i = 0; i < s->nr_mappings; i++) {
		const struct snap_block *m = &s->mappings[i];

		assert_true(m->address >= end);
		assert_true(m->size && m->size <= m->usable);
		end = m->address + m->usable;
	}
	return s;
}

static void expect_nothing(void)
{
	struct snapshot *s = look();

	assert_int_equal(s->nr_mappings, 0);
	snapshot_free(s);
	assert_false(mapping_any());
}

/* ---- one at a time ---- */

static void one_mapping(void **state)
{
	struct snapshot *s;

	(void)state;
	map(BASE, 3 * page - 100);
	s = look();
	assert_int_equal(s->nr_mappings, 1);
	assert_int_equal(s->mappings[0].address, BASE);
	assert_int_equal(s->mappings[0].size, 3 * page - 100);
	assert_int_equal(s->mappings[0].usable, 3 * page);
	assert_int_equal(s->mappings[0].family, HS_FAMILY_MMAP);
	assert_true(s->mappings[0].stack != 0);
	assert_int_equal(s->live_bytes, 0); /* that is malloc's */
	snapshot_free(s);
	unmap(BASE, 1, mapping_clock()); /* a page */
	s = look();
	assert_int_equal(s->mappings[0].address, BASE + page);
	assert_int_equal(s->mappings[0].size, 2 * page - 100);
	snapshot_free(s);
	unmap(BASE, 3 * page, mapping_clock());
	expect_nothing();
}

static void a_grown_one_stays_the_same(void **state)
{
	struct snapshot *s;
	uint64_t serial;
	uint32_t born;

	(void)state;
	map(BASE, page);
	s = look();
	serial = s->mappings[0].serial;
	born = s->mappings[0].stack;
	snapshot_free(s);
	for (uint64_t n = 1, at = BASE, to = BASE + 100 * page; n < 64; n *= 2) {
		uint64_t old = at;

		remap(at, n * page, to, 2 * n * page);
		at = to;
		to = old;
	}
	s = look();
	assert_int_equal(s->nr_mappings, 1);
	assert_int_equal(s->mappings[0].serial, serial);
	assert_int_equal(s->mappings[0].size, 64 * page);
	assert_int_equal(s->mappings[0].lineage, 1);
	assert_int_equal(s->lineages[0].nr_steps, 6);
	assert_int_equal(s->lineages[0].born_size, page);
	assert_int_equal(s->lineages[0].born_stack, born);
	assert_int_not_equal(s->mappings[0].stack, born);
	snapshot_free(s);
	unmap(BASE, 300 * page, mapping_clock());
	expect_nothing();
}

static void the_break_is_one_mapping(void **state)
{
	struct snapshot *s;

	(void)state;
	set_break(BASE + 100, BASE + 1100);
	set_break(BASE + 1100, BASE + 3100);
	set_break(BASE + 9000, BASE + 9500); /* malloc went on in between */
	set_break(BASE + 9500, BASE + 9700);
	set_break(BASE + 9700, BASE + 9600);
	s = look();
	assert_int_equal(s->nr_mappings, 2);
	assert_int_equal(s->mappings[0].size, 3000);
	assert_int_equal(s->mappings[1].size, 600);
	assert_int_equal(s->mappings[1].family, HS_FAMILY_BRK);
	assert_int_equal(s->nr_lineages, 2);
	snapshot_free(s);
	set_break(BASE + 9600, BASE);
	expect_nothing();
}

/* A thread's munmap is recorded only after another one has got the place and has recorded that. */
static void what_came_since_is_not_gone(void **state)
{
	struct mapping_move late = { BASE, 4 * page, BASE + 50 * page, 4 * page, 0 };
	struct thread *t;
	struct snapshot *s;
	uint64_t clock, serial;

	(void)state;
	map(BASE, 4 * page);
	clock = mapping_clock();
	map(BASE + page, page);
	unmap(BASE, 4 * page, clock);
	s = look();
	assert_int_equal(s->nr_mappings, 1);
	assert_int_equal(s->mappings[0].address, BASE + page);
	serial = s->mappings[0].serial;
	snapshot_free(s);

	/* the same with mremap: the old place has gone to another, which stays */
	map(BASE, 4 * page);
	late.clock = mapping_clock();
	map(BASE, 4 * page);
	t = enter();
	mapping_moved(t, &late, stack_here(t));
	tracer_leave(t);
	s = look();
	assert_int_equal(s->nr_mappings, 2);
	assert_int_equal(s->mappings[0].address, BASE);
	assert_int_equal(s->mappings[1].address, BASE + 50 * page);
	assert_int_not_equal(s->mappings[0].serial, serial);
	snapshot_free(s);
	unmap(BASE, 100 * page, mapping_clock());
	expect_nothing();
}

/* While the mode is off nothing is born, and what is known is followed. */
static void off_follows_what_is_known(void **state)
{
	struct snapshot *s;

	(void)state;
	map(BASE, 4 * page);
	map(BASE + 10 * page, 4 * page);
	__atomic_store_n(&store.control->word, HS_MODE_OFF, __ATOMIC_SEQ_CST);
	map(BASE + 20 * page, page);
	map(BASE + page, page); /* replaces a part */
	unmap(BASE + 10 * page, 4 * page, mapping_clock());
	__atomic_store_n(&store.control->word, HS_MODE_LIVE, __ATOMIC_SEQ_CST);
	s = look();
	assert_int_equal(s->nr_mappings, 2);
	assert_int_equal(s->mappings[0].size, page);
	assert_int_equal(s->mappings[1].address, BASE + 2 * page);
	assert_int_equal(s->mappings[1].size, 2 * page);
	snapshot_free(s);
	unmap(BASE, 100 * page, mapping_clock());
	expect_nothing();
}

/* Too large for the bits of a record. */
static void a_huge_one(void **state)
{
	struct snapshot *s;

	(void)state;
	map(BASE - (UINT64_C(5) << 40), UINT64_C(4) << 40);
	unmap(BASE - (UINT64_C(4) << 40), page, mapping_clock());
	s = look();
	assert_int_equal(s->nr_mappings, 2);
	assert_int_equal(s->mappings[0].size, UINT64_C(1) << 40);
	assert_int_equal(s->mappings[1].size, (UINT64_C(3) << 40) - page);
	snapshot_free(s);
	unmap(BASE - (UINT64_C(5) << 40), UINT64_C(5) << 40, mapping_clock());
	expect_nothing();
}

/* ---- random histories ---- */

struct model {
	uint64_t base;
	uint32_t seed;
	int owner[NR_PAGES]; /* of each page; 0: none */
	uint64_t asked_end[2 * NR_STEPS + 1]; /* by owner */
	uint64_t serial[2 * NR_STEPS + 1]; /* by owner; 0: not seen yet */
	int nr;
};

static uint32_t below(struct model *m, uint32_t n)
{
	m->seed = m->seed * 1664525u + 1013904223u;
	return (m->seed >> 8) % n;
}

static int fresh_owner(struct model *m, uint64_t asked_end)
{
	m->asked_end[++m->nr] = asked_end;
	return m->nr;
}

static void set_owner(struct model *m, uint32_t at, uint32_t nr, int owner)
{
	for (uint32_t i = at; i < at + nr; i++)
		m->owner[i] = owner;
}

/* An owner in two runs has become two: the upper one is new. */
static void part(struct model *m)
{
	for (int i = 1; i < NR_PAGES; i++) {
		int own = m->owner[i], fresh;

		if (!own || m->owner[i - 1] == own)
			continue;
		for (int k = 0; k < i; k++) {
			if (m->owner[k] != own)
				continue;
			fresh = fresh_owner(m, m->asked_end[own]);
			for (int j = i; j < NR_PAGES && m->owner[j] == own; j++)
				m->owner[j] = fresh;
			break;
		}
	}
}

static uint32_t run_start(const struct model *m, uint32_t at)
{
	while (at && m->owner[at - 1] == m->owner[at])
		at--;
	return at;
}

static uint32_t run_end(const struct model *m, uint32_t at)
{
	int own = m->owner[at];

	while (at < NR_PAGES && m->owner[at] == own)
		at++;
	return at;
}

/* mremap of all of a mapping, or of its end in place. */
static void random_remap(struct model *m)
{
	uint32_t at = below(m, NR_PAGES), start, end, nr, to;
	int own = m->owner[at];

	if (!own)
		return;
	start = run_start(m, at);
	end = run_end(m, at);
	nr = 1 + below(m, 8);
	if (below(m, 2)) {
		/* the end, in place; grown or shrunk */
		to = at;
		start = at;
		if (to + nr > NR_PAGES)
			return;
		for (uint32_t i = end; i < to + nr; i++)
			if (m->owner[i])
				return; /* the kernel would move it */
	} else {
		to = below(m, NR_PAGES - nr + 1);
		/* the kernel refuses places that overlap */
		if (to < end && to + nr > start)
			return;
	}
	set_owner(m, start, end - start, 0);
	set_owner(m, to, nr, own);
	m->asked_end[own] = m->base + (to + nr) * page;
	remap(m->base + start * page, (end - start) * page, m->base + to * page, nr * page);
	part(m);
}

static void random_step(struct model *m)
{
	uint32_t at = below(m, NR_PAGES), nr = 1 + below(m, 12), slack = below(m, (uint32_t)page);
	uint64_t start = m->base + at * page;

	if (at + nr > NR_PAGES)
		nr = NR_PAGES - at;
	switch (below(m, 4)) {
	case 0:
		set_owner(m, at, nr, fresh_owner(m, start + nr * page - slack));
		map(start, nr * page - slack);
		break;
	case 1:
		random_remap(m);
		break;
	default:
		set_owner(m, at, nr, 0);
		unmap(start, nr * page, mapping_clock());
	}
	part(m);
}

/*
 * The runs of the model are what the snapshot has between base and its end, and each is the mapping
 * that it was when it was seen before.
 */
static void compare(struct model *m, const struct snapshot *s)
{
	size_t k = 0;

	while (k < s->nr_mappings && s->mappings[k].address < m->base)
		k++;
	for (uint32_t at = 0, end; at < NR_PAGES; at = end) {
		uint64_t start = m->base + at * page, to;

		end = run_end(m, at);
		if (!m->owner[at])
			continue;
		to = m->base + end * page;
		assert_true(k < s->nr_mappings);
		assert_int_equal(s->mappings[k].address, start);
		assert_int_equal(s->mappings[k].usable, to - start);
		if (m->asked_end[m->owner[at]] < to)
			to = m->asked_end[m->owner[at]];
		assert_int_equal(s->mappings[k].size, to - start);
		if (!m->serial[m->owner[at]])
			m->serial[m->owner[at]] = s->mappings[k].serial;
		assert_int_equal(s->mappings[k].serial, m->serial[m->owner[at]]);
		k++;
	}
	if (k < s->nr_mappings)
		assert_true(s->mappings[k].address >= m->base + NR_PAGES * page);
}

static void random_history(void **state)
{
	static struct model m;

	(void)state;
	m = (struct model){ .base = BASE, .seed = 7 };
	for (int i = 0; i < NR_STEPS; i++) {
		random_step(&m);
		if (i % 50 == 0) {
			struct snapshot *s = look();

			compare(&m, s);
			snapshot_free(s);
		}
	}
	unmap(BASE, NR_PAGES * page, mapping_clock());
	expect_nothing();
}

/* ---- threads ---- */

static struct model models[THREADS];
static int stop;

static void *steps(void *arg)
{
	for (int i = 0; i < NR_STEPS; i++)
		random_step(arg);
	return NULL;
}

static void *looks(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		snapshot_free(look());
	return arg;
}

static void threads_and_a_reader(void **state)
{
	pthread_t threads[THREADS], reader;
	struct snapshot *s;

	(void)state;
	stop = 0;
	assert_int_equal(pthread_create(&reader, NULL, looks, NULL), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		models[i] = (struct model){ .base = BASE + i * 1000 * page, .seed = i };
		assert_int_equal(pthread_create(&threads[i], NULL, steps, &models[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(reader, NULL);
	s = look();
	for (uint32_t i = 0; i < THREADS; i++)
		compare(&models[i], s);
	snapshot_free(s);
	unmap(BASE, THREADS * 1000 * page, mapping_clock());
	expect_nothing();
}

/* ---- a thread that goes away with the lock ---- */

#ifndef __SANITIZE_THREAD__ /* which delivers signals late, and not inside */

static sigjmp_buf away;
static volatile int nr_jumps;

static void jump_away(int sig)
{
	(void)sig;
	nr_jumps++;
	siglongjmp(away, 1);
}

/* Nearly all the time in the table, which has to move hundreds of entries each time. */
static void *map_and_unmap(void *arg)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigsetjmp(away, 1);
	pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		struct thread *t = tracer_enter_any_mode();

		if (!t)
			continue;
		mapping_born(t, BASE + 4000 * page, page, HS_FAMILY_MMAP, 0);
		mapping_gone(t, BASE + 4000 * page, page, mapping_clock());
		tracer_leave(t);
	}
	return arg;
}

static uint64_t nr_refused(void)
{
	return __atomic_load_n(&store.header->lost[HS_LOST_STOPPED], __ATOMIC_RELAXED);
}

/* The last test: mappings are not recorded any more afterwards, but nobody waits for that. */
static void a_jump_takes_the_lock_along(void **state)
{
	struct sigaction action = { .sa_handler = jump_away };
	uint64_t refused = nr_refused(), start;
	sigset_t mask;
	pthread_t thread;

	(void)state;
	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &mask, NULL); /* until the thread can jump */
	sigaction(SIGUSR1, &action, NULL);
	for (uint64_t i = 0; i < 1000; i++)
		map(BASE + 2 * i * page, page);
	stop = 0;
	assert_int_equal(pthread_create(&thread, NULL, map_and_unmap, NULL), 0);
	for (int i = 0; i < 5000 && nr_refused() == refused; i++) {
		pthread_kill(thread, SIGUSR1);
		usleep(200);
		map(BASE + 5000 * page, page);
	}
	assert_true(nr_jumps > 0);
	assert_true(nr_refused() > refused);
	start = store_now_ms();
	for (int i = 0; i < 10; i++)
		map(BASE + 5000 * page, page);
	assert_true(store_now_ms() - start < 5000);
	assert_false(mapping_any());
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_mapping, clean),
		cmocka_unit_test_setup(a_grown_one_stays_the_same, clean),
		cmocka_unit_test_setup(the_break_is_one_mapping, clean),
		cmocka_unit_test_setup(what_came_since_is_not_gone, clean),
		cmocka_unit_test_setup(off_follows_what_is_known, clean),
		cmocka_unit_test_setup(a_huge_one, clean),
		cmocka_unit_test_setup(random_history, clean),
		cmocka_unit_test_setup(threads_and_a_reader, clean),
#ifndef __SANITIZE_THREAD__
		cmocka_unit_test_setup(a_jump_takes_the_lock_along, clean),
#endif
	};

	return cmocka_run_group_tests(tests, set_up, folder_remove);
}
