/* SPDX-License-Identifier: MIT */
/*
 * own_new.cpp - operator new of a library that has a pool of its own (libpool.c): its blocks are no
 * blocks of malloc. They are of all sizes from 1 byte on and touch each other, so many begin within
 * the same 16 or 32 bytes.
 *
 * TRUTH grow 1 2 at=make_small blocks=1000 bytes=11940
 * TRUTH grow 1 2 at=make_large blocks=100 bytes=30000
 * TRUTH grow 1 2 at=make_plain blocks=10 bytes=1000
 * TRUTH only 1 2
 * TRUTH grow 1 3 at=make_large blocks=100 bytes=30000
 * TRUTH only 1 3
 * TRUTH exit code=0
 */
#include "mark.h"

#include <new>

static void *small[1000], *large[100], *plain[10];

NOINLINE static void make_small()
{
	for (size_t i = 0; i < 1000; i++)
		memset(small[i] = operator new(i % 24 + !(i % 24) * 12), 's', i % 24);
}

NOINLINE static void make_large()
{
	for (auto &p : large)
		memset(p = operator new(300), 'l', 300);
}

NOINLINE static void make_plain()
{
	for (auto &p : plain)
		p = malloc(100);
}

int main()
{
	mark(1);
	make_small();
	make_large();
	make_plain();
	mark(2);
	for (auto p : small)
		operator delete(p);
	for (auto p : plain)
		free(p);
	mark(3);
	return 0;
}
