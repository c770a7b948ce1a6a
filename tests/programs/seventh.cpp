// SPDX-License-Identifier: MIT
/*
 * seventh.cpp - leaks that a part of the requests have, each for a reason of its own.
 *
 * 7000 requests from mark to mark. Every seventh takes a lock twice and gives it back once: its
 * token of 40 bytes stays. Every 13th is malformed: parse() throws, and the handler loses the
 * buffer of 100 bytes that it had got by new[]; the others free theirs. Two of seven keep their
 * user's name, a string of 24 characters, in a vector that was made large enough. A request of a
 * hundred makes a session and its cache, 48 and 64 bytes with the counts of a shared_ptr, that
 * hold each other. Seven handlers take turns at every seventh request and each loses an event of 16
 * bytes. The rest is balanced.
 *
 * TRUTH rate 1 2 count=7000 at=take_lock blocks=0.143 bytes=5.7
 * TRUTH rate 2 3 count=7000 at=take_lock blocks=0.143 bytes=5.7
 * TRUTH rate 2 3 count=7000 at=parse blocks=0.077 bytes=7.7
 * TRUTH grow 1 2 at=parse via=handle blocks=538 bytes=53800
 * TRUTH rate 2 3 count=7000 at=keep_name blocks=0.286 bytes=7.1
 * TRUTH rate 2 3 count=7000 at=open_session blocks=0.020 bytes=1.1
 * TRUTH grow 2 3 at=open_session blocks=140 bytes=7840
 * TRUTH rate 1 2 count=7000 at=new_event blocks=0.143 bytes=2.3
 * TRUTH grow 1 3 at=new_event blocks=2000 bytes=32000
 * TRUTH flat 1 3 at=answer
 * TRUTH only 1 2
 * TRUTH only 2 3
 * TRUTH exit code=0
 */
#include "mark.h"
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct token {
	token *next;
	uint64_t owner[4];
};

struct session;

struct cache {
	std::shared_ptr<session> owner;
	uint64_t entries[4];
};

struct session {
	std::shared_ptr<cache> own;
	uint64_t id, user;
};

static std::vector<std::string> names;
static token *tokens;
static long nr_malformed;

NOINLINE token *take_lock(uint64_t n)
{
	token *t = new token;

	t->owner[0] = n;
	t->next = tokens;
	return tokens = t;
}

NOINLINE void give_back(void)
{
	token *t = tokens;

	tokens = t->next;
	delete t;
}

NOINLINE size_t parse(uint64_t n)
{
	char *buffer = new char[100];
	size_t len;

	memset(buffer, (int)('a' + n % 26), 100);
	sink = buffer;
	if (n % 13 == 12)
		throw std::runtime_error("malformed");
	len = (size_t)buffer[n % 100];
	delete[] buffer;
	return len;
}

NOINLINE void answer(uint64_t n)
{
	std::string text(n % 3000, 'r');

	text += "\n";
	sink = text.data();
}

NOINLINE void keep_name(uint64_t n)
{
	names.emplace_back(24, (char)('a' + n % 26));
}

NOINLINE void open_session(uint64_t n)
{
	auto s = std::make_shared<session>();

	s->id = n;
	s->own = std::make_shared<cache>();
	if (n % 100 == 99)
		s->own->owner = s;
}

NOINLINE void handle(uint64_t n)
{
	try {
		sink = (void *)parse(n);
	} catch (const std::exception &) {
		nr_malformed++;
	}
}

NOINLINE void *new_event(void)
{
	return malloc(16);
}

template <int N> NOINLINE void on_event(void)
{
	sink = new_event();
}

static void (*const handlers[])(void) = {
	on_event<0>, on_event<1>, on_event<2>, on_event<3>, on_event<4>, on_event<5>, on_event<6>,
};

static void serve(uint64_t from)
{
	for (uint64_t n = from; n < from + 7000; n++) {
		take_lock(n);
		if (n % 7 == 6)
			take_lock(n);
		handle(n);
		if (n % 7 == 1 || n % 7 == 4)
			keep_name(n);
		open_session(n);
		if (n % 7 == 0)
			handlers[n / 7 % 7]();
		answer(n);
		give_back();
	}
	say("OPS", 7000);
}

int main()
{
	names.reserve(10000);
	try { /* what the C++ runtime gets once, for the first exception */
		throw std::runtime_error("first");
	} catch (const std::exception &) {
	}
	mark(1);
	serve(0);
	mark(2);
	serve(7000);
	mark(3);
	say("MALFORMED", nr_malformed);
	return 0;
}
