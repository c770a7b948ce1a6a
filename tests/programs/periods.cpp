// SPDX-License-Identifier: MIT
/*
 * periods.cpp - containers of C++ over 24 periods, a mark after each.
 *
 *   remember     a cache, an unordered_map and a list, of at most 300 texts, 40 new ones a period:
 *                it fills in 8 periods and replaces from then on
 *   batch        texts that are gathered for 6 periods and then dropped all at once
 *   enqueue      a deque that gets 300 jobs of 16 bytes a period, of which serve() takes 220 out:
 *                80 more wait each period, 32 to a node of 512 bytes
 *   index_user   a map that gets 7 users a period, a node of 48 bytes each
 *   fail         an error in every third period loses 200 bytes
 *   note         a vector of 8-byte numbers that gets 200 a period: it doubles
 *   configure    20 settings, set anew each period
 *   jitter       between 1 and 40 blocks of 500 bytes, at random
 *
 * TRUTH trend at=remember shape=plateau|step sure=low grows=False
 * TRUTH trend at=batch shape=noise sure=low grows=False
 * TRUTH trend at=enqueue shape=linear sure=medium|high grows=True
 * TRUTH trend at=index_user shape=linear sure=high grows=True first=2 each=336
 * TRUTH trend at=fail shape=linear sure=high grows=True first=3
 * TRUTH trend at=note shape=doubling sure=medium|high grows=True first=1 factor=2
 * TRUTH trend at=configure shape=noise sure=low grows=False
 * TRUTH trend at=jitter shape=noise sure=low grows=False
 * TRUTH suspects 24 some=index_user none=batch,configure,jitter,remember
 * TRUTH grow 1 24 at=index_user blocks=161 bytes=7728
 * TRUTH grow 12 24 at=fail blocks=4 bytes=800
 * TRUTH flat 9 24 at=remember
 * TRUTH flat 6 18 at=batch
 * TRUTH flat 1 24 at=configure
 * TRUTH lineage 24 at=note size=65536 born=8 grows=13 ratio=2 inferred=True birth=note
 * TRUTH rate 12 24 count=12 at=index_user blocks=7.000 bytes=336.0
 * TRUTH rate 12 24 count=12 at=fail blocks=0.333 bytes=66.7
 * TRUTH exit code=0
 */
#include "mark.h"
#include <deque>
#include <list>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#define PERIODS 24

struct job {
	uint64_t what, when;
};

static std::list<std::string> recent;
static std::unordered_map<int, std::list<std::string>::iterator> cache;
static std::vector<std::string> gathered;
static std::deque<job> queue;
static std::map<int, uint64_t> users;
static std::vector<uint64_t> notes;
static std::string settings[20];
static void *noise[40], *failed[PERIODS];
static int nr_keys, nr_users;

NOINLINE void remember(void)
{
	for (int i = 0; i < 40; i++, nr_keys++) {
		if (cache.size() == 300) {
			cache.erase(nr_keys - 300);
			recent.pop_front();
		}
		recent.emplace_back(50, (char)('a' + nr_keys % 26));
		cache[nr_keys] = std::prev(recent.end());
	}
}

NOINLINE void batch(int period)
{
	if (period % 6 == 1)
		std::vector<std::string>().swap(gathered);
	for (int i = 0; i < 30; i++)
		gathered.emplace_back(100, (char)('a' + i % 26));
}

NOINLINE void enqueue(void)
{
	for (uint64_t i = 0; i < 300; i++)
		queue.push_back(job{i, i});
}

NOINLINE void serve(void)
{
	for (int i = 0; i < 220; i++)
		queue.pop_front();
}

NOINLINE void index_user(void)
{
	for (int i = 0; i < 7; i++)
		users[nr_users++] = 1;
}

NOINLINE void *fail(void)
{
	return malloc(200);
}

NOINLINE void note(int period)
{
	for (int i = 0; i < 200; i++)
		notes.push_back((uint64_t)(period * 1000 + i));
}

NOINLINE void configure(int period)
{
	for (std::string &text : settings)
		text = std::string(80, (char)('a' + period));
}

NOINLINE void jitter(void)
{
	static uint32_t x = 12345;
	int want;

	x = x * 1664525 + 1013904223;
	want = 1 + (int)(x >> 16) % 40;
	for (int i = 0; i < 40; i++) {
		if (i < want && !noise[i])
			noise[i] = malloc(500);
		if (i >= want) {
			free(noise[i]);
			noise[i] = NULL;
		}
	}
}

int main()
{
	for (int n = 1; n <= PERIODS; n++) {
		remember();
		batch(n);
		enqueue();
		serve();
		index_user();
		if (n % 3 == 0)
			failed[n - 1] = fail();
		note(n);
		configure(n);
		jitter();
		usleep(60000); /* so that births are spread over some time */
		mark(n);
	}
	sink = failed;
	return 0;
}
