/* SPDX-License-Identifier: MIT */
/*
 * class_doubt.h - where the name of a library's function does not tell whose the block is.
 *
 * A wrong class is worse than none. What a compiler inlined into a container's function may be of an
 * element, a string in a vector of these; what it merged has the name of another type. Functions are
 * as class_function() has them, but bare ones as they are.
 */
#ifndef HEAPSTORY_ANALYSIS_CLASS_DOUBT_H
#define HEAPSTORY_ANALYSIS_CLASS_DOUBT_H

#include <stdbool.h>

struct frame;

/* Whether nobody but a container of libstdc++ itself calls the function: "_M_get_node". */
bool class_private(const char *function);

/*
 * Whether a function that has no lines may have made, by what is inlined into it, another block than
 * its container's: its element type allocates, too, and the function does more than to allocate.
 */
bool class_hides_inlined(const char *function);

/* Whether it is one of the tree below maps and sets. */
bool class_is_tree(const char *function);
/* Whether it tells if there may be several values of one key in the tree. */
bool class_tells_keys(const char *function);

/*
 * Debug information without types (clang -gline-tables-only) has neither scopes nor arguments of
 * inlined functions: whose "allocate" it is only the next function that is not inlined tells.
 */
bool class_bare(const struct frame *frame);
/* Whether nobody but a container, or its allocator, calls such a function. */
bool class_bare_private(const char *function);

#endif
