/* SPDX-License-Identifier: MIT */
/*
 * snapshot_sort.c - sorts records by address where they lie: by one byte of the address after the
 * other, from the top (American flag sort). Needs no memory and takes a second for 10 million.
 */
#include "analysis/snapshot_internal.h"

#define SMALL 48u

static uint64_t key(const struct hs_record *r)
{
	return r->word & HS_RECORD_ADDRESS;
}

static void sort_small(struct hs_record *r, uint64_t nr)
{
	for (uint64_t i = 1; i < nr; i++) {
		struct hs_record x = r[i];
		uint64_t j = i;

		for (; j && key(&r[j - 1]) > key(&x); j--)
			r[j] = r[j - 1];
		r[j] = x;
	}
}

/* Puts every record into the part of its byte. start[b] and end[b] delimit what is not placed. */
static void permute(struct hs_record *r, unsigned int shift, uint64_t start[256],
		    const uint64_t end[256])
{
	for (unsigned int b = 0; b < 256; b++) {
		while (start[b] < end[b]) {
			struct hs_record x = r[start[b]];
			unsigned int to = (key(&x) >> shift) & 255;

			while (to != b) {
				struct hs_record displaced = r[start[to]];

				r[start[to]++] = x;
				x = displaced;
				to = (key(&x) >> shift) & 255;
			}
			r[start[b]++] = x;
		}
	}
}

/* Records that are equal above bit shift + 8. At most six calls deep, as keys have 48 bits. */
static void sort_bytes(struct hs_record *r, uint64_t nr, unsigned int shift)
{
	uint64_t start[256], end[256] = {0}, sum = 0;

	for (uint64_t i = 0; i < nr; i++)
		end[(key(&r[i]) >> shift) & 255]++;
	for (unsigned int b = 0; b < 256; b++) {
		start[b] = sum;
		sum += end[b];
		end[b] = sum;
	}
	permute(r, shift, start, end);
	if (!shift)
		return;
	for (unsigned int b = 0; b < 256; b++) {
		uint64_t first = b ? end[b - 1] : 0, len = end[b] - first;

		if (len <= SMALL)
			sort_small(r + first, len);
		else
			sort_bytes(r + first, len, shift - 8);
	}
}

void records_sort(struct hs_record *records, uint64_t nr)
{
	if (nr <= SMALL)
		sort_small(records, nr);
	else
		sort_bytes(records, nr, 40);
}
