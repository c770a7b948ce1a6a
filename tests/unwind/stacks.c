/* SPDX-License-Identifier: MIT */
/*
 * stacks.c - a program that allocates on all kinds of stacks, for compare.c.
 *
 * Signal handlers that interrupt anything, also on an alternate stack; contexts made by
 * makecontext() whose stacks are unmapped and made anew; threads on stacks of the program's own;
 * frames with alloca and realigned ones; deep recursion; qsort calling back.
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../programs/by_rbx.h"

#define NOINLINE __attribute__((noinline))

static volatile int sink;
static volatile sig_atomic_t nr_signals;
static sigjmp_buf jump;

static NOINLINE void leaf(size_t size)
{
	void *p = malloc(size);

	sink += p != NULL;
	free(p);
}

static NOINLINE void with_alloca(int n)
{
	char *p = alloca((size_t)(n % 5000) + 16);

	memset(p, n, (size_t)(n % 5000) + 16);
	leaf((size_t)p[3] % 64 + 1);
	sink += p[1];
}

static NOINLINE void realigned(int n)
{
	char block[192] __attribute__((aligned(64)));

	memset(block, n, sizeof(block));
	with_alloca(n);
	sink += block[n % 192] + ((uintptr_t)block % 64 != 0);
}

static NOINLINE void realigned_alloca(int n)
{
	char block[64] __attribute__((aligned(64)));
	char *p = alloca((size_t)(n % 300) + 16);

	memset(block, n, sizeof(block));
	memset(p, n, (size_t)(n % 300));
	leaf(24);
	sink += block[n % 64] + p[0];
}

static NOINLINE void odd_frame(int n)
{
	by_rbx(n % 3 ? with_alloca : realigned_alloca, n);
	sink++;
}

static NOINLINE int recurse(int n)
{
	volatile char pad[40];

	pad[n % 40] = 1;
	if (n == 0)
		leaf(40);
	else if (n % 7 == 3)
		realigned(n);
	else if (n % 31 == 17)
		by_rbx(odd_frame, n);
	return n ? recurse(n - 1) + pad[n % 40] : 0;
}

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	if ((x ^ y) % 5 == 0)
		leaf(16);
	return x < y ? -1 : x > y;
}

static NOINLINE void sorted(void)
{
	int v[64];

	for (int i = 0; i < 64; i++)
		v[i] = i * 7919 % 64;
	qsort(v, 64, sizeof(v[0]), compare);
	sink += v[0];
}

static volatile sig_atomic_t spinning;

/* A leaf that needs no stack: where there is a link register, the way back is in it alone. */
static NOINLINE int frameless(int n)
{
	for (int i = 0; i < 3000; i++) {
		n = n * 31 + 7;
		__asm__ volatile("" : "+r"(n));
	}
	return n;
}

/* Work that the interval timer interrupts: no allocation, so that a handler may allocate. */
static NOINLINE int spin(int n)
{
	volatile int x = n;

	spinning = 1;
	for (int i = 0; i < 3000; i++) {
		char block[64] __attribute__((aligned(64)));

		block[i % 64] = (char)x;
		x = x * 31 + block[i % 64];
	}
	x = frameless(x);
	spinning = 0;
	return x;
}

static void handler(int sig)
{
	nr_signals++;
	if (sig == SIGALRM && !spinning)
		return;
	leaf((size_t)sig + 8);
	realigned_alloca(sig);
	if (nr_signals % 16 == 0)
		odd_frame(sig);
}

static void jumper(int sig)
{
	leaf((size_t)sig + 8);
	siglongjmp(jump, 1);
}

static void signals(size_t alt_size)
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_RESTART};
	stack_t alt = {.ss_sp = malloc(alt_size), .ss_size = alt_size};
	struct itimerval tv = {.it_interval.tv_usec = 1000, .it_value.tv_usec = 1000};

	sigaction(SIGALRM, &sa, NULL);
	sigaddset(&sa.sa_mask, SIGALRM);
	sigaltstack(&alt, NULL);
	sa.sa_flags |= SA_ONSTACK;
	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_handler = jumper;
	sigaction(SIGUSR2, &sa, NULL);
	setitimer(ITIMER_REAL, &tv, NULL);
	for (volatile int i = 0; i < 4000; i++) {
		sink += spin(i);
		if (i % 4 == 0)
			raise(SIGUSR1);
		spinning = 0;
		if (i % 64 == 0 && !sigsetjmp(jump, 1))
			raise(SIGUSR2);
	}
	memset(&tv, 0, sizeof(tv));
	setitimer(ITIMER_REAL, &tv, NULL);
	alt.ss_flags = SS_DISABLE;
	sigaltstack(&alt, NULL);
	free(alt.ss_sp);
}

static ucontext_t main_context, contexts[4];

static void coroutine(int n)
{
	for (int i = 0; i < 8; i++) {
		recurse(n + i);
		sorted();
		swapcontext(&contexts[n], &main_context);
	}
}

static void coroutines(void)
{
	for (volatile int round = 0; round < 50; round++) {
		size_t size = 65536u << (round % 3);
		void *stacks[4];

		for (int i = 0; i < 4; i++) {
			stacks[i] = mmap(NULL, size, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			getcontext(&contexts[i]);
			contexts[i].uc_stack.ss_sp = stacks[i];
			contexts[i].uc_stack.ss_size = size;
			contexts[i].uc_link = &main_context;
			makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
		}
		for (int i = 0; i < 36; i++)
			swapcontext(&main_context, &contexts[i % 4]);
		for (int i = 0; i < 4; i++)
			munmap(stacks[i], size);
	}
}

static void *thread(void *arg)
{
	int n = (int)(intptr_t)arg;

	for (int i = 0; i < 200; i++) {
		recurse((n * 13 + i) % 60);
		realigned_alloca(i);
	}
	return NULL;
}

static void threads(void)
{
	for (int round = 0; round < 6; round++) {
		pthread_t ids[4];
		void *stacks[4];
		size_t size = 256 << 10;

		for (int i = 0; i < 4; i++) {
			pthread_attr_t attr;

			stacks[i] = mmap(NULL, size, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			pthread_attr_init(&attr);
			if (i % 2)
				pthread_attr_setstack(&attr, stacks[i], size);
			pthread_create(&ids[i], &attr, thread, (void *)(intptr_t)i);
			pthread_attr_destroy(&attr);
		}
		for (int i = 0; i < 4; i++)
			pthread_join(ids[i], NULL);
		for (int i = 0; i < 4; i++)
			munmap(stacks[i], size);
	}
}

int main(int argc, char **argv)
{
	/* argument: KiB of the alternate stack; libunwind itself needs more than 8 */
	for (int i = 0; i < 300; i++) {
		recurse(i % 50);
		realigned(i);
		realigned_alloca(i);
	}
	sorted();
	recurse(3000);
	signals((argc > 1 ? strtoul(argv[1], NULL, 10) : 64) << 10);
	coroutines();
	threads();
	printf("signals %d\n", nr_signals > 0);
	return 0;
}
