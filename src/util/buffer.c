/* SPDX-License-Identifier: MIT */
/*
 * buffer.c - bytes that grow at the end; see buffer.h.
 */
#include "util/buffer.h"

#include "util/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARINT_MAX 10

void buffer_clear(struct buffer *b)
{
	free(b->data);
	*b = (struct buffer){NULL, 0, 0};
}

uint8_t *buffer_reserve(struct buffer *b, size_t more)
{
	size_t want;

	if (__builtin_add_overflow(b->len, more, &want))
		want = SIZE_MAX;
	if (want > b->alloc)
		b->data = xgrow(b->data, &b->alloc, want, 1);
	return b->data + b->len;
}

void buffer_add(struct buffer *b, const void *bytes, size_t len)
{
	if (!len)
		return;
	memcpy(buffer_reserve(b, len), bytes, len);
	b->len += len;
}

void buffer_add_byte(struct buffer *b, uint8_t byte)
{
	*buffer_reserve(b, 1) = byte;
	b->len++;
}

void buffer_add_string(struct buffer *b, const char *s)
{
	buffer_add(b, s, strlen(s));
}

void buffer_addf(struct buffer *b, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n <= 0)
		return;
	va_start(args, format);
	vsnprintf((char *)buffer_reserve(b, (size_t)n + 1), (size_t)n + 1, format, args);
	va_end(args);
	b->len += (size_t)n;
}

char *buffer_string(struct buffer *b)
{
	*buffer_reserve(b, 1) = 0;
	return (char *)b->data;
}

char *buffer_detach(struct buffer *b)
{
	char *s = buffer_string(b);

	*b = (struct buffer){NULL, 0, 0};
	return s;
}

void buffer_add_u32(struct buffer *b, uint32_t value)
{
	uint8_t *p = buffer_reserve(b, 4);

	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(value >> (8 * i));
	b->len += 4;
}

void buffer_add_u64(struct buffer *b, uint64_t value)
{
	buffer_add_u32(b, (uint32_t)value);
	buffer_add_u32(b, (uint32_t)(value >> 32));
}

void buffer_add_varint(struct buffer *b, uint64_t value)
{
	uint8_t *p = buffer_reserve(b, VARINT_MAX);

	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	b->len = (size_t)(p - b->data);
}

void buffer_add_signed(struct buffer *b, int64_t value)
{
	buffer_add_varint(b, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void buffer_add_counted(struct buffer *b, const void *bytes, size_t len)
{
	buffer_add_varint(b, len);
	buffer_add(b, bytes, len);
}
