/* SPDX-License-Identifier: MIT */
/*
 * fuzz_name_table.c - bytes of a name table, as a snapshot or the cache may have them: 1 byte that
 * says how many places to expect, then these. What can be read is the same when written and read.
 */
#include "tests/fuzz/fuzz.h"

#include "util/buffer.h"
#include "util/cursor.h"
#include "util/name_table.h"

#include <stdlib.h>
#include <string.h>

void fuzz_one(const uint8_t *data, size_t len)
{
	struct name_table table = {0}, again = {0};
	struct buffer b = {NULL, 0, 0}, b2 = {NULL, 0, 0};
	struct cursor c;

	if (!len)
		return;
	c = cursor_of(data + 1, len - 1);
	name_table_decode(&table, &c, data[0]);
	name_table_encode(&table, &b);
	if (!c.bad) {
		c = cursor_of(b.data, b.len);
		name_table_decode(&again, &c, data[0]);
		name_table_encode(&again, &b2);
		if (c.bad || b.len != b2.len || (b.len && memcmp(b.data, b2.data, b.len)))
			abort();
	}
	buffer_clear(&b);
	buffer_clear(&b2);
	name_table_release(&table);
	name_table_release(&again);
}
