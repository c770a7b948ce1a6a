/* SPDX-License-Identifier: MIT */
/*
 * plateau.c - a large growth that stops and a small one that does not.
 *
 * A cache of 4000 entries fills up in the first three periods and is replaced bit by bit from then
 * on. Each period also loses 25 handles of 24 bytes. Two early snapshots blame the cache; a later
 * pair, or all six, show what goes on growing.
 *
 * TRUTH grow 1 2 at=cache_fill blocks=1500 bytes=192000
 * TRUTH grow 1 2 at=open_handle blocks=25 bytes=600
 * TRUTH grow 2 3 at=cache_fill blocks=1000 bytes=128000
 * TRUTH flat 3 6 at=cache_fill
 * TRUTH grow 3 6 at=open_handle blocks=75 bytes=1800
 * TRUTH only 3 6
 * TRUTH exit code=0
 */
#include "mark.h"

#define ENTRIES	 4000
#define PERIODS	 6
#define REQUESTS 1500 /* in a period */

static char *cache[ENTRIES];
static void *lost[PERIODS * REQUESTS / 60];
static int filled, turn, nr_lost;

NOINLINE void cache_fill(void)
{
	char *fresh = malloc(128);

	fresh[0] = 1;
	if (filled < ENTRIES) {
		cache[filled++] = fresh;
		return;
	}
	free(cache[turn]);
	cache[turn] = fresh;
	turn = (turn + 1) % ENTRIES;
}

NOINLINE void *open_handle(void)
{
	return malloc(24);
}

static void period(void)
{
	for (int i = 0; i < REQUESTS; i++) {
		void *handle;

		cache_fill();
		handle = open_handle();
		if (i % 60 == 59)
			lost[nr_lost++] = handle; /* the path that forgets to close */
		else
			free(handle);
	}
}

int main(void)
{
	for (int n = 1; n <= PERIODS; n++) {
		period();
		mark(n);
	}
	return 0;
}
