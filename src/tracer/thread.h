/* SPDX-License-Identifier: MIT */
/*
 * thread.h - the tracer's own data of each thread, and the gate that every hook goes through.
 *
 * A thread has a slot in the store (shared with readers) and a struct thread in memory of the
 * tracer. Both come with its first event and go back to a list when it ends; only one pointer is
 * thread local.
 */
#ifndef HEAPSTORY_TRACER_THREAD_H
#define HEAPSTORY_TRACER_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "store/format.h"
#include "store/writer.h"
#include "tracer/copygrow.h"
#include "tracer/index.h"
#include "tracer/unwind.h"

/* Why a thread can't take the short way through tracer_enter(). */
enum thread_special {
	THREAD_OWN_WORK = 1u << 0,  /* in our own work that allocates: served from boot memory */
	THREAD_ORPHAN = 1u << 1,    /* the struct of slot 0, shared under a lock */
	THREAD_FENCED = 1u << 2,    /* no membarrier on this kernel: fence at each entry */
	THREAD_DRAINING = 1u << 3,  /* births are not recorded now */
	THREAD_BUSY = 1u << 4,      /* the struct that stands in while a thread comes or goes */
};

/* Free elements, see pool.h. */
enum pool_kind {
	POOL_RECORDS,
	POOL_LINEAGES,
	POOL_LONG_LINEAGES,
	NR_POOLS,
};

#define POOL_KEEP 128u

struct pool {
	uint32_t nr;                    /* numbers in free[], the latest last */
	uint32_t batch;                 /* first of a linked batch that is being used up */
	uint32_t fresh, fresh_end;      /* numbers taken from the array, never used yet */
	uint32_t free[POOL_KEEP];
};

struct thread {
	struct hs_thread *slot;         /* in the store */
	uintptr_t entered;              /* stack pointer of the entry that set slot->in, see thread.c */
	uint32_t special;               /* enum thread_special */
	uint32_t slot_nr;
	uint32_t shard;                 /* of the stacks' totals; 0: shared, updated atomically */
	bool sizing;                    /* asking the allocator for the size of a block */
	uint32_t nr_sized;              /* blocks whose size was looked for: real.c */
	uint8_t rounds;                 /* runs of the key's destructor */
	uint32_t next_pending;          /* place in slot->pending for the next death */
	uint32_t pending_temporary;     /* by place: the block was a temporary one */
	int64_t calm;                   /* held-back bytes that need no look at the mark: totals.c */
	bool rising;                    /* live is above the mark, since risen_tick at the latest */
	uint32_t risen_tick;
	uint32_t drain_tick;            /* when a birth looked last whether all is drained: record.c */
	uint64_t newest;                /* address of the block made last, 0: it made none since */
	struct index_cursor index;
	struct thread *next;            /* list of structs without thread */
	struct copygrow copygrow;

	/* The outer call of a pair such as operator new and the malloc it makes, see hooks.c. */
	const struct unwind_regs *outer;
	uintptr_t outer_start, outer_end;
	uint32_t outer_family;
	uint64_t freeing;               /* address that an outer hook has taken out already */

	/* For environments of this thread's vfork children, see exec.c; user: the latest, a pid. */
	struct {
		void *at;
		size_t bytes;
		uint32_t user;
	} kept;

	struct unwind_thread *unwind;
	struct pool pools[NR_POOLS];
};

/*
 * The gate: set once there is a store and cleared by the kernel in a child (MADV_WIPEONFORK), so
 * that it says "this process is the traced one" without a system call. A vfork child shares it.
 */
struct tracer_gate {
	struct hs_control *control;
};
extern struct tracer_gate *const tracer_gate;

extern __thread struct thread *tracer_self __attribute__((tls_model("initial-exec")));

/* Makes the gate ready; 0 or -errno. */
long thread_start(void);
/* Opens it. After this, hooks record. */
void thread_open_gate(void);

/*
 * The slow ways of tracer_enter(); word is what the control word was, or THREAD_NOT_ENTERED. The
 * thread's struct, another one if the one it had is left behind, or NULL.
 */
#define THREAD_NOT_ENTERED UINT32_MAX
struct thread *thread_first(void);
struct thread *thread_enter_slow(struct thread *t, uint32_t word);

/* The caller's, or lower by no more than what it passes to a call. */
static inline uintptr_t thread_stack_pointer(void)
{
	uintptr_t sp;

#if defined(__x86_64__)
	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
	__asm__ volatile("mov %0, sp" : "=r"(sp));
#else
	sp = (uintptr_t)__builtin_frame_address(0);
#endif
	return sp;
}

/* Whether hooks have anything to do. */
static inline bool tracer_active(void)
{
	struct hs_control *control = tracer_gate->control;

	return __builtin_expect(control != NULL, 1) &&
	       __builtin_expect(__atomic_load_n(&control->word, __ATOMIC_RELAXED), 1) != HS_MODE_OFF;
}

/*
 * Begins a change of the table: sets `in` and waits out a snapshot. NULL: pass the call through
 * (counted where that loses something). Only where tracer_active(). No nesting, no allocation, no
 * call of the real allocator until tracer_leave().
 */
static inline struct thread *tracer_enter(void)
{
	struct thread *t = tracer_self;
	uint32_t word;

	if (__builtin_expect(!t, 0)) {
		t = thread_first();
		if (!t)
			return NULL;
	}
	if (__builtin_expect(t->slot->in | t->special, 0))
		return thread_enter_slow(t, THREAD_NOT_ENTERED);
	t->entered = thread_stack_pointer();
	__atomic_store_n(&t->slot->in, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the reader's membarrier does the rest */
	word = __atomic_load_n(&tracer_gate->control->word, __ATOMIC_RELAXED);
	if (__builtin_expect(word != HS_MODE_LIVE, 0))
		return thread_enter_slow(t, word);
	return t;
}

/*
 * The same in all modes, also off, for what is followed until it is gone. Only while the gate is
 * open.
 */
struct thread *tracer_enter_any_mode(void);

void thread_leave_orphan(void);

static inline void tracer_leave(struct thread *t)
{
	__atomic_store_n(&t->slot->in, 0, __ATOMIC_RELEASE);
	if (__builtin_expect(t->special & THREAD_ORPHAN, 0))
		thread_leave_orphan();
}

/* Begins and ends work of ours that may call malloc: it is served from boot memory. */
void tracer_own_begin(void);
void tracer_own_end(void);

/* True while the calling thread is inside such work. */
static inline bool tracer_own_work(void)
{
	return __builtin_expect(tracer_self != NULL, 1) && tracer_self->special & THREAD_OWN_WORK;
}

/*
 * Around a fork whose child is to be traced: stops all changes of the table by other threads until
 * thread_fork_end(). False if not all have stopped within a second, or if the calling thread is in
 * a change itself (a signal handler forks): then nothing is to be ended.
 * Nothing of the program should run in between but the C library's fork: it might wait for a thread
 * that waits here. What the calling thread allocates meanwhile is not recorded, but counted.
 */
bool thread_fork_begin(void);
/* In the parent: waits until the child has its copy, for a second at most; not if there is none. */
void thread_fork_end(bool forked);

/* In the child: says that it has its copy. False if the parent has not waited for it. */
bool thread_fork_copied(void);

/* In the child, whose store is a copy: of the threads only the calling one is left. */
void thread_fork_child(void);

#endif
