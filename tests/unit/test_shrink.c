/* SPDX-License-Identifier: MIT */
/*
 * test_shrink.c - the store gives address space back, or withholds it, while room is being reserved.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/create.h"
#include "store/writer.h"
#include "tests/unit/folder.h"
#include "tests/unit/tracer_fixture.h"
#include "tracer/sys.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB	   (UINT64_C(1) << 20)
#define NR_THREADS 3

static uint32_t stop;

static uint64_t used(void)
{
	return __atomic_load_n(&store.header->used, __ATOMIC_RELAXED);
}

/* Reserves and fills pieces of this size until the store is full or `stop`; returns how many. */
static void *reserve(void *arg)
{
	size_t size = *(const size_t *)arg;
	uintptr_t nr = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint64_t off = store_reserve(size, 8);

		if (!off)
			break;
		memset(store.base + off, 0xa5, size);
		nr++;
	}
	return (void *)nr;
}

/* Returns when they have reserved 1 MiB. */
static void start(pthread_t threads[NR_THREADS], size_t *size)
{
	uint64_t at = used();

	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	for (int i = 0; i < NR_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, reserve, size), 0);
	while (used() < at + MIB)
		sched_yield();
}

static uint64_t join(const pthread_t threads[NR_THREADS])
{
	uint64_t sum = 0;
	void *nr;

	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], &nr);
		sum += (uintptr_t)nr;
	}
	return sum;
}

/* What is withheld can't be read, and comes back; the bound is as before. */
static void test_withhold(void **state)
{
	uint64_t cap = store.header->cap, last = store.mapped - 4096;
	pthread_t threads[NR_THREADS];
	size_t size = 16; /* so small that they don't need the spare of 64 MiB meanwhile */

	(void)state;
	if (sys_probe_read(store.base, 8))
		skip(); /* a kernel before 5.14 */
	start(threads, &size);
	assert_true(store_withhold());
	assert_true(store_withhold());
	assert_true(store.header->cap < cap);
	assert_int_not_equal(sys_probe_read(store.base + last, 8), 0);
	store_restore();
	assert_int_not_equal(sys_probe_read(store.base + last, 8), 0);
	store_restore();
	assert_int_equal(sys_probe_read(store.base + last, 8), 0);
	assert_int_equal(store.header->cap, cap);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	join(threads);
	assert_int_equal(store.header->state, HS_STATE_RECORDING);
}

static bool nobody_waits(void)
{
	return true;
}

/* A child whose parent had withheld has all of it; the one that shrank has what is left. */
static void test_clone(void **state)
{
	struct store_options options = {.cap = UINT64_C(1) << 30, .mode = HS_MODE_LIVE};
	uint64_t cap = store.header->cap;
	char path[64];
	int status;
	pid_t pid;

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("copy"));
	assert_int_equal(store_create(path, &options), 0);
	assert_true(store_withhold());
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		bool good;

		store.lock = 1; /* as if another thread had it */
		good = !store_clone(path, nobody_waits) && store.header->cap == cap &&
		       store_reserve(STORE_WITHHOLD_SPARE + MIB, 8);
		_exit(good ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	store_restore();
	unlink(path);
}

/* What was reserved stays; when the rest is full, recording stops. Last, as it is for good. */
static void test_shrink(void **state)
{
	pthread_t threads[NR_THREADS];
	size_t size = 1000;
	uint64_t bound;

	(void)state;
	assert_int_equal(store.header->state, HS_STATE_RECORDING);
	start(threads, &size);
	store_shrink(64 * MIB);
	store_shrink(2 * MIB);
	bound = store.mapped;
	assert_true(join(threads) > 2 * MIB / 1000);
	assert_int_equal(store.header->cap, bound);
	assert_in_range(used(), bound - 2000, bound);
	assert_int_equal(store.header->state, HS_STATE_STOPPED);
	assert_int_equal(store.header->stop_reason, HS_STOP_CAP);
	store_shrink(UINT64_MAX);
	assert_int_equal(store.mapped, bound);
}

static void test_share(void **state)
{
	(void)state;
	assert_int_equal(store_share(UINT64_MAX), UINT64_MAX);
	assert_int_equal(store_share(1600 * MIB), 100 * MIB);
	assert_int_equal(store_share(MIB), STORE_MIN_SHARE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_withhold),
		cmocka_unit_test(test_clone),
		cmocka_unit_test(test_shrink),
	};

	return cmocka_run_group_tests(tests, tracer_set_up, folder_remove);
}
