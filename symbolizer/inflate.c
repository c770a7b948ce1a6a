/* SPDX-License-Identifier: MIT */
/*
 * inflate.c - compressed bytes into memory or into a file; see inflate.h.
 *
 * Offline only. Into a file they go by write calls and not through a mapping, so that a full disk
 * is a short write and no SIGBUS.
 */
#include "symbolizer/inflate.h"

#include <errno.h>
#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "symbolizer/timelimit.h"
#include "util/alloc.h"

#define STEP ((size_t)1 << 20)          /* bytes that come out between two looks at the clock */
#define XZ_MEMORY (UINT64_C(64) << 20)  /* for the decoder's dictionary */

static bool write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/* One stream of either kind. */
struct decoder {
	enum inflate_method method;
	z_stream zlib;
	ZSTD_DStream *zstd;
	ZSTD_inBuffer zstd_in;
	size_t in_left;                 /* of zlib: not yet in zlib.avail_in, which is 32 bits */
};

static bool decoder_init(struct decoder *d, enum inflate_method method, const uint8_t *in,
			 size_t in_len)
{
	*d = (struct decoder){ .method = method };
	if (method == INFLATE_ZSTD) {
		d->zstd = ZSTD_createDStream();
		d->zstd_in = (ZSTD_inBuffer){ in, in_len, 0 };
		return d->zstd && !ZSTD_isError(ZSTD_initDStream(d->zstd));
	}
	d->zlib.next_in = (Bytef *)in;
	d->in_left = in_len;
	return inflateInit(&d->zlib) == Z_OK;
}

static void decoder_release(struct decoder *d)
{
	if (d->method == INFLATE_ZSTD)
		ZSTD_freeDStream(d->zstd);
	else
		inflateEnd(&d->zlib);
}

/* Up to len <= STEP bytes to out; returns how many, fewer at the end or where it is damaged. */
static size_t decoder_step(struct decoder *d, uint8_t *out, size_t len)
{
	ZSTD_outBuffer zstd_out = { out, len, 0 };

	if (d->method == INFLATE_ZSTD) {
		while (zstd_out.pos < len && d->zstd_in.pos < d->zstd_in.size)
			if (ZSTD_isError(ZSTD_decompressStream(d->zstd, &zstd_out, &d->zstd_in)))
				break;
		return zstd_out.pos;
	}
	d->zlib.next_out = out;
	d->zlib.avail_out = (uInt)len;
	while (d->zlib.avail_out) {
		int status;

		if (!d->zlib.avail_in) {
			d->zlib.avail_in = d->in_left < UINT_MAX ? (uInt)d->in_left : UINT_MAX;
			d->in_left -= d->zlib.avail_in;
		}
		status = inflate(&d->zlib, Z_NO_FLUSH);
		if (status != Z_OK)
			break;
	}
	return len - d->zlib.avail_out;
}

uint64_t inflate_bytes(enum inflate_method method, const uint8_t *in, size_t in_len,
		       const struct inflate_sink *sink, struct time_limit *limit)
{
	uint8_t *staging = sink->memory ? NULL : xmalloc(STEP);
	struct decoder d;
	uint64_t done = 0;
	bool more = decoder_init(&d, method, in, in_len);

	while (more && done < sink->size && !time_limit_passed(limit)) {
		size_t want = sink->size - done < STEP ? (size_t)(sink->size - done) : STEP;
		uint8_t *out = staging ? staging : sink->memory + done;
		size_t got = decoder_step(&d, out, want);

		more = got == want;
		if (staging && !write_all(sink->fd, staging, got))
			break;
		done += got;
	}
	decoder_release(&d);
	free(staging);
	return done;
}

bool inflate_xz(const uint8_t *in, size_t in_len, size_t max, uint8_t **ret, size_t *ret_len)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t alloc = 0, len = 0;
	uint8_t *out = NULL;
	lzma_ret status;

	if (lzma_stream_decoder(&stream, XZ_MEMORY, 0) != LZMA_OK)
		return false;
	stream.next_in = in;
	stream.avail_in = in_len;
	do {
		out = xgrow(out, &alloc, len + STEP, 1);
		stream.next_out = out + len;
		stream.avail_out = STEP;
		status = lzma_code(&stream, LZMA_FINISH);
		len += STEP - stream.avail_out;
	} while (status == LZMA_OK && len < max);
	lzma_end(&stream);
	if (status != LZMA_STREAM_END) {
		free(out);
		return false;
	}
	*ret = out;
	*ret_len = len;
	return true;
}
