/* SPDX-License-Identifier: MIT */
/*
 * spread.c - how births are spread over the life; see spread.h.
 */
#include "analysis/spread.h"

#include <math.h>

void spread_add(struct spread *s, uint64_t birth_ms, uint64_t from_ms, uint64_t to_ms)
{
	double at =
		birth_ms > from_ms ? (double)(birth_ms - from_ms) / (double)(to_ms - from_ms) : 0;
	unsigned int slice = at < 1 ? (unsigned int)(at * SPREAD_SLICES) : SPREAD_SLICES - 1;

	s->born[slice]++;
}

double spread_value(const struct spread *s)
{
	double all = 0, entropy = 0;

	for (unsigned int i = 0; i < SPREAD_SLICES; i++)
		all += (double)s->born[i];
	if (!(all > 0))
		return 0;
	for (unsigned int i = 0; i < SPREAD_SLICES; i++) {
		double share = (double)s->born[i] / all;

		entropy -= share > 0 ? share * log(share) : 0;
	}
	return exp(entropy) / SPREAD_SLICES;
}
