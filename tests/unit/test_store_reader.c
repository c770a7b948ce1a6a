/* SPDX-License-Identifier: MIT */
/*
 * test_store_reader.c - snapshots of a program that runs: the freeze protocol against a child whose
 * four threads follow the tracer's side of it, stopped, killed, too slow, with several readers.
 * And what TARGET means.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/snapshot.h"
#include "analysis/snapshot_internal.h"
#include "store/freeze.h"
#include "store/place.h"
#include "store/process.h"
#include "store/reader.h"
#include "tests/unit/fake_store.h"
#include "util/error.h"

#define CAP	    (UINT64_C(32) << 20)
#define NR_THREADS  4u
#define NR_STACKS   8u
#define BLOCKS_EACH 500u

static char dir[] = "/tmp/test_reader.XXXXXX";
static char store_path[64];

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(store_path, sizeof(store_path), "%s/store.live", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(store_path);
	return rmdir(dir);
}

static void pause_ms(unsigned int ms)
{
	struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&ts, NULL);
}

/* ---- the traced program ------------------------------------------------------------------ */

struct worker {
	struct fake_store *f;
	uint32_t slot, first_record, first_lineage;
	uint64_t x;
};

static void wait_frozen(struct hs_control *c)
{
	uint64_t start = monotonic_ns(), limit = HS_FREEZE_DEADLINE_MS * UINT64_C(1000000), spent;
	uint32_t word;

	for (;;) {
		struct timespec left;

		word = __atomic_load_n(&c->word, __ATOMIC_ACQUIRE);
		spent = monotonic_ns() - start;
		if (!(word & HS_CONTROL_FREEZE))
			return;
		if (spent >= limit)
			break;
		left = (struct timespec){0, (long)(limit - spent)};
		syscall(SYS_futex, &c->word, FUTEX_WAIT, word, &left, NULL, 0);
	}
	__atomic_store_n(&c->overrun_seq, __atomic_load_n(&c->freeze_seq, __ATOMIC_ACQUIRE),
			 __ATOMIC_SEQ_CST);
	__atomic_fetch_and(&c->word, ~HS_CONTROL_FREEZE, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &c->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void enter(const struct worker *w, struct hs_thread *t)
{
	for (;;) {
		__atomic_store_n(&t->in, 1, __ATOMIC_RELAXED);
		if (w->f->header->flags & HS_STORE_FENCED)
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
		else
			__atomic_signal_fence(
				__ATOMIC_SEQ_CST); /* the reader's membarrier is the fence */
		if (!(__atomic_load_n(&w->f->control->word, __ATOMIC_RELAXED) & HS_CONTROL_FREEZE))
			return;
		__atomic_store_n(&t->in, 0, __ATOMIC_RELEASE);
		wait_frozen(w->f->control);
	}
}

static void leave(struct hs_thread *t)
{
	__atomic_store_n(&t->op, HS_OP_NONE, __ATOMIC_RELEASE);
	__atomic_store_n(&t->in, 0, __ATOMIC_RELEASE);
}

static void begin(struct hs_thread *t, enum hs_op op, uint32_t stack, uint32_t from)
{
	t->op_stack = stack;
	t->op_stack_from = from;
	__atomic_store_n(&t->op, op, __ATOMIC_RELEASE);
}

static void add(const struct worker *w, uint32_t stack, int64_t nr, int64_t bytes)
{
	struct hs_cell *cell = fake_cell(w->f, w->slot, stack);

	__atomic_store_n(&cell->live_count, cell->live_count + nr, __ATOMIC_RELEASE);
	__atomic_store_n(&cell->live_bytes, cell->live_bytes + bytes, __ATOMIC_RELEASE);
}

static struct hs_lineage *lineage(const struct worker *w, uint32_t i)
{
	return fake_place(w->f, HS_ARRAY_LINEAGES, w->first_lineage + i);
}

static void do_birth(const struct worker *w, struct hs_thread *t, uint32_t i, uint32_t stack,
		     uint64_t size)
{
	struct hs_record *r = fake_record(w->f, w->first_record + i);

	begin(t, HS_OP_BIRTH, stack, 0);
	r->size = size | UINT64_C(8) << HS_SIZE_BITS;
	r->serial = (uint64_t)w->slot << HS_SERIAL_SLOT_SHIFT | t->next_serial++;
	r->stack = stack;
	r->birth = 1;
	__atomic_store_n(&r->word, 0x10000000 * (uint64_t)w->slot + i * UINT64_C(4096),
			 __ATOMIC_RELEASE);
	add(w, stack, 1, (int64_t)size);
}

static void do_death(const struct worker *w, struct hs_thread *t, uint32_t i)
{
	struct hs_record *r = fake_record(w->f, w->first_record + i);
	uint64_t size = r->size & HS_SIZE_MAX;
	uint32_t stack = r->stack;

	begin(t, HS_OP_DEATH, stack, 0);
	__atomic_store_n(&r->word, 0, __ATOMIC_RELEASE);
	add(w, stack, -1, -(int64_t)size);
}

static void do_resize(const struct worker *w, struct hs_thread *t, uint32_t i, uint32_t stack,
		      uint64_t size)
{
	struct hs_record *r = fake_record(w->f, w->first_record + i);
	bool grown = r->word & HS_RECORD_LINEAGE;
	struct hs_lineage *l = lineage(w, i);
	uint64_t old = r->size & HS_SIZE_MAX;
	uint32_t from = r->stack;

	begin(t, HS_OP_RESIZE, stack, from);
	t->inflight = *r;
	__atomic_store_n(&t->inflight_nr, w->first_record + i, __ATOMIC_RELEASE);
	__atomic_store_n(&r->word, 0, __ATOMIC_RELEASE);
	if (!grown) {
		*l = (struct hs_lineage){.head = {.born_stack = from, .birth = r->birth},
					 .born_size = (uint32_t)old};
		r->birth = w->first_lineage + i;
	}
	add(w, from, -1, -(int64_t)old);
	r->size = size | UINT64_C(8) << HS_SIZE_BITS;
	r->stack = stack;
	add(w, stack, 1, (int64_t)size);
	__atomic_store_n(&r->word, t->inflight.word | HS_RECORD_LINEAGE, __ATOMIC_RELEASE);
	__atomic_store_n(&t->inflight_nr, 0, __ATOMIC_RELEASE);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct hs_thread *t = fake_slot(w->f, w->slot);

	t->tid = (uint32_t)syscall(SYS_gettid);
	for (;;) {
		uint32_t i, stack;
		uint64_t size;

		w->x = w->x * 6364136223846793005u + 1442695040888963407u;
		i = (uint32_t)(w->x >> 33) % BLOCKS_EACH;
		stack = 1 + (uint32_t)(w->x >> 20) % NR_STACKS;
		size = 1 + (w->x >> 40) % 1000;
		enter(w, t);
		if (!fake_record(w->f, w->first_record + i)->word)
			do_birth(w, t, i, stack, size);
		else if (w->x >> 62)
			do_death(w, t, i);
		else
			do_resize(w, t, i, stack, size);
		leave(t);
	}
	return NULL;
}

static struct worker workers[NR_THREADS];

/* Everything that the threads touch is made before they start: the fake grows without locks. */
static struct fake_store *make_busy(uint32_t flags)
{
	struct fake_store *f = fake_store_new(store_path, CAP);

	f->header->flags = flags;
	f->header->peak_bytes = INT64_MAX; /* the mark is not what is tested here */
	for (uint32_t i = 0; i < NR_STACKS; i++)
		fake_stack(f, fake_node(f, 0, 0x5000 + i, 0));
	for (uint32_t i = 0; i < NR_THREADS; i++) {
		struct worker *w = &workers[i];

		w->f = f;
		w->x = i * 77 + (uint64_t)getpid();
		w->slot = fake_thread(f, 1, "worker");
		w->first_record = (uint32_t)fake_take(f, HS_ARRAY_RECORDS, BLOCKS_EACH);
		w->first_lineage = (uint32_t)fake_take(f, HS_ARRAY_LINEAGES, BLOCKS_EACH);
		fake_cell(f, w->slot, NR_STACKS);
	}
	return f;
}

/*
 * Waits until each thread of the child has done something. A child that has ended, or can't make its
 * threads, fails the test; its end is left to be waited for.
 */
static void wait_for_work(struct fake_store *f, pid_t pid)
{
	siginfo_t info = {.si_pid = 0};

	for (uint32_t i = 0, ms = 0; i < NR_THREADS; ms++) {
		if (__atomic_load_n(&fake_slot(f, workers[i].slot)->next_serial,
				    __ATOMIC_RELAXED) >= 100) {
			i++;
			continue;
		}
		pause_ms(1);
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
			fail_msg("the child ended with %d", info.si_status);
		if (ms > 60000) {
			kill(pid, SIGKILL);
			fail_msg("thread %u of the child does not work", i);
		}
	}
}

static pid_t running; /* the child of the present test, 0: none */

/* Starts the threads in a child; returns its pid when they work. */
static pid_t start_child(struct fake_store *f)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	running = pid;
	if (!pid) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
		for (uint32_t i = 1; i < NR_THREADS; i++)
			if (pthread_create(&thread, NULL, work, &workers[i]))
				_exit(3); /* a limit of the machine's, where others use it too */
		work(&workers[0]);
		_exit(0);
	}
	fake_store_live(f, pid);
	wait_for_work(f, pid);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	if (pid == running)
		running = 0;
}

/* A test that has failed left its child, whose threads would take the others' time. */
static int end_running(void **state)
{
	(void)state;
	if (running)
		end_child(running);
	return 0;
}

static struct snapshot *snap(void)
{
	struct snap_problem problem;
	struct snapshot *s = NULL;
	struct hs_error err = {0};

	if (snapshot_open(store_path, &s, &err))
		fail_msg("%s", err.text);
	if (!snapshot_valid(s, &problem))
		fail_msg("%s", problem.text);
	return s;
}

static uint64_t progress(struct fake_store *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < NR_THREADS; i++)
		sum += __atomic_load_n(&fake_slot(f, workers[i].slot)->next_serial,
				       __ATOMIC_RELAXED);
	return sum;
}

static void assert_goes_on(struct fake_store *f)
{
	uint64_t before = progress(f);

	for (int i = 0; i < 100 && progress(f) < before + 100; i++)
		pause_ms(10);
	assert_true(progress(f) >= before + 100);
}

/* ---- running ----------------------------------------------------------------------------- */

static void churn(uint32_t flags)
{
	struct fake_store *f = make_busy(flags);
	pid_t pid = start_child(f);
	unsigned int overrun = 0;

	for (int i = 0; i < 60; i++) {
		struct snapshot *s = snap();

		assert_int_equal(s->source, SNAPSHOT_LIVE_STORE);
		assert_int_equal(s->number, i + 1);
		if (s->coverage.consistent)
			assert_int_equal(s->coverage.in_doubt, 0);
		else
			overrun++;
		snapshot_free(s);
	}
	assert_goes_on(f);
	end_child(pid);
	fake_store_free(f, true);
	/* A machine that does not let the threads run for 80 ms can overrun now and then. */
	assert_true(overrun <= 3);
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
	struct fake_store *f = make_busy(0);
	pid_t pid = start_child(f);

	(void)state;
	for (int i = 0; i < 20; i++) {
		uint64_t start;
		struct snapshot *s;
		int status;

		kill(pid, SIGSTOP);
		assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
		start = monotonic_ns();
		s = snap();
		assert_true(monotonic_ns() - start < UINT64_C(1000000000));
		assert_int_equal(s->source, SNAPSHOT_LIVE_STORE);
		assert_true(s->coverage.consistent);
		assert_true(s->coverage.in_doubt <= NR_THREADS);
		snapshot_free(s);
		kill(pid, SIGCONT);
		assert_int_equal(waitpid(pid, &status, WCONTINUED), pid);
		assert_goes_on(f);
	}
	end_child(pid);
	fake_store_free(f, true);
}

/* The program goes on while it is read: stopped and started all the time. */
static void test_stopped_and_started(void **state)
{
	struct fake_store *f = make_busy(0);
	pid_t pid = start_child(f), teaser = fork();

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
	end_child(teaser);
	kill(pid, SIGCONT);
	assert_goes_on(f);
	end_child(pid);
	fake_store_free(f, true);
}

static void test_killed_reader(void **state)
{
	struct fake_store *f = make_busy(0);
	pid_t pid = start_child(f);
	unsigned int overrun = 0;

	(void)state;
	for (int i = 0; i < 5; i++) {
		pid_t reader = fork();
		struct snapshot *s;

		assert_true(reader >= 0);
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
		overrun += !s->coverage.consistent;
		snapshot_free(s);
		assert_goes_on(f);
	}
	end_child(pid);
	fake_store_free(f, true);
	assert_true(overrun <= 2); /* as in churn() */
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
	struct fake_store *f = make_busy(0);
	pid_t pid = start_child(f), readers[2];

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
	end_child(pid);
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
	assert_true(monotonic_ns() - start < UINT64_C(2000000000));
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
		struct fake_store *f = make_busy(0);
		pid_t pid = start_child(f);
		struct snapshot *s;

		usleep((useconds_t)(i * 37 % 1000));
		end_child(pid);
		s = snap();
		assert_int_equal(s->source, SNAPSHOT_DEAD_STORE);
		assert_true(s->coverage.consistent);
		assert_true(s->coverage.in_doubt <= NR_THREADS);
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
		struct fake_store *f = make_busy(0);
		pid_t pid = start_child(f), killer = fork();

		assert_true(killer >= 0);
		if (!killer) {
			usleep((useconds_t)(i * 50));
			kill(pid, SIGKILL);
			_exit(0);
		}
		for (int j = 0; j < 5; j++)
			snapshot_free(snap());
		waitpid(killer, NULL, 0);
		end_child(pid);
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
		struct worker w = {.f = f, .slot = slot};
		struct hs_thread *t = fake_slot(f, slot);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		t->tid = (uint32_t)getpid();
		f->header->flags |= HS_STORE_FENCED;
		for (uint32_t i = 0; i < 1000000; i++) {
			enter(&w, t);
			begin(t, HS_OP_BIRTH, stack, 0);
			fake_block(f, 0x10000 + i * UINT64_C(64), 16, stack, slot, 1);
			leave(t);
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
	end_child(pid);
	fake_store_free(f, true);
}

static void test_mode(void **state)
{
	struct fake_store *f = make_busy(0);
	pid_t pid = start_child(f);
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
	end_child(pid);
	assert_int_equal(store_mode_set(store_path, HS_MODE_LIVE, &err), -HS_E_STATE);
	assert_int_equal(store_summary(store_path, &sum, &err), 0);
	assert_false(sum.alive);
	fake_store_free(f, true);
}

/* ---- targets ----------------------------------------------------------------------------- */

static char runtime[64], registry[96];

static void link_entry(pid_t pid, uint64_t ticks, const char *to, char ret[160])
{
	snprintf(ret, 160, "%s/%d.%llu", registry, (int)pid, (unsigned long long)ticks);
	unlink(ret);
	assert_int_equal(symlink(to, ret), 0);
}

static void expect_error(const char *target, int code, const char *part)
{
	struct hs_error err = {0};
	char path[4096];

	assert_int_equal(target_find(target, path, sizeof(path), &err), -code);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
}

static size_t nr_entries(const struct registry_entry *entries, size_t nr, pid_t pid)
{
	size_t found = 0;

	for (size_t i = 0; i < nr; i++)
		found += entries[i].pid == pid;
	return found;
}

static void test_targets(void **state)
{
	struct fake_store *f;
	struct process_stat st;
	struct hs_error err = {0};
	char path[4096], entry[160], second[160], text[32], second_store[96];
	struct registry_entry *entries;
	size_t nr;
	pid_t pid;

	(void)state;
	snprintf(runtime, sizeof(runtime), "%s/runtime", dir);
	assert_int_equal(mkdir(runtime, 0700), 0);
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	assert_int_equal(registry_path(path, sizeof(path), &err), 0);
	snprintf(registry, sizeof(registry), "%s/heapstory", runtime);
	assert_string_equal(path, registry);

	f = make_busy(0);
	pid = start_child(f);
	snprintf(text, sizeof(text), "%d", (int)pid);
	expect_error(text, HS_E_NOT_FOUND, "is not traced");
	assert_true(process_stat_read(pid, 0, &st));
	link_entry(pid, st.start_ticks + 1, store_path, entry); /* an earlier process of that pid */
	expect_error(text, HS_E_NOT_FOUND, "is not traced");
	assert_int_equal(access(entry, F_OK), -1); /* tidied away */
	link_entry(pid, st.start_ticks, store_path, entry);
	assert_int_equal(target_find(text, path, sizeof(path), &err), 0);
	assert_string_equal(path, store_path);
	assert_int_equal(registry_list(&entries, &nr, &err), 0);
	assert_int_equal(nr_entries(entries, nr, pid), 1); /* others may be traced meanwhile */
	free(entries);

	assert_int_equal(target_find(st.comm, path, sizeof(path), &err), 0);
	assert_string_equal(path, store_path);
	assert_int_equal(target_find(store_path, path, sizeof(path), &err), 0);
	assert_int_equal(target_find(dir, path, sizeof(path), &err), 0);
	assert_string_equal(path, store_path);
	assert_true(store_alive(store_path));
	expect_error("no-such-thing", HS_E_NOT_FOUND, st.comm);
	expect_error("2147483646", HS_E_NOT_FOUND, "no process");
	expect_error("missing.hs", HS_E_SYSTEM,
		     "cannot open 'missing.hs': No such file or directory");
	expect_error("/missing/dir", HS_E_SYSTEM, "No such file or directory");
	expect_error(runtime, HS_E_NOT_FOUND, "has no store.live");
	expect_error("", HS_E_USAGE, "empty");

	/* A second one of the same name: this process, with a store of its own. */
	snprintf(second_store, sizeof(second_store), "%s/second", dir);
	{
		struct fake_store *mine = fake_store_new(second_store, CAP);

		fake_store_live(mine, getpid());
		assert_true(process_stat_read(getpid(), 0, &st));
		link_entry(getpid(), st.start_ticks, second_store, second);
		expect_error(st.comm, HS_E_AMBIGUOUS, text);
		fake_store_free(mine, true);
	}
	unlink(second);
	end_child(pid);
	assert_false(store_alive(store_path));
	expect_error(st.comm, HS_E_NOT_FOUND, "no traced process is named");
	assert_int_equal(access(entry, F_OK), -1);
	fake_store_free(f, true);
	rmdir(registry);
	/* A registry that others could write to is not used. */
	mkdir(registry, 0700);
	chmod(registry, 0777);
	assert_true(registry_path(path, sizeof(path), &err) < 0);
	rmdir(registry);
	rmdir(runtime);
}

#define TEST(test) cmocka_unit_test_teardown(test, end_running)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_churn_membarrier), TEST(test_churn_fenced),
		TEST(test_stopped),		 TEST(test_stopped_and_started),
		TEST(test_killed_reader),	 TEST(test_two_readers),
		TEST(test_overrun),		 TEST(test_lock_held),
		TEST(test_killed_program),	 TEST(test_killed_while_read),
		TEST(test_growing),		 TEST(test_mode),
		TEST(test_targets),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
