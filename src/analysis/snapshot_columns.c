/* SPDX-License-Identifier: MIT */
/*
 * snapshot_columns.c - the blocks in a snapshot file: one field of all blocks after the other, each
 * column a chunk of its own. That packs well, and the columns can be read side by side, some
 * blocks at a time.
 *
 * A decoder is called with consecutive runs of blocks; *carry is what it has to know of the blocks
 * before, 0 at first. It fills only its own field; usables and serials need sizes and slots first.
 */
#include "analysis/snapshot_internal.h"

#include "util/buffer.h"
#include "util/cursor.h"

#define SERIAL_COUNT ((UINT64_C(1) << HS_SERIAL_SLOT_SHIFT) - 1)

static int64_t difference(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

void snap_encode_addresses(const struct snapshot *s, struct buffer *b)
{
	uint64_t address = 0;

	for (size_t i = 0; i < s->nr_blocks; i++) {
		buffer_add_varint(b, s->blocks[i].address - address);
		address = s->blocks[i].address;
	}
}

void snap_decode_addresses(uint64_t *carry, struct cursor *c, struct snap_block *blocks, size_t nr)
{
	uint64_t address = *carry;

	for (size_t i = 0; i < nr && !c->bad; i++) {
		size_t start = c->pos;

		if (__builtin_add_overflow(address, cursor_varint(c), &address))
			cursor_fail(c, start, "address out of range");
		blocks[i].address = address;
	}
	*carry = address;
}

/* A column that is a field as it is. */
#define PLAIN_COLUMN(name, field, max)                                                            \
	void snap_encode_##name(const struct snapshot *s, struct buffer *b)                       \
	{                                                                                         \
		for (size_t i = 0; i < s->nr_blocks; i++)                                         \
			buffer_add_varint(b, s->blocks[i].field);                                 \
	}                                                                                         \
	void snap_decode_##name(uint64_t *carry, struct cursor *c, struct snap_block *blocks,     \
				size_t nr)                                                        \
	{                                                                                         \
		(void)carry;                                                                      \
		for (size_t i = 0; i < nr && !c->bad; i++)                                        \
			blocks[i].field = (__typeof__(blocks[i].field))cursor_varint_max(c, max); \
	}

PLAIN_COLUMN(sizes, size, UINT64_MAX)
PLAIN_COLUMN(block_stacks, stack, UINT32_MAX)
PLAIN_COLUMN(block_threads, thread, UINT32_MAX)
PLAIN_COLUMN(families, family, UINT16_MAX)
PLAIN_COLUMN(flags, flags, SNAP_BLOCK_IN_FLIGHT)
PLAIN_COLUMN(block_words, class_word, UINT32_MAX)

void snap_encode_usables(const struct snapshot *s, struct buffer *b)
{
	for (size_t i = 0; i < s->nr_blocks; i++)
		buffer_add_signed(b, difference(s->blocks[i].usable, s->blocks[i].size));
}

void snap_decode_usables(uint64_t *carry, struct cursor *c, struct snap_block *blocks, size_t nr)
{
	(void)carry;
	for (size_t i = 0; i < nr && !c->bad; i++)
		blocks[i].usable = (uint64_t)cursor_signed(c) + blocks[i].size;
}

void snap_encode_births(const struct snapshot *s, struct buffer *b)
{
	uint64_t birth = 0;

	for (size_t i = 0; i < s->nr_blocks; i++) {
		buffer_add_signed(b, difference(s->blocks[i].birth_ms, birth));
		birth = s->blocks[i].birth_ms;
	}
}

void snap_decode_births(uint64_t *carry, struct cursor *c, struct snap_block *blocks, size_t nr)
{
	uint64_t birth = *carry;

	for (size_t i = 0; i < nr && !c->bad; i++) {
		birth += (uint64_t)cursor_signed(c);
		blocks[i].birth_ms = birth;
	}
	*carry = birth;
}

/* Serials: slots in one column, counts in the other, as neighbours often share the slot. */
void snap_encode_slots(const struct snapshot *s, struct buffer *b)
{
	for (size_t i = 0; i < s->nr_blocks; i++)
		buffer_add_varint(b, s->blocks[i].serial >> HS_SERIAL_SLOT_SHIFT);
}

void snap_decode_slots(uint64_t *carry, struct cursor *c, struct snap_block *blocks, size_t nr)
{
	(void)carry;
	for (size_t i = 0; i < nr && !c->bad; i++)
		blocks[i].serial = cursor_varint_max(c, UINT16_MAX) << HS_SERIAL_SLOT_SHIFT;
}

void snap_encode_serials(const struct snapshot *s, struct buffer *b)
{
	uint64_t count = 0;

	for (size_t i = 0; i < s->nr_blocks; i++) {
		uint64_t mine = s->blocks[i].serial & SERIAL_COUNT;

		buffer_add_signed(b, difference(mine, count));
		count = mine;
	}
}

void snap_decode_serials(uint64_t *carry, struct cursor *c, struct snap_block *blocks, size_t nr)
{
	uint64_t count = *carry;

	for (size_t i = 0; i < nr && !c->bad; i++) {
		size_t start = c->pos;

		count += (uint64_t)cursor_signed(c);
		if (count > SERIAL_COUNT)
			cursor_fail(c, start, "serial out of range");
		blocks[i].serial |= count & SERIAL_COUNT;
	}
	*carry = count;
}

/*
 * 0: none; else 1 + the signed difference from the number that would be next, as lineages are
 * mostly in the order of the blocks. The carry is that number minus 1.
 */
void snap_encode_block_lineages(const struct snapshot *s, struct buffer *b)
{
	uint32_t next = 1;

	for (size_t i = 0; i < s->nr_blocks; i++) {
		int64_t diff = (int64_t)s->blocks[i].lineage - next;

		if (!s->blocks[i].lineage) {
			buffer_add_byte(b, 0);
			continue;
		}
		buffer_add_varint(b, 1 + (((uint64_t)diff << 1) ^ (diff < 0 ? UINT64_MAX : 0)));
		next = s->blocks[i].lineage + 1;
	}
}

void snap_decode_block_lineages(uint64_t *carry, struct cursor *c, struct snap_block *blocks,
				size_t nr)
{
	for (size_t i = 0; i < nr && !c->bad; i++) {
		size_t start = c->pos;
		uint64_t value = cursor_varint(c), lineage;

		blocks[i].lineage = 0;
		if (!value--)
			continue;
		lineage = *carry + 1 + ((value >> 1) ^ (value & 1 ? UINT64_MAX : 0));
		if (!lineage || lineage > UINT32_MAX) {
			cursor_fail(c, start, "lineage out of range");
			return;
		}
		blocks[i].lineage = (uint32_t)lineage;
		*carry = lineage;
	}
}
