/* SPDX-License-Identifier: MIT */
/*
 * image.c - the file of a store and the memory of its copy; see reader.h. The copying itself is in
 * reader.c.
 */
#include "store/reader_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/summary.h"
#include "util/alloc.h"
#include "util/error.h"

#define MAX_STRING 4096u

/* ---- the file ---------------------------------------------------------------------------- */

int image_read_at(const struct store_image *image, void *buf, uint64_t len, uint64_t off,
		  struct hs_error *err)
{
	char *p = buf;

	while (len) {
		ssize_t n = pread(image->fd, p, len < (1u << 30) ? len : 1u << 30, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return hs_error_system(err, "read", image->path);
		if (!n)
			return hs_error_set(err, HS_E_FORMAT,
					    "'%s' is cut short: it ends at byte %llu", image->path,
					    (unsigned long long)off);
		p += n;
		off += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return 0;
}

static int open_store(const char *path, int *ret_fd, bool *ret_writable, uint64_t *ret_size,
		      struct hs_error *err)
{
	const int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	bool writable = true;
	struct stat st;
	int fd = open(path, O_RDWR | flags);

	if (fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM || errno == ETXTBSY)) {
		writable = false;
		fd = open(path, O_RDONLY | flags);
	}
	if (fd < 0)
		return hs_error_system(err, "open", path);
	if (fstat(fd, &st)) {
		int ret = hs_error_system(err, "read", path);

		close(fd);
		return ret;
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return hs_error_set(err, HS_E_FORMAT, "'%s' is not a regular file", path);
	}
	*ret_fd = fd;
	*ret_writable = writable;
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

int store_is_store(const char *path, bool *ret_is_store, struct hs_error *err)
{
	uint8_t magic[16];
	bool writable;
	uint64_t size;
	ssize_t n;
	int fd, ret = open_store(path, &fd, &writable, &size, err);

	if (ret)
		return ret;
	n = pread(fd, magic, sizeof(magic), 0);
	if (n < 0)
		ret = hs_error_system(err, "read", path);
	else
		*ret_is_store = n == sizeof(magic) && !memcmp(magic, HS_STORE_MAGIC, sizeof(magic));
	close(fd);
	return ret;
}

int image_read_header(struct store_image *image, struct hs_error *err)
{
	int ret;

	if (image->file_size < HS_DATA_OFF)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is cut short: %llu bytes, expected %u or more",
				    image->path, (unsigned long long)image->file_size, HS_DATA_OFF);
	ret = image_read_at(image, &image->header, sizeof(image->header), HS_HEADER_OFF, err);
	if (ret)
		return ret;
	return image_check_header(image, err);
}

int image_open(const char *path, struct store_image *ret, bool *ret_writable, struct hs_error *err)
{
	int res;

	memset(ret, 0, sizeof(*ret));
	ret->fd = -1;
	res = open_store(path, &ret->fd, ret_writable, &ret->file_size, err);
	if (res)
		return res;
	ret->path = xstrdup(path);
	res = image_read_header(ret, err);
	if (!res && ret->header.state > HS_STATE_EXECED)
		res = hs_error_set(err, HS_E_FORMAT, "'%s' is damaged: state %u", path,
				   ret->header.state);
	if (!res && ret->header.state == HS_STATE_NEW)
		res = hs_error_set(err, HS_E_STATE, "no program has begun to record into '%s'",
				   path);
	if (!res)
		ret->alive = store_image_runs(&ret->header, ret->fd);
	return res;
}

/* ---- the memory -------------------------------------------------------------------------- */

static void array_release(struct store_array *a)
{
	if (a->data)
		munmap(a->data, a->mapped);
	*a = (struct store_array){NULL, 0, 0};
}

static void touch(void *p, size_t size)
{
#ifdef MADV_POPULATE_WRITE
	if (!madvise(p, size, MADV_POPULATE_WRITE))
		return;
#endif
	for (size_t i = 0; i < size; i += 4096)
		((volatile char *)p)[i] = 0;
}

void image_array_room(struct store_array *a, uint64_t bytes, bool touched)
{
	void *p;

	if (!bytes || a->mapped >= bytes)
		return;
	array_release(a);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		fprintf(stderr, "heapstory: out of memory (%llu bytes)\n",
			(unsigned long long)bytes);
		exit(2);
	}
	if (bytes >= (4u << 20))
		madvise(p, bytes, MADV_HUGEPAGE);
	if (touched)
		touch(p, bytes);
	a->data = p;
	a->mapped = bytes;
}

void store_image_release(struct store_image *image)
{
	for (unsigned int i = 0; i < HS_NR_ARRAYS; i++)
		array_release(&image->arrays[i]);
	if (image->fd >= 0)
		close(image->fd);
	free(image->path);
	memset(image, 0, sizeof(*image));
	image->fd = -1;
}

/* ---- what is read from the file afterwards ----------------------------------------------- */

int store_image_string(const struct store_image *image, uint64_t off, char **ret,
		       struct hs_error *err)
{
	char buf[MAX_STRING];
	uint64_t len = sizeof(buf);
	int res;

	if (!off) {
		*ret = xstrdup("");
		return 0;
	}
	if (off < HS_DATA_OFF || off >= image->file_size)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: a string lies at %llu, beyond %llu bytes",
				    image->path, (unsigned long long)off,
				    (unsigned long long)image->file_size);
	if (len > image->file_size - off)
		len = image->file_size - off;
	res = image_read_at(image, buf, len, off, err);
	if (res)
		return res;
	if (!memchr(buf, 0, len))
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: the string at %llu does not end", image->path,
				    (unsigned long long)off);
	*ret = xstrdup(buf);
	return 0;
}

void store_image_words(const struct store_image *image,
		       void (*each)(void *context, const struct hs_word *words, size_t nr),
		       void *context)
{
	struct hs_words *w = xmalloc(sizeof(*w));
	uint64_t at = image->header.words_off, before = HS_DATA_OFF - 1;

	/* places only rise, so a chain that is damaged ends, too */
	while (at > before && !image_read_at(image, w, sizeof(*w), at, NULL) &&
	       w->count <= HS_NR_WORDS) {
		each(context, w->words, w->count);
		before = at;
		at = w->next;
	}
	free(w);
}

void store_image_records_now(const struct store_image *image,
			     void (*each)(void *context, const struct hs_record *records,
					  size_t nr),
			     void *context)
{
	const size_t most = 32768;
	struct hs_record *records;
	struct hs_array a;
	uint64_t count;

	if (image_read_at(image, &a, sizeof(a),
			  HS_HEADER_OFF + offsetof(struct hs_header, arrays[HS_ARRAY_RECORDS]),
			  NULL) ||
	    image_check_array(image, HS_ARRAY_RECORDS, &a, NULL))
		return;
	count = image_array_count(&a);
	records = xmallocarray(most, sizeof(*records));
	for (uint64_t i = 0; i < count;) {
		uint32_t k = hs_array_extent(a.shift, i);
		uint64_t at = i - hs_array_first(a.shift, k);
		uint64_t nr = hs_array_extent_len(a.shift, k) - at;

		nr = nr < count - i ? nr : count - i;
		nr = nr < most ? nr : most;
		if (image_read_at(image, records, nr * sizeof(*records),
				  a.extent[k] + at * sizeof(*records), NULL))
			break;
		each(context, records, nr);
		i += nr;
	}
	free(records);
}
