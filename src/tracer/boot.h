/* SPDX-License-Identifier: MIT */
/*
 * boot.h - blocks from the tracer's own memory: before the real allocator is found, and for what
 * others allocate on our behalf (the loader and libunwind).
 */
#ifndef HEAPSTORY_TRACER_BOOT_H
#define HEAPSTORY_TRACER_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOOT_SIZE (8u << 20) /* bytes of the arena; address space, touched as used */

#define BOOT_NONE ((char *)-(intptr_t)BOOT_SIZE) /* where the arena is before the first block */
extern char *boot_arena;

/* True if p is from this arena. */
static inline bool boot_owns(const void *p)
{
	return __builtin_expect((uintptr_t)p - (uintptr_t)boot_arena < BOOT_SIZE, 0);
}

/* Zeroed block, aligned to align (a power of two; at least 16). NULL when the arena is used up. */
void *boot_alloc(size_t size, size_t align);
/* Frees p if it is the latest block; else its memory is not used again. NULL is fine. */
void boot_free(void *p);
/* Grows or shrinks; moves by copying. p may be NULL. */
void *boot_realloc(void *p, size_t size);
size_t boot_usable(const void *p);

#endif
