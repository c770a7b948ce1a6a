/* SPDX-License-Identifier: MIT */
/*
 * inlined_site.c - one place in the source that is in many places of the code.
 *
 * note_new() allocates in one line. It is inlined into three callers, into one of them twice, and
 * is called as a function of its own by a fourth; the compiler may unroll the loops. 400 notes of
 * 48 bytes come that way, 100 through each caller; other_new() is another line with 7 of 56.
 *
 * TRUTH grow 1 2 at=note_new blocks=400 bytes=19200
 * TRUTH grow 1 2 at=note_new via=plain blocks=100 bytes=4800
 * TRUTH grow 1 2 at=note_new via=twice blocks=100 bytes=4800
 * TRUTH grow 1 2 at=other_new blocks=7 bytes=392
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#include "mark.h"

static void *notes[500];
static int nr_notes;

static inline __attribute__((always_inline)) void *note_new(void)
{
	return notes[nr_notes++] = malloc(48);
}

NOINLINE void *plain(void)
{
	return note_new();
}

NOINLINE void loop(int nr)
{
#pragma GCC unroll 4
	for (int i = 0; i < nr; i++)
		note_new();
}

NOINLINE void twice(int nr)
{
	for (int i = 0; i < nr; i++) {
		note_new();
		note_new();
	}
}

NOINLINE void deeper(int nr)
{
	if (nr > 1)
		deeper(nr - 1);
	note_new();
}

NOINLINE void other_new(void)
{
	notes[nr_notes++] = malloc(56);
}

int main(void)
{
	mark(1);
	for (int i = 0; i < 100; i++)
		plain();
	loop(100);
	twice(50);
	for (int i = 0; i < 10; i++)
		deeper(10);
	for (int i = 0; i < 7; i++)
		other_new();
	mark(2);
	return 0;
}
