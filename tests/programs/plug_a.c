/* SPDX-License-Identifier: MIT */
/*
 * plug_a.c - first plugin of dl_plugin.
 */
#include "mark.h"

void plug_a_keep(int n)
{
	for (int i = 0; i < n; i++)
		sink = malloc(40);
}
