/* SPDX-License-Identifier: MIT */
/*
 * libearly.c - library of early_init: allocates in its constructor.
 */
#include "mark.h"

void *library_blocks[10];

__attribute__((constructor)) NOINLINE void early_library(void)
{
	for (int i = 0; i < 10; i++)
		library_blocks[i] = malloc(89);
}
