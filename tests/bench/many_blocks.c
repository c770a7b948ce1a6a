/* SPDX-License-Identifier: MIT */
/*
 * many_blocks.c - 200,000 live blocks by 4096 stacks, one in eight of them made larger once, some
 * replaced, some lost in each round; a mark after each.
 */
#include "tests/programs/mark.h"

#include <stdint.h>

#define BLOCKS 200000
#define LOST   50 /* in a round */

static void *live[BLOCKS];
static void **lost;

/* A stack for each number of twelve bits. */
NOINLINE void *even(uint32_t path, int depth);
NOINLINE void *odd(uint32_t path, int depth);

NOINLINE void *descend(uint32_t path, int depth)
{
	void *p;

	if (!depth)
		return malloc(16 + path % 200);
	p = path >> (depth - 1) & 1 ? odd(path, depth - 1) : even(path, depth - 1);
	sink = p;
	return p;
}

NOINLINE void *even(uint32_t path, int depth)
{
	void *p = descend(path, depth);

	sink = p;
	return p;
}

NOINLINE void *odd(uint32_t path, int depth)
{
	void *p = descend(path, depth);

	sink = p;
	return p;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 200;
	uint32_t x = 1;

	lost = calloc((size_t)rounds * LOST, sizeof(*lost));
	for (int i = 0; i < BLOCKS; i++) {
		live[i] = descend((uint32_t)i & 4095, 12);
		if (i % 8 == 0)
			live[i] = realloc(live[i], 300);
	}
	for (int n = 1; n <= rounds; n++) {
		for (int i = 0; i < 5000; i++) {
			x = x * 1664525 + 1013904223;
			free(live[x >> 8 & 0x1ffff]);
			live[x >> 8 & 0x1ffff] = descend(x >> 20, 12);
		}
		for (int i = 0; i < LOST; i++)
			lost[(n - 1) * LOST + i] = descend(7, 12);
		mark(n);
	}
	return 0;
}
