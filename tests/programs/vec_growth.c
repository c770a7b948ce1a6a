/* SPDX-License-Identifier: MIT */
/*
 * vec_growth.c - one buffer that doubles, and where it first grew.
 *
 * A journal is born as 64 bytes in journal_open and doubled by realloc in
 * buf_reserve whenever journal_append finds it full. At MARK 1 it has just been
 * born, at MARK 2 it is 65536 bytes, at MARK 3 it is 33554432 bytes. Small
 * decoys are allocated and freed next to it, so that it has to move.
 *
 * TRUTH live 1 at=journal_open blocks=1 bytes=64
 * TRUTH largest 2 size=65536 born=64 grows=10 ratio=2 at=buf_reserve via=journal_append birth=journal_open
 * TRUTH largest 3 size=33554432 born=64 grows=19 ratio=2 at=buf_reserve via=journal_append birth=journal_open
 * TRUTH only 1 3
 * TRUTH exit code=0
 */
#include "mark.h"

struct buf {
	char *data;
	size_t len, cap;
};
struct buf journal;

NOINLINE void journal_open(void)
{
	journal.cap = 64;
	journal.data = malloc(journal.cap);
}

NOINLINE void buf_reserve(struct buf *b, size_t more)
{
	if (b->len + more <= b->cap)
		return;
	b->cap *= 2;
	b->data = realloc(b->data, b->cap);
	if (!b->data)
		_exit(1);
}

NOINLINE void journal_append(size_t n)
{
	buf_reserve(&journal, n);
	memset(journal.data + journal.len, 'j', n);
	journal.len += n;
}

NOINLINE void format_line(int i)
{
	char *tmp = malloc((size_t)(40 + i % 200));
	tmp[0] = 'x';
	sink = tmp;
	free(tmp);
}

NOINLINE void run_until(size_t len)
{
	for (int i = 0; journal.len < len; i++) {
		format_line(i);
		journal_append(32);
	}
}

int main(void)
{
	journal_open();
	mark(1);
	run_until(33000);
	mark(2);
	run_until(16777216 + 32);
	mark(3);
	return 0;
}
