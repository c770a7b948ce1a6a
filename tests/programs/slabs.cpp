/* SPDX-License-Identifier: MIT */
/*
 * slabs.cpp - objects in slabs that the program cuts up itself, and large objects of one class.
 *
 * 40 slabs of 8192 bytes are made by one call of operator new and begin with objects of two
 * classes: they are no objects of either. 10 objects of Large, of 8008 bytes, are.
 *
 * TRUTH live 1 at=new_slab blocks=40 bytes=327680
 * TRUTH live 1 at=make_large blocks=10 bytes=80080
 * TRUTH exit code=0
 */
#include "mark.h"

#include <new>

struct Shape {
	virtual ~Shape() {}
	virtual int kind() { return 1; }
	char more[56];
};
struct Circle : Shape {
	int kind() override { return 2; }
};
struct Large {
	virtual ~Large() {}
	char more[8000];
};

static char *slab;
static size_t left;

NOINLINE static void new_slab()
{
	slab = static_cast<char *>(operator new(8192));
	left = 8192;
}

static void *take(size_t size)
{
	if (left < size)
		new_slab();
	left -= size;
	slab += size;
	return slab - size;
}

NOINLINE static void make_shapes()
{
	for (int i = 0; i < 40 * 128; i++) {
		/* the first one of a slab is a Shape in every other */
		if (i / 128 % 2)
			sink = new (take(sizeof(Shape))) Shape;
		else
			sink = new (take(sizeof(Circle))) Circle;
	}
}

NOINLINE static void make_large()
{
	for (int i = 0; i < 10; i++)
		sink = new Large;
}

int main()
{
	make_shapes();
	make_large();
	mark(1);
	return 0;
}
