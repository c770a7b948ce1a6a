// SPDX-License-Identifier: MIT
/*
 * inlined_leak.cpp - leaks of objects that templates make, which are inlined into their callers.
 *
 * In each of 6600 requests submit() makes a job of 40 bytes and in every third a task of 72, which
 * nobody takes; store() keeps a blob of 100 bytes in every fifth and one of 33 in every 11th. All of
 * them come from one line of one template. watch() makes a callback of 24 bytes in every 20th and
 * frees the one before it; pair_up() makes two nodes of 48 bytes that hold each other in every 33rd,
 * which shared_ptr makes 64 with its counts.
 *
 * TRUTH grow 1 2 at=make via=submit blocks=8800 bytes=422400
 * TRUTH grow 1 2 at=make via=store blocks=1920 bytes=151800
 * TRUTH rate 1 2 count=6600 at=make via=submit blocks=1.333 bytes=64.0
 * TRUTH rate 1 2 count=6600 at=make via=store blocks=0.291 bytes=23.0
 * TRUTH rate 1 2 count=6600 at=pair_up blocks=0.061 bytes=3.9
 * TRUTH grow 1 2 at=pair_up blocks=400 bytes=25600
 * TRUTH flat 1 2 at=watch
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#include "mark.h"

#include <functional>
#include <memory>
#include <utility>

template <class T> struct pool {
	template <class... A> static inline T *make(A &&...args) { return new T(args...); }
};

template <class D> struct item {
	static inline D *create(int n)
	{
		D *d = pool<D>::make();

		d->words[0] = n;
		return d;
	}
};

struct job : item<job> {
	long words[5];
};

struct task : item<task> {
	long words[9];
};

template <int N> struct blob {
	char bytes[N];
};

struct node {
	std::shared_ptr<node> other;
	long words[4];
};

static std::function<long()> callback;

NOINLINE void submit(int n)
{
	sink = job::create(n);
	if (n % 3 == 0)
		sink = task::create(n);
}

NOINLINE void store(int n)
{
	if (n % 5 == 0)
		sink = pool<blob<100>>::make();
	if (n % 11 == 0)
		sink = pool<blob<33>>::make();
}

NOINLINE void watch(int n)
{
	long a = n, b = n, c = n;

	if (n % 20 == 0)
		callback = [a, b, c] { return a + b + c; };
}

NOINLINE void pair_up(int n)
{
	if (n % 33)
		return;
	auto a = std::make_shared<node>(), b = std::make_shared<node>();

	a->other = b;
	b->other = a;
}

int main()
{
	watch(0);
	mark(1);
	for (int n = 0; n < 6600; n++) {
		submit(n);
		store(n);
		watch(n);
		pair_up(n);
	}
	mark(2);
}
