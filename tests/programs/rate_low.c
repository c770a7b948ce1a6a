/* SPDX-License-Identifier: MIT */
/*
 * rate_low.c - leaks that most operations do not have.
 *
 * Of 8000 requests every eighth keeps a note of 24 bytes (0.125 blocks and 3 bytes a
 * request), every thousandth a page of 4096 (0.001 blocks, 4.096 bytes), and one in
 * all a block of 100 (0.000125 blocks, 0.0125 bytes). A reply is made and freed each
 * time, and a table of 500 slots of 32 bytes is filled once, in the first requests.
 *
 * TRUTH rate 2 3 count=8000 at=keep_note blocks=0.125 bytes=3.0
 * TRUTH rate 2 3 count=8000 at=keep_page blocks=0.001 bytes=4.1
 * TRUTH rate 2 3 count=8000 at=keep_once blocks=0.000 bytes=0.0
 * TRUTH rate 2 3 count=8000 at=fill_slot blocks=0.000 bytes=0.0
 * TRUTH rate 1 2 count=8000 at=fill_slot blocks=0.063 bytes=2.0
 * TRUTH grow 2 3 at=keep_once blocks=1 bytes=100
 * TRUTH flat 2 3 at=reply
 * TRUTH only 2 3
 * TRUTH exit code=0
 */
#include "mark.h"

#define REQUESTS 8000
#define SLOTS 500

struct note {
	struct note *next;
	char text[16];
};

static struct note *notes;
static void *pages[100], *once[10], *slots[SLOTS];
static int nr_pages, nr_once;

NOINLINE void keep_note(void)
{
	struct note *n = malloc(sizeof(*n));

	if (!n)
		_exit(1);
	n->next = notes;
	notes = n;
}

NOINLINE void keep_page(void)
{
	pages[nr_pages++] = malloc(4096);
}

NOINLINE void keep_once(void)
{
	once[nr_once++] = malloc(100);
}

NOINLINE void fill_slot(int i)
{
	if (!slots[i])
		slots[i] = malloc(32);
}

NOINLINE void reply(int i)
{
	char *text = malloc((size_t)(64 + i % 512));

	if (!text)
		_exit(1);
	text[0] = 'r';
	sink = text;
	free(text);
}

NOINLINE void serve(int nr)
{
	for (int i = 0; i < nr; i++) {
		reply(i);
		fill_slot(i % SLOTS);
		if (i % 8 == 0)
			keep_note();
		if (i % 1000 == 0)
			keep_page();
		if (i == nr / 2)
			keep_once();
	}
	say("OPS", nr);
}

int main(void)
{
	mark(1);
	serve(REQUESTS);
	mark(2);
	serve(REQUESTS);
	mark(3);
	return 0;
}
