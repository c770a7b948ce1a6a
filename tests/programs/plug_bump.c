/* SPDX-License-Identifier: MIT */
/*
 * plug_bump.c - an allocator of a few lines, preloaded behind the tracer by stack_use: it takes
 * hardly any stack, so what a call takes is the tracer's.
 *
 * Nothing is given back, and no function calls another that the tracer hooks. Blocks from 64 KiB lie 16 MiB apart, so that the tracer's index of
 * addresses has to grow. The size stands before each block.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define AREA  ((size_t)1 << 32)
#define LARGE ((size_t)64 << 10)
#define GAP   ((size_t)16 << 20)

static struct {
	char *at, *end;
} small, large;

static char *take(size_t size, size_t align)
{
	char **at = size < LARGE ? &small.at : &large.at, *p;

	if (!*at) {
		*at = mmap(NULL, size < LARGE ? AREA : AREA << 4, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (*at == MAP_FAILED)
			return NULL;
	}
	size += align + 16;
	size = size < LARGE ? (size + 15) & ~(size_t)15 : (size + GAP) & ~(GAP - 1);
	p = __atomic_fetch_add(at, size, __ATOMIC_RELAXED);
	return (char *)(((uintptr_t)p + 16 + align - 1) & ~(uintptr_t)(align - 1));
}

static void *give(size_t align, size_t size)
{
	char *p = take(size, align < 16 ? 16 : align);

	if (p)
		memcpy(p - sizeof(size), &size, sizeof(size));
	return p;
}

static size_t size_of(const void *p)
{
	size_t size = 0;

	if (p)
		memcpy(&size, (const char *)p - sizeof(size), sizeof(size));
	return size;
}

size_t malloc_usable_size(void *p)
{
	return size_of(p);
}

void *memalign(size_t align, size_t size)
{
	return give(align, size);
}

void *malloc(size_t size)
{
	return give(16, size);
}

void *calloc(size_t nr, size_t size)
{
	return give(16, nr * size); /* never given before: zero */
}

void free(void *p)
{
	(void)p;
}

void *realloc(void *old, size_t size)
{
	size_t was = size_of(old);
	char *p = give(16, size);

	if (p && was)
		memcpy(p, old, was < size ? was : size);
	return p;
}

void *aligned_alloc(size_t align, size_t size)
{
	return give(align, size);
}

void *valloc(size_t size)
{
	return give(4096, size);
}

void *pvalloc(size_t size)
{
	return give(4096, (size + 4095) & ~(size_t)4095);
}

int posix_memalign(void **ret, size_t align, size_t size)
{
	void *p = give(align, size);

	*ret = p;
	return p ? 0 : ENOMEM;
}
