/* SPDX-License-Identifier: MIT */
/*
 * test_stackbounds.c - what is known of stacks, and that it is forgotten when memory changes.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tracer/stackbounds.h"
#include "tracer/unwind.h"
#include "tracer/unwind_internal.h"

#define NR_KEPT 64 /* changes that are kept */

static uintptr_t page;

static bool is_known(const struct stack_bounds *b, int i)
{
	return b->ranges[i].hi != 0;
}

/* Two foreign stacks at 100 and 200 pages, its own from 300 to 310. */
static void know(struct stack_bounds *b)
{
	memset(b, 0, sizeof(*b));
	b->own_hi = 310 * page;
	b->own_lo = 300 * page;
	b->ranges[0] = (struct stack_range){ 100 * page, 110 * page, false };
	b->ranges[1] = (struct stack_range){ 200 * page, 210 * page, false };
	b->seen = stack_changes.count;
}

static void only_what_changed_is_forgotten(void **state)
{
	struct stack_bounds b;

	(void)state;
	know(&b);
	stack_memory_changed(50 * page, 100 * page);
	stack_memory_changed(110 * page, 200 * page);
	stack_memory_changed(310 * page, UINTPTR_MAX);
	stack_memory_changed(0, 0);
	stack_bounds_refresh(&b);
	assert_true(is_known(&b, 0) && is_known(&b, 1) && stack_own(&b, 305 * page));

	stack_memory_changed(105 * page + 8, 105 * page + 16); /* its page, and so its stack */
	stack_bounds_refresh(&b);
	assert_true(!is_known(&b, 0) && is_known(&b, 1) && stack_own(&b, 305 * page));

	stack_memory_changed(299 * page, 300 * page + 1);
	stack_bounds_refresh(&b);
	assert_true(is_known(&b, 1) && !stack_own(&b, 305 * page));
	assert_int_equal(b.own_lo, b.own_hi);

	know(&b);
	stack_memory_changed(209 * page + 100, 209 * page + 101);
	stack_bounds_refresh(&b);
	assert_true(is_known(&b, 0) && !is_known(&b, 1));
}

static void who_comes_late_forgets_everything(void **state)
{
	struct stack_bounds b;

	(void)state;
	know(&b);
	for (int i = 0; i < NR_KEPT - 1; i++)
		stack_memory_changed(1000 * page, 1001 * page);
	stack_bounds_refresh(&b);
	assert_true(is_known(&b, 0) && is_known(&b, 1) && stack_own(&b, 305 * page));
	for (int i = 0; i < NR_KEPT; i++)
		stack_memory_changed(1000 * page, 1001 * page);
	stack_bounds_refresh(&b);
	assert_true(!is_known(&b, 0) && !is_known(&b, 1) && !stack_own(&b, 305 * page));
}

static void blocks_count_only_within_the_hull(void **state)
{
	struct stack_bounds b;
	uint64_t before;

	(void)state;
	know(&b);
	stack_changes.lo = 100 * page;
	stack_changes.hi = 210 * page;
	before = stack_changes.count;
	stack_block_changed(105 * page, STACK_LEAST - 1);
	stack_block_changed(210 * page, 10 * page);
	stack_block_changed(90 * page, 10 * page);
	assert_int_equal(stack_changes.count, before);
	stack_block_changed(104 * page, STACK_LEAST);
	stack_block_changed(150 * page, 10 * page);
	assert_int_equal(stack_changes.count, before + 2);
	stack_bounds_refresh(&b);
	assert_true(!is_known(&b, 0) && is_known(&b, 1));
}

/* ---- several threads ---- */

#define NR_TURNS 500

static uint32_t turn, done; /* of the writer that is waited for; the others write on and on */

static void *write_in_turn(void *arg)
{
	for (uint32_t i = 1; i <= NR_TURNS; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != i)
			sched_yield();
		stack_memory_changed(105 * page, 106 * page);
		__atomic_store_n(&done, i, __ATOMIC_RELEASE);
	}
	return arg;
}

static void *write_on(void *arg)
{
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != NR_TURNS) {
		for (int i = 0; i < 8; i++)
			stack_memory_changed(1000 * page, 1001 * page);
		sched_yield();
	}
	return arg;
}

static void no_change_is_missed(void **state)
{
	pthread_t writers[3];
	struct stack_bounds b;

	(void)state;
	turn = done = 0;
	assert_int_equal(pthread_create(&writers[0], NULL, write_in_turn, NULL), 0);
	for (int i = 1; i < 3; i++)
		assert_int_equal(pthread_create(&writers[i], NULL, write_on, NULL), 0);
	for (uint32_t i = 1; i <= NR_TURNS; i++) {
		memset(&b, 0, sizeof(b));
		b.ranges[0] = (struct stack_range){ 100 * page, 110 * page, false };
		b.seen = __atomic_load_n(&stack_changes.count, __ATOMIC_ACQUIRE);
		__atomic_store_n(&turn, i, __ATOMIC_RELEASE);
		while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != i)
			sched_yield();
		stack_bounds_refresh(&b);
		assert_false(is_known(&b, 0));
	}
	for (int i = 0; i < 3; i++)
		pthread_join(writers[i], NULL);
}

/* ---- the thread's own stack ---- */

static void *own_bounds(void *arg)
{
	struct stack_bounds *b = arg;

	stack_bounds_start(b);
	return (void *)(uintptr_t)(b->own_hi > (uintptr_t)&b && b->own_min < (uintptr_t)&b);
}

static void the_own_stack_has_an_end(void **state)
{
	size_t size = 512 * page, start;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stack_bounds b;
	pthread_attr_t attr;
	pthread_t thread;
	void *inside;

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	for (start = 0; start < 3 * page; start += page / 2 + 16) {
		assert_int_equal(pthread_attr_init(&attr), 0);
		assert_int_equal(pthread_attr_setstack(&attr, memory + start, size - start), 0);
		assert_int_equal(pthread_create(&thread, &attr, own_bounds, &b), 0);
		assert_int_equal(pthread_join(thread, &inside), 0);
		assert_true(inside);
		assert_int_equal(b.own_min, ((uintptr_t)memory + start) & -page);
		pthread_attr_destroy(&attr);
	}
	assert_int_equal(munmap(memory, size), 0);
}

/* A cursor on a stack right below the thread's own, which reaches as far as to that. */
static const char *reach(char *below)
{
	struct stack_bounds b;
	struct unwind_regs regs = { .sp = (uintptr_t)below + page };
	struct cursor c = { .bounds = &b, .regs = &regs };

	stack_bounds_start(&b);
	cursor_place(&c, (uintptr_t)&b); /* meets its own stack */
	if (!stack_own(&b, (uintptr_t)&b))
		return "own stack not known";
	cursor_place(&c, regs.sp);
	if (!c.range || stack_own(&b, regs.sp - 8))
		return "the stack below taken for the own one";
	if (!cursor_extend(&c, (uintptr_t)below + 6 * page))
		return "not extended";
	if (!c.range || stack_own(&b, regs.sp - 8))
		return "grown into the own stack";
	stack_memory_changed((uintptr_t)below, (uintptr_t)below + page);
	stack_bounds_refresh(&b);
	return stack_own(&b, (uintptr_t)&b) ? NULL : "own stack forgotten";
}

static const char *wrong;

static void *reach_own(void *arg)
{
	wrong = reach(arg);
	return NULL;
}

static void a_stack_below_the_own_one_stays_apart(void **state)
{
	size_t size = 512 * page;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(pthread_attr_init(&attr), 0);
	assert_int_equal(pthread_attr_setstack(&attr, memory + 4 * page, size - 4 * page), 0);
	assert_int_equal(pthread_create(&thread, &attr, reach_own, memory), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	if (wrong)
		fail_msg("%s", wrong);
	pthread_attr_destroy(&attr);
	assert_int_equal(munmap(memory, size), 0);
}

static int start(void **state)
{
	(void)state;
	page = (uintptr_t)sysconf(_SC_PAGESIZE);
	stack_bounds_init();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_changed_is_forgotten),
		cmocka_unit_test(who_comes_late_forgets_everything),
		cmocka_unit_test(blocks_count_only_within_the_hull),
		cmocka_unit_test(no_change_is_missed),
		cmocka_unit_test(the_own_stack_has_an_end),
		cmocka_unit_test(a_stack_below_the_own_one_stays_apart),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
