/* SPDX-License-Identifier: MIT */
/*
 * fills.c - keeps 300000 small blocks at once, for which a small store has no room, and lives on.
 */
#include "mark.h"

int main(void)
{
	for (int i = 0; i < 300000; i++)
		sink = malloc(16);
	mark(1);
	return 0;
}
