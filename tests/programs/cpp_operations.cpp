// SPDX-License-Identifier: MIT
/*
 * cpp_operations.cpp - what each operation of the containers allocates: copies, ranges, node
 * handles, rehashing, splicing; every container, every smart pointer.
 * Tells what each block is (tell.h, at MARK 1). C++20; built with libc++, too.
 */
#include "tell.h"
#include <algorithm>
#include <any>
#include <deque>
#include <forward_list>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <stack>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

static std::string txt(int i, const char *s = "a string that certainly does not fit inside ")
{
	return s + std::to_string(i);
}

struct Item {
	int id;
	char b[36];
	bool operator<(const Item &o) const
	{
		return id < o.id;
	}
	bool operator==(const Item &o) const
	{
		return id == o.id;
	}
};
template <> struct std::hash<Item> {
	size_t operator()(const Item &i) const
	{
		return (size_t)i.id;
	}
};
class Window
{
	class Impl;
	std::unique_ptr<Impl> p;

      public:
	Window();
	~Window();
	const void *impl() const;
};
class Window::Impl
{
      public:
	virtual void draw()
	{
	}
	virtual ~Impl()
	{
	}
	std::vector<Item> items = std::vector<Item>(3);
};
Window::Window() : p(std::make_unique<Impl>())
{
	TELL(p->items.data(), std::vector<Item>);
}
Window::~Window() = default;
const void *Window::impl() const
{
	return p.get();
}
template <class T> static T &keep(T t)
{
	return *new T(std::move(t));
}
struct Closer {
	void operator()(Item *p) const
	{
		delete p;
	}
};
static std::vector<Item> some(int n)
{
	std::vector<Item> v;
	for (int i = 0; i < n; i++)
		v.push_back({i, {}});
	return v;
}
static void vectors()
{
	auto &a = keep(some(20));
	TELL(a.data(), std::vector<Item>);
	auto &b = keep(a);
	TELL(b.data(), std::vector<Item>);
	b.insert(b.begin() + 3, 40, Item{});
	TELL(b.data(), std::vector<Item>);
	auto &c = keep(std::vector<Item>(a.rbegin(), a.rend()));
	c.shrink_to_fit();
	TELL(c.data(), std::vector<Item>);
	auto &d = keep(std::vector<Item>());
	d.assign(a.begin(), a.end());
	d.insert(d.end(), b.begin(), b.end());
	TELL(d.data(), std::vector<Item>);
	auto &e = keep(std::vector<Item>());
	e = a;
	TELL(e.data(), std::vector<Item>);
	auto &f = keep(std::vector<Item>());
	std::copy_if(a.begin(), a.end(), std::back_inserter(f), [](auto &i) { return i.id % 2; });
	TELL(f.data(), std::vector<Item>);
	auto &g = keep(std::vector<Item>{{1, {}}, {2, {}}});
	TELL(g.data(), std::vector<Item>);
	auto &h = keep(std::vector<Item>());
	h.reserve(77);
	TELL(h.data(), std::vector<Item>);
	auto &i = keep(std::vector<Item>());
	std::transform(a.begin(), a.end(), std::inserter(i, i.end()), [](auto x) { return x; });
	TELL(i.data(), std::vector<Item>);
	auto &j = keep(std::vector<std::vector<Item>>(5, a));
	for (auto &x : j)
		TELL(x.data(), std::vector<Item>);
	TELL(j.data(), std::vector<std::vector<Item>>);
	auto &k = keep(std::vector<std::optional<Item>>(5));
	TELL(k.data(), std::vector<std::optional<Item>>);
	auto &l = keep(std::optional<std::vector<Item>>(a));
	TELL(l->data(), std::vector<Item>);
	auto &m = keep(std::variant<std::monostate, std::vector<Item>, std::map<int, Item>>(a));
	TELL(std::get<1>(m).data(), std::vector<Item>);
	m = std::map<int, Item>{{1, {}}};
	TELL(&std::get<2>(m)[1], std::map<int, Item>);
	auto &n = keep(std::any(a));
	TELL(std::any_cast<std::vector<Item>>(&n)->data(), std::vector<Item>);
	auto &any2 = keep(std::any(Item{}));
	TELL(std::any_cast<Item>(&any2), std::any);
	auto &s = keep(std::stack<Item, std::vector<Item>>(a));
	TELL(&s.top(), std::vector<Item>);
	auto &bits = keep(std::vector<bool>(1000));
	bits.push_back(true);
	bits.insert(bits.begin(), 3, false);
	TELL(*(void **)&bits, std::vector<bool>);
	std::stable_sort(a.begin(), a.end());
}
static void trees()
{
	auto &a = keep(std::map<int, Item>{{1, {}}, {2, {}}, {3, {}}});
	a.try_emplace(4, Item{});
	a.insert_or_assign(5, Item{});
	a.emplace_hint(a.end(), 6, Item{});
	a.insert(std::make_pair(7, Item{}));
	a.insert({8, Item{}});
	a[9];
	a.at(9).id = 1;
	for (auto &x : a)
		TELL(&x, std::map<int, Item>);
	auto &b = keep(a);
	for (auto &x : b)
		TELL(&x, std::map<int, Item>);
	auto &c = keep(std::map<int, Item>());
	c = a;
	for (auto &x : c)
		TELL(&x, std::map<int, Item>);
	auto &d = keep(std::map<int, Item>(a.begin(), a.end()));
	d.insert(a.extract(3));
	auto nh = d.extract(4);
	nh.key() = 44;
	d.insert(std::move(nh));
	d.merge(c);
	for (auto &x : d)
		TELL(&x, std::map<int, Item>);
	auto &e = keep(std::set<Item>());
	for (auto &x : some(9))
		e.insert(x);
	e.emplace(Item{20, {}});
	e.emplace_hint(e.end(), Item{21, {}});
	auto &f = keep(e);
	for (auto &x : e)
		TELL(&x, std::set<Item>);
	for (auto &x : f)
		TELL(&x, std::set<Item>);
	auto &g = keep(std::multiset<Item>(e.begin(), e.end()));
	g.insert(*g.begin());
	g.emplace(Item{});
	auto &g2 = keep(g);
	for (auto &x : g)
		TELL(&x, std::multiset<Item>);
	for (auto &x : g2)
		TELL(&x, std::multiset<Item>);
	auto &h = keep(std::multimap<std::string, int>());
	h.emplace(txt(1), 1);
	h.insert({txt(1), 2});
	h.insert(h.begin(), {txt(0), 3});
	auto &h2 = keep(h);
	for (auto *z : {&h, &h2})
		for (auto &[k, v] : *z) {
			TELL(k.data(), std::string);
			TELL(&v, std::multimap<std::string, int>);
		}
}
static void hashes()
{
	auto &a = keep(std::unordered_map<int, Item>{{1, {}}, {2, {}}});
	a.try_emplace(4, Item{});
	a.insert_or_assign(5, Item{});
	a.insert({6, {}});
	a.emplace(7, Item{});
	a[8];
	a.reserve(1000);
	for (auto &x : a)
		TELL(&x, std::unordered_map<int, Item>);
	auto &b = keep(a);
	auto &c = keep(std::unordered_map<int, Item>());
	c = a;
	c.rehash(5000);
	for (auto &x : b)
		TELL(&x, std::unordered_map<int, Item>);
	for (auto &x : c)
		TELL(&x, std::unordered_map<int, Item>);
	auto &d = keep(std::unordered_set<Item>());
	for (auto &x : some(50))
		d.insert(x);
	d.emplace(Item{99, {}});
	auto &e = keep(d);
	for (auto &x : d)
		TELL(&x, std::unordered_set<Item>);
	for (auto &x : e)
		TELL(&x, std::unordered_set<Item>);
	auto &f = keep(std::unordered_multimap<std::string, Item>());
	for (int i = 0; i < 30; i++)
		f.emplace(txt(i % 3), Item{});
	f.insert({txt(4), {}});
	auto &f2 = keep(f);
	for (auto *z : {&f, &f2})
		for (auto &[k, v] : *z) {
			TELL(&v, std::unordered_multimap<std::string, Item>);
			TELL(k.data(), std::string);
		}
	auto &g = keep(std::unordered_multiset<long>());
	for (int i = 0; i < 30; i++)
		g.insert(i % 3);
	g.emplace(4);
	for (auto &x : g)
		TELL(&x, std::unordered_multiset<long>);
	auto &h = keep(
		std::unordered_map<std::string,
				   std::unordered_map<std::string, std::vector<std::string>>>());
	for (int i = 0; i < 20; i++)
		h[txt(i)][txt(i + 1)].push_back(txt(2));
	for (auto &[k, v] : h) {
		TELL(k.data(), std::string);
		TELL(&v,
		     std::unordered_map<std::string,
					std::unordered_map<std::string, std::vector<std::string>>>);
		for (auto &[k2, v2] : v) {
			TELL(k2.data(), std::string);
			TELL(&v2, std::unordered_map<std::string, std::vector<std::string>>);
			TELL(v2.data(), std::vector<std::string>);
			TELL(v2[0].data(), std::string);
		}
	}
}
static void lists()
{
	auto &a = keep(std::list<Item>(9));
	a.push_front({});
	a.emplace_back();
	a.insert(a.begin(), 3, Item{});
	a.insert(a.end(), a.begin(), std::next(a.begin(), 2));
	a.resize(20);
	auto &b = keep(a);
	auto &c = keep(std::list<Item>());
	c = b;
	c.assign(30, Item{});
	c.splice(c.end(), a);
	b.sort();
	for (auto *z : {&b, &c})
		for (auto &x : *z)
			TELL(&x, std::list<Item>);
	auto &d = keep(std::forward_list<Item>(5));
	d.push_front({});
	d.insert_after(d.begin(), Item{});
	d.emplace_after(d.begin());
	d.resize(12);
	auto &e = keep(d);
	for (auto *z : {&d, &e})
		for (auto &x : *z)
			TELL(&x, std::forward_list<Item>);
	auto &f = keep(std::deque<Item>(30));
	for (int i = 0; i < 90; i++) {
		f.push_front({});
		f.emplace_back();
	}
	f.insert(f.begin() + 4, 20, Item{});
	f.resize(300);
	auto &g = keep(f);
	auto &h = keep(std::deque<Item>());
	h.assign(g.begin(), g.end());
	for (auto *z : {&f, &g, &h})
		for (auto &x : *z)
			TELL(&x, std::deque<Item>);
	auto &i = keep(std::list<std::list<std::string>>(3));
	for (auto &x : i) {
		x.push_back(txt(1));
		x.emplace_back(50, 'x');
		TELL(&x, std::list<std::list<std::string>>);
		for (auto &y : x) {
			TELL(&y, std::list<std::string>);
			TELL(y.data(), std::string);
		}
	}
	auto &j = keep(std::list<std::unique_ptr<Item>>());
	for (int k = 0; k < 20; k++) {
		j.push_back(std::make_unique<Item>());
		TELL(&j.back(), std::list<std::unique_ptr<Item>>);
		TELL(j.back().get(), Item);
	}
}
static void pointers()
{
	auto &a = keep(std::make_unique<std::vector<Item>>(4));
	TELL(a.get(), std::vector<Item>);
	TELL(a->data(), std::vector<Item>);
	auto &b = keep(std::make_unique<Item[]>(7));
	TELL(b.get(), Item[]);
	auto &c = keep(std::make_unique<std::string[]>(3));
	c[1] = txt(5);
	TELL(c[1].data(), std::string);
	TELL(&c[1], std::string[]);
	auto &d = keep(std::make_shared<std::map<int, Item>>());
	(*d)[1];
	TELL(d.get(), std::shared_ptr<std::map<int, Item>>);
	TELL(&(*d)[1], std::map<int, Item>);
	auto &e = keep(std::shared_ptr<Item>(new Item, Closer()));
	TELL(((void **)&e)[1], std::shared_ptr<Item>);
	auto &f = keep(std::shared_ptr<Item>(std::make_unique<Item>()));
	TELL(((void **)&f)[1], std::shared_ptr<Item>);
	TELL(f.get(), Item);
	auto &g = keep(std::shared_ptr<int>(d, &(*d)[1].id));
	(void)g;
	auto &h = keep(std::make_shared<std::string>(100, 'x'));
	TELL(h->data(), std::string);
	TELL(h.get(), std::shared_ptr<std::string>);
	auto &i = keep(std::vector<std::unique_ptr<Window>>());
	for (int k = 0; k < 9; k++) {
		i.push_back(std::make_unique<Window>());
		TELL(i.back().get(), Window);
		TELL(i.back()->impl(), Window::Impl);
	}
	TELL(i.data(), std::vector<std::unique_ptr<Window>>);
	auto &j = keep(std::unique_ptr<Item, Closer>(new Item));
	(void)j;
	auto &k = keep(std::make_shared<std::vector<std::shared_ptr<std::string>>>());
	k->push_back(std::make_shared<std::string>(txt(4)));
	TELL(k.get(), std::shared_ptr<std::vector<std::shared_ptr<std::string>>>);
	TELL(k->data(), std::vector<std::shared_ptr<std::string>>);
#ifndef _LIBCPP_VERSION
	auto &l = keep(std::make_shared<Item[]>(7));
	TELL(l.get(), std::shared_ptr<Item[]>);
#endif
}
int main()
{
	for (int i = 0; i < 20; i++) {
		vectors();
		trees();
		hashes();
		lists();
		pointers();
	}
	if (!print_told())
		return 1;
	mark(1);
	return 0;
}
