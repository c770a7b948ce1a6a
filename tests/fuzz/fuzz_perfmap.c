/* SPDX-License-Identifier: MIT */
/*
 * fuzz_perfmap.c - a perf map file that may hold anything, in one piece and in pieces of 7 bytes:
 * both give the same names.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolizer/perfmap.h"

#include <stdlib.h>
#include <string.h>

#define NR 4

static void ask(const uint8_t *data, size_t len, size_t piece, struct perfmap_query queries[NR])
{
	static const uint64_t addresses[NR] = {0x0, 0x1004, 0x7fe274054e40, UINT64_MAX};
	struct perfmap map;

	for (int i = 0; i < NR; i++)
		queries[i] = (struct perfmap_query){addresses[i], NULL};
	perfmap_init(&map, queries, NR);
	for (size_t at = 0; at < len; at += piece)
		perfmap_feed(&map, (const char *)data + at, len - at < piece ? len - at : piece);
	perfmap_release(&map);
}

void fuzz_one(const uint8_t *data, size_t len)
{
	struct perfmap_query whole[NR], parts[NR];

	ask(data, len, len ? len : 1, whole);
	ask(data, len, 7, parts);
	for (int i = 0; i < NR; i++) {
		if (!whole[i].name != !parts[i].name ||
		    (whole[i].name && strcmp(whole[i].name, parts[i].name)))
			abort();
		free(whole[i].name);
		free(parts[i].name);
	}
}
