/* SPDX-License-Identifier: MIT */
/*
 * own_malloc.c - a program with an allocator of its own.
 *
 * Heap story: it defines malloc and its family itself, on a static pool that is never given back,
 * and makes 100 blocks. The definitions of a program come before those of a preloaded library:
 * nobody outside sees these blocks.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char pool[1 << 20] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t size);
void free(void *block);
void *calloc(size_t nr, size_t size);
void *realloc(void *block, size_t size);

void *malloc(size_t size)
{
	size_t room = (size + 31) & ~(size_t)15;
	char *block = pool + used;

	if (size > sizeof(pool) || room > sizeof(pool) - used)
		return NULL;
	used += room;
	*(size_t *)(void *)block = size;
	return block + 16;
}

void free(void *block)
{
	(void)block;
}

void *calloc(size_t nr, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(nr, size, &bytes) ? NULL : malloc(bytes); /* fresh: zero */
}

void *realloc(void *block, size_t size)
{
	void *to = malloc(size);
	size_t old = block ? *(size_t *)(void *)((char *)block - 16) : 0;

	if (to && block)
		memcpy(to, block, old < size ? old : size);
	return to;
}

int main(void)
{
	for (int i = 0; i < 100; i++)
		if (!malloc(100))
			return 1;
	puts("made 100 blocks");
	return 0;
}
