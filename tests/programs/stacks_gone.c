/* SPDX-License-Identifier: MIT */
/*
 * stacks_gone.c - stacks that go away while the unwinder may still remember them.
 *
 * Two threads run coroutines (makecontext) and signal handlers on stacks that are mapped or
 * malloc'ed, allocate at many depths there, and give half of each stack back: unmapped, mapped
 * anew without access, protected, unmapped behind everybody's back by a raw system call, or freed
 * so that malloc unmaps it. Then another coroutine runs on what is left and calls malloc through
 * code that has no unwind data and a frame pointer that points into what is gone: an unwinder
 * that takes the memory for readable crashes. Threads on stacks of the program's own have a
 * coroutine's stack right below theirs and do the same with that. A third thread maps, protects
 * and frees memory all the while. Each of the two keeps a block of 96 in every tenth round.
 *
 * TRUTH grow 1 2 at=keep blocks=120 bytes=11520
 * TRUTH only 1 2 except=pthread_create
 * TRUTH exit code=0
 */
#include "mark.h"
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define NR_ROUNDS 600
#define NR_KEPT	  (NR_ROUNDS / 10)
#define PAGE	  ((size_t)65536) /* a multiple of the page of any machine */
#define HALF	  (4 * PAGE)
#define FRAME	  4096

/* Calls function with this frame pointer; nobody can tell where its caller's frame is. */
void with_fp(void (*function)(void), uintptr_t fp);
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".type with_fp, @function\n"
	"with_fp:\n"
	"pushq %rbp\n"
	"movq %rsi, %rbp\n"
	"callq *%rdi\n"
	"popq %rbp\n"
	"ret\n"
	".size with_fp, .-with_fp\n"
	".popsection\n");
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	".type with_fp, %function\n"
	"with_fp:\n"
	"stp x29, x30, [sp, #-16]!\n"
	"mov x29, x1\n"
	"blr x0\n"
	"ldp x29, x30, [sp], #16\n"
	"ret\n"
	".size with_fp, .-with_fp\n"
	".popsection\n");
#else
void with_fp(void (*function)(void), uintptr_t fp)
{
	(void)fp;
	function();
}
#endif

/* What a coroutine or a handler of this thread is to do. */
struct work {
	int depth; /* frames below it, each of which allocates */
	uintptr_t fp; /* not 0: allocate once, with this frame pointer */
	void **keep; /* not NULL: keep a block there */
};
static __thread struct work work;
static __thread ucontext_t caller;

static NOINLINE void scratch(void)
{
	void *p = malloc(24);

	sink = p;
	free(p);
}

static NOINLINE void keep(void **place)
{
	*place = malloc(96);
}

static NOINLINE void descend(int depth)
{
	volatile char frame[FRAME];

	frame[0] = (char)depth;
	scratch();
	if (depth)
		descend(depth - 1);
	frame[1] = frame[0];
}

static NOINLINE void act(void)
{
	if (work.fp)
		with_fp(scratch, work.fp);
	else
		descend(work.depth);
	if (work.keep)
		keep(work.keep);
}

static void coroutine(char *stack, size_t size, struct work todo)
{
	ucontext_t context;

	work = todo;
	if (getcontext(&context))
		_exit(1);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = size;
	context.uc_link = &caller;
	makecontext(&context, act, 0);
	if (swapcontext(&caller, &context))
		_exit(1);
}

static void on_signal(int sig)
{
	(void)sig;
	act();
}

static void on_altstack(char *stack, size_t size, struct work todo)
{
	stack_t alt = { .ss_sp = stack, .ss_size = size }, none = { .ss_flags = SS_DISABLE };

	work = todo;
	if (sigaltstack(&alt, NULL) || raise(SIGUSR1) || sigaltstack(&none, NULL))
		_exit(1);
}

static char *map_at(char *at, size_t size, int prot, int flags)
{
	char *p = mmap(at, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	return p;
}

/* Takes access to [p, p + size) away, one way or another; true if it is still to be unmapped. */
static int take_away(char *p, size_t size, int round)
{
	switch (round % 4) {
	case 0:
		munmap(p, size);
		return 0;
	case 1:
		map_at(p, size, PROT_NONE, MAP_FIXED);
		return 1;
	case 2:
		mprotect(p, size, PROT_NONE);
		return 1;
	default:
		syscall(SYS_munmap, p, size);
		return 0;
	}
}

typedef void run_fn(char *stack, size_t size, struct work todo);

static void on_mapped(run_fn *run, int round, void **place)
{
	char *p = map_at(NULL, 2 * HALF, PROT_READ | PROT_WRITE, 0);
	int whole;

	run(p, 2 * HALF, (struct work){ .depth = (int)((HALF + 2 * PAGE) / FRAME) });
	whole = take_away(p + HALF, HALF, round);
	run(p, HALF, (struct work){ .fp = (uintptr_t)p + HALF + PAGE });
	run(p, HALF, (struct work){ .depth = 3, .keep = place });
	munmap(p, whole ? 2 * HALF : HALF);
}

/* malloc unmaps what was mapped for one large block, without a call that could be hooked. */
static void on_malloced(run_fn *run)
{
	char *p = malloc(2 * HALF), *half;

	if (!p)
		_exit(1);
	run(p, 2 * HALF, (struct work){ .depth = (int)((HALF + 2 * PAGE) / FRAME) });
	free(p);
	half = map_at((char *)((uintptr_t)p & -4096), HALF, PROT_READ | PROT_WRITE, 0);
	run(half, HALF, (struct work){ .fp = (uintptr_t)half + HALF + PAGE });
	munmap(half, HALF);
	p = malloc(PAGE);
	run(p, PAGE, (struct work){ .depth = 10 });
	free(p);
}

/* A coroutine's stack right below the thread's own. */
static void *on_own(void *arg)
{
	char *below = arg;

	scratch();
	coroutine(below, 2 * PAGE, (struct work){ .depth = (int)((PAGE + PAGE / 2) / FRAME) });
	syscall(SYS_munmap, below + PAGE, PAGE);
	coroutine(below, PAGE, (struct work){ .fp = (uintptr_t)below + PAGE + PAGE / 2 });
	coroutine(below, PAGE, (struct work){ .depth = 2 });
	descend(5);
	return NULL;
}

static void on_own_stack(void)
{
	char *p = map_at(NULL, 6 * PAGE, PROT_READ | PROT_WRITE, 0);
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, p + 2 * PAGE, 4 * PAGE) ||
	    pthread_create(&thread, &attr, on_own, p) || pthread_join(thread, NULL))
		_exit(1);
	pthread_attr_destroy(&attr);
	munmap(p, PAGE);
	munmap(p + 2 * PAGE, 4 * PAGE);
}

static void *kept[2][NR_KEPT];

static void *worker(void *arg)
{
	void **places = arg;

	for (int i = 0; i < NR_ROUNDS; i++) {
		void **place = i % 10 ? NULL : &places[i / 10];

		on_mapped(i % 3 ? coroutine : on_altstack, i / 3, place);
		on_malloced(i % 5 ? coroutine : on_altstack);
		if (i % 20 == 0)
			on_own_stack();
	}
	return NULL;
}

static int done;

static void *giver(void *arg)
{
	for (unsigned int i = 0; !__atomic_load_n(&done, __ATOMIC_RELAXED); i++) {
		char *p = map_at(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, 0);
		void *block = malloc(i * 4096 % (3 * PAGE));
		int whole = take_away(p + PAGE, PAGE, (int)i);

		sink = block;
		free(block);
		munmap(p, whole ? 2 * PAGE : PAGE);
	}
	return arg;
}

static void threads(void)
{
	pthread_t workers[2], third;

	if (pthread_create(&third, NULL, giver, NULL))
		_exit(1);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&workers[i], NULL, worker, kept[i]))
			_exit(1);
	for (int i = 0; i < 2; i++)
		pthread_join(workers[i], NULL);
	__atomic_store_n(&done, 1, __ATOMIC_RELAXED);
	pthread_join(third, NULL);
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	mallopt(M_MMAP_THRESHOLD, (int)PAGE * 2);
	if (sigaction(SIGUSR1, &action, NULL))
		return 1;
	mark(1);
	threads();
	mark(2);
	return 0;
}
