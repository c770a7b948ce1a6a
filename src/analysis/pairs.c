/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - pairs of numbers, numbered; see pairs.h.
 */
#include "analysis/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

static uint32_t *slot_of(const struct pairs *p, uint32_t a, uint32_t b)
{
	uint64_t key = (uint64_t)a << 32 | b;
	size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & p->mask;

	while (p->table[at] && (p->all[p->table[at] - 1].a != a || p->all[p->table[at] - 1].b != b))
		at = (at + 1) & p->mask;
	return &p->table[at];
}

static void grow(struct pairs *p)
{
	free(p->table);
	p->mask = p->mask ? 2 * p->mask + 1 : 63;
	p->table = xcalloc(p->mask + 1, sizeof(*p->table));
	for (size_t i = 0; i < p->nr; i++)
		*slot_of(p, p->all[i].a, p->all[i].b) = (uint32_t)i + 1;
}

uint32_t pairs_number(struct pairs *p, uint32_t a, uint32_t b)
{
	uint32_t *slot;

	if (2 * p->nr >= p->mask)
		grow(p);
	slot = slot_of(p, a, b);
	if (!*slot) {
		p->all = xgrow(p->all, &p->alloc, p->nr + 1, sizeof(*p->all));
		p->all[p->nr++] = (struct pair){a, b};
		*slot = (uint32_t)p->nr;
	}
	return *slot - 1;
}

void pairs_release(struct pairs *p)
{
	free(p->all);
	free(p->table);
	memset(p, 0, sizeof(*p));
}
