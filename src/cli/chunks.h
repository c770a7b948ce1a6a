/* SPDX-License-Identifier: MIT */
/*
 * chunks.h - rows of `check` and `info`.
 */
#ifndef HEAPSTORY_CLI_CHUNKS_H
#define HEAPSTORY_CLI_CHUNKS_H

#include "reports/report.h"

struct snap_chunk;

#define NR_CHUNK_COLUMNS 6u
extern const struct report_column chunk_columns[NR_CHUNK_COLUMNS];

/* A new reference. */
json_t *chunk_row(const struct snap_chunk *chunk);

#endif
