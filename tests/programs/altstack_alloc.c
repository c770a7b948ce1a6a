/* SPDX-License-Identifier: MIT */
/*
 * altstack_alloc.c - malloc on a small signal stack.
 *
 * A signal handler runs on an alternate stack of the kernel's minimum plus 8 KB,
 * with a guard page below it, and keeps 5 blocks. The signal is raised by the
 * program itself outside malloc, so this is safe without a tracer. Hooks and
 * unwinder together have to get by with less than 8 KB of stack.
 *
 * TRUTH grow 1 2 at=handler_keep blocks=50 bytes=3300
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#include "mark.h"
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

NOINLINE void handler_keep(int i)
{
	char *p = malloc(66);
	memset(p, i, 66);
	sink = p;
}

static void on_urgent(int sig)
{
	(void)sig;
	for (int i = 0; i < 5; i++)
		handler_keep(i);
}

int main(void)
{
	size_t page = (size_t)getpagesize(), least = getauxval(AT_MINSIGSTKSZ);
	size_t size = ((least ? least : 4096) + 8192 + page - 1) / page * page;
	char *area =
		mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || mprotect(area, page, PROT_NONE))
		return 1;
	stack_t alt = {.ss_sp = area + page, .ss_size = size};
	struct sigaction act = {.sa_handler = on_urgent, .sa_flags = SA_ONSTACK};
	if (sigaltstack(&alt, NULL) || sigaction(SIGURG, &act, NULL))
		return 2;
	mark(1);
	for (int i = 0; i < 10; i++)
		raise(SIGURG);
	mark(2);
	return 0;
}
