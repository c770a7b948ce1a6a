/* SPDX-License-Identifier: MIT */
/*
 * ring_swap.c - buffers that get into each other's places as they grow.
 *
 * widen() makes each of eight buffers a byte longer in turn, by malloc, memcpy and free: each gets
 * the address that the one before it has just left, since all fit into one size class of the
 * allocator, and so they go round. relay() doubles four buffers by realloc, and has them move.
 * trade() gives two blocks of one size back and gets two of that size: the addresses cross over,
 * and the blocks are new. SWAPPED tells how often an old address got a new owner.
 *
 * TRUTH live 1 at=make_ring blocks=8 bytes=16336
 * TRUTH grow 1 2 at=widen blocks=8 bytes=16368
 * TRUTH grow 1 2 at=make_ring blocks=-8 bytes=-16336
 * TRUTH lineage 2 at=widen size=2046 born=2042 grows=4 step=1 blocks=8 inferred=True birth=make_ring
 * TRUTH grow 2 3 at=widen blocks=0 bytes=32
 * TRUTH lineage 3 at=widen size=2050 born=2042 grows=8 step=1 blocks=8 inferred=True birth=make_ring first=1..2 latest=2..3
 * TRUTH grow 1 2 at=relay blocks=4 bytes=4096
 * TRUTH lineage 2 at=relay size=1024 born=64 grows=4 ratio=2 blocks=4 inferred=False birth=make_relay
 * TRUTH lineage 3 at=relay size=16384 born=64 grows=8 ratio=2 blocks=4 inferred=False birth=make_relay first=1..2 latest=2..3
 * TRUTH grow 2 3 at=relay blocks=0 bytes=61440
 * TRUTH grow 2 3 at=trade blocks=0 bytes=0
 * TRUTH lineage 3 at=trade blocks=0
 * TRUTH grow 1 2 at=bar blocks=16 bytes=640
 * TRUTH grow 2 3 at=bar blocks=16 bytes=640
 * TRUTH only 1 2
 * TRUTH only 2 3
 * TRUTH exit code=0
 */
#include "mark.h"

#define RING  8
#define RELAY 4

struct buffer {
	char *bytes;
	size_t size;
};

static struct buffer ring[RING], runners[RELAY];
static char *traded[2], *gaps[64];
static long swapped;
static int nr_gaps;

static char *filled(char *bytes, size_t from, size_t to, int what)
{
	if (!bytes)
		_exit(1);
	memset(bytes + from, what, to - from);
	return bytes;
}

NOINLINE void make_ring(void)
{
	for (int i = 0; i < RING; i++)
		ring[i] = (struct buffer){filled(malloc(2042), 0, 2042, 'a' + i), 2042};
}

NOINLINE void widen(struct buffer *b)
{
	static char *left; /* where the buffer before this one was */
	char *wider = malloc(b->size + 1);

	swapped += wider == left;
	memcpy(filled(wider, b->size, b->size + 1, 'z'), b->bytes, b->size);
	left = b->bytes;
	free(b->bytes);
	b->bytes = wider;
	b->size += 1;
}

NOINLINE void make_relay(void)
{
	for (int i = 0; i < RELAY; i++)
		runners[i] = (struct buffer){filled(malloc(64), 0, 64, '0' + i), 64};
}

NOINLINE void relay(struct buffer *b)
{
	b->bytes = filled(realloc(b->bytes, 2 * b->size), b->size, 2 * b->size, 'y');
	b->size *= 2;
}

/* What keeps a runner from growing where it is. */
NOINLINE void bar(void)
{
	gaps[nr_gaps++] = malloc(40);
}

NOINLINE void trade(void)
{
	char *a = traded[0], *b = traded[1];

	free(a);
	free(b);
	traded[0] = filled(malloc(1500), 0, 1500, 'a');
	traded[1] = filled(malloc(1500), 0, 1500, 'b');
	swapped += a && traded[0] == b && traded[1] == a;
}

static void rounds(int nr)
{
	for (int n = 0; n < nr; n++) {
		for (int i = 0; i < RING; i++)
			widen(&ring[i]);
		for (int i = 0; i < RELAY; i++) {
			relay(&runners[i]);
			bar();
		}
		trade();
	}
	say("SWAPPED", swapped);
}

int main(void)
{
	make_ring();
	make_relay();
	trade();
	mark(1);
	rounds(4);
	mark(2);
	rounds(4);
	mark(3);
	return 0;
}
