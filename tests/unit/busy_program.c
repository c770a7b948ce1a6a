/* SPDX-License-Identifier: MIT */
/*
 * busy_program.c - see busy_program.h.
 */
#include "tests/unit/busy_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

#define NR_STACKS   8u
#define BLOCKS_EACH 500u

void pause_ms(unsigned int ms)
{
	struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&ts, NULL);
}

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

void busy_enter(struct fake_store *f, struct hs_thread *t)
{
	for (;;) {
		__atomic_store_n(&t->in, 1, __ATOMIC_RELAXED);
		if (f->header->flags & HS_STORE_FENCED)
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
		else /* the reader's membarrier is the fence */
			__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (!(__atomic_load_n(&f->control->word, __ATOMIC_RELAXED) & HS_CONTROL_FREEZE))
			return;
		__atomic_store_n(&t->in, 0, __ATOMIC_RELEASE);
		wait_frozen(f->control);
	}
}

void busy_leave(struct hs_thread *t)
{
	__atomic_store_n(&t->op, HS_OP_NONE, __ATOMIC_RELEASE);
	__atomic_store_n(&t->in, 0, __ATOMIC_RELEASE);
}

void busy_begin(struct hs_thread *t, enum hs_op op, uint32_t stack, uint32_t from)
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

	busy_begin(t, HS_OP_BIRTH, stack, 0);
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

	busy_begin(t, HS_OP_DEATH, stack, 0);
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

	busy_begin(t, HS_OP_RESIZE, stack, from);
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
		busy_enter(w->f, t);
		if (!fake_record(w->f, w->first_record + i)->word)
			do_birth(w, t, i, stack, size);
		else if (w->x >> 62)
			do_death(w, t, i);
		else
			do_resize(w, t, i, stack, size);
		busy_leave(t);
	}
	return NULL;
}

static struct worker workers[BUSY_THREADS];

/* Everything that the threads touch is made before they start: the fake grows without locks. */
struct fake_store *busy_store_new(const char *path, uint32_t flags)
{
	struct fake_store *f = fake_store_new(path, UINT64_C(32) << 20);

	f->header->flags = flags;
	f->header->peak_bytes = INT64_MAX; /* the mark is not what is tested here */
	for (uint32_t i = 0; i < NR_STACKS; i++)
		fake_stack(f, fake_node(f, 0, 0x5000 + i, 0));
	for (uint32_t i = 0; i < BUSY_THREADS; i++) {
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

	for (uint32_t i = 0, ms = 0; i < BUSY_THREADS; ms++) {
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

static pid_t running; /* the child that was started last, 0: ended */

pid_t busy_start(struct fake_store *f)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	running = pid;
	if (!pid) {
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
		for (uint32_t i = 1; i < BUSY_THREADS; i++)
			if (pthread_create(&thread, NULL, work, &workers[i]))
				_exit(3); /* a limit of the machine's, where others use it too */
		work(&workers[0]);
		_exit(0);
	}
	fake_store_live(f, pid);
	wait_for_work(f, pid);
	return pid;
}

void busy_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	if (pid == running)
		running = 0;
}

int busy_end_left(void **state)
{
	(void)state;
	if (running)
		busy_end(running);
	return 0;
}

static uint64_t progress(struct fake_store *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < BUSY_THREADS; i++)
		sum += __atomic_load_n(&fake_slot(f, workers[i].slot)->next_serial,
				       __ATOMIC_RELAXED);
	return sum;
}

void assert_goes_on(struct fake_store *f)
{
	uint64_t before = progress(f);

	for (int i = 0; i < 3000 && progress(f) < before + 100; i++)
		pause_ms(10);
	assert_true(progress(f) >= before + 100);
}
