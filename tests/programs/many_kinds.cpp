// SPDX-License-Identifier: MIT
/*
 * many_kinds.cpp - buffers of sixteen kinds of C++ containers and streams, each filled by a function
 * of its own between two marks.
 *
 * Vectors double from one element, but resize() and insert() of a range from the first range: 64 and
 * 100 bytes. Strings double from 30 characters, wide ones from 6, a string stream's from 512, with a
 * 0 behind. Hash tables have 13, 29, 59, 127, 257, 541, 1109, 2357, 5087 buckets. A deque's map has
 * room for 8 nodes, made before main, and then for twice as many and 2: 18, 38, 78, 158, 318.
 *
 * TRUTH lineage 2 at=fill_stream size=32769 born=513 grows=6 ratio=2 inferred=True birth=fill_stream
 * TRUTH lineage 2 at=fill_bits size=16384 born=8 grows=11 ratio=2 inferred=True birth=fill_bits
 * TRUTH lineage 2 at=fill_heap size=32768 born=8 grows=12 ratio=2 inferred=True birth=fill_heap
 * TRUTH lineage 2 at=fill_people size=57344 born=56 grows=10 ratio=2 inferred=True birth=fill_people
 * TRUTH lineage 2 at=fill_pointers size=8192 born=8 grows=10 ratio=2 inferred=True birth=fill_pointers
 * TRUTH lineage 2 at=fill_grid size=1536 born=24 grows=6 ratio=2 inferred=True birth=fill_grid
 * TRUTH lineage 2 at=fill_words size=8872 born=104 grows=6 inferred=True birth=fill_words
 * TRUTH lineage 2 at=fill_ids size=40696 born=104 grows=8 inferred=True birth=fill_ids
 * TRUTH lineage 2 at=fill_deque size=2544 born=64 grows=5 inferred=True
 * TRUTH lineage 2 at=fill_calls size=16384 born=32 grows=9 ratio=2 inferred=True birth=fill_calls
 * TRUTH lineage 2 at=fill_text size=61441 born=31 grows=11 ratio=2 inferred=True birth=fill_text
 * TRUTH lineage 2 at=fill_bytes size=102400 born=100 grows=10 ratio=2 inferred=True birth=fill_bytes
 * TRUTH lineage 2 at=fill_wide size=12292 born=28 grows=9 ratio=2 inferred=True birth=fill_wide
 * TRUTH lineage 2 at=fill_sorted size=16384 born=8 grows=11 ratio=2 inferred=True birth=fill_sorted
 * TRUTH lineage 2 at=fill_raw size=32768 born=64 grows=9 ratio=2 inferred=True birth=fill_raw
 * TRUTH lineage 2 at=fill_map blocks=0
 * TRUTH grow 1 2 at=fill_map blocks=500 bytes=24000
 * TRUTH grow 1 2 at=fill_ids blocks=5001 bytes=120696
 * TRUTH exit code=0
 */
#include "mark.h"
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

struct person {
	std::string name;
	double size;
	std::shared_ptr<int> number;
};

static std::ostringstream stream;
static std::vector<bool> bits;
static std::priority_queue<uint64_t> heap;
static std::vector<person> people;
static std::vector<std::unique_ptr<int>> pointers;
static std::vector<std::vector<int>> grid;
static std::unordered_map<std::string, std::vector<int>> words;
static std::unordered_set<uint64_t> ids;
static std::multimap<int, uint64_t> map;
static std::deque<std::string> deque;
static std::vector<std::function<void()>> calls;
static std::string text;
static std::vector<uint8_t> bytes;
static std::wstring wide;
static std::vector<double> sorted;
static std::vector<char> raw;

static uint64_t rnd()
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

NOINLINE void fill_stream()
{
	for (int i = 0; i < 2000; i++)
		stream << "item " << i << "\n";
}

NOINLINE void fill_bits()
{
	for (int i = 0; i < 100000; i++)
		bits.push_back(rnd() & 1);
}

NOINLINE void fill_heap()
{
	for (int i = 0; i < 3000; i++)
		heap.push(rnd());
}

NOINLINE void fill_people()
{
	for (int i = 0; i < 1000; i++)
		people.push_back(person{"a name that is not short: " + std::to_string(i), 1.0 * i,
					std::make_shared<int>(i)});
}

NOINLINE void fill_pointers()
{
	for (int i = 0; i < 1000; i++)
		pointers.emplace_back(new int(i));
}

NOINLINE void fill_grid()
{
	for (int i = 0; i < 50; i++) {
		grid.emplace_back();
		for (int k = 0; k <= i; k++)
			grid.back().push_back(k + 1);
	}
}

NOINLINE void fill_words()
{
	for (int i = 0; i < 2000; i++)
		words["w" + std::to_string(i % 700)].push_back(i);
}

NOINLINE void fill_ids()
{
	for (uint64_t i = 0; i < 5000; i++)
		ids.insert(i * 0x9e3779b97f4a7c15u);
}

NOINLINE void fill_map()
{
	for (int i = 0; i < 500; i++)
		map.emplace(i % 50, rnd());
}

NOINLINE void fill_deque()
{
	for (int i = 0; i < 3000; i++)
		deque.push_back("element " + std::to_string(i));
}

NOINLINE void fill_calls()
{
	for (int i = 0; i < 300; i++) {
		std::string captured(40, 'a');

		calls.push_back([captured, i] { sink = (void *)(captured.data() + i % 40); });
	}
}

NOINLINE void fill_text()
{
	text = "[";
	for (int i = 0; i < 3000; i++) {
		text += "{\"id\": " + std::to_string(i) + "}";
		text += ", ";
	}
}

NOINLINE void fill_bytes()
{
	uint8_t some[100];

	for (int i = 0; i < 1000; i++) {
		memset(some, i, sizeof(some));
		bytes.insert(bytes.end(), some, some + sizeof(some));
	}
}

NOINLINE void fill_wide()
{
	for (int i = 0; i < 3000; i++)
		wide.push_back(L'a' + i % 26);
}

NOINLINE void fill_sorted()
{
	for (int i = 0; i < 2000; i++) {
		double value = (double)(rnd() % 1000) + 1;

		sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), value), value);
	}
}

NOINLINE void fill_raw()
{
	for (int i = 0; i < 500; i++)
		raw.resize(raw.size() + 64, (char)('a' + i % 26));
}

int main()
{
	mark(1);
	fill_stream();
	fill_bits();
	fill_heap();
	fill_people();
	fill_pointers();
	fill_grid();
	fill_words();
	fill_ids();
	fill_map();
	fill_deque();
	fill_calls();
	fill_text();
	fill_bytes();
	fill_wide();
	fill_sorted();
	fill_raw();
	mark(2);
	return 0;
}
