/* SPDX-License-Identifier: MIT */
/*
 * drained.c - all blocks are freed: 96 of 100 between MARK 1 and 2, the other 4 before. Between
 * 3 and 4 there are none, but one comes and goes for 50 ms.
 */
#include "mark.h"

#include <time.h>

#define BLOCKS 100

static void *blocks[BLOCKS];

static void free_blocks(int from, int to)
{
	for (int i = from; i < to; i++)
		free(blocks[i]);
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(100);
	free_blocks(0, 4);
	mark(1);
	free_blocks(4, BLOCKS);
	mark(2);
	sink = malloc(100);
	free(sink);
	mark(3);
	for (int i = 0; i < 50; i++) {
		sink = malloc(100);
		free(sink);
		nanosleep(&pause, NULL);
	}
	mark(4);
	return 0;
}
