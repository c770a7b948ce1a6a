// SPDX-License-Identifier: MIT
/*
 * one_guilty.cpp - a list that four callers put into, and one of them does not take out of.
 *
 * add() puts an object of 72 bytes into a vector, with an entry of 24. In each round draw() adds 10
 * and takes them out again, poll() 3, tick() 1; subscribe() adds one in every second round, for good.
 * So 1000 are left at MARK 2, after 2000 rounds, and 2000 at MARK 3. The vector is always full when
 * draw() comes, which asks for most: all of its growth is due to draw(), who is innocent. The objects
 * tell who is not.
 *
 * TRUTH grow 1 2 at=new_object via=subscribe blocks=1000 bytes=72000
 * TRUTH rate 2 3 count=2000 at=new_object blocks=0.500 bytes=36.0
 * TRUTH flat 1 3 at=new_object via=draw
 * TRUTH flat 1 3 at=new_object via=poll
 * TRUTH flat 1 3 at=new_object via=tick
 * TRUTH grow 1 2 at=add blocks=1 bytes=24576
 * TRUTH grow 2 3 at=add blocks=0 bytes=24576
 * TRUTH lineage 3 at=add via=draw size=49152 born=24 grows=11 ratio=2 inferred=True birth=add first=1..2 latest=2..3
 * TRUTH growers 3 at=add draw=11
 * TRUTH only 1 3
 * TRUTH exit code=0
 */
#include "mark.h"
#include <cstdint>
#include <vector>

struct object {
	uint64_t id, more[8];
};

struct entry {
	object *what;
	uint64_t id, when;
};

static std::vector<entry> list;
static uint64_t now;

NOINLINE object *new_object(uint64_t id)
{
	return new object{id, {id}};
}

NOINLINE void add(object *o)
{
	list.push_back(entry{o, o->id, ++now});
	sink = o;
}

NOINLINE void take_last(int nr)
{
	for (int i = 0; i < nr; i++) {
		delete list.back().what;
		list.pop_back();
	}
}

NOINLINE void draw(uint64_t round)
{
	for (int i = 0; i < 10; i++)
		add(new_object(round));
	take_last(10);
}

NOINLINE void poll(uint64_t round)
{
	for (int i = 0; i < 3; i++)
		add(new_object(round));
	take_last(3);
}

NOINLINE void tick(uint64_t round)
{
	add(new_object(round));
	take_last(1);
}

NOINLINE void subscribe(uint64_t round)
{
	add(new_object(round));
	sink = &list;
}

static void rounds(uint64_t from)
{
	for (uint64_t n = from; n < from + 2000; n++) {
		if (n % 2 == 0)
			subscribe(n);
		draw(n);
		poll(n);
		tick(n);
	}
	say("OPS", 2000);
}

int main()
{
	mark(1);
	rounds(0);
	mark(2);
	rounds(2000);
	mark(3);
	return 0;
}
