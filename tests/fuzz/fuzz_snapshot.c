/* SPDX-License-Identifier: MIT */
/*
 * fuzz_snapshot.c - a snapshot file that may be anything: as it is, and once more with its checksums
 * set right, as nobody's damage gets past those.
 */
#include "tests/fuzz/fuzz.h"

#include "analysis/growth_totals.h"
#include "analysis/block_stream.h"
#include "analysis/lineage_stream.h"
#include "analysis/snapshot_internal.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Reads all, the blocks as a stream. */
static int read_streamed(struct snapshot_file *file, struct hs_error *err)
{
	const struct snap_block *blocks;
	struct block_stream *stream = NULL;
	struct snapshot *s;
	size_t nr = 1;
	int ret = snapshot_decode_frame(file, &s, err);

	if (ret)
		return ret;
	s->file = file;
	ret = block_stream_open(s, &stream, err);
	while (!ret && nr)
		ret = block_stream_next(stream, &blocks, &nr, err);
	block_stream_close(stream);
	if (!ret)
		ret = lineages_take(s, NULL, 0, err);
	s->file = NULL;
	snapshot_free(s);
	return ret;
}

/*
 * Totals by first growth, which need a part of the file: those of the whole (NULL: it is damaged), or
 * none.
 */
static void read_growth(struct snapshot_file *file, const struct snapshot *whole)
{
	struct growth_total *totals, *expected;
	struct hs_error err;
	struct snapshot *s;

	if (snapshot_decode_frame(file, &s, &err))
		return;
	s->file = file;
	if (!growth_totals_read(s, &totals, &err)) {
		expected = whole ? growth_totals_of(whole) : NULL;
		if (expected && memcmp(totals, expected, s->nr_stacks * sizeof(*totals)))
			abort();
		free(expected);
		free(totals);
	}
	s->file = NULL;
	snapshot_free(s);
}

static void parse(const uint8_t *data, size_t len)
{
	struct snapshot_file file;
	struct snapshot *s;
	struct hs_error err, stream_err;
	int whole, streamed;

	if (snapshot_file_open_data(data, len, "input", &file, &err))
		return;
	for (size_t i = 0; i < file.nr_chunks; i++) {
		uint8_t *raw;

		if (!snapshot_file_load(&file, &file.chunks[i], &raw, &err))
			free(raw);
	}
	whole = snapshot_decode(&file, &s, &err);
	streamed = read_streamed(&file, &stream_err);
	read_growth(&file, whole ? NULL : s);
	if (!whole)
		snapshot_free(s);
	/* both or none; but a stream takes no window of gigabytes */
	if (!whole != !streamed && !(streamed && strstr(stream_err.text, "unpacked length")))
		abort();
	snapshot_file_close(&file);
}

/* Makes every checksum fit what it is of, as far as table and trailer can be found. */
static void set_checksums(uint8_t *data, size_t len)
{
	struct hs_file_header header;
	struct hs_file_trailer trailer;
	size_t trailer_off = len - sizeof(trailer), table_bytes;
	XXH3_state_t *state;

	memcpy(&header, data, sizeof(header));
	memcpy(&trailer, data + trailer_off, sizeof(trailer));
	trailer.file_size = len;
	table_bytes = trailer.nr_chunks * sizeof(struct hs_chunk);
	if (trailer.nr_chunks > HS_FILE_MAX_CHUNKS || table_bytes > trailer_off ||
	    header.header_size > trailer_off)
		return;
	trailer.table_off = trailer_off - table_bytes;
	for (uint32_t i = 0; i < trailer.nr_chunks; i++) {
		uint8_t *at = data + trailer.table_off + i * sizeof(struct hs_chunk);
		struct hs_chunk chunk;

		memcpy(&chunk, at, sizeof(chunk));
		if (chunk.offset > trailer_off || chunk.bytes > trailer_off - chunk.offset)
			continue;
		chunk.checksum = XXH3_64bits(data + chunk.offset, chunk.bytes);
		memcpy(at, &chunk, sizeof(chunk));
	}
	state = XXH3_createState();
	if (!state)
		abort();
	XXH3_64bits_reset(state);
	XXH3_64bits_update(state, data, header.header_size);
	XXH3_64bits_update(state, data + trailer.table_off, table_bytes);
	XXH3_64bits_update(state, &trailer, offsetof(struct hs_file_trailer, checksum));
	trailer.checksum = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	memcpy(data + trailer_off, &trailer, sizeof(trailer));
}

void fuzz_one(const uint8_t *data, size_t len)
{
	uint8_t *copy;

	parse(data, len);
	if (len < sizeof(struct hs_file_header) + sizeof(struct hs_file_trailer))
		return;
	copy = malloc(len);
	if (!copy)
		abort();
	memcpy(copy, data, len);
	set_checksums(copy, len);
	parse(copy, len);
	free(copy);
}
