/* SPDX-License-Identifier: MIT */
/*
 * thread.c - the tracer's own data of each thread, and the gate that every hook goes through.
 *
 * A thread's states: fresh (tracer_self NULL), live (its own struct), dying (its key destructor
 * has run, but later destructors may still free blocks), gone (tracer_self is the orphan: what
 * libc frees after the last destructor goes through slot 0 under a lock).
 * The lock of the lists is taken only where a thread comes or goes, with signals blocked, so that no
 * jump out of a handler takes it along. Meanwhile tracer_self points to a struct that looks busy.
 *
 * A thread may be taken away from the change that it is in, with `in` set for ever: by siglongjmp
 * out of a signal handler, by cancellation, by the end of a vfork child. The slot is then left as it
 * stands, like that of a thread that was killed there (HS_THREAD_LEFT: a reader takes the change for
 * half done), and the thread goes on as a new one (left.c tells).
 */
#include "tracer/thread.h"

#include "tracer/left.h"
#include "tracer/paths.h"
#include "tracer/record.h"
#include "tracer/stackbounds.h"
#include "tracer/sys.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#if defined(__aarch64__)
#define GATE_ALIGN 65536 /* largest page */
#else
#define GATE_ALIGN 4096
#endif

#if defined(__SANITIZE_THREAD__) /* unit tests: the sanitizer lets go of a thread in the last round */
#define END_ROUNDS 1
#else
#define END_ROUNDS PTHREAD_DESTRUCTOR_ITERATIONS
#endif

#define SLAB_THREADS 8u
#define FORK_WAIT_MS 1000u /* longest that others wait for a child's copy */
#define LIST_WAIT_MS 3000u /* longest for the lists: a fork holds them for its two waits */
#define FIRST_LEVEL_KEYS 32u /* glibc: pthread_setspecific() of these never allocates */

static union {
	struct tracer_gate gate;
	char page[GATE_ALIGN];
} gate_page __attribute__((aligned(GATE_ALIGN)));
struct tracer_gate *const tracer_gate = &gate_page.gate;

__thread struct thread *tracer_self __attribute__((tls_model("initial-exec")));

static struct hs_thread busy_slot = { .in = 1 };
static struct thread busy = { .slot = &busy_slot, .special = THREAD_BUSY };
static struct thread orphan;

/* Who comes and goes; all under `lock` but what is set at the start. */
static struct {
	uint32_t lock;
	uint32_t orphan_lock;
	struct thread *spare;          /* structs without thread */
	char *slab, *slab_end;
	uint64_t busy_shards;          /* bit n: shard n has an owner */
	uint32_t nr_free_slots;        /* slots that wait for a thread, oldest first: a ring */
	uint32_t *free_slots;
	uint32_t free_at, free_size;
	size_t struct_size;
	bool namespaced;               /* ids in the store are not those that we know ourselves by */
	size_t tid_offset;             /* of the thread id in what pthread_self() points to; 0: unknown */
	pthread_key_t key;
	bool has_key;
	uint32_t fork_copy;            /* even: fork_done until the child has its copy */
	pthread_t forker;              /* who has stopped the others, 0: nobody; atomic */
} threads;

/* glibc keeps the thread's id in its own struct; found there once, it needs no system call. */
static size_t find_tid_offset(uint32_t tid)
{
	const char *self = (const char *)pthread_self();
	size_t found = 0;

	for (size_t off = 256; off < 1792; off += 4) {
		uint32_t value;

		memcpy(&value, self + off, sizeof(value));
		if (value != tid)
			continue;
		if (found)
			return 0;
		found = off;
	}
	return found;
}

static uint32_t own_tid(void)
{
	uint32_t tid = 0;

	if (threads.namespaced)
		tid = paths_proc_id("/proc/thread-self");
	else if (threads.tid_offset)
		memcpy(&tid, (const char *)pthread_self() + threads.tid_offset, sizeof(tid));
	return tid;
}

static uint32_t take_shard(void)
{
	uint64_t free_mask = ~threads.busy_shards & ~UINT64_C(1);
	uint32_t shard = free_mask ? (uint32_t)__builtin_ctzll(free_mask) : 0;

	if (shard)
		threads.busy_shards |= UINT64_C(1) << shard;
	return shard;
}

/* The slot that has been free for longest, so that a number comes back late; or a new one. */
static uint32_t take_slot(void)
{
	uint64_t nr;

	if (threads.nr_free_slots > 8) {
		uint32_t slot = threads.free_slots[threads.free_at];

		threads.free_at = (threads.free_at + 1) % threads.free_size;
		threads.nr_free_slots--;
		return slot;
	}
	nr = store_take(HS_ARRAY_THREADS, 1);
	return nr < 1u << 16 ? (uint32_t)nr : 0;
}

static void give_slot(uint32_t slot)
{
	uint32_t size = threads.free_size;

	if (threads.nr_free_slots == size) {
		uint32_t new_size = size ? size * 2 : 1024;
		uint32_t *ring = sys_map(new_size * sizeof(*ring));

		if (!ring)
			return; /* the slot is lost, no more */
		for (uint32_t i = 0; i < size; i++)
			ring[i] = threads.free_slots[(threads.free_at + i) % size];
		if (size)
			sys_unmap(threads.free_slots, size * sizeof(*ring));
		threads.free_slots = ring;
		threads.free_size = new_size;
		threads.free_at = 0;
	}
	threads.free_slots[(threads.free_at + threads.nr_free_slots++) % threads.free_size] = slot;
}

static struct thread *take_struct(void)
{
	struct thread *t = threads.spare;

	if (t) {
		threads.spare = t->next;
		return t;
	}
	if ((size_t)(threads.slab_end - threads.slab) < threads.struct_size) {
		size_t size = threads.struct_size * SLAB_THREADS;
		char *slab = sys_map(size);

		if (!slab)
			return NULL;
		threads.slab = slab;
		threads.slab_end = slab + size;
	}
	t = (struct thread *)threads.slab;
	threads.slab += threads.struct_size;
	t->unwind = (struct unwind_thread *)((char *)t + ((sizeof(*t) + 63) & ~(size_t)63));
	return t;
}

/* With the lock. NULL if there is no slot or no memory. */
static struct thread *make(void)
{
	struct thread *t = take_struct();
	uint32_t nr = t ? take_slot() : 0;
	struct hs_thread *slot;

	if (!t)
		return NULL;
	if (!nr) {
		t->next = threads.spare;
		threads.spare = t;
		return NULL;
	}
	slot = store_place(HS_ARRAY_THREADS, nr);
	t->slot = slot;
	t->slot_nr = nr;
	t->shard = take_shard();
	t->special = store.header->flags & HS_STORE_FENCED ? THREAD_FENCED : 0;
	t->rounds = 0;
	t->newest = 0;
	t->calm = 0;
	t->rising = false;
	t->copygrow.nr_candidates = 0;
	t->copygrow.due = 0; /* serials of this slot may be less than those of the last one */
	t->pending_temporary = 0;
	t->outer = NULL;
	t->freeing = 0;
	t->sizing = false;
	unwind_thread_reset(t->unwind);
	slot->tid = own_tid();
	slot->shard = t->shard;
	slot->first_serial = slot->next_serial;
	slot->born_tick = (uint32_t)(store_now_ms() / HS_TICK_MS);
	__atomic_store_n(&slot->state, HS_THREAD_LIVE, __ATOMIC_RELEASE);
	return t;
}

/*
 * Around the lists. False: the lock is not to be had, as something of the program's that runs inside
 * a fork does not end.
 */
static bool lists_begin(uint64_t *ret_mask)
{
	bool locked = sys_lock_masked(&threads.lock, LIST_WAIT_MS, ret_mask);

	tracer_self = &busy; /* not before: a jump must not leave it so */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return locked;
}

/* tracer_self before the signals that have waited. */
static void lists_end(bool locked, uint64_t mask, struct thread *self)
{
	tracer_self = self;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	sys_unlock_masked(&threads.lock, locked, mask);
}

struct thread *thread_first(void)
{
	uint64_t mask;
	bool locked = lists_begin(&mask);
	struct thread *t = locked ? make() : NULL;

	if (!t) {
		store_lost(HS_LOST_NO_THREAD);
		t = &orphan;
	} else if (threads.has_key) {
		pthread_setspecific(threads.key, t);
	}
	lists_end(locked, mask, t);
	return t;
}

/* The thread won't come back to the change that it was in. */
static void leave_slot(struct thread *t)
{
	__atomic_store_n(&t->slot->state, HS_THREAD_LEFT, __ATOMIC_RELEASE);
}

/* Hands what the thread held to whoever comes next. It is at its end, so in no change. */
static void release(struct thread *t)
{
	uint64_t mask;
	bool locked;

	if (t->slot->in) {
		leave_slot(t);
		tracer_self = &orphan;
		return;
	}
	if (!tracer_enter_any_mode())
		return;
	record_settle(t);
	tracer_leave(t);
	locked = lists_begin(&mask);
	__atomic_store_n(&t->slot->state, HS_THREAD_FREE, __ATOMIC_RELEASE);
	if (locked) {
		give_slot(t->slot_nr);
		threads.busy_shards &= ~(UINT64_C(1) << t->shard);
		t->next = threads.spare; /* with its free records and its supply */
		threads.spare = t;
	}
	lists_end(locked, mask, &orphan);
}

/* Destructor of the key: destructors of others may come after it, so it asks to run again as
 * often as there are rounds, and lets go in the last. */
static void thread_end(void *arg)
{
	struct thread *t = arg;

	if (tracer_gate->control == NULL || t != tracer_self)
		return;
	__atomic_store_n(&t->slot->state, HS_THREAD_DYING, __ATOMIC_RELAXED);
	if (++t->rounds < END_ROUNDS)
		pthread_setspecific(threads.key, t);
	else
		release(t);
}

static bool lock_orphan(void)
{
	for (unsigned spins = 0; __atomic_exchange_n(&threads.orphan_lock, 1, __ATOMIC_ACQUIRE);
	     spins++) {
		if (spins > 120)
			return false; /* 20 ms: held by the code that a signal handler interrupted */
		if (spins > 100)
			sys_futex_wait(&threads.orphan_lock, 1, 1000000);
	}
	unwind_thread_reset(orphan.unwind);
	orphan.outer = NULL;
	orphan.newest = 0;
	return true;
}

void thread_leave_orphan(void)
{
	sys_unlock(&threads.orphan_lock);
}

static uint64_t wait_ns(uint64_t spent_ms)
{
	return spent_ms < HS_FREEZE_DEADLINE_MS ? (HS_FREEZE_DEADLINE_MS - spent_ms + 4) * 1000000 :
						  10000000;
}

/*
 * Others go on, whether the child has its copy or not. In fork_done an odd number says that it
 * has, another even one that it is late and must not use it, however late it looks.
 */
static void end_copy(void)
{
	struct hs_control *c = store.control;
	uint32_t copy = threads.fork_copy;

	__atomic_compare_exchange_n(&c->fork_done, &copy, copy + 2, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
	__atomic_fetch_and(&c->word, ~HS_CONTROL_FORK, __ATOMIC_SEQ_CST);
	sys_futex_wake_all(&c->word);
}

/* Waits until the snapshot is over or the deadline has come; then ends the freeze itself. */
static void wait_frozen(void)
{
	struct hs_control *c = store.control;
	uint64_t start = store_now_ms();
	uint32_t seq;

	for (;;) {
		uint32_t word = __atomic_load_n(&c->word, __ATOMIC_ACQUIRE);
		uint64_t spent = store_now_ms() - start;

		if (!(word & (HS_CONTROL_FREEZE | HS_CONTROL_FORK)))
			return;
		if (spent >= HS_FREEZE_DEADLINE_MS && word & HS_CONTROL_FREEZE)
			break;
		if (spent >= FORK_WAIT_MS + HS_FREEZE_DEADLINE_MS) {
			end_copy();
			return; /* the child has had its time */
		}
		if (sys_futex_wait(&c->word, word, wait_ns(spent)) ==
		    -EPERM)
			break; /* refused by a filter: no way to wait but to burn time */
	}
	seq = __atomic_load_n(&c->freeze_seq, __ATOMIC_ACQUIRE);
	__atomic_store_n(&c->overrun_seq, seq, __ATOMIC_SEQ_CST);
	__atomic_fetch_and(&c->word, ~HS_CONTROL_FREEZE, __ATOMIC_SEQ_CST);
	sys_futex_wake_all(&c->word);
	store_lost(HS_LOST_OVERRUN);
}

/* The struct that a thread with one of its own goes on with; NULL: it is in a change. */
static struct thread *out_of_change(struct thread *t, const struct unwind_regs *now)
{
	if (!t->slot->in)
		return t;
	if (t->special & THREAD_BUSY || !left_behind(t->entered, now))
		return NULL;
	leave_slot(t);
	return thread_first();
}

/*
 * Makes sure that the thread is in no change, and that the orphan's struct is its own; the struct
 * that it goes on with. NULL, counted: it is in one.
 */
static struct thread *begin(struct thread *t, uint32_t word, const struct unwind_regs *now)
{
	if (!(t->special & THREAD_ORPHAN) && word == THREAD_NOT_ENTERED)
		t = out_of_change(t, now);
	if (!t || (t->special & THREAD_ORPHAN && !lock_orphan())) {
		store_lost(HS_LOST_NESTED);
		return NULL;
	}
	return t;
}

/* True if the calling thread has stopped all others: it can't wait for itself. */
static bool is_forking(void)
{
	return __atomic_load_n(&threads.forker, __ATOMIC_RELAXED) == pthread_self();
}

static struct thread *enter(struct thread *t, uint32_t word, bool any_mode,
			    const struct unwind_regs *now)
{
	struct hs_control *c = tracer_gate->control;

	if (t->special & THREAD_OWN_WORK)
		return NULL;
	for (;; word = THREAD_NOT_ENTERED) {
		t = begin(t, word, now);
		if (!t)
			return NULL;
		t->entered = now->sp;
		__atomic_store_n(&t->slot->in, 1, __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		word = __atomic_load_n(&c->word, __ATOMIC_RELAXED);
		if (!(word & (HS_CONTROL_FREEZE | HS_CONTROL_FORK)))
			break;
		tracer_leave(t);
		if (word & HS_CONTROL_FORK && is_forking()) {
			store_lost(HS_LOST_NESTED);
			return NULL;
		}
		wait_frozen();
	}
	word &= HS_CONTROL_MODE;
	if (word == HS_MODE_OFF && !any_mode) {
		tracer_leave(t);
		return NULL;
	}
	if (word == HS_MODE_DRAIN || word == HS_MODE_OFF)
		t->special |= THREAD_DRAINING;
	else
		t->special &= ~(uint32_t)THREAD_DRAINING;
	return t;
}

struct thread *thread_enter_slow(struct thread *t, uint32_t word)
{
	struct unwind_regs now;

	UNWIND_HERE(&now);
	return enter(t, word, false, &now);
}

struct thread *tracer_enter_any_mode(void)
{
	struct thread *t = tracer_self ? tracer_self : thread_first();
	struct unwind_regs now;

	UNWIND_HERE(&now);
	return enter(t, THREAD_NOT_ENTERED, true, &now);
}

void tracer_own_begin(void)
{
	if (!tracer_self)
		thread_first();
	tracer_self->special |= THREAD_OWN_WORK;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void tracer_own_end(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tracer_self->special &= ~(uint32_t)THREAD_OWN_WORK;
}

static long start_orphan(void)
{
	size_t size = unwind_thread_size(store.header->depth);

	orphan.unwind = sys_map(size);
	if (!orphan.unwind)
		return -ENOMEM;
	orphan.slot = store_place(HS_ARRAY_THREADS, 0);
	orphan.special = THREAD_ORPHAN | (store.header->flags & HS_STORE_FENCED ? THREAD_FENCED : 0);
	return 0;
}

long thread_start(void)
{
	long err = sys_madvise(&gate_page, sizeof(gate_page), MADV_WIPEONFORK);

	if (err)
		return err;
	threads.struct_size = ((sizeof(struct thread) + 63) & ~(size_t)63) +
			      ((unwind_thread_size(store.header->depth) + 63) & ~(size_t)63);
	threads.busy_shards = 1;
	threads.namespaced = store.header->pid != (uint32_t)sys_getpid();
	if (!threads.tid_offset)
		threads.tid_offset = find_tid_offset((uint32_t)sys_gettid());
	if (!threads.has_key && pthread_key_create(&threads.key, thread_end) == 0) {
		threads.has_key = threads.key < FIRST_LEVEL_KEYS;
		if (!threads.has_key)
			pthread_key_delete(threads.key);
	}
	return start_orphan();
}

void thread_open_gate(void)
{
	__atomic_store_n(&gate_page.gate.control, store.control, __ATOMIC_RELEASE);
}

/* ---- fork with followed children ---- */

static bool others_out(void)
{
	uint64_t nr = store.header->arrays[HS_ARRAY_THREADS].count;

	for (uint64_t i = 0; i < nr; i++) {
		struct hs_thread *s = store_place(HS_ARRAY_THREADS, i);

		if (__atomic_load_n(&s->in, __ATOMIC_ACQUIRE) &&
		    __atomic_load_n(&s->state, __ATOMIC_RELAXED) != HS_THREAD_LEFT)
			return false;
	}
	return true;
}

/* The others go on. */
static void end_stop(void)
{
	end_copy();
	__atomic_store_n(&threads.forker, 0, __ATOMIC_RELAXED);
	sys_unlock(&threads.lock);
}

bool thread_fork_begin(void)
{
	struct hs_control *c = store.control;
	uint64_t start = store_now_ms();
	uint32_t never = 0;
	struct unwind_regs now;

	UNWIND_HERE(&now);
	if (!tracer_self)
		thread_first(); /* it could not come while the lists are locked */
	if ((!(tracer_self->special & THREAD_ORPHAN) &&
	     !out_of_change(tracer_self, &now)) ||
	    !sys_lock(&threads.lock, LIST_WAIT_MS))
		return false;
	__atomic_store_n(&threads.forker, pthread_self(), __ATOMIC_RELAXED);
	threads.fork_copy = (__atomic_load_n(&c->fork_done, __ATOMIC_RELAXED) | 1) + 1;
	__atomic_store_n(&c->fork_done, threads.fork_copy, __ATOMIC_RELAXED);
	__atomic_fetch_or(&c->word, HS_CONTROL_FORK, __ATOMIC_SEQ_CST);
	sys_membarrier();
	while (!others_out()) {
		if (store_now_ms() - start > FORK_WAIT_MS) {
			end_stop();
			return false;
		}
		sys_futex_wait(&never, 0, 100000);
	}
	return true;
}

void thread_fork_end(bool forked)
{
	uint32_t *done = &store.control->fork_done;
	uint64_t start = store_now_ms();

	while (forked && __atomic_load_n(done, __ATOMIC_ACQUIRE) == threads.fork_copy &&
	       store_now_ms() - start < FORK_WAIT_MS)
		if (sys_futex_wait(done, threads.fork_copy, 10000000) == -EPERM)
			break;
	end_stop();
}

bool thread_fork_copied(void)
{
	uint32_t *done = &store.control->fork_done;
	uint32_t copy = threads.fork_copy;
	bool in_time = __atomic_compare_exchange_n(done, &copy, copy + 1, false, __ATOMIC_SEQ_CST,
						   __ATOMIC_SEQ_CST);

	sys_futex_wake_all(done);
	return in_time;
}

void thread_fork_child(void)
{
	uint64_t nr = store.header->arrays[HS_ARRAY_THREADS].count;

	store.control->word &= HS_CONTROL_MODE;
	for (uint64_t i = 0; i < nr; i++) {
		struct hs_thread *s = store_place(HS_ARRAY_THREADS, i);

		store.header->live_bytes += s->unflushed_bytes;
		store.header->live_count += s->unflushed_count;
		s->unflushed_bytes = 0;
		s->unflushed_count = 0;
		if (s->state == HS_THREAD_LEFT)
			continue;
		s->in = 0;
		if (s == tracer_self->slot)
			s->tid = store.header->pid;
		else
			s->state = HS_THREAD_FREE;
	}
	threads.namespaced = store.header->pid != (uint32_t)sys_getpid();
	threads.busy_shards = 1;
	tracer_self->calm = 0;
	if (!(tracer_self->special & THREAD_ORPHAN))
		threads.busy_shards |= UINT64_C(1) << tracer_self->shard;
	threads.orphan_lock = 0;
	threads.forker = 0;
	stack_changes_reset();
	sys_unlock(&threads.lock);
}
