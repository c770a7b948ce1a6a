/* SPDX-License-Identifier: MIT */
/*
 * boot.c - blocks from the tracer's own memory.
 *
 * Runs in the traced program, perhaps before anything is set up. An arena that only grows: what
 * comes here is little and stays. Each block has its size in the 16 bytes below it.
 */
#include "tracer/boot.h"

#include "tracer/sys.h"

#include <string.h>

char *boot_arena = BOOT_NONE;
static uint64_t boot_used; /* bytes, atomic */

static char *arena(void)
{
	char *p = __atomic_load_n(&boot_arena, __ATOMIC_ACQUIRE), *none = BOOT_NONE;

	if (p != BOOT_NONE)
		return p;
	p = sys_map(BOOT_SIZE);
	if (p && !__atomic_compare_exchange_n(&boot_arena, &none, p, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE)) {
		sys_unmap(p, BOOT_SIZE);
		return none;
	}
	return p;
}

static size_t *size_of(const void *p)
{
	return (size_t *)((uintptr_t)p - 16);
}

void *boot_alloc(size_t size, size_t align)
{
	char *base = arena();
	uint64_t used = __atomic_load_n(&boot_used, __ATOMIC_RELAXED), start, end;

	if (!base || size > BOOT_SIZE || align > BOOT_SIZE)
		return NULL;
	if (align < 16)
		align = 16;
	do {
		start = (used + 16 + align - 1) & ~(uint64_t)(align - 1);
		end = start + ((size + 15) & ~(size_t)15);
		if (end > BOOT_SIZE)
			return NULL;
	} while (!__atomic_compare_exchange_n(&boot_used, &used, end, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	*size_of(base + start) = size;
	return base + start;
}

void boot_free(void *p)
{
	uint64_t start, end, begin;

	if (!p)
		return;
	start = (uint64_t)((char *)p - boot_arena);
	end = start + ((*size_of(p) + 15) & ~(size_t)15);
	begin = start - 16;
	if (__atomic_load_n(&boot_used, __ATOMIC_RELAXED) != end)
		return;
	memset(p, 0, *size_of(p)); /* blocks are zeroed */
	__atomic_compare_exchange_n(&boot_used, &end, begin, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

void *boot_realloc(void *p, size_t size)
{
	void *q = boot_alloc(size, 16);

	if (p && q) {
		memcpy(q, p, *size_of(p) < size ? *size_of(p) : size);
		boot_free(p);
	}
	return q;
}

size_t boot_usable(const void *p)
{
	return *size_of(p);
}
