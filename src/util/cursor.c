/* SPDX-License-Identifier: MIT */
/*
 * cursor.c - bounds-checked reading; see cursor.h.
 */
#include "util/cursor.h"

#include "util/alloc.h"

#include <string.h>

void cursor_fail(struct cursor *c, size_t pos, const char *problem)
{
	if (c->bad)
		return;
	c->bad = true;
	c->bad_pos = pos;
	c->problem = problem;
}

const uint8_t *cursor_bytes(struct cursor *c, size_t len)
{
	const uint8_t *p = c->data + c->pos;

	if (c->bad)
		return NULL;
	if (len > cursor_left(c)) {
		cursor_fail(c, c->pos, "unexpected end");
		return NULL;
	}
	c->pos += len;
	return p;
}

uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

uint64_t cursor_u64(struct cursor *c)
{
	size_t len = sizeof(uint64_t);
	const uint8_t *p = cursor_bytes(c, len);
	uint64_t value = 0;

	while (p && len--)
		value = value << 8 | p[len];
	return value;
}

uint64_t cursor_varint_slow(struct cursor *c)
{
	size_t start = c->pos, pos = c->pos;
	uint64_t value = 0;

	if (c->bad)
		return 0;
	for (unsigned int shift = 0; pos < c->len; shift += 7) {
		uint8_t byte = c->data[pos++];

		if (shift == 63 && byte > 1) {
			cursor_fail(c, start, "number of more than 64 bits");
			return 0;
		}
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			if (!byte && shift) {
				cursor_fail(c, start, "overlong number");
				return 0;
			}
			c->pos = pos;
			return value;
		}
	}
	cursor_fail(c, start, "unexpected end");
	return 0;
}

uint32_t cursor_varint32(struct cursor *c)
{
	return (uint32_t)cursor_varint_max(c, UINT32_MAX);
}

char *cursor_string(struct cursor *c, size_t max)
{
	size_t start = c->pos;
	size_t len = cursor_varint_max(c, max);
	const uint8_t *p = cursor_bytes(c, len);

	if (!p)
		return NULL;
	if (memchr(p, 0, len)) {
		cursor_fail(c, start, "zero byte in a string");
		return NULL;
	}
	return xstrndup((const char *)p, len);
}

void cursor_end(struct cursor *c)
{
	if (c->pos != c->len)
		cursor_fail(c, c->pos, "bytes after the end");
}
