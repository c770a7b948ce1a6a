/* SPDX-License-Identifier: MIT */
/*
 * format.h - layout of the store: the file that the traced program keeps its live table in.
 *
 * Read by every component, holds no code but address arithmetic. The store is one file, mapped
 * shared by the tracer (which writes it) and by readers (which write only `struct hs_control`).
 * Nothing in it is a pointer: places are byte offsets from the start of the file, things are
 * numbers in arrays. All fields are little-endian and of fixed width.
 *
 *      0      struct hs_header      who, when, sizes; the arrays' directories
 *      32768  struct hs_control     mode and freeze: the only part that others write
 *      36864  struct hs_messages    ring of lines that the tracer wanted to say
 *      49152  reserved space: extents of the arrays, strings, nodes of the address index, handed
 *             out from low to high by header.used; what lies above `used` was never touched
 *
 * An array is a list of extents, each twice as large as the one before it, so that a number turns
 * into a place with one look at the directory and nothing ever moves (see hs_array_place()).
 * Extents are reserved whole but get pages only as the array fills, so the file is sparse.
 *
 * Publishing order. A writer fills the payload of a record and then stores its commit word with
 * release order (`struct hs_record.word`); it takes a record out by storing 0 there first. A
 * process may be killed between any two stores; a reader takes what is committed and counts what
 * a thread was in the middle of (`struct hs_thread.in`, `.inflight`).
 *
 * Who writes what: a record is written only by the thread that owns its block at that moment
 * (between malloc and free), but see HS_RECORD_BUSY; a thread slot and a shard of stack totals by the thread that holds
 * it (shard 0: by all, atomically); trie nodes, stacks and modules are written once, before their
 * number is published, but for the fields said to change.
 */
#ifndef HEAPSTORY_STORE_FORMAT_H
#define HEAPSTORY_STORE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define HS_STORE_MAGIC "\x89HSTORE\r\n\x1a\n\0\0\0\0" /* 16 bytes; text transfer breaks it */
#define HS_STORE_VERSION 1u

#define HS_HEADER_OFF 0u
#define HS_CONTROL_OFF 32768u
#define HS_MESSAGES_OFF 36864u
#define HS_DATA_OFF 49152u

/* A feature bit in `must_know` that a reader does not know makes it refuse the store. */
enum hs_must_know {
	HS_MUST_NONE = 0,
};

enum hs_arch {
	HS_ARCH_X86_64 = 1,
	HS_ARCH_AARCH64 = 2,
};

/* ---- arrays ------------------------------------------------------------------------------ */

#define HS_NR_SHARDS 64u    /* sets of per-stack totals; 0 is shared, the others have one owner */
#define HS_NR_EXTENTS 36u

enum hs_array_id {
	HS_ARRAY_RECORDS,   /* struct hs_record: one a live block; number 0 is never used */
	HS_ARRAY_NODES,     /* struct hs_node: the trie of stacks; number 0 is the root */
	HS_ARRAY_STACKS,    /* struct hs_stack: a node where a block was made; 0 is "no stack" */
	HS_ARRAY_LINEAGES,  /* struct hs_lineage; number 0 is never used */
	HS_ARRAY_LONG_LINEAGES, /* struct hs_long_lineage; number 0 is never used */
	HS_ARRAY_MODULES,   /* struct hs_module; number 0 is "no module" */
	HS_ARRAY_THREADS,   /* struct hs_thread; slot 0 is shared by threads that have none */
	HS_ARRAY_MAPPINGS,  /* struct hs_record: what the program mapped; number 0 is never used */
	HS_ARRAY_CELLS,     /* struct hs_cell: HS_NR_SHARDS arrays, by stack number */
	HS_NR_ARRAYS = HS_ARRAY_CELLS + HS_NR_SHARDS,
};

/* Extent k holds elements [(2^k - 1) << shift, (2^(k+1) - 1) << shift). */
struct hs_array {
	uint32_t elem_size;             /* bytes */
	uint32_t shift;                 /* log2 of the elements of extent 0 */
	uint64_t count;                 /* numbers below it may be in use; grows only */
	uint64_t ready;                 /* numbers below it have pages; count <= ready or full */
	uint64_t extent[HS_NR_EXTENTS]; /* byte offset in the file; 0: not there yet */
};

/* Shifts of the arrays as this version makes them; readers take them from struct hs_array. */
enum hs_shift {
	HS_SHIFT_RECORDS = 11,
	HS_SHIFT_NODES = 12,
	HS_SHIFT_STACKS = 10,
	HS_SHIFT_LINEAGES = 6,
	HS_SHIFT_LONG_LINEAGES = 4,
	HS_SHIFT_MODULES = 5,
	HS_SHIFT_THREADS = 4,
	HS_SHIFT_MAPPINGS = 6,
	HS_SHIFT_CELLS = 6,
};

/* Extent of element nr of an array with this shift. */
static inline uint32_t hs_array_extent(uint32_t shift, uint64_t nr)
{
	return 63u - (uint32_t)__builtin_clzll((nr >> shift) + 1);
}

/* First element of extent k; also the number of all elements in the extents below it. */
static inline uint64_t hs_array_first(uint32_t shift, uint32_t k)
{
	return ((UINT64_C(1) << k) - 1) << shift;
}

/* Elements of extent k. */
static inline uint64_t hs_array_extent_len(uint32_t shift, uint32_t k)
{
	return UINT64_C(1) << (k + shift);
}

/* ---- header ------------------------------------------------------------------------------ */

enum hs_state {
	HS_STATE_NEW,       /* made by the launcher, no program has come yet */
	HS_STATE_RECORDING,
	HS_STATE_STOPPED,   /* recording ended for good; stop_reason says why */
	HS_STATE_EXECED,    /* the process went on as another program; or tries to, and maps this yet */
};

enum hs_stop {
	HS_STOP_NONE,
	HS_STOP_CAP,        /* the store reached its cap */
	HS_STOP_NO_SPACE,   /* the file system or memory limit refused pages */
	HS_STOP_FAULT,      /* the tracer met a state that cannot be; errors are in the messages */
};

/* Why an event was not recorded, or not wholly; indices of header.lost. */
enum hs_lost {
	HS_LOST_NESTED,     /* call inside the tracer's own work: a signal handler */
	HS_LOST_STOPPED,    /* events that came after recording stopped */
	HS_LOST_ADDRESS,    /* block at an address that the index does not cover or not 8-aligned */
	HS_LOST_NO_STACK,   /* recorded without a stack: nothing could be unwound or kept */
	HS_LOST_CUT,        /* recorded with a stack cut short, other than by the depth limit */
	HS_LOST_NO_THREAD,  /* recorded through slot 0: no thread slot could be had */
	HS_LOST_UNKNOWN_FREE, /* a free or realloc of a block whose birth no hook saw */
	HS_LOST_STALE,      /* a birth at an address that still had a record: a free was not seen */
	HS_LOST_CHILD,      /* fork children that went untraced */
	HS_LOST_OVERRUN,    /* threads that did not wait for a snapshot beyond the deadline */
	HS_NR_LOST,
};

enum hs_store_flags {
	HS_STORE_FENCED = 1u << 0,     /* no membarrier: the tracer fences at each entry */
	HS_STORE_OWN_MALLOC = 1u << 1, /* the program defines malloc itself: its calls are not seen */
	HS_STORE_PYMALLOC = 1u << 2,   /* a Python whose small objects are in pymalloc's arenas */
	HS_STORE_FOLLOW = 1u << 3,     /* children are traced too, each with its own store */
	HS_STORE_SUPERVISED = 1u << 4, /* `run` or `supervise` looks after it */
	HS_STORE_ON_TMPFS = 1u << 5,
	HS_STORE_NO_UNWINDER = 1u << 6, /* libunwind could not be loaded; rows alone are used */
	HS_STORE_CHILD = 1u << 7,      /* of a followed child: began as a copy of its parent's table */
};

struct hs_header {
	uint8_t magic[16];
	uint32_t version;
	uint32_t header_size;           /* sizeof(struct hs_header) of the writer */
	uint32_t must_know, may_ignore; /* feature bits */
	uint32_t arch;                  /* enum hs_arch */
	uint32_t page_size;             /* bytes, of the traced machine */
	uint64_t cap;                   /* bytes that `used` may come to; shrinks, never below it */
	uint64_t used;                  /* bytes reserved so far, from 0; grows only, atomic */

	uint32_t state;                 /* enum hs_state, stored with release */
	uint32_t stop_reason;           /* enum hs_stop */
	uint32_t flags;                 /* enum hs_store_flags */
	uint32_t depth;                 /* frames a stack may have */
	uint32_t pid;
	uint32_t ppid;
	uint64_t start_ticks;           /* field 22 of /proc/PID/stat */
	uint8_t boot_id[16];
	uint64_t process_start_ns;      /* CLOCK_BOOTTIME of the start of the process */
	uint64_t start_ns;              /* CLOCK_MONOTONIC_COARSE of the tracer's start: zero of all times */
	uint64_t start_real_ns;         /* CLOCK_REALTIME at the same moment */
	uint64_t start_after_ns;        /* age of the process at that moment: its share not seen */
	uint32_t generation;            /* 0, then one more with each exec in the same pid */
	uint32_t uid;
	char comm[16];
	uint64_t exe_off;               /* string: path of the executable; 0: unknown */
	uint64_t dir_off;               /* string: output folder; 0: none */
	uint64_t stopped_ms;            /* since start_ns; when recording stopped */
	uint8_t reserved[112];
	uint64_t words_off;             /* struct hs_words, of a regular exit; 0: none */
	uint32_t words_state;           /* enum hs_words_state */
	uint32_t pad;

	/* High-water mark of live bytes, see struct hs_cell. */
	uint64_t peak_epoch;            /* one more with each new maximum */
	int64_t peak_bytes, peak_count; /* live at the mark */
	int64_t live_bytes, live_count; /* flushed by the threads; the rest is in hs_thread.unflushed */
	uint64_t peak_ms;               /* when, since start_ns */

	uint64_t lost[HS_NR_LOST];      /* see enum hs_lost; atomic */
	uint64_t free_batches[3];       /* tracer's own: free records, lineages, long lineages */
	uint64_t index_root;            /* tracer's own: offset of the address index */
	struct hs_array arrays[HS_NR_ARRAYS] __attribute__((aligned(64)));
};

_Static_assert(offsetof(struct hs_header, used) == 48, "format");
_Static_assert(offsetof(struct hs_header, pid) == 72, "format");

_Static_assert(sizeof(struct hs_array) == 312, "format");
_Static_assert(HS_HEADER_OFF + sizeof(struct hs_header) <= HS_CONTROL_OFF, "format");

/* ---- control: the part that readers write ------------------------------------------------ */

/*
 * Modes. OFF is 0 so that a dormant hook is two loads and a branch. DRAIN is what `mode off`
 * leaves while blocks are known: their frees and reallocs are still followed; the tracer itself
 * goes from DRAIN to OFF when none is left.
 */
enum hs_mode {
	HS_MODE_OFF = 0,
	HS_MODE_LIVE = 1,
	HS_MODE_SAMPLE = 2,
	HS_MODE_FULL = 3,
	HS_MODE_DRAIN = 4,
};

#define HS_CONTROL_MODE 0xffu
#define HS_CONTROL_FREEZE 0x100u
#define HS_CONTROL_FORK 0x200u /* tracer's own: a followed child is copying the table */
#define HS_FREEZE_DEADLINE_MS 100u

/*
 * Freezing, by a reader that holds flock(LOCK_EX) on the store file (one at a time, and a dead
 * one lets go by itself):
 *   1. freeze_seq += 1, then set HS_CONTROL_FREEZE in `word`;
 *   2. membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED), unless HS_STORE_FENCED;
 *   3. wait until `in` of every thread slot is 0 (a thread that is stopped or gone, or a slot that
 *      was left, is read as it stands); copy;
 *   4. clear HS_CONTROL_FREEZE, futex-wake all on `word`.
 * A thread that enters sets `in`, then loads `word`; where it sees the freeze it clears `in` and
 * waits on the futex (shared, not FUTEX_PRIVATE), HS_FREEZE_DEADLINE_MS at most; after that it
 * clears the freeze bit itself, stores freeze_seq into overrun_seq first, and goes on. The reader
 * finds its copy whole exactly if overrun_seq is not its freeze_seq after copying.
 */
struct hs_control {
	uint32_t word;                  /* enum hs_mode | HS_CONTROL_FREEZE; a futex */
	uint32_t freeze_seq;
	uint32_t overrun_seq;
	uint32_t fork_done;             /* tracer's own: which copy of a child is under way; a futex */
	uint64_t nr_snapshots;          /* taken so far */
	uint64_t supervisor;            /* pid of the process that looks after the store; 0: none */
	uint64_t mode_since_ms;         /* when the mode was last set, since start_ns */
	uint64_t live_ms;               /* time spent in a recording mode before mode_since_ms */
};

/* ---- messages ---------------------------------------------------------------------------- */

#define HS_MESSAGE_LEN 120u
#define HS_NR_MESSAGES 64u

struct hs_message {
	uint64_t ms;                    /* since start_ns; stored last, 0: not written */
	char text[HS_MESSAGE_LEN];      /* ends in 0; names no addresses of the host's data */
};

struct hs_messages {
	uint64_t count;                 /* ever written; the last HS_NR_MESSAGES are kept */
	struct hs_message ring[HS_NR_MESSAGES];
};

_Static_assert(HS_MESSAGES_OFF + sizeof(struct hs_messages) <= HS_DATA_OFF, "format");

/* ---- the live table ---------------------------------------------------------------------- */

/* How a block or mapping was asked for. */
enum hs_family {
	HS_FAMILY_MALLOC,
	HS_FAMILY_CALLOC,
	HS_FAMILY_REALLOC,              /* realloc(NULL, n) */
	HS_FAMILY_ALIGNED,              /* memalign, aligned_alloc, posix_memalign, valloc, pvalloc */
	HS_FAMILY_NEW,
	HS_FAMILY_NEW_ARRAY,
	HS_FAMILY_MALLOCX,
	HS_FAMILY_MMAP,                 /* from here on mappings: of memory */
	HS_FAMILY_MMAP_FILE,            /* of a file or of shared memory */
	HS_FAMILY_BRK,
	HS_NR_FAMILIES,
};

/*
 * A live block or mapping, 32 bytes. `word` is the commit word: 0 free, else the address in its low
 * 48 bits and flags above. A reallocated block has HS_RECORD_LINEAGE: its `birth` is then the number
 * of a lineage, which has the birth. A size of HS_SIZE_MAX or a slack of HS_SLACK_MAX says that the
 * true ones are in the lineage, a long one.
 */
struct hs_record {
	uint64_t word;
	uint64_t size;                  /* asked for: 40 bits; slack = usable - size: 24 bits above */
	uint64_t serial;                /* thread slot: 16 bits above; that slot's count: 48 bits */
	uint32_t stack;                 /* of the call that gave the present size */
	uint32_t birth;                 /* time in units of HS_TICK_MS, saturates; or a lineage */
};
_Static_assert(sizeof(struct hs_record) == 32, "format");

#define HS_TICK_MS 10u
#define HS_RECORD_ADDRESS ((UINT64_C(1) << 48) - 1)
#define HS_RECORD_FAMILY_SHIFT 48      /* 4 bits: enum hs_family */
#define HS_RECORD_FAMILY(word) (((word) >> HS_RECORD_FAMILY_SHIFT) & 15)
#define HS_RECORD_LINEAGE (UINT64_C(1) << 52)
#define HS_RECORD_LONG (UINT64_C(1) << 53) /* the lineage is a long one */
#define HS_RECORD_BUSY (UINT64_C(1) << 54) /* a thread is taking it over, see struct hs_thread */
#define HS_SIZE_BITS 40
#define HS_SIZE_MAX ((UINT64_C(1) << HS_SIZE_BITS) - 1)
#define HS_SLACK_MAX ((UINT64_C(1) << 24) - 1)
#define HS_SERIAL_SLOT_SHIFT 48

/* One step of growth: realloc gave the block this size, then and there. */
struct hs_step {
	uint64_t size;                  /* bytes asked for */
	uint32_t stack;
	uint32_t time;                  /* units of HS_TICK_MS */
};

/* The same in a short lineage, whose sizes are all below 4 GiB. */
struct hs_short_step {
	uint32_t size;
	uint32_t stack;
	uint32_t time;
};

#define HS_SHORT_STEPS 3u           /* steps that a short lineage has room for */
#define HS_FIRST_STEPS 8u
#define HS_LAST_STEPS 24u

/*
 * What a block that realloc resized remembers; its present size, usable size and stack are in its
 * record. Only growths are steps (shrinks are counted). nr_steps is stored last, with release.
 *
 * A buffer that grows by copying (a larger block is made, the old one freed) hands its lineage on
 * to the new block, with one more step; birth, born_size and born_stack are then the buffer's.
 */
enum hs_lineage_flags {
	HS_LINEAGE_INFERRED = 1u << 0,  /* some steps are copies to a new block, not reallocs */
};
struct hs_lineage_head {
	uint32_t born_stack;
	uint32_t changed;               /* time of the latest resizing, units of HS_TICK_MS */
	uint32_t nr_steps;              /* growths, saturates */
	uint16_t nr_shrinks;            /* of a short lineage */
	uint16_t flags;                 /* enum hs_lineage_flags */
	uint32_t birth;                 /* time of birth, HS_TICK_MS */
};

/* One line of the cache, for most lineages stay that short. */
struct hs_lineage {
	struct hs_lineage_head head;
	uint32_t born_size;
	struct hs_short_step steps[HS_SHORT_STEPS];
	uint32_t pad;
};

/*
 * For more steps, larger sizes, more shrinks: then a short one turns into it. steps[0..8) are the
 * first, steps[8 + (n - 8) % 24] is step n after them. A block that is too large for the bits of
 * its record has one from birth on, for the true sizes.
 */
struct hs_long_lineage {
	struct hs_lineage_head head;
	uint32_t pad;
	uint64_t born_size;
	uint64_t size, usable;          /* now */
	uint64_t peak_size;             /* largest it ever was */
	uint64_t nr_shrinks;
	struct hs_step steps[HS_FIRST_STEPS + HS_LAST_STEPS];
};
_Static_assert(offsetof(struct hs_lineage, born_size) == 20, "format");
_Static_assert(sizeof(struct hs_lineage) == 64, "format");
_Static_assert(sizeof(struct hs_long_lineage) == 576, "format");

/* ---- stacks ------------------------------------------------------------------------------ */

/*
 * A node of the trie of stacks: a return address below the node of its caller's frame. The root
 * is 0; parents have smaller numbers than their children. The same (parent, pc) may exist twice
 * where two threads met; readers merge them. A node whose module was unloaded is never matched
 * again.
 */
struct hs_node {
	uint64_t pc;                    /* address 48 bits, module 15 bits, HS_NODE_SIGNAL */
	uint32_t parent;
	uint32_t stack;                 /* number of the stack that ends here, 0: none; changes once */
};
_Static_assert(sizeof(struct hs_node) == 16, "format");

#define HS_NODE_ADDRESS ((UINT64_C(1) << 48) - 1)
#define HS_NODE_MODULE_SHIFT 48
#define HS_NODE_MODULE(pc) ((uint32_t)(((pc) >> HS_NODE_MODULE_SHIFT) & 0x7fff))

/*
 * Pseudo addresses: the pc of a node that is no frame. They stand at the outer end of a stack
 * (just below the root) and say why it ends there. A stack that ends because the outermost frame
 * was reached has none.
 */
enum hs_pseudo_pc {
	HS_PC_CUT_DEPTH = 1,            /* the depth limit */
	HS_PC_CUT_UNWIND = 2,           /* the next frame could not be found */
};
#define HS_PC_FIRST_REAL 4096u

/* pc of a frame below a signal frame: it was interrupted, not called; look it up as it is. */
#define HS_NODE_SIGNAL (UINT64_C(1) << 63)

struct hs_stack {
	uint32_t node;                  /* innermost frame: the caller of the allocator */
	uint32_t pad;
};

/*
 * Totals of one stack in one shard; a stack's totals are the sum over the shards (one shard may
 * be negative where threads free each other's blocks). live: what is there now, by the stack that
 * gave a block its present size. born: every birth and every step of growth or shrinking, ever.
 * The value at the high-water mark is live_* if epoch < header.peak_epoch, else peak_*: a writer
 * that finds epoch older than header.peak_epoch first copies live_* into peak_* and sets epoch.
 */
struct hs_cell {
	int64_t live_count, live_bytes;
	uint64_t born_count, born_bytes;
	uint64_t temporary;             /* freed by the thread that made it, before it made another */
	int64_t peak_count, peak_bytes;
	uint64_t epoch;
};
_Static_assert(sizeof(struct hs_cell) == 64, "format");

/* ---- class words ------------------------------------------------------------------------- */

/* What the tracer did about the first words of objects before the process ended. */
enum hs_words_state {
	HS_WORDS_NONE,                  /* nothing: no regular exit, or it could not */
	HS_WORDS_SOME,                  /* it had to stop before the end */
	HS_WORDS_ALL,
};

/* First word of a block made by operator new, which points into a module. */
struct hs_word {
	uint64_t serial;                /* of the block */
	uint64_t word;
};

#define HS_NR_WORDS 255u

/* Some of them; `next` and `count` are stored last. */
struct hs_words {
	uint64_t next;                  /* place of the next struct, further behind; 0: this is the last */
	uint64_t count;                 /* HS_NR_WORDS at most */
	struct hs_word words[HS_NR_WORDS];
};
_Static_assert(sizeof(struct hs_words) == 4096, "format");

/* ---- modules ----------------------------------------------------------------------------- */

#define HS_NR_SEGMENTS 6u
#define HS_BUILD_ID_LEN 32u

struct hs_segment {
	uint64_t start, end;            /* addresses in the program, of a PT_LOAD that may execute */
	uint64_t offset;                /* in the file */
};

enum hs_module_flags {
	HS_MODULE_MAIN = 1u << 0,       /* the executable */
	HS_MODULE_VDSO = 1u << 1,
	HS_MODULE_TRACER = 1u << 2,     /* heapstory itself */
};

struct hs_module {
	uint64_t load_bias;             /* address in the program = address in the file + load_bias */
	uint64_t start, end;            /* addresses: all of its mapping */
	uint64_t path_off;              /* string; 0: unknown */
	uint64_t dev, inode;            /* of the file, where it has no build id; 0: unknown */
	uint32_t flags;                 /* enum hs_module_flags */
	uint32_t nr_segments;
	uint32_t build_id_len;          /* bytes; 0: has none */
	uint32_t loaded;                /* time first seen, units of HS_TICK_MS */
	uint32_t unloaded;              /* time of unloading; 0: still there. Changes once */
	uint32_t pad;
	uint8_t build_id[HS_BUILD_ID_LEN];
	struct hs_segment segments[HS_NR_SEGMENTS];
	uint64_t eh_frame_hdr;          /* tracer's own */
	uint64_t link_map;              /* tracer's own */
};

/* ---- threads ----------------------------------------------------------------------------- */

enum hs_thread_state {
	HS_THREAD_FREE,
	HS_THREAD_LIVE,
	HS_THREAD_DYING,                /* its key destructor ran; events may still come */
	HS_THREAD_LEFT,                 /* nobody's: its thread left it for ever with `in` set */
};

/* What a thread is in the middle of while `in` is set: what a reader may find half done. */
enum hs_op {
	HS_OP_NONE,
	HS_OP_BIRTH,
	HS_OP_DEATH,
	HS_OP_RESIZE,
};

/*
 * A thread slot. Slots are used again by later threads; `first_serial` is the count at which the
 * present thread took the slot, so a block with a smaller one was made by a thread that is gone.
 *
 * A block that is being resized is in no record: from before the real realloc until the record is
 * written anew it is `inflight` (a copy of its record) with inflight_nr its number. inflight_nr
 * is stored last on the way in, and first on the way out, after the record has been committed
 * again; where both are there, the record is the newer.
 *
 * The same holds for a block that is given the lineage of an older one, but its record keeps
 * its word, with HS_RECORD_BUSY. A busy record that is in flight nowhere is as it was. Only the
 * thread that made the block does this to it; another one that frees or resizes the block makes
 * its record busy before it looks, so that the two never meet.
 *
 * A block that was freed may keep its record for some more events of its thread: by then the record
 * has come into the cache. Until then its number is in `pending`: a record with such a number that
 * is still committed is dead, though its stack's totals still count it.
 */
#define HS_NR_PENDING 8u

struct hs_thread {
	uint32_t in;                    /* 1: the thread is changing the table */
	uint32_t state;                 /* enum hs_thread_state */
	uint32_t tid;
	uint32_t shard;
	uint64_t next_serial;           /* count of the next block made in this slot */
	uint64_t first_serial;
	uint32_t inflight_nr;           /* 0: none */
	uint32_t op;                    /* enum hs_op */
	struct hs_record inflight;
	uint32_t op_stack;              /* stack whose totals op changes (death, birth, resize: new) */
	uint32_t op_stack_from;         /* resize: the one that it leaves */
	int64_t unflushed_bytes, unflushed_count; /* live change not yet in the header */
	char name[16];                  /* of the thread when it was first seen */
	uint32_t born_tick;             /* when it took the slot, units of HS_TICK_MS */
	uint32_t pad;
	uint64_t nr_inferred;           /* steps of growth by copying that were found in this slot */
	uint32_t pending[HS_NR_PENDING]; /* records of blocks that are freed already, 0: none */
	uint64_t pad2[12];
};
_Static_assert(sizeof(struct hs_thread) == 256, "format");

/* ---- environment by which the launcher talks to the tracer -------------------------------- */

/* All start with HS_ENV_PREFIX; the tracer takes them, and itself out of LD_PRELOAD, away. */
#define HS_ENV_PREFIX "HEAPSTORY_TRACE_"
#define HS_ENV_STORE "HEAPSTORY_TRACE_STORE"     /* path of a store in HS_STATE_NEW, else none */
#define HS_ENV_DIR "HEAPSTORY_TRACE_DIR"         /* absolute output folder */
#define HS_ENV_PLACE "HEAPSTORY_TRACE_PLACE"     /* folder in which further stores are made */
#define HS_ENV_REGISTRY "HEAPSTORY_TRACE_REGISTRY" /* folder of the registry */
#define HS_ENV_OPTIONS "HEAPSTORY_TRACE_OPTIONS" /* mode=live,depth=128,cap=BYTES,follow=1,... */

#endif
