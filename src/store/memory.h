/* SPDX-License-Identifier: MIT */
/*
 * memory.h - reads words of a running program's memory, where the kernel permits it.
 */
#ifndef HEAPSTORY_STORE_MEMORY_H
#define HEAPSTORY_STORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory {
	pid_t pid;
	int pagemap;
	uint64_t page_size;
	uint64_t *window; /* what /proc/PID/pagemap says of some pages from first_page on */
	uint64_t first_page;
	size_t nr_pages;
};

/* False if the memory of this process may not be read; then there is nothing to close. */
bool memory_open(struct memory *memory, pid_t pid);
void memory_close(struct memory *memory);

/*
 * The words at nr addresses, ascending. 0 where the address is not aligned, nothing is mapped, or
 * the page is not in memory: reading must not bring in what was swapped out or never touched.
 * False if the process may not be read after all, or has gone.
 */
bool memory_read_words(struct memory *memory, const uint64_t *addresses, size_t nr, uint64_t *ret);

#endif
