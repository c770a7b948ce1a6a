// SPDX-License-Identifier: MIT
/*
 * cpp_corners.cpp - less common C++, and tells what each block is (tell.h, at MARK 1): allocators of
 * the program's own, arrays behind shared pointers, coroutines, what is moved and returned. C++20.
 */
#include "tell.h"
#include <coroutine>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <new>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>
static std::string long_text(int i)
{
	return "some text that does not fit into the object, " + std::to_string(i);
}

template <class T> struct MyAlloc {
	using value_type = T;
	MyAlloc() = default;
	template <class U> MyAlloc(const MyAlloc<U> &)
	{
	}
	T *allocate(size_t n)
	{
		return static_cast<T *>(malloc(n * sizeof(T)));
	}
	void deallocate(T *p, size_t)
	{
		free(p);
	}
	bool operator==(const MyAlloc &) const
	{
		return true;
	}
	bool operator!=(const MyAlloc &) const
	{
		return false;
	}
};
namespace app
{
struct Item {
	int id = 0;
	char body[52] = {};
};
template <class T> class Ring
{
	std::unique_ptr<T[]> data_;
	size_t n_;

      public:
	explicit Ring(size_t n) : data_(new T[n]), n_(n)
	{
	}
	T *data()
	{
		return data_.get();
	}
};
struct Poly {
	virtual ~Poly()
	{
	}
	int x[6] = {};
};
struct alignas(64) Wide {
	virtual ~Wide()
	{
	}
	float v[16] = {};
};
struct Base {
	int plain = 1;
};
struct Derived : Base {
	virtual ~Derived()
	{
	}
	int more[8] = {};
};
struct Visitor {
	virtual void visit(int) = 0;
	virtual ~Visitor() = default;
};
template <class F> struct LambdaVisitor final : Visitor {
	F f;
	char pad[32] = {};
	explicit LambdaVisitor(F g) : f(g)
	{
	}
	void visit(int i) override
	{
		f(i);
	}
};
template <class F> std::unique_ptr<Visitor> make_visitor(F f)
{
	return std::make_unique<LambdaVisitor<F>>(f);
}
class Impl;
class Pimpl
{
	std::unique_ptr<Impl> impl;

      public:
	Pimpl();
	~Pimpl();
	void *get();
};
class Impl
{
      public:
	std::string name = long_text(1);
	std::vector<int> v = std::vector<int>(30);
};
Pimpl::Pimpl() : impl(std::make_unique<Impl>())
{
	tell(impl->name.data(), "std::string");
	tell(impl->v.data(), "std::vector<int>");
}
Pimpl::~Pimpl() = default;
void *Pimpl::get()
{
	return impl.get();
}
struct Deleter {
	void operator()(Item *p) const
	{
		delete p;
	}
};
} // namespace app
struct Task {
	struct promise_type {
		Task get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
		}
	};
	std::coroutine_handle<promise_type> h;
};
NOINLINE static Task worker(int n)
{
	char buffer[200];
	memset(buffer, n, sizeof(buffer));
	co_await std::suspend_always{};
	sink = buffer;
}

NOINLINE static void custom()
{
	for (int i = 0; i < 50; i++) {
		auto *v = new std::vector<int, MyAlloc<int>>(40 + i);
		tell(v->data(), "std::vector<int>");
		auto *m = new std::map<int, app::Item, std::less<int>,
				       MyAlloc<std::pair<const int, app::Item>>>;
		(*m)[1] = {};
		tell(&(*m)[1], "std::map<int, app::Item>");
		auto *s = new std::basic_string<char, std::char_traits<char>, MyAlloc<char>>(100,
											     'x');
		tell(s->data(), "std::string");
		auto sp = std::allocate_shared<app::Item>(MyAlloc<app::Item>());
		tell(sp.get(), "std::shared_ptr<app::Item>");
		new std::shared_ptr<app::Item>(sp);
		auto *r = new app::Ring<app::Item>(20);
		tell(r->data(), "malloc in app::Ring<app::Item>::Ring");
	}
}
NOINLINE static void poly()
{
	for (int i = 0; i < 60; i++) {
		tell(new app::Wide, "app::Wide");
		app::Derived *d = new app::Derived;
		tell(d, "app::Derived");
		static std::vector<std::unique_ptr<app::Visitor>> visitors;
		std::string text = long_text(i);
		visitors.push_back(app::make_visitor([i](int k) { sink = (void *)(long)(i + k); }));
		tell(visitors.back().get(), "app::LambdaVisitor<poly()::{lambda(int)#1}>");
		auto *p = new app::Pimpl;
		tell(p->get(), "app::Impl");
		std::unique_ptr<app::Item, app::Deleter> u(new app::Item);
		tell(u.release(), "malloc in poly");
		auto sd = new std::shared_ptr<app::Item>(new app::Item, app::Deleter());
		tell(sd->get(), "malloc in poly");
		auto arr = std::make_shared<int[]>(30);
		tell(arr.get(), "std::shared_ptr<int[]>");
		new std::shared_ptr<int[]>(arr);
	}
}
NOINLINE static void texts()
{
	auto *all = new std::vector<std::string>;
	std::istringstream in(long_text(1) + "\n" + long_text(2) + "\n");
	std::string line;
	while (std::getline(in, line))
		all->push_back(line);
	for (int i = 0; i < 50; i++) {
		std::ostringstream os;
		os << "a text with more than a few characters " << i;
		all->push_back(os.str());
		all->push_back(std::string_view("another text that is quite long, I would say")
				       .substr(2)
				       .data());
		all->push_back(all->back() + "/" + std::to_string(i));
		all->push_back(std::string("x") + long_text(i));
		all->push_back(std::string(50 + (size_t)i, 'c'));
		all->push_back(std::move(all->front()));
		all->front() = long_text(i);
		all->back().append("tail tail tail tail tail tail tail tail tail tail tail tail");
		all->back().insert(0, "front front front front front front front front front front "
				      "front front");
		all->back().resize(600);
		all->push_back(all->back().substr(100));
		all->push_back(std::filesystem::path("/usr/share/some/long/path/name")
				       .append("leaf")
				       .string());
	}
	for (auto &t : *all)
		tell(t.data(), "std::string");
	tell(all->data(), "std::vector<std::string>");
	auto *paths = new std::vector<std::filesystem::path>;
	for (int i = 0; i < 30; i++)
		paths->push_back("/usr/share/some/long/path/name/" + std::to_string(i));
	for (auto &p : *paths)
		tell(p.native().data(), "std::string");
	auto *re = new std::regex("([a-z]+)=([0-9]+)");
	sink = re;
	auto *w = new std::map<std::wstring, std::vector<std::string_view>>;
	for (int i = 0; i < 20; i++)
		(*w)[std::to_wstring(i) + L"wide wide wide wide"].assign(5, "abc");
	for (auto &[k, v] : *w) {
		tell(k.data(), "std::wstring");
		tell(v.data(), "std::vector<std::string_view>");
		tell(&v, "std::map<std::wstring, std::vector<std::string_view>>");
	}
}
NOINLINE static void async()
{
	for (int i = 0; i < 30; i++) {
		auto *p = new std::promise<std::string>;
		p->set_value(long_text(i));
		auto *f = new std::future<std::string>(p->get_future());
		sink = f;
		Task t = worker(i);
		t.h.resume();
		tell(t.h.address(), "malloc in worker");
		auto *pt = new std::packaged_task<int(int)>([i](int k) { return i + k; });
		sink = pt;
		auto *q = new std::deque<std::function<void()>>;
		std::string captured = long_text(i);
		for (int k = 0; k < 40; k++)
			q->push_back([captured] { sink = (void *)captured.data(); });
		tell(&q->front(), "std::deque<std::function<void()>>");
		auto *l = new std::list<std::unique_ptr<app::Poly>>;
		l->push_back(std::make_unique<app::Poly>());
		tell(&l->back(), "std::list<std::unique_ptr<app::Poly>>");
		tell(l->back().get(), "app::Poly");
		auto *o = new std::optional<std::vector<app::Poly>>;
		o->emplace(10);
		tell((*o)->data(), "std::vector<app::Poly>");
		auto *um = new std::unordered_map<std::string, std::shared_ptr<app::Poly>>;
		for (int k = 0; k < 10; k++)
			um->emplace(long_text(k), std::make_shared<app::Poly>());
		for (auto &[k, v] : *um) {
			tell(k.data(), "std::string");
			tell(&v, "std::unordered_map<std::string, std::shared_ptr<app::Poly>>");
			tell(v.get(), "std::shared_ptr<app::Poly>");
		}
		auto *vv = new std::vector<std::variant<std::unique_ptr<app::Item>, std::string>>;
		vv->emplace_back(std::make_unique<app::Item>());
		vv->emplace_back(long_text(i));
		tell(std::get<0>((*vv)[0]).get(), "app::Item");
		tell(std::get<1>((*vv)[1]).data(), "std::string");
		tell(vv->data(), "std::vector<std::variant<std::unique_ptr<app::Item>, "
				 "std::string>>");
	}
	auto *res = new std::pmr::unsynchronized_pool_resource;
	auto *pv = new std::pmr::vector<int>(res);
	for (int i = 0; i < 1000; i++)
		pv->push_back(i);
	auto *mono = new std::pmr::vector<long>(std::pmr::new_delete_resource());
	for (int i = 0; i < 1000; i++)
		mono->push_back(i);
	tell(mono->data(), "std::vector<long>");
	auto *th = new std::vector<std::thread>;
	for (int i = 0; i < 3; i++)
		th->emplace_back([] {});
	for (auto &t : *th)
		t.join();
	tell(th->data(), "std::vector<std::thread>");
}
int main()
{
	custom();
	poly();
	texts();
	async();
	if (!print_told())
		return 1;
	mark(1);
	return 0;
}
