/* SPDX-License-Identifier: MIT */
/*
 * wrapper.c - every allocation goes through one wrapper.
 *
 * The frame next to malloc is xmalloc for all blocks, so a report by the
 * innermost frame alone says nothing: only the callers tell the growing table
 * from the one that is rebuilt at the same size.
 *
 * TRUTH grow 1 2 at=xmalloc via=load_rows blocks=700 bytes=56000
 * TRUTH flat 1 2 at=xmalloc via=load_columns
 * TRUTH grow 1 2 at=xmalloc via=load_index blocks=-30 bytes=-3000
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#include "mark.h"

NOINLINE void *xmalloc(size_t n)
{
	void *p = malloc(n);
	if (!p)
		_exit(1);
	memset(p, 0, n);
	return p;
}

void *rows[1000], *columns[64], *index_page[50];
int nrows;

NOINLINE void load_rows(int n)
{
	for (int i = 0; i < n; i++)
		rows[nrows++] = xmalloc(80);
}

NOINLINE void load_columns(void)
{ /* rebuilt each time: 64 new, 64 old freed */
	for (int i = 0; i < 64; i++) {
		void *fresh = xmalloc(80);
		free(columns[i]);
		columns[i] = fresh;
	}
}

NOINLINE void load_index(int n)
{
	for (int i = 0; i < n; i++)
		index_page[i] = xmalloc(100);
}

NOINLINE void trim_index(int from, int to)
{
	for (int i = from; i < to; i++)
		free(index_page[i]);
}

int main(void)
{
	load_rows(100);
	load_columns();
	load_index(50);
	mark(1);
	load_rows(700);
	for (int i = 0; i < 20; i++)
		load_columns();
	trim_index(20, 50);
	mark(2);
	return 0;
}
