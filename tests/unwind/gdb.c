/* SPDX-License-Identifier: MIT */
/*
 * gdb.c - prints the stack of one event of a program, and stops there for a debugger to do so.
 *
 * Preloaded. At the GDB_EVENT-th malloc the addresses of its
 * stack are written, one a line, to the file GDB_OUT, and gdb_stop() is called.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/format.h"
#include "tests/unwind/standin.h"
#include "tracer/unwind.h"

#define DEPTH  512
#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);

static struct unwind_thread *self;
static unsigned long stop_at;
static const char *out;

EXPORT void gdb_stop(void);
__attribute__((noinline)) void gdb_stop(void)
{
	__asm__ volatile("" : : : "memory");
}

static __attribute__((noinline)) void event(const struct unwind_regs *regs)
{
	static uint64_t pcs[DEPTH + 2];
	uint32_t flags;
	uint32_t nr = standin_frames(unwind_capture(self, DEPTH, regs, &flags), pcs, DEPTH + 2);
	int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (uint32_t i = 0; i < nr; i++) {
		char line[32];
		int len = snprintf(line, sizeof(line), "%#lx\n",
				   (unsigned long)(pcs[i] & ~HS_NODE_SIGNAL));

		if (pcs[i] >= HS_PC_FIRST_REAL && write(fd, line, (size_t)len) != len)
			break;
	}
	close(fd);
	gdb_stop();
}

EXPORT void *malloc(size_t size)
{
	struct unwind_regs regs;

	UNWIND_HERE(&regs);
	if (self && stop_at && --stop_at == 0)
		event(&regs);
	return __libc_malloc(size);
}

static __attribute__((constructor)) void start(void)
{
	const char *nr = getenv("GDB_EVENT");

	out = getenv("GDB_OUT");
	if (!nr || !out)
		return;
	standin_start();
	unwind_start();
	self = mmap(NULL, unwind_thread_size(DEPTH), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stop_at = strtoul(nr, NULL, 10);
}
