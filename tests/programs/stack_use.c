/* SPDX-License-Identifier: MIT */
/*
 * stack_use.c - how much of its stack a program loses to the hooks at worst.
 *
 * Run with plug_bump.so behind the tracer. Each case runs in a thread of its own: the stack below
 * it is painted, the case calls hooks, and the lowest byte that changed tells. Prints "USED bytes
 * what" for each, from the stack pointer at which the case calls. Cases are what the tracer has to
 * do most for: a thread's first event, frames that only libunwind can step out of, rows that are
 * not cached, a library not seen before, tables that grow.
 */
#include "by_rbx.h"
#include "mark.h"
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#define STACK	((size_t)1 << 20)
#define PAINTED ((size_t)32 << 10)
#define PAINT	0xa5

#ifdef __x86_64__ /* a cross compiler for C brings no C++ library */
#define HAS_NEW 1
#else
#define HAS_NEW 0
#endif
extern void *new_block(size_t size) __asm__("_Znwm");
extern void *new_array(size_t size) __asm__("_Znam");
extern void delete_block(void *p) __asm__("_ZdlPv");
extern void delete_array(void *p) __asm__("_ZdaPv");

static size_t used;
static uintptr_t from; /* the case's stack pointer */
static void (*plug)(int);

#ifdef __x86_64__
#define FROM_HERE() __asm__ volatile("movq %%rsp, %0" : "=r"(from))
#else
#define FROM_HERE() __asm__ volatile("mov %0, sp" : "=r"(from))
#endif

NOINLINE void once(void)
{
	FROM_HERE();
	sink = malloc(50);
}

NOINLINE void family(void)
{
	void *p = NULL;

	FROM_HERE();
	sink = calloc(3, 50);
	sink = realloc(malloc(10), 100);
	sink = reallocarray(sink, 20, 10);
	sink = memalign(64, 100);
	sink = aligned_alloc(64, 128);
	sink = valloc(100);
	sink = pvalloc(100);
	if (posix_memalign(&p, 64, 100) == 0)
		free(p);
	free(sink);
	if (HAS_NEW) {
		delete_block(new_block(30));
		delete_array(new_array(30));
	}
	sink = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sink = mremap(sink, 8192, 1 << 20, MREMAP_MAYMOVE);
	munmap(sink, 1 << 20);
}

NOINLINE void plugin(void)
{
	FROM_HERE();
	plug(3);
}

NOINLINE void blocks(void)
{
	FROM_HERE();
	for (int i = 0; i < 600000; i++)
		sink = malloc(16 + (size_t)(i % 7) * 8);
}

NOINLINE void wide(void)
{
	FROM_HERE();
	for (int i = 0; i < 2000; i++)
		sink = malloc(100 << 10);
}

NOINLINE void growing(void)
{
	FROM_HERE();
	for (int i = 0; i < 20000; i++) {
		void *p = malloc(10);

		for (size_t size = 20; size < 1000; size *= 2)
			p = realloc(p, size);
		if (i % 2)
			free(p);
	}
}

static void measure_below(void (*function)(void))
{
	unsigned char *here = __builtin_frame_address(0), *low;

	/* the caller has painted; looks for the lowest byte that is no longer so */
	function();
	for (low = here - PAINTED; *low == PAINT; low++)
		;
	if (from - (uintptr_t)low > used)
		used = from - (uintptr_t)low;
}

/* By bytes, as memset()'s own frame would lie in what it paints. */
static inline __attribute__((always_inline)) void paint(void)
{
	volatile unsigned char *here = __builtin_frame_address(0);

	for (size_t i = 512; i < PAINTED + 512; i++)
		here[-(ptrdiff_t)i] = PAINT;
}

struct run {
	void (*function)(void);
	unsigned how_often;
	int depth;
	int wrapped;
};

NOINLINE void through(void (*function)(void))
{
	paint();
	measure_below(function);
	sink = NULL;
}

static void (*wrapped)(void);
static void call_it(int unused)
{
	(void)unused;
	wrapped();
}

NOINLINE void call_wrapped(void)
{
	by_rbx(call_it, 0);
	sink = NULL;
}

/* One way of 2^depth to get there: each is a stack of its own. */
NOINLINE void left(const struct run *r, int depth, unsigned way);
NOINLINE void right(const struct run *r, int depth, unsigned way)
{
	if (depth)
		(way & 1 ? left : right)(r, depth - 1, way >> 1);
	else
		through(r->wrapped ? call_wrapped : r->function);
	sink = NULL;
}

NOINLINE void left(const struct run *r, int depth, unsigned way)
{
	if (depth)
		(way & 1 ? left : right)(r, depth - 1, way >> 1);
	else
		through(r->wrapped ? call_wrapped : r->function);
	sink = NULL;
}

static void *run_in_thread(void *arg)
{
	const struct run *r = arg;

	wrapped = r->function;
	for (unsigned i = 0; i < r->how_often; i++)
		left(r, r->depth, i);
	return NULL;
}

static void measure(const char *what, struct run r)
{
	pthread_attr_t attr;
	pthread_t id;

	used = 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	if (pthread_create(&id, &attr, run_in_thread, &r))
		_exit(9);
	pthread_join(id, NULL);
	printf("USED %zu %s\n", used, what);
	fflush(stdout);
}

static void *load(const char *name)
{
	void *lib = dlopen(name, RTLD_NOW);

	if (!lib)
		_exit(1);
	return lib;
}

int main(void)
{
	void *lib;

	measure("libunwind's first frame", (struct run){once, 1, 4, 1});
	measure("a thread's first event", (struct run){once, 1, 4, 0});
	measure("the same again", (struct run){once, 2, 0, 0});
	measure("every function", (struct run){family, 1, 4, 0});
	measure("every function, by libunwind", (struct run){family, 1, 4, 1});
	dlclose(load("plug_b.so"));
	measure("no row cached", (struct run){family, 1, 4, 0});
	dlclose(load("plug_b.so"));
	measure("no row cached, by libunwind", (struct run){once, 1, 4, 1});
	lib = load("plug_a.so");
	plug = (void (*)(int))dlsym(lib, "plug_a_keep");
	measure("a library not seen before", (struct run){plugin, 1, 4, 0});
	dlclose(lib);
	measure("deeper than the limit", (struct run){family, 1, 300, 0});
	measure("deeper than the limit, by libunwind", (struct run){family, 1, 300, 1});
	mark(1);
	measure("16384 stacks", (struct run){once, 1 << 14, 14, 0});
	measure("4096 stacks, by libunwind", (struct run){once, 1 << 12, 12, 1});
	measure("600000 blocks", (struct run){blocks, 1, 4, 0});
	measure("blocks far apart", (struct run){wide, 1, 4, 0});
	measure("20000 lineages", (struct run){growing, 1, 4, 0});
	mark(2);
	return 0;
}
