/* SPDX-License-Identifier: MIT */
/*
 * snapshot_file.c - the chunks of a snapshot file; see snapshot_file.h.
 *
 * Fixed-width fields lie in the file as in memory: the machines that this runs on are
 * little-endian (asserted below).
 */
#include "store/snapshot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "util/alloc.h"
#include "util/error.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is little-endian");

#define LEVEL_SMALL	 3
#define LEVEL_LARGE	 1
#define LARGE_BYTES	 (4u << 20)
#define SKIPPABLE_HEADER 8u
#define MAX_HEADER	 4096u

/* ---- reading ----------------------------------------------------------------------------- */

int snapshot_file_read(const struct snapshot_file *file, void *buf, uint64_t len, uint64_t off,
		       struct hs_error *err)
{
	char *p = buf;

	if (off > file->size || len > file->size - off)
		return hs_error_set(err, HS_E_FORMAT, "'%s' is cut short: it ends at byte %" PRIu64,
				    file->path, file->size);
	if (file->fd < 0) {
		if (len)
			memcpy(buf, file->data + off, len);
		return 0;
	}
	while (len) {
		ssize_t n = pread(file->fd, p, len < (1u << 30) ? len : 1u << 30, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return hs_error_system(err, "read", file->path);
		if (!n)
			return hs_error_set(err, HS_E_FORMAT,
					    "'%s' is cut short: it ends at byte %" PRIu64,
					    file->path, off);
		p += n;
		off += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return 0;
}

static int check_header(const struct snapshot_file *file, struct hs_error *err)
{
	const struct hs_file_header *h = &file->header;

	if (h->version != HS_FILE_VERSION)
		return hs_error_set(err, HS_E_VERSION,
				    "'%s' is a snapshot of version %u; this heapstory reads "
				    "version %u",
				    file->path, h->version, HS_FILE_VERSION);
	if (h->must_know)
		return hs_error_set(err, HS_E_VERSION,
				    "'%s' uses features 0x%x that this heapstory does not know",
				    file->path, h->must_know);
	if (h->header_size < sizeof(*h) || h->header_size > MAX_HEADER ||
	    h->word_size != HS_FILE_WORD_SIZE)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: header of %u bytes, expected %zu; words of "
				    "%u, expected %u",
				    file->path, h->header_size, sizeof(*h), h->word_size,
				    HS_FILE_WORD_SIZE);
	return 0;
}

/* One entry of the table: in order, without gaps, of a size that can be. */
static int check_entry(const struct snapshot_file *file, size_t nr, uint64_t expected,
		       struct hs_error *err)
{
	const struct hs_chunk *c = &file->chunks[nr];

	if (c->offset != expected)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: chunk %zu lies at %" PRIu64 ", expected "
				    "%" PRIu64,
				    file->path, nr, c->offset, expected);
	if (c->bytes > file->size - c->offset)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: chunk %zu of %" PRIu64 " bytes at %" PRIu64
				    " leaves the file",
				    file->path, nr, c->bytes, c->offset);
	if (c->raw_bytes > HS_CHUNK_FREE_BYTES &&
	    (c->raw_bytes - HS_CHUNK_FREE_BYTES) / HS_CHUNK_MAX_RATIO > c->bytes)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: chunk %zu claims %" PRIu64 " bytes out of "
				    "%" PRIu64,
				    file->path, nr, c->raw_bytes, c->bytes);
	if (c->items > c->raw_bytes)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: chunk %zu claims %" PRIu64 " items in "
				    "%" PRIu64 " byte"
				    "s",
				    file->path, nr, c->items, c->raw_bytes);
	for (size_t i = 0; i < nr; i++) {
		if (!memcmp(file->chunks[i].id, c->id, sizeof(c->id)))
			return hs_error_set(err, HS_E_FORMAT,
					    "'%s' is damaged: chunks %zu and %zu have the same id",
					    file->path, i, nr);
	}
	return 0;
}

static int check_table(const struct snapshot_file *file, const struct hs_file_trailer *trailer,
		       struct hs_error *err)
{
	uint64_t expected = file->header.header_size;

	for (size_t i = 0; i < file->nr_chunks; i++) {
		int ret = check_entry(file, i, expected, err);

		if (ret)
			return ret;
		expected += file->chunks[i].bytes;
	}
	if (expected != trailer->table_off)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: the chunks end at %" PRIu64 ", expected "
				    "%" PRIu64,
				    file->path, expected, trailer->table_off);
	return 0;
}

/* Header, table and trailer are those that were written together. */
static int check_sum(const struct snapshot_file *file, const struct hs_file_trailer *trailer,
		     struct hs_error *err)
{
	uint8_t header[MAX_HEADER];
	XXH3_state_t *state;
	uint64_t sum;
	int ret = snapshot_file_read(file, header, file->header.header_size, 0, err);

	if (ret)
		return ret;
	state = XXH3_createState();
	if (!state)
		return hs_error_set(err, HS_E_SYSTEM, "out of memory");
	XXH3_64bits_reset(state);
	XXH3_64bits_update(state, header, file->header.header_size);
	XXH3_64bits_update(state, file->chunks, file->nr_chunks * sizeof(*file->chunks));
	XXH3_64bits_update(state, trailer, offsetof(struct hs_file_trailer, checksum));
	sum = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	if (sum != trailer->checksum)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: checksum of header and table is %016" PRIx64
				    ", expected %016" PRIx64,
				    file->path, sum, trailer->checksum);
	return 0;
}

static int read_table(struct snapshot_file *file, struct hs_error *err)
{
	struct hs_file_trailer trailer;
	uint64_t trailer_off, table_bytes;
	int ret;

	if (file->size < file->header.header_size + sizeof(trailer))
		return hs_error_set(err, HS_E_FORMAT, "'%s' is cut short: %" PRIu64 " bytes",
				    file->path, file->size);
	trailer_off = file->size - sizeof(trailer);
	ret = snapshot_file_read(file, &trailer, sizeof(trailer), trailer_off, err);
	if (ret)
		return ret;
	if (memcmp(trailer.magic, HS_FILE_END_MAGIC, sizeof(trailer.magic)))
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is cut short or damaged: no end mark at %" PRIu64,
				    file->path, trailer_off);
	table_bytes = (uint64_t)trailer.nr_chunks * sizeof(*file->chunks);
	if (trailer.file_size != file->size || trailer.nr_chunks > HS_FILE_MAX_CHUNKS ||
	    table_bytes > trailer_off || trailer.table_off != trailer_off - table_bytes ||
	    trailer.table_off < file->header.header_size)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: %" PRIu64 " bytes, expected %" PRIu64
				    " with %u chunks and a table at %" PRIu64,
				    file->path, file->size, trailer.file_size, trailer.nr_chunks,
				    trailer.table_off);
	file->nr_chunks = trailer.nr_chunks;
	file->chunks = xcalloc(file->nr_chunks, sizeof(*file->chunks));
	ret = snapshot_file_read(file, file->chunks, table_bytes, trailer.table_off, err);
	if (!ret)
		ret = check_sum(file, &trailer, err);
	return ret ? ret : check_table(file, &trailer, err);
}

static int read_file(struct snapshot_file *file, struct hs_error *err)
{
	size_t have = file->size < sizeof(file->header) ? (size_t)file->size : sizeof(file->header);
	size_t magic = have < sizeof(file->header.magic) ? have : sizeof(file->header.magic);
	int ret = snapshot_file_read(file, &file->header, have, 0, err);

	if (ret)
		return ret;
	if (!have)
		return hs_error_set(err, HS_E_FORMAT, "'%s' is empty", file->path);
	if (memcmp(file->header.magic, HS_FILE_MAGIC, magic))
		return hs_error_set(err, HS_E_FORMAT, "'%s' is neither a snapshot nor a store",
				    file->path);
	if (have < sizeof(file->header))
		return hs_error_set(err, HS_E_FORMAT, "'%s' is cut short: %zu bytes", file->path,
				    have);
	ret = check_header(file, err);
	return ret ? ret : read_table(file, err);
}

int snapshot_file_open_data(const uint8_t *data, size_t len, const char *name,
			    struct snapshot_file *ret, struct hs_error *err)
{
	int res;

	*ret = (struct snapshot_file){.fd = -1, .data = data, .size = len, .path = xstrdup(name)};
	res = read_file(ret, err);
	if (res)
		snapshot_file_close(ret);
	return res;
}

int snapshot_file_open(const char *path, struct snapshot_file *ret, struct hs_error *err)
{
	struct stat st;
	int res = 0;

	*ret = (struct snapshot_file){
		.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
	if (ret->fd < 0)
		return hs_error_system(err, "open", path);
	ret->path = xstrdup(path);
	if (fstat(ret->fd, &st))
		res = hs_error_system(err, "read", path);
	else if (!S_ISREG(st.st_mode))
		res = hs_error_set(err, HS_E_FORMAT, "'%s' is not a regular file", path);
	else
		ret->size = (uint64_t)st.st_size;
	if (!res)
		res = read_file(ret, err);
	if (res)
		snapshot_file_close(ret);
	return res;
}

void snapshot_file_close(struct snapshot_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file->chunks);
	*file = (struct snapshot_file){.fd = -1};
}

uint32_t snapshot_chunk_id(const struct hs_chunk *chunk)
{
	return HS_CHUNK_ID(chunk->id[0], chunk->id[1], chunk->id[2], chunk->id[3]);
}

const struct hs_chunk *snapshot_file_find(const struct snapshot_file *file, uint32_t id)
{
	for (size_t i = 0; i < file->nr_chunks; i++) {
		if (snapshot_chunk_id(&file->chunks[i]) == id)
			return &file->chunks[i];
	}
	return NULL;
}

int snapshot_file_damaged(const struct snapshot_file *file, const struct hs_chunk *chunk,
			  const char *problem, uint64_t found, uint64_t expected,
			  struct hs_error *err)
{
	return hs_error_set(err, HS_E_FORMAT,
			    "'%s' is damaged: chunk '%.4s' at %" PRIu64 ": %s %" PRIx64
			    ", expected %" PRIx64,
			    file->path, (const char *)chunk->id, chunk->offset, problem, found,
			    expected);
}

static int unpack(const struct snapshot_file *file, const struct hs_chunk *chunk, uint8_t **packed,
		  struct hs_error *err)
{
	uint8_t *raw;
	size_t n;

	if (chunk->codec == HS_CODEC_STORED) {
		if (chunk->bytes != chunk->raw_bytes)
			return snapshot_file_damaged(file, chunk, "length", chunk->bytes,
						     chunk->raw_bytes, err);
		return 0;
	}
	if (chunk->codec != HS_CODEC_ZSTD)
		return snapshot_file_damaged(file, chunk, "coding", chunk->codec, HS_CODEC_ZSTD,
					     err);
	raw = xmalloc(chunk->raw_bytes);
	n = ZSTD_decompress(raw, chunk->raw_bytes, *packed, chunk->bytes);
	if (ZSTD_isError(n) || n != chunk->raw_bytes) {
		free(raw);
		return snapshot_file_damaged(file, chunk, "unpacked length",
					     ZSTD_isError(n) ? 0 : n, chunk->raw_bytes, err);
	}
	free(*packed);
	*packed = raw;
	return 0;
}

int snapshot_file_load(const struct snapshot_file *file, const struct hs_chunk *chunk,
		       uint8_t **ret, struct hs_error *err)
{
	uint8_t *packed = xmalloc(chunk->bytes);
	int res = snapshot_file_read(file, packed, chunk->bytes, chunk->offset, err);
	uint64_t sum;

	if (!res) {
		sum = XXH3_64bits(packed, chunk->bytes);
		if (sum != chunk->checksum)
			res = snapshot_file_damaged(file, chunk, "checksum", sum, chunk->checksum,
						    err);
	}
	if (!res)
		res = unpack(file, chunk, &packed, err);
	if (res)
		free(packed);
	else
		*ret = packed;
	return res;
}

/* ---- writing ----------------------------------------------------------------------------- */

int snapshot_writer_open(struct snapshot_writer *w, const char *path, struct hs_error *err)
{
	int ret;

	*w = (struct snapshot_writer){.out = TEMPFILE_INIT};
	ret = tempfile_open(&w->out, path, err);
	if (ret)
		return ret;
	memcpy(w->header.magic, HS_FILE_MAGIC, sizeof(w->header.magic));
	w->header.version = HS_FILE_VERSION;
	w->header.header_size = sizeof(w->header);
	w->header.word_size = HS_FILE_WORD_SIZE;
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd)
		ret = hs_error_set(err, HS_E_SYSTEM, "out of memory");
	if (!ret)
		ret = tempfile_write(&w->out, &w->header, sizeof(w->header), err);
	w->offset = sizeof(w->header);
	if (ret)
		snapshot_writer_abort(w);
	return ret;
}

/* Packs data into *ret (for free()), or leaves it NULL if that does not make it smaller. */
static size_t pack(struct snapshot_writer *w, const void *data, size_t len, uint8_t **ret)
{
	size_t bound = ZSTD_compressBound(len), least = 0, n, pad;
	uint8_t *packed;

	if (len > HS_CHUNK_FREE_BYTES)
		least = (len - HS_CHUNK_FREE_BYTES) / HS_CHUNK_MAX_RATIO;
	packed = xmalloc(bound + least + SKIPPABLE_HEADER);
	n = ZSTD_compressCCtx(w->zstd, packed, bound, data, len,
			      len < LARGE_BYTES ? LEVEL_SMALL : LEVEL_LARGE);
	if (ZSTD_isError(n) || n >= len) {
		free(packed);
		*ret = NULL;
		return len;
	}
	if (n < least) {
		pad = least - n;
		memset(packed + n, 0, SKIPPABLE_HEADER + pad);
		packed[n] = 0x50; /* magic 0x184D2A50, then the length */
		packed[n + 1] = 0x2a;
		packed[n + 2] = 0x4d;
		packed[n + 3] = 0x18;
		for (int i = 0; i < 4; i++)
			packed[n + 4 + (size_t)i] = (uint8_t)(pad >> (8 * i));
		n += SKIPPABLE_HEADER + pad;
	}
	*ret = packed;
	return n;
}

int snapshot_writer_add(struct snapshot_writer *w, uint32_t id, uint32_t flags, uint64_t items,
			const void *data, size_t len, struct hs_error *err)
{
	uint8_t *packed = NULL;
	size_t n = len ? pack(w, data, len, &packed) : 0;
	const void *bytes = packed ? packed : data;
	struct hs_chunk chunk = {
		.flags = flags,
		.codec = packed ? HS_CODEC_ZSTD : HS_CODEC_STORED,
		.offset = w->offset,
		.bytes = n,
		.raw_bytes = len,
		.items = items,
		.checksum = XXH3_64bits(bytes, n),
	};
	int ret = n ? tempfile_write(&w->out, bytes, n, err) : 0;

	for (int i = 0; i < 4; i++)
		chunk.id[i] = (uint8_t)(id >> (8 * i));
	free(packed);
	if (ret)
		return ret;
	w->chunks = xgrow(w->chunks, &w->alloc, w->nr_chunks + 1, sizeof(*w->chunks));
	w->chunks[w->nr_chunks++] = chunk;
	w->offset += n;
	return 0;
}

static void writer_release(struct snapshot_writer *w)
{
	free(w->chunks);
	ZSTD_freeCCtx(w->zstd);
	*w = (struct snapshot_writer){.out = TEMPFILE_INIT};
}

int snapshot_writer_commit(struct snapshot_writer *w, struct hs_error *err)
{
	size_t table_bytes = w->nr_chunks * sizeof(*w->chunks);
	struct hs_file_trailer trailer = {
		.nr_chunks = (uint32_t)w->nr_chunks,
		.table_off = w->offset,
		.file_size = w->offset + table_bytes + sizeof(trailer),
	};
	XXH3_state_t *state = XXH3_createState();
	int ret;

	if (!state) {
		snapshot_writer_abort(w);
		return hs_error_set(err, HS_E_SYSTEM, "out of memory");
	}
	memcpy(trailer.magic, HS_FILE_END_MAGIC, sizeof(trailer.magic));
	XXH3_64bits_reset(state);
	XXH3_64bits_update(state, &w->header, sizeof(w->header));
	XXH3_64bits_update(state, w->chunks, table_bytes);
	XXH3_64bits_update(state, &trailer, offsetof(struct hs_file_trailer, checksum));
	trailer.checksum = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	ret = tempfile_write(&w->out, w->chunks, table_bytes, err);
	if (!ret)
		ret = tempfile_write(&w->out, &trailer, sizeof(trailer), err);
	if (ret)
		tempfile_abort(&w->out);
	else
		ret = tempfile_commit(&w->out, err);
	writer_release(w);
	return ret;
}

void snapshot_writer_abort(struct snapshot_writer *w)
{
	tempfile_abort(&w->out);
	writer_release(w);
}
