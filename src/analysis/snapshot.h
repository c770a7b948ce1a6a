/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - what a heap looked like at one moment: the input of all analysis.
 *
 * Made from a running program's store, a dead program's store, or a snapshot file; nothing that
 * uses it can tell which, but by `source`. Numbers (of stacks, nodes, modules, threads) are
 * indices into this snapshot's own arrays; they mean nothing in another snapshot, except that
 * (address, serial) names the same block in all snapshots of one process image (`image`).
 *
 * Times are milliseconds since the tracer's start (`start_real_ns` on the wall clock); times that
 * people see are since the start of the process: add `start_after_ms`.
 */
#ifndef HEAPSTORY_ANALYSIS_SNAPSHOT_H
#define HEAPSTORY_ANALYSIS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/kind.h"
#include "store/format.h"

struct hs_error;
struct name_table;
struct proc_map;
struct snapshot_file;

enum snapshot_source {
	SNAPSHOT_FILE,
	SNAPSHOT_LIVE_STORE,
	SNAPSHOT_DEAD_STORE,
};

struct snap_module {
	char *path;                     /* "" if unknown; main program and libraries alike */
	uint8_t build_id[HS_BUILD_ID_LEN];
	uint32_t build_id_len;          /* 0: none */
	uint64_t load_bias;             /* address in the program = address in the file + load_bias */
	uint64_t start, end;
	uint32_t flags;                 /* enum hs_module_flags */
	uint64_t loaded_ms;
	uint64_t unloaded_ms;           /* 0: still loaded */
	uint64_t dev, inode;
	uint32_t nr_segments;
	struct hs_segment segments[HS_NR_SEGMENTS];
};

/* Node 0 is the root; parent < own number; no two nodes have the same parent, pc and module. */
struct snap_node {
	uint64_t pc;                    /* return address, interrupted pc, or enum hs_pseudo_pc */
	uint32_t parent;
	uint32_t module;                /* 0: none */
	bool signal;                    /* pc was interrupted, not called: look it up as it is */
};

/* Stack 0 is "no stack". Live totals are always those of the blocks. */
struct snap_stack {
	uint32_t node;                  /* innermost frame */
	uint64_t live_count, live_bytes;
	uint64_t born_count, born_bytes; /* ever, growth steps included */
	uint64_t temporary;
	uint64_t peak_count, peak_bytes; /* at the high-water mark */
};

enum snap_block_flags {
	/*
	 * Was being resized when the snapshot was made, between the table and the allocator. Its
	 * place may be another block's by then: it may overlap blocks that come after it, and stands
	 * before those of the same address; where its old address lies inside another block, it has
	 * been set to that block's. So the last block at or below an address is never a stale one
	 * while there is one that is not.
	 */
	SNAP_BLOCK_IN_FLIGHT = 1u << 0,
};

struct snap_block {
	uint64_t address;
	uint64_t size, usable;          /* bytes */
	uint64_t serial;
	uint64_t birth_ms;
	uint32_t stack;                 /* of the call that gave the present size */
	uint32_t thread;                /* index; 0: unknown or long gone */
	uint32_t lineage;               /* index + 1 into lineages; 0: never resized */
	uint16_t family;                /* enum hs_family; of a mapping HS_FAMILY_MMAP or above */
	uint16_t flags;                 /* enum snap_block_flags */
	uint32_t class_word;            /* index into class_words; 0: none that points into a module */
};

/* Bytes of a block that belong to it, its slack included; at least 1. */
static inline uint64_t snap_block_span(const struct snap_block *block)
{
	uint64_t span = block->usable > block->size ? block->usable : block->size;

	return span ? span : 1;
}

/* First word of a block that points to data of a module: to a vtable, if it is an object's. */
struct snap_class_word {
	uint32_t module;
	uint64_t address;               /* in the module's file */
};

struct snap_step {
	uint64_t size, ms;
	uint32_t stack;
};

struct snap_lineage {
	uint64_t born_size;
	uint32_t born_stack;
	uint64_t nr_steps;              /* growths, ever */
	uint32_t nr_shrinks;
	uint64_t changed_ms, peak_size;
	uint32_t first_step, nr_kept;   /* steps[first_step .. first_step + nr_kept): first and latest, in order */
	uint32_t nr_first;              /* so many of the kept ones are the first; the others the latest */
	bool inferred;
};

struct snap_thread {
	uint32_t tid;
	uint32_t slot;
	uint64_t first_serial;
	uint64_t since_ms;
	bool gone;
	char name[16];
};

/* What is known of the making of the snapshot; see `coverage` of the JSON. */
struct snap_coverage {
	uint32_t mode;                  /* enum hs_mode */
	uint64_t since_ms;              /* recording since, after the tracer's start */
	double share_of_life;           /* 0..1: part of the time since start that was recorded */
	uint64_t blocks_without_stack;
	uint64_t lost[HS_NR_LOST];
	uint32_t flags;                 /* enum hs_store_flags */
	uint32_t stop_reason;           /* enum hs_stop */
	uint64_t stopped_ms;
	uint64_t dropped_blocks;        /* lost frees and damaged records that the reader left out */
	bool consistent;                /* false: taken while the program went on (freeze overrun) */
	uint64_t in_doubt;              /* blocks or events that may be half done */
};

struct snapshot {
	enum snapshot_source source;
	char *path;                     /* of the file or store */
	char *label;                    /* given by the user, or NULL */

	uint8_t image[32];              /* process image: same bytes = same process and generation */
	uint32_t pid, generation, arch, uid, page_size, depth;
	char comm[16];
	char *exe, *dir;                /* "" if unknown */
	uint64_t start_real_ns;         /* wall clock of the tracer's start */
	uint64_t start_after_ms;        /* age of the process then */
	uint64_t taken_ms;              /* moment of the snapshot, since the tracer's start */
	uint64_t number;                /* of the snapshot in its process: 1, 2, ... ; 0: unknown */
	uint32_t state;                 /* enum hs_state */
	struct snap_coverage coverage;

	uint64_t live_count, live_bytes; /* sums over blocks */
	uint64_t born_count, born_bytes, temporary;
	uint64_t peak_bytes, peak_count, peak_ms;

	struct snap_module *modules;    /* [0] is "no module" */
	struct snap_node *nodes;
	struct snap_stack *stacks;
	struct snap_block *blocks;      /* by address, ascending; none overlap but SNAP_BLOCK_IN_FLIGHT */
	struct snap_block *mappings;    /* the same, of mappings, an allocator's too: see kind.h */
	struct snap_lineage *lineages;
	struct snap_step *steps;
	struct snap_thread *threads;    /* [0] is "unknown" */
	struct snap_class_word *class_words; /* [0] is "none"; NULL: nobody looked at the words */
	char **messages;                /* lines of the tracer's message ring, oldest first */
	size_t nr_modules, nr_nodes, nr_stacks, nr_blocks, nr_mappings, nr_lineages, nr_steps,
		nr_threads, nr_messages;
	size_t nr_class_words;

	enum block_kind kind;           /* what blocks and totals are of; KIND_MALLOC as it is read */
	bool totals_only;               /* no blocks, lineages, steps: of a series, or only a head */

	/* What blocks and lineages are read from one by one, if their arrays are NULL for that. */
	struct snapshot_file *file;

	/*
	 * Names that are in the snapshot itself, by (module, names_address()); module 0: code made
	 * at run time. NULL: none.
	 */
	struct name_table *names;
	bool foreign_chunks;            /* its file has some that are not known here, and left out */
};

/*
 * How long was recorded until the snapshot, in ms. Of two snapshots of one process image, what this
 * grew by less than the time between them is how long recording was off in between.
 */
uint64_t snapshot_recorded_ms(const struct snapshot *snapshot);

/* Frees everything; NULL is fine. */
/*
 * A module whose file nothing tells yet, as it has no build id, and whose code this mapping is (NULL:
 * any such module); NULL: there is none.
 */
struct snap_module *snapshot_unidentified(const struct snapshot *snapshot,
					  const struct proc_map *map);

void snapshot_free(struct snapshot *snapshot);

/*
 * Reads a snapshot file or a store, by its magic. A store of a running program is frozen for a
 * moment (see format.h) and copied; `consistent` and `in_doubt` say how well that went. Returns 0
 * or -HS_E_*; on success the caller owns *ret.
 */
int snapshot_open(const char *path, struct snapshot **ret, struct hs_error *err);

/*
 * Says when the program of a store ended, of which the store has only the last sign of life: the
 * time taken and the share of the life that was recorded count to that moment. An earlier one than
 * that sign changes nothing.
 */
void snapshot_set_end(struct snapshot *snapshot, uint64_t ended_ms);

/*
 * As snapshot_open(), but blocks, lineages and steps of a file stay where they are: their arrays
 * are NULL, their numbers say how many there are, and block_stream.h, lineage_stream.h and
 * growth_totals.h read and verify them. For snapshots of many blocks, and for many snapshots; what
 * needs the arrays cannot be used on it.
 */
int snapshot_open_to_stream(const char *path, struct snapshot **ret, struct hs_error *err);

/*
 * Of a snapshot file (a store is refused as a foreign file) only who and when: nothing that has
 * a number is there, not even modules, but the sums over all blocks.
 */
int snapshot_open_head(const char *path, struct snapshot **ret, struct hs_error *err);

/*
 * Writes a snapshot file: aside in the same folder, then renamed. label may be NULL. 0 or -HS_E_*.
 */
int snapshot_write(const struct snapshot *snapshot, const char *path, const char *label,
		   struct hs_error *err);

/* One chunk of a snapshot file (or one array of a store), for `check` and `info`. */
struct snap_chunk {
	char name[24];
	uint64_t offset, bytes;         /* where in the file; as it lies there (compressed) */
	uint64_t raw_bytes, items;
	bool ok;
	char problem[256];              /* "" if ok; offset, found and expected otherwise */
};

/*
 * Lists and verifies every chunk of a snapshot file or store: checksums, sizes, every cross
 * reference. Returns 0 if the file could be read as far as its table (damaged chunks have ok ==
 * false), -HS_E_* if not even that. Caller frees *ret_chunks.
 */
int snapshot_check(const char *path, struct snap_chunk **ret_chunks, size_t *ret_nr,
		   struct hs_error *err);

#endif
