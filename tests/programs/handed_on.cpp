// SPDX-License-Identifier: MIT
/*
 * handed_on.cpp - containers that one thread makes and others go on to fill.
 *
 * start() makes a vector of 8-byte numbers, a text and a list of texts in the first thread, with 20 of
 * each. Then three threads fill them one after the other, and end: 1000 numbers, 2000 characters and
 * 100 texts of 40 each. The first thread adds as many once more. All of them go through fill(), so
 * that stacks differ further out only.
 *
 * TRUTH lineage 1 at=fill_numbers size=256 born=8 grows=5 ratio=2 inferred=True birth=fill_numbers via=start
 * TRUTH lineage 2 at=fill_numbers size=32768 born=8 grows=12 ratio=2 inferred=True birth=fill_numbers via=work first=0..1 latest=1..2
 * TRUTH lineage 2 at=fill_text size=7681 born=31 grows=8 ratio=2 inferred=True birth=fill_text via=work
 * TRUTH lineage 2 at=fill_list size=16384 born=32 grows=9 ratio=2 inferred=True birth=fill_list via=work
 * TRUTH grow 1 2 at=fill_numbers blocks=0 bytes=32512
 * TRUTH grow 1 2 at=fill_list blocks=300 bytes=27660
 * TRUTH lineage 3 at=fill_numbers size=32768 born=8 grows=12 ratio=2 inferred=True birth=fill_numbers via=work
 * TRUTH lineage 3 at=fill_text size=15361 born=31 grows=9 ratio=2 inferred=True birth=fill_text via=again
 * TRUTH exit code=0
 */
#include "mark.h"
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

static std::vector<uint64_t> numbers;
static std::string text;
static std::vector<std::string> list;

NOINLINE void fill_numbers(int nr)
{
	for (int i = 0; i < nr; i++)
		numbers.push_back(numbers.size() * 0x9e3779b97f4a7c15u + 1);
}

NOINLINE void fill_text(int nr)
{
	for (int i = 0; i < nr; i++)
		text.push_back((char)('a' + i % 26));
}

NOINLINE void fill_list(int nr)
{
	for (int i = 0; i < nr; i++)
		list.push_back(std::string(40, (char)('a' + i % 26)));
}

NOINLINE void fill(int numbers_more, int chars, int texts)
{
	fill_numbers(numbers_more);
	fill_text(chars);
	fill_list(texts);
	sink = &text;
}

NOINLINE void start(void)
{
	fill(20, 20, 20);
	sink = &list;
}

NOINLINE void work(void)
{
	fill(1000, 2000, 100);
	sink = &numbers;
}

NOINLINE void again(void)
{
	fill(1000, 2000, 100);
	sink = &numbers;
}

int main()
{
	start();
	mark(1);
	for (int i = 0; i < 3; i++) {
		std::thread other(work);

		other.join();
	}
	mark(2);
	again();
	mark(3);
	return 0;
}
