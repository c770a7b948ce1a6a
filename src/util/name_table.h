/* SPDX-License-Identifier: MIT */
/*
 * name_table.h - names that were found once: for an address of a module the frames there.
 *
 * The same table is baked into snapshots and kept in the cache of the symbolizer. It knows nothing
 * of either: modules are numbers that mean something to its owner.
 *
 * As bytes: places, ascending by (module, address), each
 *
 *      module (minus that of the place before), address (the same, while the module is the same),
 *      number of frames; each frame: function, scope, file, line, column, 1 if inlined
 *
 * all varints. A string is 0 (none), 1 and the counted string (the first time), or 2 more than its
 * number among those that were told so far. Raw names are bytes of their own, which not every
 * snapshot has: those of all frames, in their order, as such strings.
 */
#ifndef HEAPSTORY_UTIL_NAME_TABLE_H
#define HEAPSTORY_UTIL_NAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct cursor;

/*
 * What is known of a place in code: one frame. NULL, 0: unknown. Strings are those of whoever found
 * it; of a table's frames, the table's.
 */
struct name_frame {
	const char *function; /* full path as people write it, demangled */
	const char *file;     /* as the compiler had it, made absolute by its folder */
	uint32_t line, column;
	bool inlined; /* into the frame that follows */
	/*
	 * The function in its scopes as the debug information has them, with the types of generic
	 * arguments: "alloc::raw_vec::RawVec<app::Job, alloc::alloc::Global>::grow_one". Only where
	 * `function` may lack them: in Rust, whose older mangled names do.
	 */
	const char *scope;
	const char *raw; /* as the linker, else the compiler, has it; NULL: that is `function` */
};

struct name_table_place {
	uint64_t address;
	uint32_t module;
	uint32_t nr_frames; /* 0: it is known that nothing is known */
	size_t first_frame; /* in frames[] */
};

struct name_table_text;

/* All zero is an empty table. */
struct name_table {
	struct name_table_place *places;
	size_t nr_places, alloc_places;
	struct name_frame *frames; /* innermost first */
	size_t nr_frames, alloc_frames;
	struct name_table_text *texts; /* each string once, by its bytes */
	struct name_table_text *read; /* strings that were read, in no order; each once, too */
	bool unsorted;
	bool lacks_raw; /* it was read, and without raw names */
};

/* Least bytes of a place, as bytes. */
#define NAME_TABLE_MIN_BYTES 3u

void name_table_release(struct name_table *table);

/* Adds what is known of a place; strings are copied. Of two for one place the later counts. */
void name_table_add(struct name_table *table, uint32_t module, uint64_t address,
		    const struct name_frame *frames, size_t nr);

/* Adds all places of another table. */
void name_table_add_all(struct name_table *table, const struct name_table *from);

/*
 * Frames of a place, innermost first: their number, and the first of them at *ret, which is valid
 * until the next name_table_add(). 0 frames with *ret not NULL: known to be unknown.
 */
size_t name_table_find(struct name_table *table, uint32_t module, uint64_t address,
		       const struct name_frame **ret);

/* Puts the places in order and drops those that were added again; nr_places is right then. */
void name_table_sort(struct name_table *table);

/*
 * A number that whoever writes a table may put to each of its strings; all are 0 once they were
 * cleared, and name_table_encode() changes them.
 */
void name_table_clear_marks(struct name_table *table);
uint32_t *name_table_mark(const char *string);

/* Adds the bytes of a table, which is sorted first, to the buffer. */
void name_table_encode(struct name_table *table, struct buffer *b);

/* Fills an empty table from so many places as bytes; what is malformed makes the cursor bad. */
void name_table_decode(struct name_table *table, struct cursor *c, uint64_t nr_places);

/* Frames of all places of a table, which is sorted first. */
uint64_t name_table_count_frames(struct name_table *table);

/* Adds the bytes of the raw names of that many frames to the buffer. */
void name_table_encode_raw(struct name_table *table, struct buffer *b);

/* Adds raw names to a table that was just filled by name_table_decode(). */
void name_table_decode_raw(struct name_table *table, struct cursor *c, uint64_t nr_frames);

#endif
