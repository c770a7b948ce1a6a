/* SPDX-License-Identifier: MIT */
/*
 * names.h - from the stacks of a snapshot to frames with names, and to the site and the zone of a
 * stack. Names come from a function that the caller gives, so the analysis knows no symbolizer.
 *
 * Site: the innermost frame that is neither allocator, nor a well-known wrapper around one, nor
 * language runtime (runtime.h). A stack that has none (the loader at work for itself) has as site its
 * innermost frame that is not named as an allocator, else its innermost frame.
 * Zone, by the automatic rule: the file name of the site's module.
 */
#ifndef HEAPSTORY_ANALYSIS_NAMES_H
#define HEAPSTORY_ANALYSIS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/name_table.h"

struct snap_block;
struct snap_node;
struct snapshot;

/*
 * Names at an address of a module of the snapshot (address in the file), innermost first. Returns
 * how many and sets *ret; the strings live as long as the context, the array until the next call.
 * Not asked for what the snapshot has names of itself.
 */
typedef size_t (*names_lookup)(void *context, const struct snapshot *snapshot, uint32_t module,
			       uint64_t address, const struct name_frame **ret);

/*
 * Class whose vtable has this address in it, where objects of the class point to it; NULL: none. The
 * string lives as long as the context.
 */
typedef const char *(*names_vtable)(void *context, const struct snapshot *snapshot, uint32_t module,
				    uint64_t address);

struct frame {
	const char *function; /* full demangled path, by which it is judged; NULL: unknown */
	const char *shown; /* what reports call it: function, or the name that the linker knows */
	const char *scope; /* see struct name_frame */
	const char *file;
	const char *module; /* path; NULL: none, and if there is a function it was made at run time */
	uint64_t address; /* return address in the program (or interrupted pc) */
	uint64_t offset; /* the same in the module's file */
	uint32_t line, column;
	bool inlined;
	bool runtime; /* allocator or language runtime */
	bool wrapper; /* of the program, around an allocator: no site either */
};

/* Why the stack ends where it does. */
enum stack_cut {
	STACK_WHOLE,
	STACK_CUT_DEPTH, /* the depth limit */
	STACK_CUT_UNWIND, /* the caller was not found */
};

struct names;

/* Both must outlive the result. */
struct names *names_new(const struct snapshot *snapshot, names_lookup lookup, void *context);
/* Reports show the names that the linker knows, where they are known; nothing else changes. */
void names_show_raw(struct names *names);
/* Lets objects with vtables have their class; vtable is called with the context of names_new(). */
void names_use_vtables(struct names *names, names_vtable vtable);
void names_free(struct names *names);
const struct snapshot *names_snapshot(const struct names *names);

/* The address by which names of a node are looked up: in its module's file; without one, its pc. */
uint64_t names_address(const struct snapshot *snapshot, const struct snap_node *node);

/* Frames of one node, innermost first; they live as long as names. A pseudo node has none. */
size_t names_node(struct names *names, uint32_t node, const struct frame **ret);

/* All frames of a stack, innermost first. The array lives until the next call. */
size_t names_stack(struct names *names, uint32_t stack, const struct frame *const **ret,
		   enum stack_cut *ret_cut);

/* NULL where there is no stack. */
const struct frame *names_site(struct names *names, uint32_t stack);

/*
 * Class of a block: that of its vtable; else container or smart pointer, as class.h has it; else
 * "malloc in CALLER". Where a buffer's first word is the vtable pointer of its first element, it is
 * a buffer all the same. Lives as long as names.
 */
const char *names_class(struct names *names, const struct snap_block *block);

/* File name of the site's module; "" if unknown. */
const char *names_zone(struct names *names, uint32_t stack);

/* "function", as it is shown, or "module+0x1234" where it has no name. Caller frees. */
char *frame_label(const struct frame *frame);
/* The same, shortened as function_short() does. Caller frees. */
char *frame_short(const struct frame *frame);
/* "file:12" where the line is known, else "module+0x1234", else "0xaddress". Caller frees. */
char *frame_place(const struct frame *frame);

/* What is behind the last '/'. */
const char *path_basename(const char *path);

#endif
