// SPDX-License-Identifier: MIT
/*
 * swap_vectors.cpp - vectors that change places each round, and one of them leaks.
 *
 * front and back are swapped after each round, as a renderer swaps its lists of commands: draw()
 * fills the back one, with 100 commands of 16 bytes, and empties the other. Both come to 128 * 16
 * bytes and stay. stale and fresh are swapped too, but collect() forgets to empty: each round it
 * adds 64 numbers to one of them, so both double for ever. resize_pair() gives two blocks of one
 * size back and gets two: each has the other's address. move_around() passes a vector of 1000
 * numbers on from owner to owner, by move and by swap: no block comes or goes. 40 rounds from mark
 * to mark; after round r both have 32 * r numbers of 4 bytes, so at MARK 2 room for 2048, at MARK 3
 * for 4096 of them.
 *
 * TRUTH live 1 at=draw blocks=2 bytes=4096
 * TRUTH flat 1 3 at=draw
 * TRUTH lineage 3 at=draw size=2048 born=16 grows=7 ratio=2 inferred=True blocks=2 birth=draw
 * TRUTH grow 1 2 at=collect blocks=0 bytes=15872
 * TRUTH lineage 2 at=collect size=8192 born=4 grows=11 ratio=2 inferred=True blocks=2 birth=collect
 * TRUTH grow 2 3 at=collect blocks=0 bytes=16384
 * TRUTH lineage 3 at=collect size=16384 born=4 grows=12 ratio=2 inferred=True blocks=2 birth=collect
 * TRUTH lineage 3 at=resize_pair blocks=0
 * TRUTH grow 1 2 at=resize_pair blocks=0 bytes=0
 * TRUTH grow 1 2 at=move_around blocks=0 bytes=0
 * TRUTH only 1 2
 * TRUTH only 2 3
 * TRUTH events 2 3 born=4 freed=4 resized=0
 * TRUTH exit code=0
 */
#include "mark.h"
#include <cstdint>
#include <utility>
#include <vector>

struct command {
	uint64_t what, where;
};

static std::vector<command> front, back;
static std::vector<uint32_t> stale, fresh, owners[3];
static char *pair_a, *pair_b;

NOINLINE void draw(uint64_t round)
{
	back.clear();
	for (uint64_t i = 0; i < 100; i++)
		back.push_back(command{i + round, i * round});
	std::swap(front, back);
}

NOINLINE void collect(uint32_t round)
{
	for (uint32_t i = 0; i < 64; i++)
		fresh.push_back(round * 1000 + i);
	std::swap(stale, fresh);
}

NOINLINE void resize_pair(void)
{
	free(pair_a);
	free(pair_b);
	pair_a = (char *)malloc(3000);
	pair_b = (char *)malloc(3000);
	pair_a[0] = pair_b[0] = 1;
}

NOINLINE void move_around(void)
{
	if (owners[0].empty() && owners[1].empty() && owners[2].empty())
		owners[0].assign(1000, 7);
	owners[1] = std::move(owners[0]);
	owners[2].swap(owners[1]);
	std::swap(owners[0], owners[2]);
	sink = owners;
}

static uint32_t nr_rounds;

static void rounds(uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++, nr_rounds++) {
		draw(nr_rounds);
		collect(nr_rounds);
		resize_pair();
		move_around();
	}
}

int main()
{
	rounds(2);
	mark(1);
	rounds(58);
	mark(2);
	rounds(40);
	mark(3);
	return 0;
}
