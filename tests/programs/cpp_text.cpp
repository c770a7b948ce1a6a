// SPDX-License-Identifier: MIT
/*
 * cpp_text.cpp - tries, ropes, regular expressions, paths, streams, strings of each character.
 * Tells what each block is (tell.h, at MARK 1). C++20; built with libc++, too.
 */
#include "tell.h"
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <list>
#include <locale>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

static std::string txt(int i, const char *s = "a string that certainly does not fit inside ")
{
	return s + std::to_string(i);
}

namespace
{
struct Trie {
	std::array<std::unique_ptr<Trie>, 26> next;
	bool end = false;
};
struct Sparse {
	std::map<char, std::unique_ptr<Sparse>> next;
	std::vector<int> hits;
};
void put(Trie &t, std::string_view w)
{
	Trie *p = &t;
	for (char c : w) {
		auto &n = p->next[(size_t)(c - 'a') % 26];
		if (!n) {
			n = std::make_unique<Trie>();
			TELL(n.get(), (anonymous namespace)::Trie);
		}
		p = n.get();
	}
}
void put(Sparse &t, std::string_view w)
{
	Sparse *p = &t;
	for (char c : w) {
		auto &n = p->next[c];
		if (!n) {
			n.reset(new Sparse);
			TELL(&n, std::map<char, std::unique_ptr<(anonymous namespace)::Sparse>>);
		}
		p = n.get();
	}
	p->hits.insert(p->hits.end(), {1, 2, 3, 4, 5, 6, 7, 8, 9});
}
void walk(Sparse &t)
{
	if (t.hits.size())
		TELL(t.hits.data(), std::vector<int>);
	for (auto &[c, n] : t.next)
		walk(*n);
}
class Rope
{
	struct Leaf;
	struct Part {
		virtual ~Part()
		{
		}
		virtual size_t size() const = 0;
	};
	struct Leaf : Part {
		std::string s;
		size_t size() const override
		{
			return s.size();
		}
	};
	struct Cat : Part {
		std::shared_ptr<Part> a, b;
		size_t size() const override
		{
			return a->size() + b->size();
		}
	};
	std::shared_ptr<Part> root;

      public:
	void add(std::string s)
	{
		auto l = std::make_shared<Leaf>();
		l->s = std::move(s);
		TELL(l.get(), std::shared_ptr<(anonymous namespace)::Rope::Leaf>);
		TELL(l->s.data(), std::string);
		if (!root)
			root = l;
		else {
			auto c = std::make_shared<Cat>();
			c->a = root;
			c->b = l;
			root = c;
			TELL(c.get(), std::shared_ptr<(anonymous namespace)::Rope::Cat>);
		}
	}
};
struct Header {
	std::string name, value;
};
std::vector<std::string> split(const std::string &s, char c)
{
	std::vector<std::string> r;
	std::istringstream in(s);
	std::string p;
	while (std::getline(in, p, c))
		r.push_back(p);
	return r;
}
} // namespace
int main()
{
	auto *t = new Trie;
	auto *s = new Sparse;
	auto *r = new Rope;
	const char *words[] = {"alpha", "alphabet", "beta",  "betting",
			       "gamma", "gammon",   "delta", "dell"};
	for (auto *w : words) {
		put(*t, w);
		put(*s, w);
	}
	walk(*s);
	for (int i = 0; i < 60; i++)
		r->add(txt(i) + " and more of it");
	auto *headers = new std::multimap<std::string, Header>;
	auto *hv = new std::vector<Header>;
	for (int i = 0; i < 60; i++) {
		headers->insert(
			{txt(i % 9),
			 Header{txt(i), txt(i, "some value of a header that is long enough ")}});
		hv->push_back({txt(i), std::string(100, 'v')});
	}
	for (auto &[k, v] : *headers) {
		TELL(&v, std::multimap<std::string, (anonymous namespace)::Header>);
		TELL(k.data(), std::string);
		TELL(v.name.data(), std::string);
		TELL(v.value.data(), std::string);
	}
	for (auto &h : *hv) {
		TELL(h.name.data(), std::string);
		TELL(h.value.data(), std::string);
	}
	TELL(hv->data(), std::vector<(anonymous namespace)::Header>);
	auto *lines = new std::list<std::vector<std::string>>;
	for (int i = 0; i < 30; i++)
		lines->push_back(split(
			"a longer piece of text that goes on;another longer piece of text;the third piece of text, long",
			';'));
	for (auto &l : *lines) {
		TELL(&l, std::list<std::vector<std::string>>);
		TELL(l.data(), std::vector<std::string>);
		for (auto &p : l)
			TELL(p.data(), std::string);
	}
	auto *paths = new std::map<std::filesystem::path, long>;
	for (int i = 0; i < 30; i++)
		(*paths)[std::filesystem::path("/usr/share/doc/something/long") /
			 std::to_string(i)] = i;
	for (auto &[k, v] : *paths) {
		TELL(&v, std::map<std::filesystem::path, long>);
		TELL(k.native().data(), std::string);
	}
	auto *streams = new std::vector<std::unique_ptr<std::ostream>>;
	for (int i = 0; i < 20; i++) {
		auto o = std::make_unique<std::ostringstream>();
		for (int k = 0; k < 90; k++)
			*o << "line " << k;
		TELL(o.get(), std::ostringstream);
		streams->push_back(std::move(o));
		streams->push_back(std::make_unique<std::ofstream>("/dev/null"));
		TELL(streams->back().get(), std::ofstream);
	}
	TELL(streams->data(), std::vector<std::unique_ptr<std::ostream>>);
	auto *u32 = new std::vector<std::u32string>;
	auto *w = new std::vector<std::wstring>;
	for (int i = 0; i < 30; i++) {
		u32->push_back(std::u32string(40, U'x'));
		w->push_back(L"wide " + std::wstring(40, L'y'));
	}
	for (auto &x : *u32)
		TELL(x.data(), std::u32string);
	for (auto &x : *w)
		TELL(x.data(), std::wstring);
	TELL(u32->data(), std::vector<std::u32string>);
	TELL(w->data(), std::vector<std::wstring>);
	auto *re = new std::vector<std::regex>;
	for (int i = 0; i < 3; i++)
		re->emplace_back("^([a-z]+)=(\\d+|x*)$");
	TELL(re->data(), std::vector<std::regex>);
	std::smatch *sm = new std::smatch;
	static std::string subject = "abc=17 and more of that, longer than small";
	std::regex_search(subject, *sm, std::regex("(a)(b)(c)=(\\d+)"));
	auto *sv = new std::unordered_map<std::string_view, std::vector<std::string_view>>;
	for (auto *x : words)
		(*sv)[x].assign(4, x);
	for (auto &[k, v] : *sv) {
		TELL(&v, std::unordered_map<std::string_view, std::vector<std::string_view>>);
		TELL(v.data(), std::vector<std::string_view>);
	}
	std::string acc;
	for (int i = 0; i < 500; i++) {
		acc += words[i % 8];
		acc.push_back(',');
		acc.insert(0, "x");
		acc.append(3, 'z');
	}
	auto *keep = new std::string(std::move(acc));
	TELL(keep->data(), std::string);
	auto *repl = new std::string(std::regex_replace(subject, std::regex("b"),
							"a replacement text that is long, really"));
	TELL(repl->data(), std::string);
	if (!print_told())
		return 1;
	mark(1);
	return 0;
}
