/* SPDX-License-Identifier: MIT */
/*
 * snapshot_internal.h - what the files that make and keep a struct snapshot share.
 */
#ifndef HEAPSTORY_ANALYSIS_SNAPSHOT_INTERNAL_H
#define HEAPSTORY_ANALYSIS_SNAPSHOT_INTERNAL_H

#include "analysis/snapshot.h"
#include "store/reader.h"
#include "store/snapshot_file.h"

struct buffer;
struct cursor;

#define SNAP_PROBLEM_LEN 256u

struct snap_problem {
	uint32_t id; /* HS_CHUNK_ID of the chunk that is to blame */
	char text[SNAP_PROBLEM_LEN];
};

/* Milliseconds of a time of the store in ticks. */
static inline uint64_t snap_ticks_ms(uint32_t ticks)
{
	return (uint64_t)ticks * HS_TICK_MS;
}

/* ---- snapshot_encode.c: the chunks of a snapshot file ---- */

struct snap_chunk_kind {
	uint32_t id; /* HS_CHUNK_ID */
	uint32_t min_bytes; /* that an item takes at least */
	const char *name; /* "block addresses" */
	bool optional; /* a file need not have one, and a reader may skip it */
	uint64_t (*items)(const struct snapshot *s);
	void (*encode)(const struct snapshot *s, struct buffer *b);
	/*
	 * Fills its part of s; what is malformed makes the cursor bad. Kinds are decoded in the
	 * order of the table, so that counts are known before what refers to them. NULL where the
	 * kind is a column of the blocks.
	 */
	void (*decode)(struct snapshot *s, struct cursor *c, uint64_t items);
	/* Fills its field of the next nr blocks; *carry, 0 at first, is its own. Or NULL. */
	void (*column)(uint64_t *carry, struct cursor *c, struct snap_block *blocks, size_t nr);
};

/* All kinds, in order; ends with id 0. A file has one chunk of each, but for the optional ones. */
extern const struct snap_chunk_kind snap_chunk_kinds[];

/* The kind with this id, or NULL. */
const struct snap_chunk_kind *snap_chunk_kind(uint32_t id);

/* The kind of the block addresses: the first of the columns, whose items say how many blocks. */
#define SNAP_FIRST_COLUMN HS_CHUNK_ID('B', 'A', 'D', 'R')

/* One item of the chunks STEP and LINE, of so many varints. */
#define SNAP_STEP_NUMBERS    3u
#define SNAP_LINEAGE_NUMBERS 9u
void snap_decode_step(struct cursor *c, struct snap_step *ret);
/* first: of the nr_steps steps those below it are of the lineages before. */
void snap_decode_lineage(struct cursor *c, struct snap_lineage *ret, uint64_t first,
			 uint64_t nr_steps);

/* ---- snapshot_columns.c: of the blocks ---- */

#define SNAP_COLUMN(what)                                                                     \
	void snap_encode_##what(const struct snapshot *s, struct buffer *b);                  \
	void snap_decode_##what(uint64_t *carry, struct cursor *c, struct snap_block *blocks, \
				size_t nr)

SNAP_COLUMN(addresses);
SNAP_COLUMN(sizes);
SNAP_COLUMN(usables);
SNAP_COLUMN(slots);
SNAP_COLUMN(serials);
SNAP_COLUMN(births);
SNAP_COLUMN(block_stacks);
SNAP_COLUMN(block_threads);
SNAP_COLUMN(block_lineages);
SNAP_COLUMN(families);
SNAP_COLUMN(flags);
SNAP_COLUMN(block_words);

/* ---- snapshot.c ---- */

/* From the unpacked bytes of a chunk to its part of the snapshot; what is malformed makes c bad. */
void snapshot_decode_bytes(const struct snap_chunk_kind *kind, struct snapshot *s, struct cursor *c,
			   uint64_t items);
/* Reads one chunk into its part of the snapshot: checksum, packing, form. 0 or -HS_E_*. */
int snapshot_decode_chunk(const struct snapshot_file *file, const struct hs_chunk *chunk,
			  const struct snap_chunk_kind *kind, struct snapshot *s,
			  struct hs_error *err);
/* Reads all of a file; the result has passed snapshot_valid(). On success the caller owns *ret. */
int snapshot_decode(const struct snapshot_file *file, struct snapshot **ret, struct hs_error *err);
/* All but blocks, lineages and steps, which stay in the file; (*ret)->file is not set. */
int snapshot_decode_frame(const struct snapshot_file *file, struct snapshot **ret,
			  struct hs_error *err);
/* What is said of a snapshot with this problem; -HS_E_FORMAT. */
int snapshot_damaged(const struct snapshot_file *file, const struct snap_problem *problem,
		     struct hs_error *err);

/* ---- snapshot_validate.c ---- */

/*
 * Every number in range, every order kept, every sum right. False if not, with the first problem
 * found. Assumes only that the arrays have the lengths that the snapshot says.
 */
bool snapshot_valid(const struct snapshot *s, struct snap_problem *ret_problem);
/* The same of everything but blocks, lineages and steps. */
bool snapshot_valid_frame(const struct snapshot *s, struct snap_problem *ret_problem);
/* The same of a step or lineage with this number, from 0. */
bool snap_step_valid(const struct snapshot *s, size_t nr, const struct snap_step *step,
		     struct snap_problem *ret_problem);
bool snap_lineage_valid(const struct snapshot *s, size_t nr, const struct snap_lineage *lineage,
			struct snap_problem *ret_problem);

/* The same of the blocks, some at a time. */
struct snap_block_checks {
	const struct snapshot *s;
	size_t nr; /* blocks so far */
	uint64_t address; /* of the last one */
	uint64_t end; /* of those that are not in flight */
	struct snap_block_sums {
		uint64_t count, bytes;
	} * sums; /* by stack */
};

void snap_block_checks_init(struct snap_block_checks *c, const struct snapshot *s);
void snap_block_checks_release(struct snap_block_checks *c);
/* Each of the next nr blocks is in order and refers to what is there. */
bool snap_block_checks_add(struct snap_block_checks *c, const struct snap_block *blocks, size_t nr,
			   struct snap_problem *ret_problem);
/* After the last one: the sums of stacks and snapshot are those of the blocks. */
bool snap_block_checks_end(const struct snap_block_checks *c, struct snap_problem *ret_problem);

/* ---- snapshot_modules.c ---- */

/*
 * Gives the modules of a process that still runs device and inode of what is mapped there, where they
 * have no build id; none (0) where its maps may not be read.
 */
void snapshot_identify_modules(struct snapshot *s);

/* ---- snapshot_nodes.c: finding nodes by (parent, pc, module) ---- */

struct node_table {
	uint32_t *slots; /* number of a node, 0: empty */
	uint64_t mask;
};

/* For up to `nr` nodes. */
void node_table_init(struct node_table *t, uint64_t nr);
void node_table_release(struct node_table *t);
/*
 * The number of the node in nodes[] that equals nodes[nr]: an earlier one, or nr itself, which is
 * in the table from now on. Node 0 is not to be asked for.
 */
uint32_t node_table_add(struct node_table *t, const struct snap_node *nodes, uint32_t nr);

/* ---- snapshot_store.c, snapshot_blocks.c: from the store ---- */

/* First problem of each array; "" where there is none. The last one is that of the header. */
#define SNAP_FINDING_HEADER HS_NR_ARRAYS
struct snap_findings {
	char text[HS_NR_ARRAYS + 1][SNAP_PROBLEM_LEN];
};

/* Keeps the text if it is the first of that array; findings may be NULL. */
void snap_finding(struct snap_findings *findings, unsigned int array, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Makes a snapshot of a copied store, whose records are moved about on the way. What a kill or an
 * overrun freeze can have left half done is dropped and counted; a store whose stacks, nodes,
 * modules or strings cannot be right is refused. findings may be NULL. 0 or -HS_E_*.
 */
int snapshot_from_image(struct store_image *image, struct snapshot **ret,
			struct snap_findings *findings, struct hs_error *err);

/* ---- snapshot_words.c ---- */

/*
 * Reads the first words of the blocks of a snapshot just made of this image: from its program, if
 * that runs and may be read; from what the tracer left, if it ended regularly. Else class_words
 * stays NULL.
 */
void snapshot_read_class_words(struct snapshot *s, struct store_image *image);

/* Numbers of the store as numbers of the snapshot. */
struct snap_maps {
	uint32_t *stacks; /* by stack of the store */
	uint64_t nr_stacks;
	uint32_t *threads; /* by slot; 0: not used */
	uint64_t nr_threads;
};

/* Per stack of the snapshot: what the reader dropped and the totals still have. */
struct snap_dropped {
	uint64_t count, bytes;
};

/*
 * Fills blocks, mappings, lineages, steps, dropped_blocks and the live totals. dropped[] has
 * nr_stacks elements.
 */
void snapshot_take_blocks(struct snapshot *s, struct store_image *image,
			  const struct snap_maps *maps, struct snap_dropped *dropped,
			  struct snap_findings *findings);

/* Adds the blocks to the live totals of stacks and snapshot, which are 0 before. */
void snapshot_sum_blocks(struct snapshot *s);

/* Sorts records by address, where they lie. */
void records_sort(struct hs_record *records, uint64_t nr);

#endif
