/* SPDX-License-Identifier: MIT */
/*
 * realloc_edges.c - the corners: size 0, NULL, failure, shrinking.
 *
 * glibc: realloc(p, 0) frees p and returns NULL; malloc(0) and calloc(0, n) give
 * a block of no bytes that is live until freed; a realloc that fails leaves the
 * old block as it was. The program exits with 1 if one of these does not hold.
 *
 * TRUTH flat 1 2 at=edge_realloc_to_zero
 * TRUTH grow 1 2 at=edge_realloc_null blocks=100 bytes=6000
 * TRUTH grow 1 2 at=edge_failed_realloc blocks=100 bytes=7000
 * TRUTH grow 1 2 at=edge_failed_array blocks=100 bytes=8000
 * TRUTH grow 1 2 at=edge_zero_sizes blocks=200 bytes=0
 * TRUTH grow 1 2 at=edge_shrink blocks=100 bytes=9000
 * TRUTH flat 1 2 at=edge_failed_malloc
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#include "mark.h"
#include <errno.h>
#include <stdint.h>

volatile size_t too_much = SIZE_MAX / 2, zero = 0;
void *kept[100][6];

NOINLINE void edge_realloc_to_zero(void)
{
	void *p = malloc(50);
	sink = p;
	if (realloc(p, zero) != NULL)
		_exit(1);
}
NOINLINE void *edge_realloc_null(void)
{
	return realloc(NULL, 60);
}
NOINLINE void *edge_failed_realloc(void)
{
	char *p = malloc(70);
	memset(p, 'f', 70);
	errno = 0;
	if (realloc(p, too_much) != NULL || errno != ENOMEM || p[69] != 'f')
		_exit(1);
	return p;
}
NOINLINE void *edge_failed_array(void)
{
	char *p = malloc(80);
	memset(p, 'a', 80);
	if (reallocarray(p, too_much, 4) != NULL || p[79] != 'a')
		_exit(1);
	return p;
}
NOINLINE void edge_zero_sizes(void **a, void **b)
{
	*a = malloc(zero);
	*b = calloc(zero, 8);
	if (!*a || !*b || (size_t)*a == (size_t)*b)
		_exit(1);
}
NOINLINE void *edge_shrink(void)
{
	char *p = malloc(5000);
	p[89] = 's';
	p = realloc(p, 90);
	if (!p || p[89] != 's')
		_exit(1);
	return p;
}
NOINLINE void edge_failed_malloc(void)
{
	void *a = NULL;
	if (malloc(too_much) != NULL || calloc(too_much, 4) != NULL)
		_exit(1);
	if (posix_memalign(&a, 3, 64) != EINVAL || a)
		_exit(1);
	free(NULL);
}

int main(void)
{
	mark(1);
	for (int i = 0; i < 100; i++) {
		edge_realloc_to_zero();
		kept[i][0] = edge_realloc_null();
		kept[i][1] = edge_failed_realloc();
		kept[i][2] = edge_failed_array();
		edge_zero_sizes(&kept[i][3], &kept[i][4]);
		kept[i][5] = edge_shrink();
		edge_failed_malloc();
	}
	mark(2);
	return 0;
}
