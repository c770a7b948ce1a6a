/* SPDX-License-Identifier: MIT */
/*
 * test_lines.c - line tables made by hand: what compilers write rarely, or readers get wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "symbolizer/lines.h"
#include "symbolizer/timelimit.h"
#include "util/buffer.h"

/* A table that is being made; sizes are put in by finish(). */
struct made {
	struct buffer b;
	size_t header_len_at, header_start;
	unsigned int version;
};

static void add_u16(struct buffer *b, unsigned int value)
{
	buffer_add_byte(b, (uint8_t)value);
	buffer_add_byte(b, (uint8_t)(value >> 8));
}

static void add_string(struct buffer *b, const char *s)
{
	buffer_add(b, s, strlen(s) + 1);
}

/* Folders /one (0) and two (1); files zero.c in 0, one.c in 1, both as their version numbers them. */
static void add_names(struct made *m)
{
	struct buffer *b = &m->b;

	if (m->version < 5) {
		add_string(b, "two");
		buffer_add_byte(b, 0);
		add_string(b, "zero.c");
		buffer_add(b, "\0\0\0", 3); /* folder 0, time, size */
		add_string(b, "one.c");
		buffer_add(b, "\1\0\0", 3);
		buffer_add_byte(b, 0);
		return;
	}
	buffer_add(b, "\1\1\x8", 3); /* one field: path, string */
	buffer_add_byte(b, 2);
	add_string(b, "/one");
	add_string(b, "two");
	buffer_add(b, "\2\1\x8\2\xb", 5); /* path, string; folder, data1 */
	buffer_add_byte(b, 2);
	add_string(b, "zero.c");
	buffer_add_byte(b, 0);
	add_string(b, "one.c");
	buffer_add_byte(b, 1);
}

static void begin(struct made *m, unsigned int version)
{
	static const uint8_t lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};

	memset(m, 0, sizeof(*m));
	m->version = version;
	buffer_add_u32(&m->b, 0);
	add_u16(&m->b, version);
	if (version >= 5)
		buffer_add(&m->b, "\x8\0", 2);
	m->header_len_at = m->b.len;
	buffer_add_u32(&m->b, 0);
	m->header_start = m->b.len;
	buffer_add_byte(&m->b, 1); /* minimum instruction length */
	if (version >= 4)
		buffer_add_byte(&m->b, 1);
	/* is_stmt; line_base -3, line_range 12, opcode_base 13 */
	buffer_add(&m->b, "\1\xfd\xc\xd", 4);
	buffer_add(&m->b, lengths, sizeof(lengths));
	add_names(m);
	for (int i = 0; i < 4; i++)
		m->b.data[m->header_len_at + (size_t)i] =
			(uint8_t)((m->b.len - m->header_start) >> 8 * i);
}

static void set_address(struct made *m, uint64_t address)
{
	buffer_add(&m->b, "\0\x9\2", 3);
	buffer_add_u64(&m->b, address);
}

/* A special opcode: both advances, and a row. */
static void row(struct made *m, unsigned int address, int line)
{
	buffer_add_byte(&m->b, (uint8_t)(13 + address * 12 + (unsigned int)(line + 3)));
}

static void end_sequence(struct made *m, unsigned int address)
{
	buffer_add_byte(&m->b, 2); /* advance_pc */
	buffer_add_byte(&m->b, (uint8_t)address);
	buffer_add(&m->b, "\0\1\1", 3);
}

static void decode(struct made *m, struct line_table *table)
{
	struct line_source source = {.comp_dir = "/unit", .address_size = 8, .max_bytes = 1 << 20};
	struct time_limit limit = {.left_ns = UINT64_C(10000000000)};

	for (int i = 0; i < 4; i++)
		m->b.data[i] = (uint8_t)((m->b.len - 4) >> 8 * i);
	source.line = (struct bytes){m->b.data, m->b.len};
	time_limit_start(&limit);
	line_table_init(table, &source, 0, &limit);
}

static void release(struct made *m, struct line_table *table)
{
	line_table_release(table);
	buffer_clear(&m->b);
}

static void assert_line(const struct line_table *table, uint64_t address, const char *path,
			uint32_t number)
{
	struct line line;
	char *found;

	assert_true(line_table_find(table, address, &line));
	assert_int_equal(line.line, number);
	found = line_table_path(table, line.file);
	assert_string_equal(found, path);
	free(found);
}

/* In every version the file register starts at 1: the second name of DWARF 5, the first before. */
static void test_first_file(void **state)
{
	static const char *const paths[] = {"/unit/zero.c", "/unit/zero.c", "/unit/zero.c",
					    "/unit/two/one.c"};
	struct line_table table;
	struct made m;

	(void)state;
	for (unsigned int version = 2; version <= 5; version++) {
		begin(&m, version);
		set_address(&m, 0x1000);
		row(&m, 0, 1);
		buffer_add(&m.b, "\4\2", 2); /* set_file 2 */
		row(&m, 4, 1);
		buffer_add(&m.b, "\4\0", 2);
		row(&m, 4, 1);
		end_sequence(&m, 4);
		decode(&m, &table);
		assert_line(&table, 0x1000, paths[version - 2], 2);
		if (version < 5)
			assert_line(&table, 0x1004, "/unit/two/one.c", 3);
		else
			assert_line(&table, 0x1008, "/one/zero.c", 4);
		release(&m, &table);
	}
}

/* LLVM sets epilogue_begin before rows that go on; they are rows like any other. */
static void test_epilogue(void **state)
{
	struct line_table table;
	struct line line;
	struct made m;

	(void)state;
	begin(&m, 4);
	set_address(&m, 0x1000);
	row(&m, 0, 1);
	buffer_add_byte(&m.b, 0x0b); /* set_epilogue_begin */
	row(&m, 2, 5);
	row(&m, 2, 1);
	end_sequence(&m, 1);
	decode(&m, &table);
	assert_int_equal(table.nr_sequences, 1);
	assert_line(&table, 0x1001, "/unit/zero.c", 2);
	assert_line(&table, 0x1003, "/unit/zero.c", 7);
	assert_line(&table, 0x1004, "/unit/zero.c", 8);
	assert_false(line_table_find(&table, 0x1005, &line));
	assert_false(line_table_find(&table, 0xfff, &line));
	release(&m, &table);
}

/* Functions folded into one, one within the other, a gap, and one that was left out (at 0). */
static void test_overlap(void **state)
{
	static const struct {
		uint64_t start;
		unsigned int len;
		int line;
	} sequences[] = {{0x1000, 16, 1}, {0x1000, 8, 2}, {0x1040, 4, 3}, {0, 8, 4}};
	struct line_table table;
	struct line line;
	struct made m;

	(void)state;
	begin(&m, 4);
	for (size_t i = 0; i < sizeof(sequences) / sizeof(*sequences); i++) {
		set_address(&m, sequences[i].start);
		row(&m, 0, sequences[i].line);
		row(&m, 2, 0);
		end_sequence(&m, sequences[i].len - 2);
	}
	decode(&m, &table);
	assert_int_equal(table.nr_sequences, 3);
	assert_line(&table, 0x1003, "/unit/zero.c", 3);
	assert_line(&table, 0x1009, "/unit/zero.c", 2);
	assert_line(&table, 0x1041, "/unit/zero.c", 4);
	assert_false(line_table_find(&table, 0x1020, &line));
	assert_false(line_table_find(&table, 3, &line));
	release(&m, &table);
}

/* Of rows at one address the last counts; one whose end is missing has no known reach. */
static void test_same_address(void **state)
{
	struct line_table table;
	struct line line;
	struct made m;

	(void)state;
	begin(&m, 4);
	set_address(&m, 0x1000);
	row(&m, 0, 1);
	row(&m, 0, 7);
	end_sequence(&m, 4);
	set_address(&m, 0x2000);
	row(&m, 0, 1);
	decode(&m, &table);
	assert_line(&table, 0x1002, "/unit/zero.c", 9);
	assert_false(line_table_find(&table, 0x2000, &line));
	release(&m, &table);
}

/* A file that the program defines itself: of DWARF 2 to 4. */
static void test_define_file(void **state)
{
	struct line_table table;
	struct made m;

	(void)state;
	begin(&m, 3);
	buffer_add(&m.b, "\0\x9\3", 3);
	add_string(&m.b, "new.c");
	buffer_add(&m.b, "\1\0", 2); /* folder 1; one byte less than it should have */
	buffer_add(&m.b, "\0\xa\3", 3);
	add_string(&m.b, "/a/n.c");
	buffer_add(&m.b, "\1\0", 2);
	buffer_add(&m.b, "\4\3", 2);
	set_address(&m, 0x1000);
	row(&m, 0, 0);
	end_sequence(&m, 4);
	decode(&m, &table);
	assert_int_equal(table.nr_files, 2); /* neither was whole */
	release(&m, &table);

	begin(&m, 3);
	buffer_add(&m.b, "\0\xa\3", 3);
	add_string(&m.b, "new.c");
	buffer_add(&m.b, "\1\0\0", 3);
	buffer_add(&m.b, "\4\3", 2);
	set_address(&m, 0x1000);
	row(&m, 0, 0);
	end_sequence(&m, 4);
	decode(&m, &table);
	assert_line(&table, 0x1000, "/unit/two/new.c", 1);
	release(&m, &table);
}

/* Cut anywhere it gives what came before, and no byte behind the cut is read. */
static void test_cut(void **state)
{
	struct line_table table;
	struct made m;
	size_t len;

	(void)state;
	for (unsigned int version = 2; version <= 5; version++) {
		begin(&m, version);
		for (int i = 1; i < 4; i++) {
			set_address(&m, (uint64_t)i << 12);
			row(&m, 0, i);
			end_sequence(&m, 4);
		}
		len = m.b.len;
		for (size_t cut = 4; cut <= len; cut++) {
			struct made part = {.version = version};

			buffer_add(&part.b, m.b.data, cut);
			part.b.data = realloc(part.b.data, cut);
			part.b.alloc = cut;
			decode(&part, &table);
			assert_true(table.nr_sequences <= 3);
			assert_int_equal(table.nr_sequences == 3, cut == len);
			if (table.nr_sequences)
				assert_line(&table, 0x1000,
					    version < 5 ? "/unit/zero.c" : "/unit/two/one.c", 2);
			release(&part, &table);
		}
		buffer_clear(&m.b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_file),   cmocka_unit_test(test_epilogue),
		cmocka_unit_test(test_overlap),	     cmocka_unit_test(test_same_address),
		cmocka_unit_test(test_define_file),  cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
