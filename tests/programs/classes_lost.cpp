/* SPDX-License-Identifier: MIT */
/*
 * classes_lost.cpp - objects with a vtable that nobody can look at any more when the program is gone,
 * and a buffer that another function grows.
 *
 * Between MARK 1 and the end five objects are made and five freed, and grower() resizes a block of
 * main(). It ends by _exit(), so its last snapshot knows no words of objects.
 */
#include <unistd.h>

#include "mark.h"

struct V {
	virtual ~V() {}
	long x[3];
};
static V *objects[10];
static char *buffer, *other;

NOINLINE void make(int from, int to)
{
	for (int i = from; i < to; i++)
		objects[i] = new V;
}

NOINLINE void grower()
{
	buffer = (char *)realloc(buffer, 4000000);
}

int main()
{
	buffer = (char *)malloc(1000);
	other = (char *)malloc(500);
	sink = other;
	make(0, 5);
	mark(1);
	for (int i = 0; i < 5; i++)
		delete objects[i];
	make(5, 10);
	grower();
	mark(2);
	_exit(0);
}
