/* SPDX-License-Identifier: MIT */
/*
 * swap_generation.c - the same addresses, other blocks.
 *
 * All 1000 blocks of the old generation are freed and the new generation gets
 * blocks of the same size, most of them at the very same addresses. A differ
 * that compares addresses sees next to nothing; the truth is that every old
 * block died and a new one was born. The total does not change.
 * The program prints "REUSED n": how many addresses of the new generation were
 * addresses of the old one (most of 1000).
 *
 * TRUTH grow 1 2 at=new_generation blocks=1000 bytes=72000
 * TRUTH grow 1 2 at=old_generation blocks=-1000 bytes=-72000
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#include "mark.h"

#define N 1000
void *old_blocks[N], *new_blocks[N];

NOINLINE void old_generation(void)
{
	for (int i = 0; i < N; i++)
		old_blocks[i] = malloc(72);
}

NOINLINE void drop_old(void)
{
	for (int i = 0; i < N; i++)
		free(old_blocks[i]);
}

NOINLINE void new_generation(void)
{
	for (int i = 0; i < N; i++)
		new_blocks[i] = malloc(72);
}

int main(void)
{
	long reused = 0;
	old_generation();
	mark(1);
	drop_old();
	new_generation();
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			reused += (size_t)new_blocks[i] == (size_t)old_blocks[k];
	say("REUSED", reused);
	mark(2);
	return 0;
}
