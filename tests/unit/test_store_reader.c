/* SPDX-License-Identifier: MIT */
/*
 * test_store_reader.c - snapshots of a program that runs: stopped, killed, too slow, with several
 * readers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/freeze.h"
#include "store/summary.h"
#include "tests/unit/busy_program.h"
#include "tests/unit/folder.h"
#include "tests/unit/snapshot_fixture.h"
#include "util/clock.h"
#include "util/error.h"

#define CAP (UINT64_C(32) << 20)

static struct snapshot *snap(void)
{
	struct snapshot *s = open_good(store_path);

	assert_valid(s);
	return s;
}

/*
 * A machine that does not let the threads run for 80 ms makes them overrun a freeze: as many
 * snapshots are taken as it takes for 50 whole ones.
 */
static void churn(uint32_t flags)
{
	struct fake_store *f = busy_store_new(store_path, flags);
	pid_t pid = busy_start(f);
	unsigned int whole = 0;

	for (int i = 0; whole < 50; i++) {
		struct snapshot *s = snap();

		assert_true(i < 1000);

		assert_int_equal(s->source, SNAPSHOT_LIVE_STORE);
		assert_int_equal(s->number, i + 1);
		if (s->coverage.consistent) {
			assert_int_equal(s->coverage.in_doubt, 0);
			whole++;
		}
		snapshot_free(s);
	}
	assert_goes_on(f);
	busy_end(pid);
	fake_store_free(f, true);
}

static void test_churn_membarrier(void **state)
{
	(void)state;
	churn(0);
}

static void test_churn_fenced(void **state)
{
	(void)state;
	churn(HS_STORE_FENCED);
}

static void test_stopped(void **state)
{
	struct fake_store *f = busy_store_new(store_path, 0);
	pid_t pid = busy_start(f);

	(void)state;
	for (int i = 0; i < 20; i++) {
		uint64_t start;
		struct snapshot *s;
		int status;

		kill(pid, SIGSTOP);
		assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
		start = monotonic_ns();
		s = snap();
		assert_true(monotonic_ns() - start < UINT64_C(10000000000));
		assert_int_equal(s->source, SNAPSHOT_LIVE_STORE);
		assert_true(s->coverage.consistent);
		assert_true(s->coverage.in_doubt <= BUSY_THREADS);
		snapshot_free(s);
		kill(pid, SIGCONT);
		assert_int_equal(waitpid(pid, &status, WCONTINUED), pid);
		assert_goes_on(f);
	}
	busy_end(pid);
	fake_store_free(f, true);
}

/* The program goes on while it is read: stopped and started all the time. */
static void test_stopped_and_started(void **state)
{
	struct fake_store *f = busy_store_new(store_path, 0);
	pid_t pid = busy_start(f), teaser = fork();

	(void)state;
	assert_true(teaser >= 0);
	if (!teaser) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			kill(pid, SIGSTOP);
			usleep(700);
			kill(pid, SIGCONT);
			usleep(700);
		}
	}
	for (int i = 0; i < 60; i++)
		snapshot_free(snap());
	busy_end(teaser);
	kill(pid, SIGCONT);
	assert_goes_on(f);
	busy_end(pid);
	fake_store_free(f, true);
}

static void test_killed_reader(void **state)
{
	struct fake_store *f = busy_store_new(store_path, 0);
	pid_t pid = busy_start(f);
	unsigned int whole = 0;

	(void)state;
	for (int i = 0; whole < 5; i++) {
		pid_t reader = fork();
		struct snapshot *s;

		assert_true(reader >= 0 && i < 100);
		if (!reader) {
			struct freezer frozen;
			int fd = open(store_path, O_RDWR);

			if (fd >= 0 && !freezer_init(&frozen, fd, 0, store_path, NULL))
				freezer_set(&frozen);
			raise(SIGKILL);
		}
		assert_int_equal(waitpid(reader, NULL, 0), reader);
		if (i % 2) /* the next reader comes at once, or when the program has freed itself */
			assert_goes_on(f);
		s = snap();
		whole += s->coverage.consistent; /* see churn() */
		snapshot_free(s);
		assert_goes_on(f);
	}
	busy_end(pid);
	fake_store_free(f, true);
}

/* Where the machine is busy, others may have taken all turns for three seconds. */
static bool snap_in_turn(void)
{
	struct snapshot *s;

	for (int tries = 0; tries < 10; tries++) {
		int ret = snapshot_open(store_path, &s, NULL);

		if (!ret)
			snapshot_free(s);
		if (ret != -HS_E_STATE)
			return !ret;
	}
	return false;
}

static void test_two_readers(void **state)
{
	struct fake_store *f = busy_store_new(store_path, 0);
	pid_t pid = busy_start(f), readers[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		readers[i] = fork();
		assert_true(readers[i] >= 0);
		if (readers[i])
			continue;
		for (int j = 0; j < 20; j++)
			if (!snap_in_turn())
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < 20; i++)
		assert_true(snap_in_turn());
	for (int i = 0; i < 2; i++) {
		int status;

		assert_int_equal(waitpid(readers[i], &status, 0), readers[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(f->control->nr_snapshots, 60);
	assert_goes_on(f);
	busy_end(pid);
	fake_store_free(f, true);
}

/* A thread that is in the middle of a change for ever, though it is not stopped. */
static void test_overrun(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	uint64_t start;
	struct snapshot *s;

	(void)state;
	fake_small(f);
	fake_store_live(f, getpid());
	fake_slot(f, 1)->in = 1;
	fake_slot(f, 1)->tid = (uint32_t)getpid();
	start = monotonic_ns();
	s = snap();
	assert_true(monotonic_ns() - start < UINT64_C(10000000000));
	assert_false(s->coverage.consistent);
	assert_true(s->coverage.in_doubt >= 1);
	assert_int_equal(s->nr_blocks, 3);
	assert_int_equal(f->control->word, HS_MODE_LIVE);
	snapshot_free(s);
	/* The thread has gone: what it left is read as it stands. */
	fake_slot(f, 1)->tid = 0x7ffffff0;
	s = snap();
	assert_true(s->coverage.consistent);
	assert_int_equal(s->coverage.in_doubt, 1);
	snapshot_free(s);
	fake_store_free(f, true);
}

static void test_lock_held(void **state)
{
	struct fake_store *f = fake_store_new(store_path, CAP);
	struct hs_error err = {0};
	struct snapshot *s;
	int fd;

	(void)state;
	fake_small(f);
	fake_store_live(f, getpid());
	fd = open(store_path, O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(snapshot_open(store_path, &s, &err), -HS_E_STATE);
	assert_non_null(strstr(err.text, "another reader"));
	close(fd);
	snapshot_free(snap());
	fake_store_free(f, true);
}

/* Killed anywhere: at most one event of each thread is half done, and the reader knows which. */
static void test_killed_program(void **state)
{
	(void)state;
	for (int i = 0; i < 60; i++) {
		struct fake_store *f = busy_store_new(store_path, 0);
		pid_t pid = busy_start(f);
		struct snapshot *s;

		usleep((useconds_t)(i * 37 % 1000));
		busy_end(pid);
		s = snap();
		assert_int_equal(s->source, SNAPSHOT_DEAD_STORE);
		assert_true(s->coverage.consistent);
		assert_true(s->coverage.in_doubt <= BUSY_THREADS);
		assert_int_equal(s->coverage.dropped_blocks, 0);
		snapshot_free(s);
		fake_store_free(f, true);
	}
}

/* Killed while it is being read: an answer in any case. */
static void test_killed_while_read(void **state)
{
	(void)state;
	for (int i = 0; i < 30; i++) {
		struct fake_store *f = busy_store_new(store_path, 0);
		pid_t pid = busy_start(f), killer = fork();

		assert_true(killer >= 0);
		if (!killer) {
			usleep((useconds_t)(i * 50));
			kill(pid, SIGKILL);
			_exit(0);
		}
		for (int j = 0; j < 5; j++)
			snapshot_free(snap());
		waitpid(killer, NULL, 0);
		busy_end(pid);
		fake_store_free(f, true);
	}
}

/* The store grows between the making of room and the copy. */
static void test_growing(void **state)
{
	struct fake_store *f = fake_store_new(store_path, UINT64_C(256) << 20);
	uint32_t stack, slot;
	pid_t pid;

	(void)state;
	slot = fake_thread(f, 1, "t");
	stack = fake_stack(f, fake_node(f, 0, 0x5000, 0));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct hs_thread *t = fake_slot(f, slot);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		t->tid = (uint32_t)getpid();
		f->header->flags |= HS_STORE_FENCED;
		for (uint32_t i = 0; i < 1000000; i++) {
			busy_enter(f, t);
			busy_begin(t, HS_OP_BIRTH, stack, 0);
			fake_block(f, 0x10000 + i * UINT64_C(64), 16, stack, slot, 1);
			busy_leave(t);
		}
		pause();
	}
	f->header->flags |= HS_STORE_FENCED;
	fake_store_live(f, pid);
	for (int i = 0; i < 40; i++) {
		struct snapshot *s = snap();

		assert_int_equal(s->live_count * 16, s->live_bytes);
		snapshot_free(s);
	}
	busy_end(pid);
	fake_store_free(f, true);
}

static void test_mode(void **state)
{
	struct fake_store *f = busy_store_new(store_path, 0);
	pid_t pid = busy_start(f);
	struct store_summary sum;
	struct hs_error err;

	(void)state;
	assert_int_equal(store_summary(store_path, &sum, &err), 0);
	assert_true(sum.alive);
	assert_int_equal(sum.mode, HS_MODE_LIVE);
	pause_ms(20);
	assert_int_equal(store_mode_set(store_path, HS_MODE_OFF, &err), 0);
	assert_int_equal(store_summary(store_path, &sum, &err), 0);
	assert_int_equal(sum.mode, HS_MODE_DRAIN);
	assert_true(f->control->live_ms >= 20);
	assert_int_equal(store_mode_set(store_path, HS_MODE_LIVE, &err), 0);
	assert_int_equal(f->control->word & HS_CONTROL_MODE, HS_MODE_LIVE);
	busy_end(pid);
	assert_int_equal(store_mode_set(store_path, HS_MODE_LIVE, &err), -HS_E_STATE);
	assert_int_equal(store_summary(store_path, &sum, &err), 0);
	assert_false(sum.alive);
	fake_store_free(f, true);
}

#define TEST(test) cmocka_unit_test_teardown(test, busy_end_left)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_churn_membarrier),
		TEST(test_churn_fenced),
		TEST(test_stopped),
		TEST(test_stopped_and_started),
		TEST(test_killed_reader),
		TEST(test_two_readers),
		TEST(test_overrun),
		TEST(test_lock_held),
		TEST(test_killed_program),
		TEST(test_killed_while_read),
		TEST(test_growing),
		TEST(test_mode),
	};

	return cmocka_run_group_tests(tests, make_paths, folder_remove);
}
