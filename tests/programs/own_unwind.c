/* SPDX-License-Identifier: MIT */
/*
 * own_unwind.c - a program that unwinds by libunwind itself, as profilers do.
 *
 * keep() is called through a frame whose unwind data is beyond the tracer's own rows, so that the
 * tracer has to ask libunwind as well. Meanwhile a timer interrupts the program, mostly within
 * malloc, and the handler takes a stack by unw_backtrace() and another step by step. What the
 * program prints is the same with and without a tracer: its own stack by name, and that each
 * stack in a handler came to main().
 *
 * TRUTH grow 1 2 at=keep via=by_rbx blocks=3000 bytes=300000
 * TRUTH grow 1 2 at=keep via=main blocks=3000 bytes=300000
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#ifndef GENERIC /* else by the library that the tracer uses too */
#define UNW_LOCAL_ONLY
#endif
#include <libunwind.h>

#include "by_rbx.h"
#include "mark.h"
#include <signal.h>
#include <sys/time.h>

#define NR_FRAMES 64

static volatile unsigned interrupts, lost, steps_lost;
static uintptr_t main_lo, main_hi;

__attribute__((noinline, visibility("default"))) int main(void);

static int is_main(uintptr_t pc)
{
	return pc > main_lo && pc < main_hi;
}

static void on_timer(int sig)
{
	void *frames[NR_FRAMES];
	int nr = unw_backtrace(frames, NR_FRAMES), found = 0;
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t pc;

	for (int i = 0; i < nr; i++)
		found |= is_main((uintptr_t)frames[i]);
	lost += !found;
	found = sig == 0;
	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do
		found |= !unw_get_reg(&cursor, UNW_REG_IP, &pc) && is_main(pc);
	while (!found && unw_step(&cursor) > 0);
	steps_lost += !found;
	interrupts++;
}

NOINLINE void keep(int i)
{
	char *p = malloc(100);

	memset(p, i, 100);
	sink = p;
}

NOINLINE void churn(int i)
{
	char *p = malloc(10 + (size_t)i % 500);

	sink = p;
	p = realloc(p, 1000);
	sink = p;
	free(p);
}

NOINLINE void show(int i)
{
	void *frames[NR_FRAMES];
	int nr = unw_backtrace(frames, NR_FRAMES);
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t pc, off;
	char name[100];

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	for (int n = 0; n < nr; n++) {
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		if (unw_get_proc_name(&cursor, name, sizeof(name), &off))
			strcpy(name, "?");
		if (n && pc != (uintptr_t)frames[n])
			strcat(name, ", and another by unw_backtrace");
		printf("%d: %s\n", i, name);
		if (unw_step(&cursor) <= 0)
			break;
	}
	fflush(stdout);
}

int main(void)
{
	struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	struct sigaction act = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	unw_proc_info_t info;
	unw_context_t context;
	unw_cursor_t cursor;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	if (unw_get_proc_info(&cursor, &info))
		return 1;
	main_lo = info.start_ip;
	main_hi = info.end_ip;
	by_rbx(show, 1);
	by_rbx(churn, 1);
	mark(1);
	sigaction(SIGPROF, &act, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	for (int i = 0; i < 3000; i++)
		by_rbx(keep, i);
	for (int i = 0; interrupts < 100; i++)
		by_rbx(churn, i);
	setitimer(ITIMER_PROF, &never, NULL);
	by_rbx(show, 2);
	say("stacks without main by unw_backtrace", lost);
	say("stacks without main by unw_step", steps_lost);
	mark(2);
	return 0;
}
