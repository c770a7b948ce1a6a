/* SPDX-License-Identifier: MIT */
/*
 * thin.c - fewer moments out of many; see thin.h.
 */
#include "analysis/thin.h"

void thin_evenly(const uint64_t *at, size_t nr, size_t want, bool *ret_keep)
{
	double span, step;
	size_t slot = 0;

	if (want < 2)
		want = 2;
	for (size_t i = 0; i < nr; i++)
		ret_keep[i] = nr <= want;
	if (nr <= want)
		return;
	span = (double)(at[nr - 1] - at[0]);
	step = span / (double)(want - 1);
	/* of each slot but the last the first moment; slots that are empty keep none */
	for (size_t i = 0; i + 1 < nr; i++) {
		double place = span > 0 ? (double)(at[i] - at[0]) / step : (double)i;

		if (place < (double)(want - 1) && (size_t)place >= slot) {
			ret_keep[i] = true;
			slot = (size_t)place + 1;
		}
	}
	ret_keep[nr - 1] = true;
}

size_t thin_next(const uint64_t *at, size_t nr)
{
	size_t best = 1;

	for (size_t i = 2; i + 1 < nr; i++)
		if (at[i + 1] - at[i - 1] < at[best + 1] - at[best - 1])
			best = i;
	return best;
}
