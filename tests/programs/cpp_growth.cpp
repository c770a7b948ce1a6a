// SPDX-License-Identifier: MIT
/*
 * cpp_growth.cpp - containers of the C++ standard library that grow and shrink.
 *
 * A vector of 8-byte numbers is filled to 100000 by push_back: it doubles from 1, so
 * its buffer is 131072 * 8 bytes. A string is appended to until it has 5000 characters: its buffer
 * doubles from 15, 30, 60 ... to 7680, and a 0. An unordered_map gets 1000 entries: 1000 nodes of
 * 24 bytes (link, key, value), and a bucket array of 1109 pointers, the last of a series of primes.
 * A map gets 300 entries: nodes of 48 bytes. From MARK 2 to 3 the vector is emptied without giving
 * anything back, the map loses 100 entries, and a second vector is swapped with the first.
 *
 * TRUTH grow 1 2 at=fill_vector blocks=1 bytes=1048576
 * TRUTH grow 1 2 at=fill_string blocks=1 bytes=7681
 * TRUTH grow 1 2 at=fill_hash blocks=1001 bytes=32872
 * TRUTH grow 1 2 at=fill_tree blocks=300 bytes=14400
 * TRUTH largest 2 size=1048576 born=8 grows=17 ratio=2 inferred=True at=fill_vector birth=fill_vector
 * TRUTH growers 2 fill_vector=17
 * TRUTH only 1 2
 * TRUTH grow 2 3 at=fill_tree blocks=-100 bytes=-4800
 * TRUTH flat 2 3 at=fill_vector
 * TRUTH grow 2 3 at=swap_vectors blocks=1 bytes=4000
 * TRUTH only 2 3
 * TRUTH exit code=0
 */
#include "mark.h"
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

static std::vector<uint64_t> numbers, others;
static std::string text;
static std::unordered_map<uint64_t, uint64_t> hash;
static std::map<uint64_t, uint64_t> tree;

NOINLINE void fill_vector(uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		numbers.push_back(i * 3);
}

NOINLINE void fill_string(size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		text += (char)('a' + i % 26);
}

NOINLINE void fill_hash(uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		hash[i * 7919] = i;
}

NOINLINE void fill_tree(uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		tree[i] = i;
}

NOINLINE void swap_vectors(void)
{
	others.reserve(500);
	numbers.swap(others);
}

int main()
{
	mark(1);
	fill_vector(100000);
	fill_string(5000);
	fill_hash(1000);
	fill_tree(300);
	mark(2);
	numbers.clear();
	for (uint64_t i = 0; i < 100; i++)
		tree.erase(i * 2);
	swap_vectors();
	mark(3);
	return 0;
}
