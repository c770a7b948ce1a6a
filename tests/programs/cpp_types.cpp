/* SPDX-License-Identifier: MIT */
/*
 * cpp_types.cpp - keeps objects and containers of many types and tells what each block is.
 *
 * At MARK 1 it prints a line "BLOCK address class" for each, the address somewhere in the block:
 * of an object, an element, a node. Table of buckets cannot be reached so, and are not told.
 * Blocks are of a size that no small-object optimisation keeps inside.
 */
#include "tell.h"

#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

struct Point {
	double x = 1, y = 2, z = 3;
	bool operator<(const Point &o) const { return x < o.x; }
};

namespace app {
struct Job {
	int id = 0;
	char text[44] = {};
};
template <typename T> struct Holder {
	T value[3];
	virtual ~Holder() {}
};
} // namespace app

namespace {
struct Hidden {
	virtual ~Hidden() {}
	char more[40];
};
} // namespace

struct Shape {
	virtual ~Shape() {}
	virtual double area() const { return 0; }
	double size[4];
};
struct Circle : Shape {
	double area() const override { return 3; }
	char more[24];
};
struct Named {
	virtual ~Named() {}
	virtual int name() const { return 1; }
	char label[16];
};
/* two vtable pointers */
struct Square : Shape, Named {
	int name() const override { return 2; }
};
/* virtual bases: its vtable pointer lies further into the table */
struct Left : virtual Named {
	long left = 1;
};
struct Diamond : virtual Named, Left {
	long own = 2;
};

static std::string long_text(int i)
{
	return "a text that is too long for the object itself, number " + std::to_string(i);
}

struct Everything {
	std::vector<std::unique_ptr<Shape>> shapes;
	std::vector<std::vector<int>> rows;
	std::vector<Point> points;
	std::vector<Circle> circles; /* objects with vtable pointers in a buffer */
	std::vector<std::string> texts;
	std::map<int, Point> places;
	std::map<std::string, app::Job> jobs;
	std::set<Point> sorted;
	std::unordered_map<long, app::Job> by_number;
	std::unordered_set<std::string> names;
	std::list<app::Job> queue;
	std::forward_list<Point> chain;
	std::deque<int> numbers;
	std::vector<std::shared_ptr<app::Job>> shared;
	std::vector<std::shared_ptr<Shape>> shared_shapes;
	std::vector<std::unique_ptr<app::Job>> owned;
	std::vector<std::function<int()>> actions;
};

static Everything *all;

NOINLINE static void make_objects()
{
	for (int i = 0; i < 200; i++) {
		all->shapes.emplace_back(new Circle);
		tell(all->shapes.back().get(), "Circle");
		all->shapes.emplace_back(std::make_unique<Square>());
		tell(all->shapes.back().get(), "Square");
		tell(new Diamond, "Diamond");
		tell(new app::Holder<Point>, "app::Holder<Point>");
		tell(new Hidden, "(anonymous namespace)::Hidden");
	}
	tell(all->shapes.data(), "std::vector<std::unique_ptr<Shape>>");
}

NOINLINE static void make_vectors()
{
	for (int i = 0; i < 200; i++) {
		all->rows.emplace_back();
		for (int k = 0; k < 20 + i; k++)
			all->rows.back().push_back(k);
		all->points.push_back({});
		all->circles.emplace_back();
		all->texts.push_back(long_text(i));
		all->numbers.push_back(i);
	}
	for (auto &row : all->rows)
		tell(row.data(), "std::vector<int>");
	for (auto &text : all->texts)
		tell(text.data(), "std::string");
	tell(all->rows.data(), "std::vector<std::vector<int>>");
	tell(all->points.data(), "std::vector<Point>");
	tell(all->circles.data(), "std::vector<Circle>");
	tell(all->texts.data(), "std::vector<std::string>");
	tell(&all->numbers.front(), "std::deque<int>");
	tell(&all->numbers.back(), "std::deque<int>");
}

NOINLINE static void make_trees()
{
	for (int i = 0; i < 200; i++) {
		all->places[i].x = i;
		all->jobs[long_text(i)].id = i;
		Point p;
		p.x = i;
		all->sorted.insert(p);
		all->by_number[i].id = i;
		all->names.insert(long_text(i));
	}
	for (auto &at : all->places)
		tell(&at.second, "std::map<int, Point>");
	for (auto &job : all->jobs) {
		tell(&job.second, "std::map<std::string, app::Job>");
		tell(job.first.data(), "std::string");
	}
	for (auto &p : all->sorted)
		tell(&p, "std::set<Point>");
	for (auto &job : all->by_number)
		tell(&job.second, "std::unordered_map<long, app::Job>");
	for (auto &name : all->names) {
		tell(&name, "std::unordered_set<std::string>");
		tell(name.data(), "std::string");
	}
}

NOINLINE static void make_lists()
{
	for (int i = 0; i < 200; i++) {
		all->queue.emplace_back();
		tell(&all->queue.back(), "std::list<app::Job>");
		all->chain.emplace_front();
		tell(&all->chain.front(), "std::forward_list<Point>");
		all->shared.push_back(std::make_shared<app::Job>());
		tell(all->shared.back().get(), "std::shared_ptr<app::Job>");
		all->shared_shapes.push_back(std::make_shared<Circle>());
		tell(all->shared_shapes.back().get(), "std::shared_ptr<Circle>");
		all->owned.push_back(std::make_unique<app::Job>());
		tell(all->owned.back().get(), "app::Job");
	}
	tell(all->shared.data(), "std::vector<std::shared_ptr<app::Job>>");
	tell(all->owned.data(), "std::vector<std::unique_ptr<app::Job>>");
}

/* What has no type in its stack: `malloc in` and the function. */
NOINLINE static void make_plain()
{
	for (int i = 0; i < 100; i++) {
		tell((char *)malloc(100 + (size_t)i), "malloc in make_plain");
		tell(new app::Job, "malloc in make_plain");
	}
}

int main()
{
	all = new Everything;
	make_objects();
	make_vectors();
	make_trees();
	make_lists();
	make_plain();
	if (!print_told())
		return 1;
	mark(1);
	return 0;
}
