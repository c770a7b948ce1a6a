/* SPDX-License-Identifier: MIT */
/*
 * kind.h - which blocks of a snapshot a report is about: those of malloc, or the mappings that the
 * program itself made (mmap, mremap, brk), or both.
 *
 * The store has every mapping that was made through the dynamic linker. Those of an allocator or
 * a language runtime are pages under malloc and in no report: the innermost frame lies in such a
 * module, or the stack leads through a hook of ours.
 */
#ifndef HEAPSTORY_ANALYSIS_KIND_H
#define HEAPSTORY_ANALYSIS_KIND_H

#include <stdbool.h>

struct snap_block;
struct snapshot;

enum block_kind {
	KIND_MALLOC,
	KIND_MAPPING,
	KIND_ALL,
};

/* "malloc", "mapping", "all". */
const char *kind_name(enum block_kind kind);
/* From its name; false: it is none. */
bool kind_parse(const char *name, enum block_kind *ret);

/* KIND_MAPPING if it is by its family, else KIND_MALLOC. */
enum block_kind kind_of(const struct snap_block *block);

/* Leaves in s->mappings only the program's own. */
void kind_own_mappings(struct snapshot *s);

/*
 * Makes the blocks of s those of the kind, with live totals to match; what is known only of malloc
 * (ever born, temporary, the high-water mark) becomes 0 then, see s->kind. The blocks must be in
 * memory, unless the kind is KIND_MALLOC, for which nothing is done.
 */
void kind_choose(struct snapshot *s, enum block_kind kind);

#endif
