/* SPDX-License-Identifier: MIT */
/*
 * plug_b.c - second plugin of dl_plugin.
 */
#include "mark.h"

void plug_b_keep(int n)
{
	for (int i = 0; i < n; i++)
		sink = malloc(56);
}
