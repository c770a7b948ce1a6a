/* SPDX-License-Identifier: MIT */
/*
 * fuzz_lines.c - a .debug_line that may be anything, with itself as its sections of strings.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "symbolizer/lines.h"
#include "symbolizer/timelimit.h"

/* What lines.h promises of sequences and rows. */
static void check_table(const struct line_table *t)
{
	for (size_t i = 0; i < t->nr_sequences; i++) {
		const struct line_sequence *s = &t->sequences[i];

		if (s->start >= s->end || s->lowest > s->start || !s->nr ||
		    s->first + s->nr > t->nr_rows || (i && s[-1].end > s->end) ||
		    (i && s[-1].lowest > s->lowest))
			abort();
		for (size_t n = 1; n < s->nr; n++)
			if (t->rows[s->first + n].address <= t->rows[s->first + n - 1].address)
				abort();
	}
}

void fuzz_one(const uint8_t *data, size_t len)
{
	struct line_source source = {
		.line = {data, len}, .str = {data, len}, .line_str = {data, len},
		.comp_dir = "/folder", .address_size = 8, .max_bytes = 1 << 20,
	};
	struct time_limit limit = {.left_ns = UINT64_C(200000000)};
	struct line_table table;

	time_limit_start(&limit);
	for (uint64_t offset = 0; offset < len; offset += len / 4 + 1) {
		line_table_init(&table, &source, offset, &limit);
		check_table(&table);
		for (size_t i = 0; i < table.nr_sequences && i < 32; i++) {
			const struct line_sequence *s = &table.sequences[i];
			struct line line;

			if (!line_table_find(&table, s->start, &line) ||
			    !line_table_find(&table, s->end - 1, &line))
				abort();
			free(line_table_path(&table, line.file));
		}
		line_table_release(&table);
	}
}
