/* SPDX-License-Identifier: MIT */
/*
 * lines.c - the program of a line table, run once into rows; see lines.h.
 *
 * Offline only. DWARF 5, section 6.2.5. Each row costs at least one byte of the program, so the
 * rows are bounded by the section. They stay in their sequence: sorted into one list, functions
 * that the linker folded into one (and whose sequences so overlap) would be mixed row by row.
 */
#include "symbolizer/lines.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/dwarf_names.h"
#include "symbolizer/lines_internal.h"
#include "symbolizer/timelimit.h"
#include "util/alloc.h"

#define STEP 65536u             /* opcodes between two looks at the clock */

/* The registers of the line number machine, and the sequence that is being made. */
struct machine {
	struct line_table *table;
	const struct line_header *header;
	uint64_t address;
	uint64_t file, line, column;
	uint64_t op_index;
	struct line_sequence sequence;
	bool open;              /* sequence has a row */
	bool broken;            /* its addresses make no sense: it is dropped */
};

static void reset(struct machine *m)
{
	m->address = 0;
	m->file = 1;
	m->line = 1;
	m->column = 0;
	m->op_index = 0;
	m->open = false;
	m->broken = false;
}

static void advance(struct machine *m, uint64_t operations)
{
	const struct line_header *h = m->header;

	if (h->max_operations == 1) {
		m->address += operations * h->min_instruction;
		return;
	}
	operations += m->op_index;
	m->address += operations / h->max_operations * h->min_instruction;
	m->op_index = operations % h->max_operations;
}

static void add_row(struct machine *m)
{
	struct line_table *t = m->table;
	struct line_row *last;

	if (!m->open) {
		m->sequence = (struct line_sequence){ .start = m->address, .first = t->nr_rows };
		m->open = true;
	}
	if (m->address < m->sequence.start || m->address - m->sequence.start > UINT32_MAX) {
		m->broken = true;
		return;
	}
	last = t->nr_rows > m->sequence.first ? &t->rows[t->nr_rows - 1] : NULL;
	if (last && last->address > m->address - m->sequence.start)
		m->broken = true;
	/* Of several rows at one address the last is the one that is looked for. */
	if (!last || last->address != m->address - m->sequence.start) {
		t->rows = xgrow(t->rows, &t->alloc_rows, t->nr_rows + 1, sizeof(*t->rows));
		last = &t->rows[t->nr_rows++];
	}
	*last = (struct line_row){
		.address = (uint32_t)(m->address - m->sequence.start),
		.file = m->file < UINT32_MAX ? (uint32_t)m->file : UINT32_MAX,
		.line = (uint32_t)m->line,
		.column = m->column < UINT32_MAX ? (uint32_t)m->column : UINT32_MAX,
	};
}

/* Ends the sequence at the present address. Those at 0 and 1 are of code that was left out. */
static void end_sequence(struct machine *m)
{
	struct line_table *t = m->table;

	if (m->open && !m->broken && m->sequence.start > 1 && m->address > m->sequence.start) {
		m->sequence.end = m->address;
		m->sequence.nr = t->nr_rows - m->sequence.first;
		t->sequences = xgrow(t->sequences, &t->alloc_sequences, t->nr_sequences + 1,
				     sizeof(*t->sequences));
		t->sequences[t->nr_sequences++] = m->sequence;
	} else if (m->open) {
		t->nr_rows = m->sequence.first;
	}
	reset(m);
}

static void run_extended(struct machine *m, struct dwarf_cursor *c)
{
	uint64_t len = dwarf_uleb(c);
	struct dwarf_cursor in = *c;

	dwarf_skip(c, len);
	if (c->bad || !len)
		return;
	in.end = c->at;
	switch (dwarf_u8(&in)) {
	case DW_LNE_end_sequence:
		end_sequence(m);
		break;
	case DW_LNE_set_address:
		if (dwarf_left(&in) <= 8)
			m->address = dwarf_fixed(&in, (unsigned int)dwarf_left(&in));
		m->op_index = 0;
		break;
	case DW_LNE_define_file: {
		const char *name = dwarf_string(&in);

		if (name)
			line_header_file(m->table, &in, name);
		break;
	}
	}
}

static void run_standard(struct machine *m, struct dwarf_cursor *c, uint8_t opcode)
{
	const struct line_header *h = m->header;
	uint8_t i;

	switch (opcode) {
	case DW_LNS_copy:
		add_row(m);
		break;
	case DW_LNS_advance_pc:
		advance(m, dwarf_uleb(c));
		break;
	case DW_LNS_advance_line:
		m->line += (uint64_t)dwarf_sleb(c);
		break;
	case DW_LNS_set_file:
		m->file = dwarf_uleb(c);
		break;
	case DW_LNS_set_column:
		m->column = dwarf_uleb(c);
		break;
	case DW_LNS_const_add_pc:
		advance(m, (255u - h->opcode_base) / h->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		m->address += dwarf_u16(c);
		m->op_index = 0;
		break;
	default: /* known ones without effect on a row, and unknown ones */
		for (i = 0; i < h->opcode_lengths[opcode - 1]; i++)
			dwarf_skip_leb(c);
	}
}

static void run(struct machine *m, struct dwarf_cursor *c, size_t max_rows,
		struct time_limit *limit)
{
	const struct line_header *h = m->header;
	uint32_t nr = 0;

	while (dwarf_left(c) && m->table->nr_rows < max_rows &&
	       (++nr % STEP || !time_limit_passed(limit))) {
		uint8_t opcode = dwarf_u8(c);

		if (opcode >= h->opcode_base) {
			uint8_t special = opcode - h->opcode_base;

			advance(m, special / h->line_range);
			m->line += (uint64_t)(int64_t)(h->line_base + special % h->line_range);
			add_row(m);
		} else if (opcode) {
			run_standard(m, c, opcode);
		} else {
			run_extended(m, c);
		}
	}
}

static int by_end(const void *a, const void *b)
{
	const struct line_sequence *x = a, *y = b;

	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

void line_table_init(struct line_table *table, const struct line_source *source, uint64_t offset,
		     struct time_limit *limit)
{
	struct line_header header;
	struct machine machine = { .table = table, .header = &header };
	struct dwarf_cursor program;
	uint64_t lowest = UINT64_MAX;
	size_t i;

	memset(table, 0, sizeof(*table));
	if (!line_header_read(&header, table, source, offset, &program))
		return;
	reset(&machine);
	run(&machine, &program, source->max_bytes / sizeof(struct line_row), limit);
	if (machine.open) /* without an end nobody knows how far its last row reaches */
		table->nr_rows = machine.sequence.first;
	table->alloc_rows = table->nr_rows + 1;
	table->rows = xreallocarray(table->rows, table->alloc_rows, sizeof(*table->rows));
	if (table->nr_sequences > 1)
		qsort(table->sequences, table->nr_sequences, sizeof(*table->sequences), by_end);
	for (i = table->nr_sequences; i-- > 0; ) {
		if (table->sequences[i].start < lowest)
			lowest = table->sequences[i].start;
		table->sequences[i].lowest = lowest;
	}
}

void line_table_release(struct line_table *table)
{
	free(table->dirs);
	free(table->files);
	free(table->rows);
	free(table->sequences);
	memset(table, 0, sizeof(*table));
}

size_t line_table_size(const struct line_table *table)
{
	return table->alloc_dirs * sizeof(*table->dirs) +
		table->alloc_files * sizeof(*table->files) +
		table->alloc_rows * sizeof(*table->rows) +
		table->alloc_sequences * sizeof(*table->sequences);
}

/* Last row at or before the address, which the sequence has. */
static const struct line_row *find_row(const struct line_table *table,
				       const struct line_sequence *s, uint64_t address)
{
	uint64_t at = address - s->start;
	size_t low = s->first, high = s->first + s->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->rows[middle].address <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return &table->rows[low - 1];
}

bool line_table_find(const struct line_table *table, uint64_t address, struct line *ret)
{
	size_t low = 0, high = table->nr_sequences;

	/* first sequence that ends behind the address */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->sequences[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < table->nr_sequences && table->sequences[low].lowest <= address; low++) {
		const struct line_sequence *s = &table->sequences[low];
		const struct line_row *row;

		if (s->start > address)
			continue;
		row = find_row(table, s, address);
		*ret = (struct line){ row->file, row->line, row->column };
		return true;
	}
	return false;
}
