/* SPDX-License-Identifier: MIT */
/*
 * gdb.c - stops at some of a program's events for a debugger to take the same stack.
 *
 * Preloaded. At each GDB_EVERY-th malloc the stack is put into gdb_stack and gdb_stop() is called,
 * where tests/unwind/gdb.py waits. With GDB_COUNT, a file's name, it only counts, and writes there
 * at exit how many events there were. One thread at a time.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/format.h"
#include "tests/unwind/standin.h"
#include "tracer/rows.h"
#include "tracer/unwind.h"

#define DEPTH  512
#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);

/* What gdb.py reads; all members are 64 bits wide. */
struct gdb_stack {
	uint64_t nr; /* frames */
	uint64_t nr_sure; /* those up to the first in code without unwind data */
	uint64_t cut;
	uint64_t pcs[DEPTH + 2];
};

EXPORT struct gdb_stack gdb_stack;

static struct {
	struct unwind_thread *thread;
	uint64_t every, events;
	const char *count;
	uint32_t lock;
} self;

EXPORT void gdb_stop(void);
__attribute__((noinline)) void gdb_stop(void)
{
	__asm__ volatile("" : : : "memory");
}

static void take(const struct unwind_regs *regs)
{
	struct gdb_stack *s = &gdb_stack;
	bool interrupted = false;
	uint32_t flags;

	s->nr = standin_frames(unwind_capture(self.thread, DEPTH, regs, &flags), s->pcs, DEPTH + 2);
	s->cut = flags != 0;
	if (s->nr && s->pcs[s->nr - 1] < HS_PC_FIRST_REAL)
		s->nr--;
	s->nr_sure = s->nr;
	for (uint64_t i = 0; i < s->nr; i++) {
		interrupted = s->pcs[i] & HS_NODE_SIGNAL;
		s->pcs[i] &= ~HS_NODE_SIGNAL;
		if (i < s->nr_sure && row_type(rows_get(s->pcs[i] - !interrupted)) == ROW_NONE)
			s->nr_sure = i + 1;
	}
}

static __attribute__((noinline)) void event(const struct unwind_regs *regs)
{
	while (__atomic_exchange_n(&self.lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	take(regs);
	gdb_stop();
	__atomic_store_n(&self.lock, 0, __ATOMIC_RELEASE);
}

EXPORT void *malloc(size_t size)
{
	struct unwind_regs regs;

	UNWIND_HERE(&regs);
	if (self.every && __atomic_add_fetch(&self.events, 1, __ATOMIC_RELAXED) % self.every == 0 &&
	    !self.count)
		event(&regs);
	return __libc_malloc(size);
}

static __attribute__((constructor)) void start(void)
{
	const char *every = getenv("GDB_EVERY");

	self.count = getenv("GDB_COUNT");
	standin_start();
	unwind_start();
	unwind_load();
	self.thread = mmap(NULL, unwind_thread_size(DEPTH), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	self.every = every ? strtoul(every, NULL, 10) : 1;
}

static __attribute__((destructor)) void stop(void)
{
	FILE *f;

	self.every = 0;
	f = self.count ? fopen(self.count, "w") : NULL;
	if (!f)
		return;
	fprintf(f, "%lu\n", (unsigned long)self.events);
	fclose(f);
}
