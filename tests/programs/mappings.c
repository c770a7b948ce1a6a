/* SPDX-License-Identifier: MIT */
/*
 * mappings.c - memory of the program's own, not of malloc.
 *
 * A region of 16 MiB grows by mremap to 64 MiB and eight mappings of 1 MiB come, while malloc is
 * where it was. Others lose their head and tail, or their middle, are replaced in part by
 * MAP_FIXED, are of a file, come from sbrk, or are gone again. Memory that malloc maps for itself
 * is in no line.
 *
 * TRUTH flat 1 2
 * TRUTH mapgrow 1 2 at=region_grow blocks=1 bytes=67108864
 * TRUTH mapgrow 1 2 at=region_open blocks=-1 bytes=-16777216
 * TRUTH mapgrow 1 2 at=block_map blocks=8 bytes=8388608
 * TRUTH mapgrow 1 2 at=trimmed_map blocks=1 bytes=2097152
 * TRUTH mapgrow 1 2 at=holed_map blocks=2 bytes=2097052
 * TRUTH mapgrow 1 2 at=replaced_old blocks=1 bytes=1048576
 * TRUTH mapgrow 1 2 at=replaced_new blocks=1 bytes=1048576
 * TRUTH mapgrow 1 2 at=file_map blocks=1 bytes=100
 * TRUTH mapgrow 1 2 at=break_grow blocks=1 bytes=131072
 * TRUTH mapgrow 1 2 at=gone blocks=0 bytes=0
 * TRUTH maponly 1 2
 * TRUTH exit code=0
 */
#include "mark.h"
#include <fcntl.h>
#include <sys/mman.h>

#define MIB (1024 * 1024UL)

static char *region, *block[8];
static size_t region_size;

static char *map(char *at, size_t size, int flags)
{
	char *p = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	return p;
}

/* In line, so that the site is the function that maps. */
#define MAP(at, size, flags) \
	mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (flags), -1, 0)

static NOINLINE void region_open(void)
{
	region_size = 16 * MIB;
	region = MAP(NULL, region_size, 0);
	region[0] = 1;
}

static NOINLINE void region_grow(void)
{
	region = mremap(region, region_size, region_size * 2, MREMAP_MAYMOVE);
	if (region == MAP_FAILED || region[0] != 1)
		_exit(1);
	region_size *= 2;
}

static NOINLINE void block_map(int i)
{
	block[i] = MAP(NULL, MIB, 0);
	block[i][0] = 3;
}

static NOINLINE char *trimmed_map(void)
{
	return MAP(NULL, 4 * MIB, 0);
}

static NOINLINE void trim(char *p)
{
	if (munmap(p, MIB) || munmap(p + 3 * MIB, MIB))
		_exit(1);
	sink = p + MIB;
}

static NOINLINE char *holed_map(void)
{
	return MAP(NULL, 3 * MIB - 100, 0);
}

static NOINLINE void make_hole(char *p)
{
	if (munmap(p + MIB, MIB))
		_exit(1);
	sink = p;
}

static NOINLINE char *replaced_old(void)
{
	return MAP(NULL, 2 * MIB, 0);
}

static NOINLINE void replaced_new(char *p)
{
	sink = MAP(p, MIB, MAP_FIXED);
}

static NOINLINE void file_map(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	sink = mmap(NULL, 100, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
}

static NOINLINE void break_grow(void)
{
	sink = sbrk(65536);
}

static NOINLINE void gone(void)
{
	char *p = map(NULL, MIB, 0);

	munmap(p, MIB);
	sink = sbrk(8192);
	if (sbrk(-8192) == (void *)-1)
		_exit(1);
}

static NOINLINE void churn(void)
{
	void *large = malloc(4 * MIB); /* malloc maps these itself */

	sink = large;
	for (int i = 0; i < 500; i++) {
		void *p = malloc(64);

		sink = p;
		free(p);
	}
	free(large);
}

int main(void)
{
	region_open();
	churn();
	mark(1);
	region_grow();
	region_grow();
	for (int i = 0; i < 8; i++)
		block_map(i);
	trim(trimmed_map());
	make_hole(holed_map());
	replaced_new(replaced_old());
	file_map();
	gone();
	break_grow();
	break_grow();
	churn();
	mark(2);
	return 0;
}
