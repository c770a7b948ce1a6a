/* SPDX-License-Identifier: MIT */
/*
 * fuzz_rows.c - unwind data that may be anything: the search table, entries, instructions.
 *
 * The input is one readable segment: 2 bytes that say where in the table's code addresses to look
 * a row up, and then .eh_frame_hdr, with what follows it. Its addresses are relative to where it
 * lies, so the same input means the same at each run.
 */
#include "tests/fuzz/fuzz.h"

#include "tracer/ehframe.h"
#include "tracer/rows.h"

#include <stdlib.h>
#include <string.h>

void fuzz_one(const uint8_t *data, size_t len)
{
	struct rows_image image = {.nr_spans = 1};
	uint16_t offset;
	uint8_t *copy;

	if (len < 4)
		return;
	memcpy(&offset, data, sizeof(offset));
	/* a block of its own, so that a sanitizer sees a byte too many */
	copy = malloc(len - 2);
	if (!copy)
		return;
	memcpy(copy, data + 2, len - 2);
	image.eh_frame_hdr = (uintptr_t)copy;
	image.spans[0].start = (uintptr_t)copy;
	image.spans[0].end = (uintptr_t)copy + len - 2;
	for (uintptr_t i = 0; i < 4; i++) {
		row_t row = rows_parse(&image, (uintptr_t)copy + offset + i * 7);

		if (!row || row >> ROW_BITS)
			abort();
	}
	free(copy);
}
