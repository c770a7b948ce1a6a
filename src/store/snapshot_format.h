/* SPDX-License-Identifier: MIT */
/*
 * snapshot_format.h - layout of a snapshot file (.hs); the contents of the chunks are described
 * in heapstory-format(5) and written by analysis/snapshot_encode.c.
 *
 *      0            struct hs_file_header
 *      header_size  chunks, one right after the other
 *      table_off    struct hs_chunk[nr_chunks], in the order of their offsets
 *      size - 40    struct hs_file_trailer
 *
 * There are no gaps, and every byte is under a checksum: a chunk's under that in its table entry,
 * header, table and trailer under the one that ends the trailer. All fields are little-endian.
 * A file can be written and sent without seeking.
 */
#ifndef HEAPSTORY_STORE_SNAPSHOT_FORMAT_H
#define HEAPSTORY_STORE_SNAPSHOT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define HS_FILE_MAGIC	   "\x89HSNAP\r\n\x1a\n\0\0\0\0\0" /* 16 bytes; text transfer breaks it */
#define HS_FILE_END_MAGIC  "HSEND\r\n\x1a" /* 8 bytes */
#define HS_FILE_VERSION	   1u
#define HS_FILE_WORD_SIZE  8u
#define HS_FILE_MAX_CHUNKS 1024u

struct hs_file_header {
	uint8_t magic[16];
	uint32_t version;
	uint32_t header_size; /* bytes; the first chunk begins there */
	uint32_t word_size; /* bytes of an address of the traced program */
	uint32_t must_know; /* feature bits: a reader refuses one that it does not know */
	uint32_t may_ignore; /* feature bits that it may ignore */
	uint8_t reserved[28]; /* 0 */
};
_Static_assert(sizeof(struct hs_file_header) == 64, "format");

enum hs_chunk_flags {
	HS_CHUNK_MUST_KNOW = 1u << 0, /* a reader that does not know this id refuses the file */
};

enum hs_chunk_codec {
	HS_CODEC_STORED = 0,
	HS_CODEC_ZSTD = 1, /* one frame, perhaps a skippable one behind it */
};

/*
 * raw_bytes <= HS_CHUNK_FREE_BYTES + HS_CHUNK_MAX_RATIO * bytes: a reader takes memory in
 * proportion to the file. A writer pads what packs better with a skippable frame.
 */
#define HS_CHUNK_FREE_BYTES 65536u
#define HS_CHUNK_MAX_RATIO  256u

struct hs_chunk {
	uint8_t id[4];
	uint32_t flags; /* enum hs_chunk_flags */
	uint32_t codec; /* enum hs_chunk_codec */
	uint32_t reserved; /* 0 */
	uint64_t offset;
	uint64_t bytes; /* as it lies in the file */
	uint64_t raw_bytes; /* unpacked */
	uint64_t items; /* things described; each takes a byte of it at least */
	uint64_t checksum; /* XXH3, 64 bits, seed 0, of the bytes as they lie in the file */
};
_Static_assert(sizeof(struct hs_chunk) == 56, "format");

struct hs_file_trailer {
	uint8_t magic[8];
	uint32_t nr_chunks;
	uint32_t reserved; /* 0 */
	uint64_t table_off;
	uint64_t file_size;
	uint64_t checksum; /* XXH3 of the header, the table and the trailer up to here */
};
_Static_assert(sizeof(struct hs_file_trailer) == 40, "format");

/* Ids of chunks as numbers: 'META' is HS_CHUNK_ID('M', 'E', 'T', 'A'). */
#define HS_CHUNK_ID(a, b, c, d) \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

#endif
