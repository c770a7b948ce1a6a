/* SPDX-License-Identifier: MIT */
/*
 * cache_insert.c - the plainest growth: one function keeps what it allocates.
 *
 * Before MARK 1 the cache takes 200 entries. Between 1 and 2 it takes 1000
 * more while 1000 look-ups allocate and free 100 bytes each. Between 2 and 3
 * there are only look-ups.
 * Also built as cache_insert_O2, _nopie, _static, _stripped (its symbols are in
 * cache_insert_stripped.debug, found by build id or debug link) and _musl: same truth.
 *
 * TRUTH live 1 at=cache_insert blocks=200 bytes=9600
 * TRUTH grow 1 2 at=cache_insert via=serve blocks=1000 bytes=48000
 * TRUTH only 1 2
 * TRUTH flat 2 3
 * TRUTH exit code=0
 */
#include "mark.h"

struct entry {
	struct entry *next;
	char body[40];
};
struct entry *cache;

NOINLINE void cache_insert(int key)
{
	struct entry *e = malloc(sizeof *e);
	memset(e->body, key, sizeof e->body);
	e->next = cache;
	cache = e;
}

NOINLINE void cache_lookup(int key)
{
	char *name = malloc(100);
	name[0] = (char)key;
	sink = name;
	free(name);
}

NOINLINE void serve(int requests, int misses)
{
	for (int i = 0; i < requests; i++) {
		cache_lookup(i);
		if (i < misses)
			cache_insert(i);
	}
}

int main(void)
{
	serve(200, 200);
	mark(1);
	serve(1000, 1000);
	mark(2);
	serve(1000, 0);
	mark(3);
	return 0;
}
