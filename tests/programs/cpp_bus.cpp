// SPDX-License-Identifier: MIT
/*
 * cpp_bus.cpp - a hub of events: multiple and virtual inheritance, std::function with captures,
 * std::any, exceptions, futures, threads, types of anonymous namespaces.
 * Tells what each block is (tell.h, at MARK 1). C++20; built with libc++, too.
 */
#include "tell.h"
#include <any>
#include <array>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

static std::string txt(int i, const char *s = "a string that certainly does not fit inside ")
{
	return s + std::to_string(i);
}

/* The block that a std::function keeps. */
template <class F> static const void *held(const F &f)
{
#ifdef _LIBCPP_VERSION
	return ((void *const *)&f)[4];
#else
	return ((void *const *)&f)[0];
#endif
}

namespace bus
{
struct Event {
	virtual ~Event() = default;
	long at = 0;
	std::string topic = txt(9);
};
template <class P> struct With : Event {
	P payload{};
};
struct Priority {
	virtual ~Priority() = default;
	virtual int rank() const
	{
		return 1;
	}
	int r = 0;
};
struct Logged : virtual Event {
	std::string where = txt(2);
};
struct Timed : virtual Event, virtual Priority {
	double due = 0;
};
struct Alarm final : Logged, Timed {
	int rank() const override
	{
		return 9;
	}
	char more[40] = {};
};
namespace
{
struct Secret : With<std::array<int, 6>>, Priority {
	int rank() const override
	{
		return 2;
	}
};
struct Plain {
	long a[4];
};
} // namespace
class Hub
{
	class Slot
	{
	      public:
		std::function<void(const Event &)> call;
		std::shared_ptr<void> owner;
	};
	std::multimap<std::string, Slot> slots;
	std::map<int, std::unique_ptr<Slot>> own;
	std::vector<std::shared_ptr<Event>> queue;
	std::unordered_map<std::string, std::any> settings;
	std::vector<std::exception_ptr> failures;

      public:
	class Subscription
	{
		Hub *hub;
		int id;

	      public:
		Subscription(Hub *h, int i) : hub(h), id(i)
		{
		}
		virtual ~Subscription()
		{
		}
		char note[30] = {};
	};
	template <class F> std::unique_ptr<Subscription> on(const std::string &t, F f)
	{
		slots.emplace(t, Slot{f, nullptr});
		own[(int)slots.size()] = std::make_unique<Slot>(Slot{f, std::make_shared<Plain>()});
		return std::make_unique<Subscription>(this, 1);
	}
	void post(std::shared_ptr<Event> e)
	{
		queue.push_back(std::move(e));
	}
	template <class T> void set(const std::string &k, T v)
	{
		settings[k] = std::move(v);
	}
	void fail(int i)
	{
		try {
			throw std::runtime_error(txt(i));
		} catch (...) {
			failures.push_back(std::current_exception());
		}
	}
	void say()
	{
		for (auto &[k, s] : slots) {
			TELL(&s, std::multimap<std::string, bus::Hub::Slot>);
			TELL(k.data(), std::string);
			tell(held(s.call), "std::function<void(bus::Event const&)>");
		}
		for (auto &[k, s] : own) {
			TELL(&s, std::map<int, std::unique_ptr<bus::Hub::Slot>>);
			TELL(s.get(), bus::Hub::Slot);
			tell(s->owner.get(), "std::shared_ptr<bus::(anonymous namespace)::Plain>");
		}
		TELL(queue.data(), std::vector<std::shared_ptr<bus::Event>>);
		for (auto &[k, a] : settings) {
			TELL(&a, std::unordered_map<std::string, std::any>);
			TELL(k.data(), std::string);
		}
		TELL(failures.data(), std::vector<std::exception_ptr>);
	}
};
struct Worker : std::enable_shared_from_this<Worker> {
	std::function<void()> job;
	std::promise<int> done;
	std::mutex m;
	std::condition_variable cv;
	std::weak_ptr<Worker> start()
	{
		std::array<long, 8> big{};
		job = [self = shared_from_this(), big] { self->done.set_value((int)big[0]); };
		return self_();
	}
	std::weak_ptr<Worker> self_()
	{
		return weak_from_this();
	}
};
} // namespace bus
using namespace bus;
int main()
{
	auto *h = new Hub;
	auto *subs = new std::vector<std::unique_ptr<Hub::Subscription>>;
	std::array<double, 7> big{};
	std::string name = txt(8);
	for (int i = 0; i < 80; i++) {
		subs->push_back(h->on(txt(i), [big](const Event &e) {
			sink = (void *)&e;
			(void)big[0];
		}));
		TELL(subs->back().get(), bus::Hub::Subscription);
		subs->push_back(h->on(txt(i), [name](const Event &e) {
			sink = (void *)&e;
			(void)name.data();
		}));
		TELL(subs->back().get(), bus::Hub::Subscription);
		auto a = std::make_shared<Alarm>();
		TELL(a.get(), std::shared_ptr<bus::Alarm>);
		h->post(a);
		TELL(a->topic.data(), std::string);
		TELL(a->where.data(), std::string);
		std::shared_ptr<Event> s(new Secret);
		TELL(s.get(), bus::(anonymous namespace)::Secret);
		h->post(s);
		TELL(((void **)&s)[1], std::shared_ptr<bus::(anonymous namespace)::Secret>);
		std::shared_ptr<Event> q = std::make_unique<With<std::map<int, int>>>();
		TELL(q.get(), bus::With<std::map<int, int>>);
		h->post(q);
		auto *al = new Alarm;
		TELL(al, bus::Alarm);
		Priority *pr = al;
		TELL(pr, bus::Alarm);
		h->set(txt(i), std::array<long, 10>{});
		h->set(txt(i, "another key of the settings of the hub "), txt(3));
		h->fail(i);
	}
	h->say();
	TELL(subs->data(), std::vector<std::unique_ptr<bus::Hub::Subscription>>);
	auto *ws = new std::vector<std::shared_ptr<Worker>>;
	for (int i = 0; i < 50; i++) {
		ws->push_back(std::make_shared<Worker>());
		sink = ws->back()->start().lock().get();
		TELL(ws->back().get(), std::shared_ptr<bus::Worker>);
		TELL(held(ws->back()->job), std::function<void()>);
	}
	TELL(ws->data(), std::vector<std::shared_ptr<bus::Worker>>);
	auto *th = new std::vector<std::thread>;
	for (int i = 0; i < 4; i++)
		th->emplace_back([w = (*ws)[(size_t)i]] { w->job(); });
	for (auto &t : *th)
		t.join();
	TELL(th->data(), std::vector<std::thread>);
	auto *fs = new std::vector<std::future<std::string>>;
	for (int i = 0; i < 4; i++)
		fs->push_back(std::async(std::launch::deferred, [i] { return txt(i); }));
	TELL(fs->data(), std::vector<std::future<std::string>>);
	if (!print_told())
		return 1;
	mark(1);
	return 0;
}
