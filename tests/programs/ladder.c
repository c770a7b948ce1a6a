/* SPDX-License-Identifier: MIT */
/*
 * ladder.c - buffers that move into each other's places.
 *
 * 40 buffers of 24, 40, 56, ... bytes stand like the rungs of a ladder, each just
 * large enough for its size class. climb() makes each of them 16 bytes larger, the
 * largest first, so that each gets the place that the next larger one has just left:
 * an address says nothing about who is there. After MARK 2 pairs of equal buffers
 * are made anew in each other's place: 60 blocks come and 60 go.
 * SWAPPED tells how often an old address had a new owner.
 *
 * TRUTH grow 1 2 at=stand blocks=-40 bytes=-13440
 * TRUTH grow 1 2 at=climb blocks=40 bytes=14080
 * TRUTH events 1 2 born=0 freed=0 resized=40
 * TRUTH grow 2 3 at=exchange blocks=0 bytes=0
 * TRUTH events 2 3 born=60 freed=60 resized=0
 * TRUTH events 1 3 born=60 freed=60 resized=40
 * TRUTH only 1 2
 * TRUTH only 2 3
 * TRUTH exit code=0
 */
#include "mark.h"

#define RUNGS 40
#define PAIRS 30
#define PAIR_SIZE 1000

static char *rungs[RUNGS], *pairs[2][PAIRS];

static size_t size_of(int rung)
{
	return 24 + 16 * (size_t)rung;
}

NOINLINE void stand(void)
{
	for (int i = 0; i < RUNGS; i++)
		rungs[i] = malloc(size_of(i));
}

NOINLINE long climb(void)
{
	char *left = NULL; /* place that the rung above has just left */
	long swapped = 0;

	for (int i = RUNGS; i-- > 0;) {
		char *old = rungs[i];

		rungs[i] = realloc(old, size_of(i) + 16);
		if (!rungs[i])
			_exit(1);
		swapped += rungs[i] == left;
		left = rungs[i] == old ? NULL : old;
	}
	return swapped;
}

/* Frees the two and makes two: the last one freed is the first to be given out again. */
NOINLINE long exchange(void)
{
	long swapped = 0;

	for (int i = 0; i < PAIRS; i++) {
		char *a = pairs[0][i], *b = pairs[1][i];

		free(a);
		free(b);
		pairs[0][i] = malloc(PAIR_SIZE);
		pairs[1][i] = malloc(PAIR_SIZE);
		swapped += pairs[0][i] == b && pairs[1][i] == a;
	}
	return swapped;
}

int main(void)
{
	exchange();
	stand();
	mark(1);
	say("SWAPPED", climb());
	mark(2);
	say("SWAPPED", exchange());
	mark(3);
	return 0;
}
