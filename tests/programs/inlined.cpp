/* SPDX-License-Identifier: MIT */
/*
 * inlined.cpp - functions that allocate and are no functions any more.
 *
 * Heap story: app::load() keeps 10 rows of 1000 bytes. app::store(), which calls the vector's
 * constructor, and app::read_row(), which calls store(), are inlined into it.
 */
#include <cstdlib>
#include <vector>

#define INLINE __attribute__((always_inline)) inline
#define NOINLINE __attribute__((noinline))

namespace app
{
std::vector<char> *rows[10];
volatile char sink;

INLINE void store(int i, std::size_t size)
{
	rows[i] = new std::vector<char>(size, 'x');
	sink = rows[i]->back();
}

INLINE void read_row(int i)
{
	store(i, 1000);
}

NOINLINE void load(int n)
{
	for (int i = 0; i < n; i++)
		read_row(i);
}
} // namespace app

int main()
{
	app::load(10);
	std::_Exit(app::sink != 'x');
}
