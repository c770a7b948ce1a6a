/* SPDX-License-Identifier: MIT */
/*
 * snapshot_check.c - verifies a snapshot file chunk by chunk, or a store array by array.
 */
#include "analysis/snapshot_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"

static void set_problem(struct snap_chunk *row, const char *text)
{
	if (row->problem[0])
		return;
	row->ok = false;
	snprintf(row->problem, sizeof(row->problem), "%.255s", text);
}

/* What follows "'PATH' is damaged: ", as the row need not repeat the path. */
static const char *without_path(const struct hs_error *err)
{
	static const char mark[] = "' is damaged: ";
	const char *p = strstr(err->text, mark);

	return p ? p + sizeof(mark) - 1 : err->text;
}

/* ---- files ------------------------------------------------------------------------------- */

static void describe_chunk(const struct hs_chunk *chunk, const struct snap_chunk_kind *kind,
			   struct snap_chunk *row)
{
	*row = (struct snap_chunk){
		.offset = chunk->offset,
		.bytes = chunk->bytes,
		.raw_bytes = chunk->raw_bytes,
		.items = chunk->items,
		.ok = true,
	};
	if (kind)
		snprintf(row->name, sizeof(row->name), "%s", kind->name);
	else
		snprintf(row->name, sizeof(row->name), "unknown '%.4s'", (const char *)chunk->id);
}

/* Checksum and packing, which can be verified whatever is inside. */
static int check_packing(const struct snapshot_file *file, const struct hs_chunk *chunk,
			 struct hs_error *err)
{
	uint8_t *raw;
	int ret = snapshot_file_load(file, chunk, &raw, err);

	if (!ret)
		free(raw);
	return ret;
}

static int check_unknown(const struct snapshot_file *file, const struct hs_chunk *chunk,
			 struct hs_error *err)
{
	int ret = check_packing(file, chunk, err);

	if (!ret && chunk->flags & HS_CHUNK_MUST_KNOW)
		ret = hs_error_set(err, HS_E_VERSION, "of a newer version, and not to be skipped");
	return ret;
}

static struct snap_chunk *row_of(const struct snapshot_file *file, struct snap_chunk *rows,
				 uint32_t id)
{
	for (size_t i = 0; i < file->nr_chunks; i++) {
		if (snapshot_chunk_id(&file->chunks[i]) == id)
			return &rows[i];
	}
	return NULL;
}

/*
 * Decodes what can be decoded, each kind in its turn. A block column cannot be judged without the
 * column that makes room, nor anything without what it counts on, so those stay unjudged where
 * that one is damaged: their checksums are verified in any case. True if all is there and good.
 */
static bool check_kinds(const struct snapshot_file *file, struct snap_chunk *rows,
			struct snapshot *s, struct hs_error *err)
{
	bool good = true;

	for (const struct snap_chunk_kind *kind = snap_chunk_kinds; kind->id; kind++) {
		const struct hs_chunk *chunk = snapshot_file_find(file, kind->id);
		int ret;

		if (!chunk) {
			good = good && kind->optional;
			continue;
		}
		ret = good ? snapshot_decode_chunk(file, chunk, kind, s, err)
			   : check_packing(file, chunk, err);
		if (!ret)
			continue;
		set_problem(row_of(file, rows, kind->id), without_path(err));
		good = false;
	}
	return good;
}

/* A row for each kind of chunk that is not there. */
static size_t add_missing(const struct snapshot_file *file, struct snap_chunk *rows, size_t nr)
{
	for (const struct snap_chunk_kind *kind = snap_chunk_kinds; kind->id; kind++) {
		struct snap_chunk *row = &rows[nr];

		if (kind->optional || snapshot_file_find(file, kind->id))
			continue;
		*row = (struct snap_chunk){.ok = false};
		snprintf(row->name, sizeof(row->name), "%s", kind->name);
		set_problem(row, "this chunk is missing");
		nr++;
	}
	return nr;
}

static size_t nr_kinds(void)
{
	size_t nr = 0;

	while (snap_chunk_kinds[nr].id)
		nr++;
	return nr;
}

static int check_file(const char *path, struct snap_chunk **ret_chunks, size_t *ret_nr,
		      struct hs_error *err)
{
	struct snapshot *s = xcalloc(1, sizeof(*s));
	struct snap_problem problem;
	struct snapshot_file file;
	struct snap_chunk *rows;
	struct hs_error mine;
	int ret = snapshot_file_open(path, &file, err);

	if (ret) {
		free(s);
		return ret;
	}
	rows = xcalloc(file.nr_chunks + nr_kinds(), sizeof(*rows));
	for (size_t i = 0; i < file.nr_chunks; i++) {
		const struct snap_chunk_kind *kind =
			snap_chunk_kind(snapshot_chunk_id(&file.chunks[i]));

		describe_chunk(&file.chunks[i], kind, &rows[i]);
		if (!kind && check_unknown(&file, &file.chunks[i], &mine))
			set_problem(&rows[i], without_path(&mine));
	}
	if (check_kinds(&file, rows, s, &mine) && !snapshot_valid(s, &problem))
		set_problem(row_of(&file, rows, problem.id), problem.text);
	*ret_nr = add_missing(&file, rows, file.nr_chunks);
	*ret_chunks = rows;
	snapshot_file_close(&file);
	snapshot_free(s);
	return 0;
}

/* ---- stores ------------------------------------------------------------------------------ */

static void describe_array(const struct store_image *image, unsigned int array,
			   const struct snap_findings *findings, struct snap_chunk *row)
{
	char name[32];
	uint64_t bytes = image->arrays[array].count * store_elem_size(array);

	*row = (struct snap_chunk){
		.offset = image->header.arrays[array].extent[0],
		.bytes = bytes,
		.raw_bytes = bytes,
		.items = image->arrays[array].count,
		.ok = true,
	};
	snprintf(row->name, sizeof(row->name), "%.23s", store_array_name(array, name));
	if (findings->text[array][0])
		set_problem(row, findings->text[array]);
}

static int check_store(const char *path, struct snap_chunk **ret_chunks, size_t *ret_nr,
		       struct hs_error *err)
{
	struct snap_findings *findings = xcalloc(1, sizeof(*findings));
	struct snapshot *s = NULL;
	struct store_image image;
	struct snap_chunk *rows;
	size_t nr = 0;
	int ret = store_image_read(path, &image, err);

	if (ret) {
		free(findings);
		return ret;
	}
	/* What cannot be read has left its finding, too. */
	snapshot_from_image(&image, &s, findings, err);
	rows = xcalloc(HS_NR_ARRAYS + 1, sizeof(*rows));
	rows[nr] = (struct snap_chunk){
		.bytes = HS_DATA_OFF, .raw_bytes = HS_DATA_OFF, .items = 1, .ok = true};
	snprintf(rows[nr].name, sizeof(rows[nr].name), "header");
	if (findings->text[SNAP_FINDING_HEADER][0])
		set_problem(&rows[nr], findings->text[SNAP_FINDING_HEADER]);
	nr++;
	for (unsigned int i = 0; i < HS_NR_ARRAYS; i++) {
		if (i < HS_ARRAY_CELLS || image.arrays[i].count || findings->text[i][0])
			describe_array(&image, i, findings, &rows[nr++]);
	}
	*ret_chunks = rows;
	*ret_nr = nr;
	snapshot_free(s);
	store_image_release(&image);
	free(findings);
	return 0;
}

int snapshot_check(const char *path, struct snap_chunk **ret_chunks, size_t *ret_nr,
		   struct hs_error *err)
{
	bool is_store = false;
	int res = store_is_store(path, &is_store, err);

	if (res)
		return res;
	return is_store ? check_store(path, ret_chunks, ret_nr, err)
			: check_file(path, ret_chunks, ret_nr, err);
}
