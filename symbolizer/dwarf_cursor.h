/* SPDX-License-Identifier: MIT */
/*
 * dwarf_cursor.h - reads the numbers of DWARF, little-endian, never past the end.
 *
 * A read that does not fit gives 0, moves to the end and makes the cursor bad. Here and not in
 * util/cursor.h because these are the innermost loops: hundreds of millions of bytes go through.
 */
#ifndef HEAPSTORY_SYMBOLIZER_DWARF_CURSOR_H
#define HEAPSTORY_SYMBOLIZER_DWARF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "symbolizer/section.h"

struct dwarf_cursor {
	const uint8_t *at, *end;
	bool bad;
};

/* From offset to the end of the bytes; bad where offset is behind it. */
static inline struct dwarf_cursor dwarf_cursor_at(struct bytes bytes, uint64_t offset)
{
	if (!bytes.data || offset > bytes.len)
		return (struct dwarf_cursor){ NULL, NULL, true };
	return (struct dwarf_cursor){ bytes.data + offset, bytes.data + bytes.len, false };
}

static inline size_t dwarf_left(const struct dwarf_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline void dwarf_fail(struct dwarf_cursor *c)
{
	c->bad = true;
	c->at = c->end;
}

static inline void dwarf_skip(struct dwarf_cursor *c, uint64_t len)
{
	if (len > dwarf_left(c))
		dwarf_fail(c);
	else
		c->at += len;
}

static inline uint8_t dwarf_u8(struct dwarf_cursor *c)
{
	if (c->at >= c->end) {
		dwarf_fail(c);
		return 0;
	}
	return *c->at++;
}

/* A number of `size` bytes, 1 to 8. */
static inline uint64_t dwarf_fixed(struct dwarf_cursor *c, unsigned int size)
{
	uint64_t value = 0;
	unsigned int i;

	if (size > dwarf_left(c)) {
		dwarf_fail(c);
		return 0;
	}
	for (i = 0; i < size; i++)
		value |= (uint64_t)c->at[i] << 8 * i;
	c->at += size;
	return value;
}

static inline uint16_t dwarf_u16(struct dwarf_cursor *c)
{
	return (uint16_t)dwarf_fixed(c, 2);
}

static inline uint32_t dwarf_u32(struct dwarf_cursor *c)
{
	return (uint32_t)dwarf_fixed(c, 4);
}

static inline uint64_t dwarf_u64(struct dwarf_cursor *c)
{
	return dwarf_fixed(c, 8);
}

/* Bits beyond 64 are dropped; padded numbers are allowed, linkers write them. */
static inline uint64_t dwarf_uleb(struct dwarf_cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	if (c->at < c->end && *c->at < 0x80)
		return *c->at++;
	do {
		byte = dwarf_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static inline int64_t dwarf_sleb(struct dwarf_cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = dwarf_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (byte & 0x40 && shift < 64)
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

static inline void dwarf_skip_leb(struct dwarf_cursor *c)
{
	while (dwarf_u8(c) & 0x80)
		;
}

/* A string that ends within the bytes, or NULL. */
static inline const char *dwarf_string(struct dwarf_cursor *c)
{
	const uint8_t *start = c->at;
	const uint8_t *end = dwarf_left(c) ? memchr(start, 0, dwarf_left(c)) : NULL;

	if (!end) {
		dwarf_fail(c);
		return NULL;
	}
	c->at = end + 1;
	return (const char *)start;
}

/*
 * The length that begins a unit or table: the cursor ends with what it covers. Sets
 * *ret_offset_size to 4 or 8, the size of offsets within. Bad where it reaches too far.
 */
static inline uint64_t dwarf_initial_length(struct dwarf_cursor *c, uint8_t *ret_offset_size)
{
	uint64_t len = dwarf_u32(c);

	*ret_offset_size = 4;
	if (len == 0xffffffffu) {
		*ret_offset_size = 8;
		len = dwarf_u64(c);
	} else if (len >= 0xfffffff0u) {
		dwarf_fail(c);
	}
	if (len > dwarf_left(c))
		dwarf_fail(c);
	else
		c->end = c->at + len;
	return len;
}

#endif
