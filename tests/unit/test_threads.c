/* SPDX-License-Identifier: MIT */
/*
 * test_threads.c - threads that come, go, and leave the tracer's work in the middle.
 *
 * The tracer as a library on a store of its own, as in test_table.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/writer.h"
#include "tests/unit/folder.h"
#include "tests/unit/tracer_fixture.h"
#include "tracer/index.h"
#include "tracer/record.h"
#include "tracer/stackbounds.h"
#include "tracer/sys.h"
#include "tracer/thread.h"
#include "tracer/totals.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define BIG    (UINT64_C(16) << 20) /* a thread tells the header of that at once */
#define ROUNDS 20000

static void set_mode(enum hs_mode mode)
{
	__atomic_store_n(&store.control->word, (uint32_t)mode, __ATOMIC_SEQ_CST);
}

static uint64_t nr_slots(void)
{
	return __atomic_load_n(&store.header->arrays[HS_ARRAY_THREADS].count, __ATOMIC_RELAXED);
}

static uint64_t nr_lost(enum hs_lost why)
{
	return __atomic_load_n(&store.header->lost[why], __ATOMIC_RELAXED);
}

static __attribute__((noinline)) bool event(uint64_t address)
{
	struct thread *t = tracer_enter();
	struct unwind_regs regs;
	struct block b = { address, 100, 104, HS_FAMILY_MALLOC };

	UNWIND_HERE(&regs);
	if (!t)
		return false;
	record_birth(t, &b, &regs);
	tracer_leave(t);
	return true;
}

static void death(uint64_t address)
{
	struct thread *t = tracer_enter();

	assert_non_null(t);
	assert_true(record_death(t, address));
	tracer_leave(t);
}

/* ---- slots ---- */

static void *pass(void *arg)
{
	struct thread *t = tracer_enter_any_mode();

	if (t)
		tracer_leave(t);
	return t ? NULL : arg;
}

static void test_slots_come_back(void **state)
{
	static const enum hs_mode modes[] = { HS_MODE_LIVE, HS_MODE_DRAIN, HS_MODE_OFF };
	pthread_t thread;
	void *failed;

	(void)state;
	assert_true(event(0x10000)); /* so that a drain does not end */
	for (size_t m = 0; m < 3; m++) {
		uint64_t before = nr_slots();

		set_mode(modes[m]);
		for (int i = 0; i < 100; i++) {
			assert_int_equal(pthread_create(&thread, NULL, pass, tracer_store_path), 0);
			pthread_join(thread, &failed);
			assert_null(failed);
		}
		assert_true(nr_slots() - before <= 10); /* a slot rests for some threads' time */
	}
	set_mode(HS_MODE_LIVE);
	death(0x10000);
}

/* ---- leaving in the middle ---- */

static jmp_buf back;

static bool enter_and_jump(uint64_t address)
{
	assert_non_null(tracer_enter());
	longjmp(back, address != 0);
}

/* Calls it so many frames further in. */
static __attribute__((noinline)) bool at_depth(unsigned depth, bool (*call)(uint64_t),
					       uint64_t address)
{
	volatile char frame[256];

	frame[9] = 2;
	return (depth ? at_depth(depth - 1, call, address) : call(address)) && frame[9] == 2;
}

/* The next event may come from further out than the one that was left, or from further in. */
static void left_at(unsigned depth, unsigned next_depth)
{
	uint64_t nested = nr_lost(HS_LOST_NESTED),
		 address = 0x20000 + depth * 0x1000 + next_depth * 16;
	struct thread *volatile before;

	assert_true(event(address));
	before = tracer_self;
	if (!setjmp(back))
		at_depth(depth, enter_and_jump, address);
	assert_int_equal(before->slot->in, 1);
	assert_true(at_depth(next_depth, event, address + 0x800));
	assert_ptr_not_equal(tracer_self, before);
	assert_int_equal(before->slot->state, HS_THREAD_LEFT);
	assert_int_equal(before->slot->in, 1);
	assert_int_equal(nr_lost(HS_LOST_NESTED), nested);
	death(address);
	death(address + 0x800);
}

static void left_all_ways(void)
{
	left_at(0, 0);
	left_at(0, 5);
	left_at(5, 0);
	left_at(5, 6);
	left_at(20, 3);
}

static void test_left_in_first_thread(void **state)
{
	(void)state;
	left_all_ways();
}

static void *left_in_thread(void *arg)
{
	left_all_ways();
	return arg;
}

static void test_left_in_thread(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, left_in_thread, NULL), 0);
	pthread_join(thread, NULL);
}

/*
 * A signal handler in the real realloc, which leaves a hook of its own: the block that is resized
 * is in flight in the slot that the thread had before.
 */
static void test_left_while_resizing(void **state)
{
	struct block b = { 0x38800, 200, 208, HS_FAMILY_REALLOC };
	struct hs_thread *volatile slot;
	static struct resize r;
	struct unwind_regs regs;
	struct thread *t;

	(void)state;
	UNWIND_HERE(&regs);
	assert_true(event(0x38000));
	t = tracer_enter();
	assert_non_null(t);
	slot = t->slot;
	record_resize_begin(t, 0x38000, &r);
	tracer_leave(t);
	assert_int_not_equal(slot->inflight_nr, 0);
	if (!setjmp(back))
		at_depth(3, enter_and_jump, 1);
	t = tracer_enter();
	assert_non_null(t);
	assert_ptr_not_equal(t->slot, slot);
	record_resize_end(t, &r, &b, &regs);
	tracer_leave(t);
	assert_int_equal(slot->inflight_nr, 0);
	death(0x38800);
}

/* What comes while the entry is alive passes through, on whatever stack, and is counted. */
static volatile int refused;

static void try_event(int sig)
{
	(void)sig;
	refused += !event(0x40000) && !at_depth(3, event, 0x40000);
}

static ucontext_t outside, inside;

static void try_on_other_stack(void)
{
	try_event(0);
}

static void test_not_left(void **state)
{
	uint64_t alt_stack[4096];
	stack_t alt = {.ss_sp = alt_stack, .ss_size = sizeof(alt_stack)},
		none = {.ss_flags = SS_DISABLE};
	struct sigaction action = { .sa_handler = try_event };
	struct thread *t;

	(void)state;
	assert_true(event(0x30000));
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	assert_int_equal(sigaltstack(&alt, NULL), 0); /* above the entry, on the own stack */
	t = tracer_enter();
	assert_non_null(t);
	raise(SIGUSR1);
	assert_int_equal(refused, 1);
	raise(SIGUSR2);
	assert_int_equal(refused, 2);
	assert_ptr_equal(tracer_self, t);
	tracer_leave(t);
	sigaltstack(&none, NULL);

	/* the event comes from a coroutine's stack */
	getcontext(&inside);
	inside.uc_stack.ss_size = 65536;
	inside.uc_stack.ss_sp = malloc(inside.uc_stack.ss_size);
	assert_non_null(inside.uc_stack.ss_sp);
	inside.uc_link = &outside;
	t = tracer_enter();
	assert_non_null(t);
	makecontext(&inside, try_on_other_stack, 0);
	swapcontext(&outside, &inside);
	assert_int_equal(refused, 3);
	assert_ptr_equal(tracer_self, t);
	tracer_leave(t);
	free(inside.uc_stack.ss_sp);
	death(0x30000);
}

static void *end_inside(void *arg)
{
	struct thread *t = tracer_enter();

	*(struct hs_thread **)arg = t ? t->slot : NULL;
	return NULL; /* as if cancelled there */
}

/* A fork waits for nobody who won't come, and threads that ended there are none. */
static void test_ended_inside(void **state)
{
	struct hs_thread *slot = NULL;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, end_inside, &slot), 0);
	pthread_join(thread, NULL);
	assert_non_null(slot);
	assert_int_equal(slot->state, HS_THREAD_LEFT);
	assert_true(thread_fork_begin());
	thread_fork_end(false);
}

/* ---- after the thread's last destructor ---- */

static pthread_key_t later_key; /* its destructor comes after the tracer's own */
static pthread_barrier_t at_end;
static int nr_there, nr_late;

static void end_late(void *arg)
{
	int *round = arg;
	uint64_t nr;

	if (++*round < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(later_key, round);
		return;
	}
	nr = (uint64_t)__atomic_fetch_add(&nr_there, 1, __ATOMIC_RELAXED);
	pthread_barrier_wait(&at_end);
	pthread_barrier_wait(&at_end); /* the freeze is on */
	if (event(0x60000 + 0x1000 * nr))
		__atomic_fetch_add(&nr_late, 1, __ATOMIC_RELAXED);
}

static void *end_with_an_event(void *arg)
{
	pthread_setspecific(later_key, arg);
	return pass(arg);
}

/* Two threads have the struct of slot 0 in turn; one that waits for a snapshot does not keep it. */
static void test_waiting_without_lock(void **state)
{
	uint64_t nested = nr_lost(HS_LOST_NESTED);
	pthread_t threads[2];
	int rounds[2] = { 0, 0 };

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* the sanitizer lets go of a thread before its last destructor */
#endif
	pthread_key_create(&later_key, end_late);
	pthread_barrier_init(&at_end, NULL, 3);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, end_with_an_event, &rounds[i]),
				 0);
	pthread_barrier_wait(&at_end);
	store.control->freeze_seq++;
	__atomic_fetch_or(&store.control->word, HS_CONTROL_FREEZE, __ATOMIC_SEQ_CST);
	pthread_barrier_wait(&at_end);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(nr_late, 2);
	assert_int_equal(nr_lost(HS_LOST_NESTED), nested);
	assert_int_equal(store.control->word, HS_MODE_LIVE);
	death(0x60000);
	death(0x61000);
	pthread_barrier_destroy(&at_end);
	pthread_key_delete(later_key);
}

/* A block whose record its maker had made busy when it jumped away is freed without delay. */
static uint64_t handed = 0x50000;

static void *make_busy_and_jump(void *arg)
{
	struct thread *volatile t;
	uint32_t nr, *slot;

	if (!event(handed))
		return arg;
	nr = index_find(&tracer_self->index, handed, &slot);
	if (!setjmp(back)) {
		t = tracer_enter();
		t->slot->inflight = *store_record(nr);
		t->slot->inflight_nr = nr;
		__atomic_fetch_or(&store_record(nr)->word, HS_RECORD_BUSY, __ATOMIC_RELAXED);
		longjmp(back, 1);
	}
	if (!event(handed + 0x1000))
		return arg;
	death(handed + 0x1000);
	return NULL;
}

static void test_busy_for_ever(void **state)
{
	pthread_t thread;
	void *failed;
	uint64_t start;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, make_busy_and_jump, tracer_store_path), 0);
	pthread_join(thread, &failed);
	assert_null(failed);
	start = store_now_ms();
	death(handed);
	record_settle(tracer_enter());
	tracer_leave(tracer_self);
	assert_true(store_now_ms() - start < 1500);
}

/* ---- the end of a drain ---- */

static struct thread *owners[2];
static int round_begun, round_ended;

static void wait_for(const int *counter, int value)
{
	while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < value)
		sched_yield();
}

/* The first owner tells the header of the small block that it holds, as it frees a large one. */
static void *free_large(void *arg)
{
	for (int i = 1; i <= ROUNDS; i++) {
		wait_for(&round_begun, i);
		totals_death(owners[0], 0, BIG, false);
		__atomic_store_n(&round_ended, i, __ATOMIC_RELEASE);
	}
	return arg;
}

static pthread_barrier_t barrier;

static void *be_there(void *arg)
{
	*(struct thread **)arg = tracer_enter();
	tracer_leave(tracer_self);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/*
 * One small block is left all the time: of two that the first owner made the second has freed one.
 * A sum of what the header says before the first owner tells it, and of what that holds back
 * afterwards, is 0.
 */
static void test_drain_sees_all(void **state)
{
	pthread_t threads[2], freer;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* what a slot holds back is added to without atomics: the sums may be old, not torn */
#endif
	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, be_there, &owners[i]), 0);
	pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_create(&freer, NULL, free_large, NULL), 0);
	for (int i = 1; i <= ROUNDS; i++) {
		totals_birth(owners[0], 0, BIG, 1);
		totals_birth(owners[0], 0, 1, 1);
		totals_birth(owners[0], 0, 1, 1);
		totals_death(owners[1], 0, 1, false);
		set_mode(HS_MODE_DRAIN);
		__atomic_store_n(&round_begun, i, __ATOMIC_RELEASE);
		do
			totals_drained(tracer_self);
		while (__atomic_load_n(&round_ended, __ATOMIC_ACQUIRE) < i);
		assert_int_equal(store.control->word, HS_MODE_DRAIN);
		totals_death(owners[0], 0, 1, false);
		totals_drained(tracer_self);
		assert_int_equal(store.control->word, HS_MODE_OFF);
		set_mode(HS_MODE_LIVE);
	}
	pthread_join(freer, NULL);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
}

/* ---- a forked child ---- */

static int changes_stop;

static void *change_memory(void *arg)
{
	while (!__atomic_load_n(&changes_stop, __ATOMIC_RELAXED))
		stack_memory_changed(0x1000, 0x2000);
	return arg;
}

static uint64_t count_one_change(void)
{
	uint64_t before = stack_changes.count;

	stack_memory_changed(0x1000, 0x2000);
	return stack_changes.count - before;
}

/* Another thread may be in the middle of it: in the child it never gets out. */
static void test_changes_in_child(void **state)
{
	pthread_t thread;
	int met = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, change_memory, NULL), 0);
	for (int i = 0; i < 2000 && !met; i++) {
		int status;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			int was_held = count_one_change() != 1;

			stack_changes_reset();
			_exit(count_one_change() != 1 ? 2 : was_held);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 2);
		met = WEXITSTATUS(status);
	}
	__atomic_store_n(&changes_stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* ---- pages ---- */

static void test_probe_parts_of_pages(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(munmap(p + 2 * page, page), 0);
	if (sys_probe_read(p, page))
		skip(); /* a kernel before 5.14 */
	assert_int_equal(sys_probe_read(p + 8, 8), 0);
	assert_int_equal(sys_probe_read(p + page - 8, 16), 0);
	assert_int_equal(sys_probe_read(p + 2 * page - 8, 8), 0);
	assert_int_not_equal(sys_probe_read(p + 2 * page - 8, 16), 0);
	assert_int_not_equal(sys_probe_read(p + 2 * page + 16, 8), 0);
	munmap(p, 2 * page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_come_back),
		cmocka_unit_test(test_left_in_first_thread),
		cmocka_unit_test(test_left_in_thread),
		cmocka_unit_test(test_left_while_resizing),
		cmocka_unit_test(test_not_left),
		cmocka_unit_test(test_ended_inside),
		cmocka_unit_test(test_waiting_without_lock),
		cmocka_unit_test(test_busy_for_ever),
		cmocka_unit_test(test_drain_sees_all),
		cmocka_unit_test(test_changes_in_child),
		cmocka_unit_test(test_probe_parts_of_pages),
	};

	return cmocka_run_group_tests(tests, tracer_set_up, folder_remove);
}
