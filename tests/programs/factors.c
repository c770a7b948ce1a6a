/* SPDX-License-Identifier: MIT */
/*
 * factors.c - arrays that grow by one factor or amount each, by realloc and by copying.
 *
 * make() gets 128 bytes for each of 16 arrays. add() puts 8 bytes at a time into each of them; where
 * one is full, resize() makes it larger by realloc, or move_over() by malloc, memcpy and free: by a
 * quarter, by half, by the golden ratio, to twice, to three times as much, by a page, by 512 bytes, and by
 * an eighth and 6 as Python's lists. At MARK 2 each has taken in 20000 bytes, at MARK 3 120000 bytes;
 * those that grow by 512 a quarter of that. All sizes differ.
 *
 * TRUTH lineage 2 at=resize size=21557 born=128 grows=23 ratio=1.25 inferred=False birth=make first=1..2
 * TRUTH lineage 2 at=resize size=24907 born=128 grows=13 ratio=1.5 inferred=False birth=make first=1..2
 * TRUTH lineage 2 at=resize size=25320 born=128 grows=11 ratio=1.618 inferred=False birth=make first=1..2
 * TRUTH lineage 2 at=resize size=32768 born=128 grows=8 ratio=2 inferred=False birth=make first=1..2
 * TRUTH lineage 2 at=resize size=31104 born=128 grows=5 ratio=3 inferred=False birth=make first=1..2
 * TRUTH lineage 2 at=resize size=20608 born=128 grows=5 step=4096 inferred=False birth=make first=1..2
 * TRUTH lineage 2 at=resize size=5248 born=128 grows=10 step=512 inferred=False birth=make first=1..2
 * TRUTH lineage 2 at=resize size=21553 born=128 grows=41 ratio=1.125 inferred=False birth=make first=1..2
 * TRUTH lineage 2 at=move_over size=21557 born=128 grows=23 ratio=1.25 inferred=True birth=make first=1..2
 * TRUTH lineage 2 at=move_over size=24907 born=128 grows=13 ratio=1.5 inferred=True birth=make first=1..2
 * TRUTH lineage 2 at=move_over size=25320 born=128 grows=11 ratio=1.618 inferred=True birth=make first=1..2
 * TRUTH lineage 2 at=move_over size=32768 born=128 grows=8 ratio=2 inferred=True birth=make first=1..2
 * TRUTH lineage 2 at=move_over size=31104 born=128 grows=5 ratio=3 inferred=True birth=make first=1..2
 * TRUTH lineage 2 at=move_over size=20608 born=128 grows=5 step=4096 inferred=True birth=make first=1..2
 * TRUTH lineage 2 at=move_over size=5248 born=128 grows=10 step=512 inferred=True birth=make first=1..2
 * TRUTH lineage 2 at=move_over size=21553 born=128 grows=41 ratio=1.125 inferred=True birth=make first=1..2
 * TRUTH lineage 3 at=resize size=128481 born=128 grows=31 ratio=1.25 inferred=False birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=resize size=126090 born=128 grows=17 ratio=1.5 inferred=False birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=resize size=173525 born=128 grows=15 ratio=1.618 inferred=False birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=resize size=131072 born=128 grows=10 ratio=2 inferred=False birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=resize size=279936 born=128 grows=7 ratio=3 inferred=False birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=resize size=123008 born=128 grows=30 step=4096 inferred=False birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=resize size=30336 born=128 grows=59 step=512 inferred=False birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=resize size=126342 born=128 grows=56 ratio=1.125 inferred=False birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=move_over size=128481 born=128 grows=31 ratio=1.25 inferred=True birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=move_over size=126090 born=128 grows=17 ratio=1.5 inferred=True birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=move_over size=173525 born=128 grows=15 ratio=1.618 inferred=True birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=move_over size=131072 born=128 grows=10 ratio=2 inferred=True birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=move_over size=279936 born=128 grows=7 ratio=3 inferred=True birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=move_over size=123008 born=128 grows=30 step=4096 inferred=True birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=move_over size=30336 born=128 grows=59 step=512 inferred=True birth=make first=1..2 latest=2..3
 * TRUTH lineage 3 at=move_over size=126342 born=128 grows=56 ratio=1.125 inferred=True birth=make first=1..2 latest=2..3
 * TRUTH grow 1 2 at=resize blocks=8 bytes=183065
 * TRUTH grow 2 3 at=resize blocks=0 bytes=935725
 * TRUTH grow 1 2 at=move_over blocks=8 bytes=183065
 * TRUTH grow 2 3 at=move_over blocks=0 bytes=935725
 * TRUTH grow 1 2 at=make blocks=-16 bytes=-2048
 * TRUTH only 1 2
 * TRUTH only 2 3
 * TRUTH exit code=0
 */
#include "mark.h"

#include <stdbool.h>
#include <stdint.h>

struct array {
	char *bytes;
	size_t room, used;
	unsigned int times, over, more; /* the next room: room * times / over + more */
	unsigned int share; /* of what comes it takes in one in so many */
	bool copies;
};

#define BOTH(times, over, more, share)                     \
	{NULL, 0, 0, times, over, more, share, false},     \
	{                                                  \
		NULL, 0, 0, times, over, more, share, true \
	}

static struct array arrays[] = {
	BOTH(5, 4, 0, 1), BOTH(3, 2, 0, 1),    BOTH(809, 500, 0, 1), BOTH(2, 1, 0, 1),
	BOTH(3, 1, 0, 1), BOTH(1, 1, 4096, 1), BOTH(1, 1, 512, 4),   BOTH(9, 8, 6, 1),
};

#define NR_ARRAYS (sizeof(arrays) / sizeof(arrays[0]))

static char *checked(void *p)
{
	if (!p)
		_exit(1);
	return p;
}

NOINLINE void make(struct array *a)
{
	a->room = 128;
	a->bytes = checked(malloc(a->room));
}

NOINLINE void resize(struct array *a, size_t room)
{
	a->bytes = checked(realloc(a->bytes, room));
	a->room = room;
}

NOINLINE void move_over(struct array *a, size_t room)
{
	char *bytes = checked(malloc(room));

	memcpy(bytes, a->bytes, a->used);
	free(a->bytes);
	a->bytes = bytes;
	a->room = room;
}

NOINLINE void add(struct array *a, uint64_t word)
{
	while (a->used + sizeof(word) > a->room) {
		size_t room = a->room * a->times / a->over + a->more;

		if (a->copies)
			move_over(a, room);
		else
			resize(a, room);
	}
	memcpy(a->bytes + a->used, &word, sizeof(word));
	a->used += sizeof(word);
}

static void run(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		for (size_t k = 0; k < NR_ARRAYS; k++)
			if (i % arrays[k].share == 0)
				add(&arrays[k], (uint64_t)i * 0x9e3779b97f4a7c15u + k);
}

int main(void)
{
	for (size_t k = 0; k < NR_ARRAYS; k++)
		make(&arrays[k]);
	mark(1);
	run(0, 2500);
	mark(2);
	run(2500, 15000);
	mark(3);
}
