/* SPDX-License-Identifier: MIT */
/*
 * image_check.c - whether what a store says of itself can be so: its version, and that each array
 * lies within the file.
 */
#include "store/reader_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/error.h"

/* ---- names and sizes --------------------------------------------------------------------- */

uint32_t store_elem_size(unsigned int array)
{
	static const uint32_t sizes[HS_ARRAY_CELLS] = {
		[HS_ARRAY_RECORDS] = sizeof(struct hs_record),
		[HS_ARRAY_NODES] = sizeof(struct hs_node),
		[HS_ARRAY_STACKS] = sizeof(struct hs_stack),
		[HS_ARRAY_LINEAGES] = sizeof(struct hs_lineage),
		[HS_ARRAY_LONG_LINEAGES] = sizeof(struct hs_long_lineage),
		[HS_ARRAY_MODULES] = sizeof(struct hs_module),
		[HS_ARRAY_THREADS] = sizeof(struct hs_thread),
		[HS_ARRAY_MAPPINGS] = sizeof(struct hs_record),
	};

	return array < HS_ARRAY_CELLS ? sizes[array] : (uint32_t)sizeof(struct hs_cell);
}

const char *store_array_name(unsigned int array, char ret[static 32])
{
	static const char *const names[HS_ARRAY_CELLS] = {
		[HS_ARRAY_RECORDS] = "records",
		[HS_ARRAY_NODES] = "nodes",
		[HS_ARRAY_STACKS] = "stacks",
		[HS_ARRAY_LINEAGES] = "lineages",
		[HS_ARRAY_LONG_LINEAGES] = "long lineages",
		[HS_ARRAY_MODULES] = "modules",
		[HS_ARRAY_THREADS] = "threads",
		[HS_ARRAY_MAPPINGS] = "mappings",
	};

	if (array < HS_ARRAY_CELLS)
		snprintf(ret, 32, "%s", names[array]);
	else
		snprintf(ret, 32, "cells of shard %u", array - HS_ARRAY_CELLS);
	return ret;
}

/* ---- arrays and header ------------------------------------------------------------------- */

uint64_t image_array_count(const struct hs_array *a)
{
	return a->count < a->ready ? a->count : a->ready;
}

int image_check_array(const struct store_image *image, unsigned int array, const struct hs_array *a,
		      struct hs_error *err)
{
	uint64_t count = image_array_count(a), bytes, end, len;
	char name[32];

	store_array_name(array, name);
	if (a->elem_size != store_elem_size(array) || a->shift > 32)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: the array of %s has elements of %u bytes, "
				    "expected %u",
				    image->path, name, a->elem_size, store_elem_size(array));
	if (!count)
		return 0;
	if (__builtin_mul_overflow(count, a->elem_size, &bytes) || bytes > image->file_size)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: %llu %s do not fit into %llu bytes",
				    image->path, (unsigned long long)count, name,
				    (unsigned long long)image->file_size);
	for (uint32_t k = 0; k < HS_NR_EXTENTS && hs_array_first(a->shift, k) < count; k++) {
		len = hs_array_extent_len(a->shift, k);
		if (len > count - hs_array_first(a->shift, k))
			len = count - hs_array_first(a->shift, k);
		if (a->extent[k] < HS_DATA_OFF ||
		    __builtin_add_overflow(a->extent[k], len * a->elem_size, &end) ||
		    end > image->file_size)
			return hs_error_set(err, HS_E_FORMAT,
					    "'%s' is damaged: extent %u of %s lies at %llu, beyond "
					    "%llu bytes",
					    image->path, k, name, (unsigned long long)a->extent[k],
					    (unsigned long long)image->file_size);
	}
	if (hs_array_extent(a->shift, count - 1) >= HS_NR_EXTENTS)
		return hs_error_set(err, HS_E_FORMAT, "'%s' is damaged: too many %s: %llu",
				    image->path, name, (unsigned long long)count);
	return 0;
}

/* Bytes of the file that are no holes, as far as the file system tells. */
static uint64_t data_bytes(const struct store_image *image)
{
	uint64_t sum = 0;
	off_t pos = 0, hole;

	while ((pos = lseek(image->fd, pos, SEEK_DATA)) >= 0) {
		hole = lseek(image->fd, pos, SEEK_HOLE);
		if (hole <= pos)
			return image->file_size;
		sum += (uint64_t)(hole - pos);
		pos = hole;
	}
	return errno == ENXIO ? sum : image->file_size;
}

int image_check_header(const struct store_image *image, struct hs_error *err)
{
	const struct hs_header *h = &image->header;
	uint64_t claimed = 0;

	if (memcmp(h->magic, HS_STORE_MAGIC, sizeof(h->magic)))
		return hs_error_set(err, HS_E_FORMAT, "'%s' is not a store", image->path);
	if (h->version != HS_STORE_VERSION)
		return hs_error_set(err, HS_E_VERSION,
				    "'%s' is a store of version %u; this heapstory reads version "
				    "%u",
				    image->path, h->version, HS_STORE_VERSION);
	if (h->must_know)
		return hs_error_set(err, HS_E_VERSION,
				    "'%s' uses features 0x%x that this heapstory does not know",
				    image->path, h->must_know);
	if (h->header_size != sizeof(*h) ||
	    (h->arch != HS_ARCH_X86_64 && h->arch != HS_ARCH_AARCH64))
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: header of %u bytes, expected %zu, machine %u",
				    image->path, h->header_size, sizeof(*h), h->arch);
	/* Compared with `used`, not with `cap`: a finished store may have lost its empty end. */
	if (h->used > image->file_size || h->used > h->cap)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is cut short: %llu bytes, expected %llu", image->path,
				    (unsigned long long)image->file_size,
				    (unsigned long long)h->used);
	for (unsigned int i = 0; i < HS_NR_ARRAYS; i++) {
		int ret = image_check_array(image, i, &h->arrays[i], err);

		if (ret)
			return ret;
		claimed += image_array_count(&h->arrays[i]) * store_elem_size(i);
	}
	/* A small file with large holes must not make us take memory for all that it claims. */
	if (claimed > (UINT64_C(16) << 20) && claimed / 4 > data_bytes(image))
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: it claims %llu bytes of records and holds "
				    "fewer",
				    image->path, (unsigned long long)claimed);
	return 0;
}
