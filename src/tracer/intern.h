/* SPDX-License-Identifier: MIT */
/*
 * intern.h - the trie of stacks: gives each (caller's node, return address) one number.
 *
 * Runs in the traced program with `in` set. Lock-free. The hash index that finds a node is the
 * tracer's own and not in the store; see intern.c.
 */
#ifndef HEAPSTORY_TRACER_INTERN_H
#define HEAPSTORY_TRACER_INTERN_H

#include <stdint.h>

/*
 * The node of frame pc called from the frame of node `parent` (0: outermost). pc is a return
 * address, an interrupted address | HS_NODE_SIGNAL, or an enum hs_pseudo_pc (only directly below
 * the root). Makes the node where it is new, and finds its module. Returns 0 if there is no
 * room: the stack can't be kept.
 */
uint32_t intern_node(uint32_t parent, uint64_t pc);

/* The stack number of a node, given on first use. 0 if there is no room. */
uint32_t intern_stack(uint32_t node);

#endif
