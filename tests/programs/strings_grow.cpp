// SPDX-License-Identifier: MIT
/*
 * strings_grow.cpp - texts that get longer, each in its own way.
 *
 * push_chars() adds 20000 characters to a journal between two marks, one by one: 31 bytes at birth
 * (room for 30 and a 0), then 61, 121, ... 15 * 2^k + 1. append_words() adds words of 7 to a page,
 * 3000 of them through head(), 5000 through body(). keep_lines() keeps 40 strings of 64 characters
 * a period in a vector, which moves them one by one as it doubles. set_title() sets a string anew
 * 2000 times, to texts that are all of one length: that is no growth. scratch() makes and drops
 * texts. From MARK 3 to 4 the journal is cut to 100 characters by shrink_to_fit, the page and the
 * title are swapped, which moves no block, and nothing grows.
 *
 * TRUTH live 1 at=push_chars blocks=1 bytes=31
 * TRUTH grow 1 2 at=push_chars blocks=0 bytes=30690
 * TRUTH grow 2 3 at=push_chars blocks=0 bytes=30720
 * TRUTH lineage 2 at=push_chars size=30721 born=31 grows=10 ratio=2 inferred=True birth=push_chars
 * TRUTH lineage 3 at=push_chars size=61441 born=31 grows=11 ratio=2 inferred=True birth=push_chars first=1..2 latest=2..3
 * TRUTH lineage 3 at=append_words size=122881 born=31 grows=12 ratio=2 inferred=True via=body birth=append_words first=1..2 latest=2..3
 * TRUTH growers 3 at=append_words head=11 body=1
 * TRUTH grow 1 3 at=append_words blocks=1 bytes=122881
 * TRUTH rate 1 3 count=40000 at=append_words blocks=0.000 bytes=3.1
 * TRUTH grow 1 2 at=keep_lines blocks=41 bytes=4648
 * TRUTH grow 2 3 at=keep_lines blocks=40 bytes=4648
 * TRUTH lineage 3 at=keep_lines size=4096 born=32 grows=7 ratio=2 inferred=True birth=keep_lines
 * TRUTH flat 1 3 at=set_title
 * TRUTH flat 1 3 at=scratch
 * TRUTH lineage 3 at=set_title blocks=0
 * TRUTH only 1 3
 * TRUTH grow 3 4 at=push_chars blocks=-1 bytes=-61441
 * TRUTH grow 3 4 at=cut blocks=1 bytes=101
 * TRUTH only 3 4
 * TRUTH events 3 4 born=1 freed=1 resized=0
 * TRUTH exit code=0
 */
#include "mark.h"
#include <string>
#include <vector>

static std::string journal, page, title;
static std::vector<std::string> lines;

NOINLINE void push_chars(size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		journal.push_back((char)('a' + i % 26));
}

NOINLINE void append_words(int nr)
{
	for (int i = 0; i < nr; i++)
		page.append("lorem, ", 7);
}

NOINLINE void head(int nr)
{
	append_words(nr);
	sink = &page;
}

NOINLINE void body(int nr)
{
	append_words(nr);
	sink = &title;
}

NOINLINE void keep_lines(int nr)
{
	for (int i = 0; i < nr; i++)
		lines.push_back(std::string(64, (char)('a' + i % 26)));
}

NOINLINE void set_title(int i)
{
	std::string fresh(200, (char)('a' + i % 26));

	title = std::move(fresh);
}

NOINLINE void scratch(int i)
{
	std::string text;

	for (int k = 0; k < i % 300; k++)
		text += "ab";
	sink = text.data();
}

static void churn(int nr)
{
	for (int i = 0; i < nr; i++) {
		set_title(i);
		scratch(i);
	}
}

static void period(void)
{
	for (int i = 0; i < 10; i++) {
		push_chars(2000);
		churn(100);
		keep_lines(4);
	}
}

NOINLINE void cut(void)
{
	journal.resize(100);
	journal.shrink_to_fit();
	sink = &journal;
}

int main()
{
	push_chars(20);
	set_title(0);
	mark(1);
	period();
	head(5000);
	mark(2);
	period();
	head(3000);
	body(5000);
	mark(3);
	cut();
	page.swap(title);
	mark(4);
	return 0;
}
