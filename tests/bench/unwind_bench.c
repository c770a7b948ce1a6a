/* SPDX-License-Identifier: MIT */
/*
 * unwind_bench.c - nanoseconds of one stack capture.
 *
 * 64 functions with frames of different sizes call each other at random down to a depth. `hot`:
 * the same stack each time; `tail`: the outer frames stay, the four inner ones vary; `varied`: one
 * of 256 stacks that share nothing. What an empty capture costs at the same place is subtracted.
 *
 * usage: unwind_bench [captures]
 * Built with tests/unwind/standin.c and what run.sh there calls the unwinder.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/unwind/standin.h"
#include "tracer/unwind.h"
#include "tracer/unwind_internal.h"

#define DEPTH	   128
#define MAX_LEVELS 64

static struct unwind_thread *self;
static int capturing;
static uint32_t sum;

static __attribute__((noinline)) void hook(void)
{
	struct unwind_regs regs;
	uint32_t flags;

	UNWIND_HERE(&regs);
	if (capturing)
		sum += unwind_capture(self, DEPTH, &regs, &flags) + flags;
	else
		__asm__ volatile("" : : "r"(&regs) : "memory");
}

struct path {
	uint8_t steps[MAX_LEVELS];
	int levels, repeat;
};

typedef int (*level_fn)(const struct path *path, int level);
static const level_fn levels[64];

#define LEVEL(n, size)                                                                     \
	static __attribute__((noinline)) int level_##n(const struct path *path, int level) \
	{                                                                                  \
		volatile char frame[size];                                                 \
                                                                                           \
		frame[level % (size)] = n;                                                 \
		if (level == path->levels)                                                 \
			for (int i = 0; i < path->repeat; i++)                             \
				hook();                                                    \
		else                                                                       \
			frame[0] = (char)levels[path->steps[level]](path, level + 1);      \
		return frame[level % (size)] + n;                                          \
	}
#define LEVELS8(n)       \
	LEVEL(n##0, 16)  \
	LEVEL(n##1, 24)  \
	LEVEL(n##2, 200) \
	LEVEL(n##3, 8)   \
	LEVEL(n##4, 72)  \
	LEVEL(n##5, 40)  \
	LEVEL(n##6, 136) \
	LEVEL(n##7, 56)
LEVELS8(1)
LEVELS8(2)
LEVELS8(3)
LEVELS8(4)
LEVELS8(5)
LEVELS8(6)
LEVELS8(7)
LEVELS8(8)

#define NAMES8(n)                                                                           \
	level_##n##0, level_##n##1, level_##n##2, level_##n##3, level_##n##4, level_##n##5, \
		level_##n##6, level_##n##7
static const level_fn levels[64] = {NAMES8(1), NAMES8(2), NAMES8(3), NAMES8(4),
				    NAMES8(5), NAMES8(6), NAMES8(7), NAMES8(8)};

#define NR_PATHS 256
static struct path paths[NR_PATHS];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t run(int nr)
{
	uint64_t start = now_ns();

	for (int i = 0; i < nr; i++) {
		const struct path *p = &paths[(unsigned)i * 2654435761u >> 24];

		sum += (uint32_t)levels[p->steps[0]](p, 1);
	}
	return now_ns() - start;
}

/* The first `fixed` levels of all paths are the same. */
static void make_paths(int nr_levels, int fixed, int repeat)
{
	srand(1);
	for (int i = 0; i < NR_PATHS; i++) {
		for (int k = 0; k < nr_levels; k++)
			paths[i].steps[k] =
				k < fixed && i ? paths[0].steps[k] : (uint8_t)(rand() % 64);
		paths[i].levels = nr_levels;
		paths[i].repeat = repeat;
	}
}

static void measure(const char *name, int nr_levels, int fixed, int repeat, long nr)
{
	uint64_t best = UINT64_MAX, empty = UINT64_MAX;
	int descents = (int)(nr / repeat);

	make_paths(nr_levels, fixed, repeat);
	for (int i = 0; i < 5; i++) {
		uint64_t t;

		capturing = 1;
		t = run(descents);
		best = t < best ? t : best;
		capturing = 0;
		t = run(descents);
		empty = t < empty ? t : empty;
	}
	printf("%-8s depth %2d: %6.1f ns\n", name, nr_levels,
	       ((double)best - (double)empty) / descents / repeat);
}

int main(int argc, char **argv)
{
	static const int depths[] = {8, 20, 50};
	long nr = argc > 1 ? atol(argv[1]) : 400000;

	standin_start();
	unwind_start();
	unwind_load();
	for (int plain = 0; plain < 2; plain++) {
		self = mmap(NULL, unwind_thread_size(DEPTH), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (self == MAP_FAILED)
			return 2;
		if (plain)
			unwind_without_memo(self);
		puts(plain ? "without the memo" : "with the memo");
		for (unsigned i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
			measure("hot", depths[i], depths[i], 1000, nr * 4);
			measure("tail", depths[i], depths[i] - 4, 1, nr);
			measure("varied", depths[i], 0, 1, nr);
		}
	}
	return sum == 1;
}
