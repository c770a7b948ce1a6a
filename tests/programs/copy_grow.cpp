/* SPDX-License-Identifier: MIT */
/*
 * copy_grow.cpp KIND - buffers that grow by copying, and how often each of them did.
 *
 * Grows buffers of one kind side by side. At MARK 1 they are all alive; before it there is a line
 * "BUFFER 0xADDRESS N" for each: where it is and how many times a block was made, filled from the
 * old one, and the old one freed. tests/tools/copies.py holds the lineages against these lines.
 *
 *   pods      vectors of ints, structs and bytes, also ones that begin with zeroes
 *   few       vectors of which most stay small
 *   callers   vectors of longs that three functions append to, with other blocks in between
 *   strings   vectors of strings, which are moved one by one
 *   pointers  vectors of unique_ptr and shared_ptr
 *   string    strings that get characters, words and numbers appended
 *   deque     the maps of deques
 *   table     the bucket arrays of hash tables
 *   plain     malloc, memcpy, free: by doubling, by 4 KiB more, with a header in front
 */
#include "mark.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

static uint64_t state = 88172645463325252u;

static uint64_t rnd()
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void buffer(const void *p, unsigned steps)
{
	char line[80];
	int len = snprintf(line, sizeof(line), "BUFFER %p %u\n", p, steps);

	if (write(1, line, (size_t)len) != len)
		_exit(99);
}

/* A vector that counts. */
template <class T> struct counted {
	std::vector<T> v;
	unsigned steps = 0;

	template <class U> NOINLINE void push(U &&value)
	{
		const T *before = v.data();

		v.push_back(std::forward<U>(value));
		steps += before && v.data() != before;
	}
	void tell() const { buffer(v.data(), steps); }
};

template <class T> using many = std::vector<counted<T>>;

template <class T> static void tell(const many<T> &all)
{
	for (const auto &one : all)
		one.tell();
}

struct pod {
	uint64_t a;
	uint32_t b, c;
	double d;
};

static void pods()
{
	many<int> ints(200), zeroes(20);
	many<pod> structs(200);
	many<uint8_t> bytes(100);

	for (int i = 0; i < 100000; i++) {
		ints[rnd() % ints.size()].push((int)rnd());
		structs[rnd() % structs.size()].push(pod{rnd(), (uint32_t)i, 7, 1.0 * i});
		bytes[rnd() % bytes.size()].push((uint8_t)rnd());
		if (i % 4 == 0)
			zeroes[rnd() % zeroes.size()].push(0);
	}
	tell(ints), tell(zeroes), tell(structs), tell(bytes);
	mark(1);
}

/* Of vectors that one function makes, 1 in 50 gets large; the others stay small and are dropped. */
static void few()
{
	many<int> large;

	for (int i = 0; i < 20000; i++) {
		counted<int> v;

		for (size_t n = i % 50 ? 1 + rnd() % 8 : 200 + rnd() % 2000; n; n--)
			v.push((int)rnd());
		if (i % 50 == 0)
			large.push_back(std::move(v));
	}
	tell(large);
	mark(1);
}

static std::string noise[100];

NOINLINE static void by_one(counted<long> &v)
{
	v.push((long)rnd());
}

NOINLINE static void by_two(counted<long> &v, int i)
{
	noise[i % 100] = std::string(rnd() % 100, (char)('a' + i % 26));
	v.push((long)rnd());
}

NOINLINE static void by_three(counted<long> &v)
{
	std::string text = std::to_string(rnd()) + std::to_string(rnd());

	v.push((long)(text.size() * rnd()));
}

static void callers()
{
	many<long> all(200);

	for (int i = 0; i < 100000; i++) {
		auto &v = all[rnd() % all.size()];

		if (i % 3 == 0)
			by_one(v);
		else if (i % 3 == 1)
			by_two(v, i);
		else
			by_three(v);
	}
	tell(all);
	mark(1);
}

static void strings()
{
	many<std::string> all(100);

	for (int i = 0; i < 30000; i++) {
		std::string text(rnd() % 50, (char)('a' + rnd() % 26));

		all[rnd() % all.size()].push(text);
	}
	tell(all);
	mark(1);
}

static void pointers()
{
	counted<std::unique_ptr<int>> unique;
	counted<std::shared_ptr<int>> shared;

	for (int i = 0; i < 50000; i++) {
		unique.push(std::make_unique<int>(i));
		shared.push(std::make_shared<int>(i));
	}
	unique.tell(), shared.tell();
	mark(1);
}

static void string()
{
	struct {
		std::string s;
		unsigned steps = 0;
	} all[200];

	for (int i = 0; i < 100000; i++) {
		auto &one = all[rnd() % 200];
		const char *before = one.s.data();
		bool inside = one.s.capacity() < 16; /* of the object: no block yet */

		switch (i % 3) {
		case 0:
			one.s.push_back((char)('a' + rnd() % 26));
			break;
		case 1:
			one.s += "some words of text ";
			break;
		default:
			one.s.append(std::to_string(rnd()));
		}
		one.steps += !inside && one.s.data() != before;
	}
	for (auto &one : all)
		buffer(one.s.data(), one.steps);
	mark(1);
}

/* Counts the arrays of pointers of the one container that lives: a deque's map, a table's buckets. */
static void *pointers_at;
static unsigned pointer_steps;

template <class T> struct watched {
	using value_type = T;

	watched() = default;
	template <class U> watched(const watched<U> &) {}

	T *allocate(size_t n)
	{
		T *p = static_cast<T *>(operator new(n * sizeof(T)));

		if (std::is_pointer<T>::value)
			pointers_at = p;
		return p;
	}
	void deallocate(T *p, size_t)
	{
		if (std::is_pointer<T>::value)
			pointer_steps += pointers_at != p;
		operator delete(p);
	}
	bool operator==(const watched &) const { return true; }
	bool operator!=(const watched &) const { return false; }
};

static void deque()
{
	std::deque<int, watched<int>> d;

	for (int i = 0; i < 3000000; i++)
		d.push_back(i);
	buffer(pointers_at, pointer_steps);
	mark(1);
}

static void table()
{
	std::unordered_map<uint64_t, uint64_t, std::hash<uint64_t>, std::equal_to<uint64_t>,
			   watched<std::pair<const uint64_t, uint64_t>>>
		t;

	for (uint64_t i = 0; i < 200000; i++)
		t[rnd()] = i;
	buffer(pointers_at, pointer_steps);
	mark(1);
}

/* How much of `data` there is stands in front of it, or beside it. */
struct plain_buffer {
	char *data;
	size_t len, cap;
	unsigned steps;
};

NOINLINE static void plain_append(struct plain_buffer *b, size_t more, size_t header, bool by_pages)
{
	if (b->len + more > b->cap) {
		size_t cap = !b->cap ? 64 : by_pages ? b->cap + 4096 : 2 * b->cap;
		char *data = (char *)malloc(header + cap);

		if (b->data) {
			memcpy(data, b->data, header + b->len);
			b->steps++;
			free(b->data);
		}
		b->data = data;
		b->cap = cap;
	}
	for (size_t i = 0; i < more; i++)
		b->data[header + b->len++] = (char)rnd();
	if (header)
		memcpy(b->data, &b->cap, sizeof(b->cap));
}

static void plain()
{
	static struct plain_buffer doubled[50], paged[50], headed[50];

	for (int i = 0; i < 100000; i++) {
		size_t more = 1 + rnd() % 40;

		plain_append(&doubled[rnd() % 50], more, 0, false);
		plain_append(&paged[rnd() % 50], more, 0, true);
		plain_append(&headed[rnd() % 50], more, 16, false);
	}
	for (int i = 0; i < 50; i++) {
		buffer(doubled[i].data, doubled[i].steps);
		buffer(paged[i].data, paged[i].steps);
		buffer(headed[i].data, headed[i].steps);
	}
	mark(1);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)();
	} kinds[] = {{"pods", pods},	 {"few", few},	   {"callers", callers},
		     {"strings", strings}, {"pointers", pointers}, {"string", string},
		     {"deque", deque},	 {"table", table}, {"plain", plain}};

	for (const auto &kind : kinds) {
		if (argc == 2 && !strcmp(argv[1], kind.name)) {
			kind.run();
			return 0;
		}
	}
	return 2;
}
