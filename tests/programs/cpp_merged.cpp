// SPDX-License-Identifier: MIT
/*
 * cpp_merged.cpp - containers of types that only one file knows (anonymous namespace, local to a
 * function), and tells what each block is (tell.h, at MARK 1). Optimised, gcc makes one function of
 * those of equal code, whose name is then another type's; and names the types of such functions as
 * its debug information spells them, "long unsigned int".
 */
#include "tell.h"
#include <array>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#define ANON "(anonymous namespace)::"

namespace
{
struct Job {
	long a[3];
};
struct Task {
	double d[3];
};
struct Obj {
	int i[6];
};
struct Less {
	bool operator()(const Task &x, const Task &y) const
	{
		return x.d[0] < y.d[0];
	}
};
} // namespace

static std::map<long, Job> jobs;
static std::map<unsigned long, Obj> objects;
static std::map<std::string, Task> named;
static std::multiset<Task, Less> tasks;
static std::list<Obj> object_list;
static std::list<Task> task_list;
static std::unordered_map<std::string, Job> by_name;
static std::unordered_map<long, Task> by_number;
static std::unordered_map<long, Job> by_number_too;

NOINLINE static void nodes(int i)
{
	std::string name = "a name that is longer than the object, " + std::to_string(i);

	tell(&jobs[i], "std::map<long, " ANON "Job>");
	tell(&objects[(unsigned long)i], "std::map<unsigned long, " ANON "Obj>");
	tell(&named[name], "std::map<std::string, " ANON "Task>");
	tell(&*tasks.insert(Task{}), "std::multiset<" ANON "Task>");
	object_list.push_back(Obj{});
	tell(&object_list.back(), "std::list<" ANON "Obj>");
	task_list.push_back(Task{});
	tell(&task_list.back(), "std::list<" ANON "Task>");
	tell(&by_name[name], "std::unordered_map<std::string, " ANON "Job>");
	tell(&by_number[i], "std::unordered_map<long, " ANON "Task>");
	tell(&by_number_too[i], "std::unordered_map<long, " ANON "Job>");
}

NOINLINE static void buffers(size_t n)
{
	auto *v = new std::vector<Job>(n);
	auto *w = new std::vector<Task>(n);
	auto *x = new std::vector<Obj>(n);
	auto *d = new std::deque<Obj>(n);
	auto *e = new std::deque<Task>(n);

	tell(v->data(), "std::vector<" ANON "Job>");
	tell(w->data(), "std::vector<" ANON "Task>");
	tell(x->data(), "std::vector<" ANON "Obj>");
	tell(&d->front(), "std::deque<" ANON "Obj>");
	tell(&e->front(), "std::deque<" ANON "Task>");
}

NOINLINE static void shared(size_t n)
{
	auto *s = new std::shared_ptr<Task>(std::make_shared<Task>());
	auto *t = new std::shared_ptr<Obj>(std::make_shared<Obj>());
	auto *a = new std::shared_ptr<Job[]>(std::make_shared<Job[]>(n));

	tell(s->get(), "std::shared_ptr<" ANON "Task>");
	tell(t->get(), "std::shared_ptr<" ANON "Obj>");
	tell(a->get(), "std::shared_ptr<" ANON "Job[]>");
}

NOINLINE static void locals()
{
	struct Loc {
		unsigned long v[3];
		std::string s;
	};
	auto less = [](long x, long y) { return x < y; };
	auto *m = new std::map<unsigned long, Loc>;
	auto *u = new std::unordered_map<std::string, Loc>;
	auto *s = new std::shared_ptr<Loc>(std::make_shared<Loc>());
	auto *l = new std::list<std::pair<unsigned char, Loc>>(2);
	auto *set = new std::set<long, decltype(less)>(less);
	auto *sorted = new std::map<unsigned long, short, decltype(less)>(less);
	auto *maps = new std::vector<std::map<unsigned long long, const Loc *>>(2);
	auto *f = new std::function<unsigned long(const char *)>(
		[q = std::array<long, 20>()](const char *p) { return (unsigned long)q[0] + *p; });

	tell(&(*m)[1], "std::map<unsigned long, locals()::Loc>");
	tell(&(*u)["a"], "std::unordered_map<std::string, locals()::Loc>");
	tell(s->get(), "std::shared_ptr<locals()::Loc>");
	tell(&l->front(), "std::list<std::pair<unsigned char, locals()::Loc>>");
	tell(&*set->insert(4).first, "std::set<long>");
	tell(&(*sorted)[4], "std::map<unsigned long, short>");
	tell(maps->data(), "std::vector<std::map<unsigned long long, locals()::Loc const*>>");
	tell(*(void **)f, "std::function<unsigned long(char const*)>");
}

/* The block of a shared pointer that counts, where what it points to has one of its own. */
template <class T> static void tell_count(const std::shared_ptr<T> *p, const char *what)
{
	tell(((void *const *)p)[1], what);
}

NOINLINE static void counts()
{
	tell_count(new std::shared_ptr<int[]>(new int[10]), "std::shared_ptr<int[]>");
	tell_count(new std::shared_ptr<int>(new int), "std::shared_ptr<int>");
	tell_count(new std::shared_ptr<unsigned long>(new unsigned long,
						      [](unsigned long *p) { delete p; }),
		   "std::shared_ptr<unsigned long>");
	tell_count(new std::shared_ptr<Job>(new Job, [](Job *p) { delete p; }),
		   "std::shared_ptr<" ANON "Job>");
}

int main()
{
	for (int i = 0; i < 100; i++) {
		nodes(i);
		buffers(5 + (size_t)i % 3);
		shared(5 + (size_t)i % 3);
		locals();
		counts();
	}
	if (!print_told())
		return 1;
	mark(1);
	return 0;
}
