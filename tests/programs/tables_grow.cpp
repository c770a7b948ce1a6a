// SPDX-License-Identifier: MIT
/*
 * tables_grow.cpp - hash tables and trees of the C++ standard library that get fuller.
 *
 * add_keys() puts 500 keys a period into an unordered_map<uint64_t, uint64_t>, through load() in
 * the first period and through request() later: a node of 24 bytes each, and an array of buckets
 * of 8 bytes, the numbers of which are 13, 29, 59, 127, 257, 541, 1109, 2357. count_words() counts
 * words of 20 characters in an unordered_map<string, int>: nodes of 56 bytes and a text of 21.
 * add_times() puts numbers into a set, nodes of 40. churn_map() fills a map with 50 entries and
 * empties it. fill_index() fills a vector of sets, 10 of them with 3 numbers each. From MARK 3 to 4
 * half of the keys go, which gives no bucket back; from 4 to 5 they
 * come again.
 *
 * TRUTH grow 1 2 at=add_keys via=load blocks=501 bytes=16328
 * TRUTH grow 2 3 at=add_keys via=request blocks=1001 bytes=42856
 * TRUTH grow 2 3 at=add_keys via=load blocks=-1 bytes=-4328
 * TRUTH grow 2 3 at=add_keys blocks=1000 bytes=38528
 * TRUTH rate 2 3 count=3000 at=add_keys blocks=0.333 bytes=12.8
 * TRUTH lineage 2 at=add_keys size=4328 born=104 grows=5 inferred=True birth=add_keys
 * TRUTH lineage 3 at=add_keys size=18856 born=104 grows=7 inferred=True birth=add_keys via=request
 * TRUTH grow 2 3 at=count_words blocks=400 bytes=18712
 * TRUTH grow 2 3 at=add_times blocks=1000 bytes=40000
 * TRUTH flat 1 3 at=churn_map
 * TRUTH grow 2 3 at=fill_index blocks=31 bytes=1968
 * TRUTH only 2 3
 * TRUTH grow 3 4 at=add_keys blocks=-750 bytes=-18000
 * TRUTH only 3 4
 * TRUTH grow 4 5 at=main blocks=750 bytes=18000
 * TRUTH events 4 5 born=750 freed=0 resized=0
 * TRUTH only 4 5
 * TRUTH exit code=0
 */
#include "mark.h"
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

static std::unordered_map<uint64_t, uint64_t> keys;
static std::unordered_map<std::string, int> words;
static std::set<uint64_t> times;
static std::vector<std::set<int>> all_sets;
static std::map<int, int> churned;

NOINLINE void add_keys(uint64_t from, uint64_t nr)
{
	for (uint64_t i = from; i < from + nr; i++)
		keys[i * 7919] = i;
}

NOINLINE void load(uint64_t from, uint64_t nr)
{
	add_keys(from, nr);
	sink = &keys;
}

NOINLINE void request(uint64_t from, uint64_t nr)
{
	add_keys(from, nr);
	sink = &words;
}

NOINLINE void count_words(int from, int nr)
{
	char text[32];

	for (int i = from; i < from + nr; i++) {
		snprintf(text, sizeof(text), "word %015d", i);
		words[text]++;
		words[text]++;
	}
}

NOINLINE void add_times(uint64_t from, uint64_t nr)
{
	for (uint64_t i = from; i < from + nr; i++)
		times.insert((i * 2654435761u) % 1000003);
}

NOINLINE void churn_map(void)
{
	for (int i = 0; i < 50; i++)
		churned[i] = i;
	churned.clear();
}

NOINLINE void fill_index(void)
{
	for (int i = 0; i < 10; i++) {
		all_sets.emplace_back();
		for (int k = 0; k < 3; k++)
			all_sets.back().insert(k);
	}
}

static void period(uint64_t n, void (*add)(uint64_t, uint64_t))
{
	for (uint64_t i = 0; i < 10; i++) {
		add(n * 500 + i * 50, 50);
		count_words((int)(n * 100 + i * 10), 10);
		add_times(n * 500 + i * 50, 50);
		churn_map();
	}
}

int main()
{
	mark(1);
	period(0, load);
	mark(2);
	period(1, request);
	period(2, request);
	fill_index();
	mark(3);
	for (uint64_t i = 0; i < 1500; i += 2)
		keys.erase(i * 7919);
	mark(4);
	for (uint64_t i = 0; i < 1500; i += 2)
		keys[i * 7919] = 1;
	mark(5);
	return 0;
}
