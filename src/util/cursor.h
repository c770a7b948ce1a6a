/* SPDX-License-Identifier: MIT */
/*
 * cursor.h - reads untrusted bytes from front to back and never past their end.
 *
 * A read that does not fit, or a number that is malformed or out of range, makes the cursor bad:
 * from then on every read gives 0 and nothing moves, so a parser may read a whole record and test
 * once. What went wrong and where is kept from the first failure.
 */
#ifndef HEAPSTORY_UTIL_CURSOR_H
#define HEAPSTORY_UTIL_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *data; /* borrowed */
	size_t len, pos; /* pos <= len */
	bool bad;
	size_t bad_pos; /* where the read that failed began */
	const char *problem; /* "unexpected end", ...; NULL while all is well */
};

static inline struct cursor cursor_of(const void *data, size_t len)
{
	return (struct cursor){(const uint8_t *)data, len, 0, false, 0, NULL};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->len - c->pos;
}

/* Makes the cursor bad, if it is not yet: `problem` is what is wrong at pos. A static string. */
void cursor_fail(struct cursor *c, size_t pos, const char *problem);

uint8_t cursor_u8(struct cursor *c);
/* Little-endian, fixed width. */
uint64_t cursor_u64(struct cursor *c);
/* The counterparts of buffer_add_varint() and so on; overlong or over 64 bits is malformed. */
uint64_t cursor_varint_slow(struct cursor *c);
static inline int64_t cursor_signed(struct cursor *c);
/* A varint that must be at most `max`. */
static inline uint64_t cursor_varint_max(struct cursor *c, uint64_t max);
uint32_t cursor_varint32(struct cursor *c);
/* The next len bytes, borrowed from the data; NULL if there are not so many. */
const uint8_t *cursor_bytes(struct cursor *c, size_t len);
/* A counted string without a 0 inside, of at most `max` bytes: a copy for free(), or NULL. */
char *cursor_string(struct cursor *c, size_t max);
/* Bad unless everything has been read. */
void cursor_end(struct cursor *c);

/* Columns of millions of blocks are read by these: mostly numbers of one byte or two. */
static inline uint64_t cursor_varint(struct cursor *c)
{
	const uint8_t *p = c->data + c->pos;
	size_t left = c->bad ? 0 : c->len - c->pos;

	if (left && p[0] < 0x80) {
		c->pos++;
		return p[0];
	}
	if (left > 1 && p[1] && p[1] < 0x80) {
		c->pos += 2;
		return (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
	}
	return cursor_varint_slow(c);
}

static inline int64_t cursor_signed(struct cursor *c)
{
	uint64_t value = cursor_varint(c);

	return (int64_t)((value >> 1) ^ (value & 1 ? UINT64_MAX : 0));
}

static inline uint64_t cursor_varint_max(struct cursor *c, uint64_t max)
{
	size_t start = c->pos;
	uint64_t value = cursor_varint(c);

	if (value > max) {
		cursor_fail(c, start, "number out of range");
		return 0;
	}
	return value;
}

#endif
