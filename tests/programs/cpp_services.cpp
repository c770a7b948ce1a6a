// SPDX-License-Identifier: MIT
/*
 * cpp_services.cpp - keeps what one finds in services and tells what each block is.
 *
 * At MARK 1 it prints "BLOCK address class" for each (tell.h): classes in namespaces, local, with
 * several and virtual bases; containers of containers; nodes; shared pointers; variants.
 */
#include "tell.h"

#include <any>
#include <array>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

static std::string long_text(int i)
{
	return "some text that does not fit into the object, " + std::to_string(i);
}

namespace net
{
struct Packet {
	int id = 0;
	char body[60] = {};
};
enum class State { idle, busy };
class Session
{
      public:
	virtual ~Session() = default;
	virtual void on_data(const Packet &)
	{
	}
	std::string peer;
	State state = State::idle;
};
namespace detail
{
template <class T, int N> class Pool : public Session
{
	T items[N];
};
class Tls final : public Session
{
      public:
	void on_data(const Packet &) override
	{
	}
	char key[32] = {};
};
} // namespace detail
} // namespace net
namespace
{
struct Quiet {
	virtual ~Quiet()
	{
	}
	virtual int f()
	{
		return 1;
	}
	long a[3] = {};
};
template <class T> struct Wrapped : Quiet {
	T t{};
	int f() override
	{
		return 2;
	}
};
struct Plain {
	int a[6] = {};
};
} // namespace
struct Input {
	virtual ~Input()
	{
	}
	virtual int in()
	{
		return 0;
	}
	int i[4] = {};
};
struct Output {
	virtual ~Output()
	{
	}
	virtual int out()
	{
		return 0;
	}
	int o[4] = {};
};
struct Stream : Input, Output {
	int in() override
	{
		return 1;
	}
	int out() override
	{
		return 1;
	}
	int s = 0;
};
struct VBase {
	virtual ~VBase()
	{
	}
	long v = 1;
};
struct VLeft : virtual VBase {
	long l = 2;
};
struct VRight : virtual VBase {
	long r = 3;
	virtual void g()
	{
	}
};
struct VBottom : VLeft, VRight {
	long b = 4;
};
struct Node : std::enable_shared_from_this<Node> {
	std::vector<std::shared_ptr<Node>> kids;
	std::weak_ptr<Node> parent;
	std::map<std::string, std::variant<int, std::string, std::vector<double>>> attributes;
};
struct Cmp {
	bool operator()(const std::string &a, const std::string &b) const
	{
		return a > b;
	}
};
struct Hash {
	size_t operator()(const net::Packet &p) const
	{
		return (size_t)p.id;
	}
};
struct Eq {
	bool operator()(const net::Packet &a, const net::Packet &b) const
	{
		return a.id == b.id;
	}
};

struct Zoo {
	std::vector<std::unique_ptr<net::Session>> sessions;
	std::vector<std::unique_ptr<Quiet>> quiet;
	std::vector<Output *> outputs;
	std::vector<std::unique_ptr<VBase>> vs;
	std::vector<bool> flags;
	std::vector<std::vector<std::vector<float>>> cube;
	std::vector<std::pair<int, std::string>> pairs;
	std::vector<std::optional<std::string>> maybe;
	std::vector<std::variant<int, std::string, std::vector<double>>> variants;
	std::vector<std::tuple<int, long, std::string>> tuples;
	std::vector<std::array<int, 4>> arrays;
	std::vector<const char *> pointers;
	std::vector<char> bytes;
	std::vector<unsigned char> ubytes;
	std::vector<std::string> texts;
	std::vector<std::wstring> wide;
	std::vector<std::u16string> u16;
	std::vector<std::any> anys;
	std::vector<std::function<int(int)>> functions;
	std::map<std::string, std::map<int, net::Packet>> nested;
	std::map<std::string, int, Cmp> ordered;
	std::multimap<int, std::string> multi;
	std::multiset<long> mset;
	std::unordered_map<std::string, std::vector<int>> index;
	std::unordered_map<int, std::unique_ptr<net::Packet>> by_id;
	std::unordered_set<net::Packet, Hash, Eq> packets;
	std::unordered_multimap<int, long> umulti;
	std::set<std::string> names;
	std::set<std::pair<int, int>> edges;
	std::list<std::string> lines;
	std::deque<net::Packet> fifo;
	std::queue<std::string> queue;
	std::priority_queue<long> heap;
	std::stack<int> stack;
	std::shared_ptr<Node> root;
	std::vector<std::shared_ptr<net::Session>> shared;
	std::vector<std::shared_ptr<int>> ints;
	std::vector<std::unique_ptr<int[]>> int_arrays;
	std::vector<std::unique_ptr<net::Packet[]>> packet_arrays;
	std::vector<std::shared_ptr<void>> opaque;
};
static Zoo *zoo;

NOINLINE static void objects()
{
	for (int i = 0; i < 150; i++) {
		zoo->sessions.push_back(std::make_unique<net::Session>());
		tell(zoo->sessions.back().get(), "net::Session");
		zoo->sessions.push_back(std::make_unique<net::detail::Tls>());
		tell(zoo->sessions.back().get(), "net::detail::Tls");
		zoo->sessions.emplace_back(new net::detail::Pool<int, 8>);
		tell(zoo->sessions.back().get(), "net::detail::Pool<int, 8>");
		zoo->quiet.emplace_back(new Quiet);
		tell(zoo->quiet.back().get(), "(anonymous namespace)::Quiet");
		zoo->quiet.emplace_back(new Wrapped<std::string>);
		tell(zoo->quiet.back().get(), "(anonymous namespace)::Wrapped<std::string>");
		Stream *s = new Stream;
		zoo->outputs.push_back(s);
		tell(s, "Stream");
		VBottom *b = new VBottom;
		zoo->vs.emplace_back(b);
		tell(b, "VBottom");
		zoo->vs.emplace_back(new VBase);
		tell(zoo->vs.back().get(), "VBase");
		struct Local {
			virtual ~Local()
			{
			}
			char x[24];
		};
		tell(new Local, "objects()::Local");
	}
	tell(zoo->sessions.data(), "std::vector<std::unique_ptr<net::Session>>");
	tell(zoo->outputs.data(), "std::vector<Output*>");
}

NOINLINE static void vectors()
{
	for (int i = 0; i < 400; i++) {
		zoo->flags.push_back(i % 3);
		zoo->pairs.emplace_back(i, long_text(i));
		zoo->maybe.push_back(long_text(i));
		if (i % 2)
			zoo->variants.push_back(long_text(i));
		else
			zoo->variants.push_back(std::vector<double>(8, 1.0));
		zoo->tuples.emplace_back(i, i, long_text(i));
		zoo->arrays.push_back({i, i, i, i});
		zoo->pointers.push_back("x");
		zoo->bytes.push_back('x');
		zoo->ubytes.insert(zoo->ubytes.end(), 3, 1);
		zoo->texts.push_back(long_text(i).substr(3) + "more");
		zoo->wide.push_back(std::wstring(20, L'w'));
		zoo->u16.push_back(std::u16string(20, u'w'));
	}
	for (auto &p : zoo->pairs)
		tell(p.second.data(), "std::string");
	for (auto &p : zoo->maybe)
		tell(p->data(), "std::string");
	for (auto &p : zoo->variants) {
		if (auto s = std::get_if<std::string>(&p))
			tell(s->data(), "std::string");
		if (auto s = std::get_if<std::vector<double>>(&p))
			tell(s->data(), "std::vector<double>");
	}
	for (auto &p : zoo->tuples)
		tell(std::get<2>(p).data(), "std::string");
	for (auto &p : zoo->texts)
		tell(p.data(), "std::string");
	for (auto &p : zoo->wide)
		tell(p.data(), "std::wstring");
	for (auto &p : zoo->u16)
		tell(p.data(), "std::u16string");
	tell(zoo->pairs.data(), "std::vector<std::pair<int, std::string>>");
	tell(zoo->maybe.data(), "std::vector<std::optional<std::string>>");
	tell(zoo->variants.data(), "std::vector<std::variant<int, std::string, "
				   "std::vector<double>>>");
	tell(zoo->tuples.data(), "std::vector<std::tuple<int, long, std::string>>");
	tell(zoo->arrays.data(), "std::vector<std::array<int, 4>>");
	tell(zoo->pointers.data(), "std::vector<char const*>");
	tell(zoo->bytes.data(), "std::vector<char>");
	tell(zoo->ubytes.data(), "std::vector<unsigned char>");
	zoo->cube.resize(10);
	for (auto &plane : zoo->cube) {
		plane.assign(10, std::vector<float>(12));
		tell(plane.data(), "std::vector<std::vector<float>>");
		for (auto &row : plane)
			tell(row.data(), "std::vector<float>");
	}
	tell(zoo->cube.data(), "std::vector<std::vector<std::vector<float>>>");
	auto *copy = new std::vector<std::string>(zoo->texts);
	tell(copy->data(), "std::vector<std::string>");
	for (auto &t : *copy)
		tell(t.data(), "std::string");
	auto moved = std::make_unique<std::vector<int>>(100, 7);
	moved->reserve(1000);
	tell(moved->data(), "std::vector<int>");
	tell(moved.get(), "std::vector<int>");
	moved.release();
}

NOINLINE static void trees()
{
	for (int i = 0; i < 200; i++) {
		zoo->nested[long_text(i % 20)][i].id = i;
		zoo->ordered[long_text(i)] = i;
		zoo->multi.emplace(i % 7, long_text(i));
		zoo->mset.insert(i % 9);
		zoo->index[long_text(i)].push_back(i);
		zoo->by_id[i] = std::make_unique<net::Packet>();
		net::Packet p;
		p.id = i;
		zoo->packets.insert(p);
		zoo->umulti.emplace(i % 5, i);
		zoo->names.insert(long_text(i));
		zoo->edges.emplace(i, i + 1);
	}
	for (auto &[k, v] : zoo->nested) {
		tell(&v, "std::map<std::string, std::map<int, net::Packet>>");
		tell(k.data(), "std::string");
		for (auto &[a, b] : v)
			tell(&b, "std::map<int, net::Packet>");
	}
	for (auto &[k, v] : zoo->ordered) {
		tell(&v, "std::map<std::string, int>");
		tell(k.data(), "std::string");
	}
	for (auto &[k, v] : zoo->multi) {
		tell(&v, "std::multimap<int, std::string>");
		tell(v.data(), "std::string");
	}
	for (auto &k : zoo->mset)
		tell(&k, "std::multiset<long>");
	for (auto &[k, v] : zoo->index) {
		tell(&v, "std::unordered_map<std::string, std::vector<int>>");
		tell(k.data(), "std::string");
		tell(v.data(), "std::vector<int>");
	}
	for (auto &[k, v] : zoo->by_id) {
		tell(&v, "std::unordered_map<int, std::unique_ptr<net::Packet>>");
		tell(v.get(), "net::Packet");
	}
	for (auto &k : zoo->packets)
		tell(&k, "std::unordered_set<net::Packet>");
	for (auto &[k, v] : zoo->umulti)
		tell(&v, "std::unordered_multimap<int, long>");
	for (auto &k : zoo->names) {
		tell(&k, "std::set<std::string>");
		tell(k.data(), "std::string");
	}
	for (auto &k : zoo->edges)
		tell(&k, "std::set<std::pair<int, int>>");
}

NOINLINE static void lists()
{
	for (int i = 0; i < 200; i++) {
		zoo->lines.push_back(long_text(i));
		zoo->fifo.push_back({});
		zoo->queue.push(long_text(i));
		zoo->heap.push(i);
		zoo->stack.push(i);
	}
	for (auto &l : zoo->lines) {
		tell(&l, "std::list<std::string>");
		tell(l.data(), "std::string");
	}
	for (auto &l : zoo->fifo)
		tell(&l, "std::deque<net::Packet>");
	tell(&zoo->queue.front(), "std::deque<std::string>");
	tell(zoo->queue.front().data(), "std::string");
	tell(&zoo->heap.top(), "std::vector<long>");
	tell(&zoo->stack.top(), "std::deque<int>");
}

static void grow(const std::shared_ptr<Node> &n, int depth)
{
	tell(n.get(), "std::shared_ptr<Node>");
	n->attributes["some attribute with a long name"] = std::vector<double>(9, 1.0);
	for (auto &[k, v] : n->attributes) {
		tell(k.data(), "std::string");
		tell(&v, "std::map<std::string, std::variant<int, std::string, "
			 "std::vector<double>>>");
		tell(std::get<2>(v).data(), "std::vector<double>");
	}
	if (!depth)
		return;
	for (int i = 0; i < 3; i++) {
		n->kids.push_back(std::make_shared<Node>());
		n->kids.back()->parent = n;
		grow(n->kids.back(), depth - 1);
	}
	tell(n->kids.data(), "std::vector<std::shared_ptr<Node>>");
}

NOINLINE static void pointers()
{
	zoo->root = std::make_shared<Node>();
	grow(zoo->root, 4);
	for (int i = 0; i < 150; i++) {
		zoo->shared.push_back(std::make_shared<net::detail::Tls>());
		tell(zoo->shared.back().get(), "std::shared_ptr<net::detail::Tls>");
		zoo->shared.push_back(std::shared_ptr<net::Session>(new net::Session));
		tell(zoo->shared.back().get(), "net::Session");
		zoo->ints.push_back(std::make_shared<int>(i));
		tell(zoo->ints.back().get(), "std::shared_ptr<int>");
		zoo->int_arrays.push_back(std::make_unique<int[]>(20));
		tell(zoo->int_arrays.back().get(), "int[]");
		zoo->packet_arrays.push_back(std::make_unique<net::Packet[]>(4));
		tell(zoo->packet_arrays.back().get(), "net::Packet[]");
		std::array<long, 9> big{};
		zoo->functions.push_back([big](int x) { return x + (int)big[0]; });
		zoo->anys.emplace_back(net::Packet{});
		tell(std::any_cast<net::Packet>(&zoo->anys.back()), "std::any");
		zoo->opaque.push_back(std::make_shared<Plain>());
		tell(zoo->opaque.back().get(), "std::shared_ptr<(anonymous namespace)::Plain>");
		auto *plain = new Plain;
		tell(plain, "malloc in pointers");
	}
	tell(zoo->functions.data(), "std::vector<std::function<int(int)>>");
	tell(zoo->anys.data(), "std::vector<std::any>");
}

template <class T> NOINLINE static T *make_in_template(int n)
{
	T *all = new T[(size_t)n];
	sink = all;
	return all;
}
struct Registry {
	std::map<std::string, std::function<net::Session *()>> makers;
	NOINLINE void fill()
	{
		for (int i = 0; i < 50; i++)
			makers[long_text(i)] = [] { return new net::Session; };
		for (auto &[k, v] : makers) {
			tell(&v, "std::map<std::string, std::function<net::Session*()>>");
			tell(k.data(), "std::string");
			tell(v(), "net::Session");
		}
	}
};
NOINLINE static void odd()
{
	auto *r = new Registry;
	r->fill();
	auto lambda = [](int n) {
		auto *v = new std::vector<short>;
		for (int i = 0; i < n; i++)
			v->push_back(1);
		return v;
	};
	for (int i = 20; i < 60; i++)
		tell(lambda(i)->data(), "std::vector<short>");
	for (int i = 0; i < 40; i++)
		tell(make_in_template<double>(10 + i), "malloc in make_in_template<double>");
	auto *os = new std::ostringstream;
	for (int i = 0; i < 100; i++)
		*os << "line " << i << '\n';
	tell(os, "std::ostringstream");
	static std::string joined;
	for (int i = 0; i < 100; i++)
		joined += long_text(i);
	tell(joined.data(), "std::string");
	std::string *heap_string = new std::string(os->str());
	tell(heap_string->data(), "std::string");
	auto fut = new std::vector<std::promise<int>>(5);
	tell(fut->data(), "std::vector<std::promise<int>>");
}

int main()
{
	zoo = new Zoo;
	objects();
	vectors();
	trees();
	lists();
	pointers();
	odd();
	if (!print_told())
		return 1;
	mark(1);
	return 0;
}
