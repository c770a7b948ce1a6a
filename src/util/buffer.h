/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - bytes that grow at the end.
 */
#ifndef HEAPSTORY_UTIL_BUFFER_H
#define HEAPSTORY_UTIL_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/* All zero is an empty buffer. len <= alloc; data may be NULL while alloc is 0. */
struct buffer {
	uint8_t *data;
	size_t len, alloc;
};

/* Frees the bytes; the buffer is empty and ready again. */
void buffer_clear(struct buffer *b);
/* Room for `more` bytes after len; returns where they go. */
uint8_t *buffer_reserve(struct buffer *b, size_t more);
void buffer_add(struct buffer *b, const void *bytes, size_t len);
void buffer_add_byte(struct buffer *b, uint8_t byte);
void buffer_add_string(struct buffer *b, const char *s);
void buffer_addf(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The bytes as a string: a 0 is put behind them, not counted in len. Borrowed. */
char *buffer_string(struct buffer *b);
/* Hands over the bytes as a string, to be freed by the caller; the buffer is empty then. */
char *buffer_detach(struct buffer *b);

/* Little-endian, fixed width. */
void buffer_add_u32(struct buffer *b, uint32_t value);
void buffer_add_u64(struct buffer *b, uint64_t value);
/* 7 bits a byte, lowest first, top bit: more follow. At most 10 bytes. */
void buffer_add_varint(struct buffer *b, uint64_t value);
/* Signed as varint: 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
void buffer_add_signed(struct buffer *b, int64_t value);
/* Length as varint, then the bytes. */
void buffer_add_counted(struct buffer *b, const void *bytes, size_t len);

#endif
