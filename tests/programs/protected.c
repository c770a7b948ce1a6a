/* SPDX-License-Identifier: MIT */
/*
 * protected.c - copies the head of a block to a larger one and frees it, while the program may not
 * read the page after the one that the block begins in.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE 12000u

/* A block that has at least 32 and less than 64 bytes on its first page; blocks before it leak. */
static char *make_block(uintptr_t page)
{
	for (unsigned int tries = 0; tries < 4096; tries++) {
		char *p = malloc(SIZE);
		uintptr_t at = (uintptr_t)p & (page - 1);

		if (p && at > page - 64 && at <= page - 32)
			return p;
	}
	return NULL;
}

int main(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	/* The allocator needs to write only where a block begins and ends. */
	char *old = page + 64 < SIZE ? make_block(page) : NULL;
	char *next, *copy;

	if (!old)
		return 77;
	next = old + (page - ((uintptr_t)old & (page - 1)));
	for (unsigned int i = 0; i < 32; i++)
		old[i] = (char)('A' + i);
	if (mprotect(next, page, PROT_NONE))
		return 1;
	copy = malloc(2 * SIZE);
	if (!copy)
		return 1;
	memcpy(copy, old, 32);
	free(old);
	if (mprotect(next, page, PROT_READ | PROT_WRITE))
		return 1;
	free(copy);
	return 0;
}
