/* SPDX-License-Identifier: MIT */
/*
 * aligned_family.c - every way to get a block, ten blocks each.
 *
 * The program checks the alignment and writes every byte asked for; it exits
 * with 1 if a block is not aligned as asked. All blocks are freed before MARK 3.
 * pvalloc rounds its size up to the page: 115 or 4096 bytes per block are right.
 *
 * TRUTH grow 1 2 at=use_malloc blocks=10 bytes=1010
 * TRUTH grow 1 2 at=use_calloc blocks=10 bytes=1050
 * TRUTH grow 1 2 at=use_realloc blocks=10 bytes=1070
 * TRUTH grow 1 2 at=use_reallocarray blocks=10 bytes=1100
 * TRUTH grow 1 2 at=use_memalign blocks=10 bytes=1110
 * TRUTH grow 1 2 at=use_aligned_alloc blocks=10 bytes=2560
 * TRUTH grow 1 2 at=use_posix_memalign blocks=10 bytes=1130
 * TRUTH grow 1 2 at=use_valloc blocks=10 bytes=1140
 * TRUTH grow 1 2 at=use_pvalloc blocks=10 bytes=1150|40960
 * TRUTH only 1 2
 * TRUTH flat 1 3
 * TRUTH exit code=0
 */
#include "mark.h"
#include <malloc.h>

void *kept[90];
int nkept;

NOINLINE void keep(void *p, size_t align, size_t n)
{
	if (!p || (size_t)p % align)
		_exit(1);
	memset(p, 'k', n);
	kept[nkept++] = p;
}

NOINLINE void use_malloc(void)
{
	keep(malloc(101), 16, 101);
}
NOINLINE void use_calloc(void)
{
	char *p = calloc(7, 15);
	for (int i = 0; i < 105; i++)
		if (p[i])
			_exit(1);
	keep(p, 16, 105);
}
NOINLINE void use_realloc(void)
{
	char *p = malloc(20);
	memcpy(p, "stays the same", 15);
	p = realloc(p, 107);
	if (strcmp(p, "stays the same"))
		_exit(1);
	keep(p, 16, 107);
}
NOINLINE void use_reallocarray(void)
{
	keep(reallocarray(NULL, 11, 10), 16, 110);
}
NOINLINE void use_memalign(void)
{
	keep(memalign(64, 111), 64, 111);
}
NOINLINE void use_aligned_alloc(void)
{
	keep(aligned_alloc(128, 256), 128, 256);
}
NOINLINE void use_posix_memalign(void)
{
	void *p = NULL;
	if (posix_memalign(&p, 256, 113))
		_exit(1);
	keep(p, 256, 113);
}
NOINLINE void use_valloc(void)
{
	keep(valloc(114), (size_t)getpagesize(), 114);
}
NOINLINE void use_pvalloc(void)
{
	keep(pvalloc(115), (size_t)getpagesize(), 4096);
}

int main(void)
{
	mark(1);
	for (int i = 0; i < 10; i++) {
		use_malloc();
		use_calloc();
		use_realloc();
		use_reallocarray();
		use_memalign();
		use_aligned_alloc();
		use_posix_memalign();
		use_valloc();
		use_pvalloc();
	}
	mark(2);
	while (nkept)
		free(kept[--nkept]);
	mark(3);
	return 0;
}
