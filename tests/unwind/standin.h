/* SPDX-License-Identifier: MIT */
/*
 * standin.h - what tests of the unwinder use in place of the store: see intern.h and module.h.
 */
#ifndef HEAPSTORY_TESTS_UNWIND_STANDIN_H
#define HEAPSTORY_TESTS_UNWIND_STANDIN_H

#include <stddef.h>
#include <stdint.h>

/* Makes the trie ready. */
void standin_start(void);

/* The frames of a node, innermost first; how many. A pseudo frame may stand at the end. */
uint32_t standin_frames(uint32_t node, uint64_t *ret_pcs, uint32_t max);

uint32_t standin_nr_nodes(void);

/* From now on only nr more nodes can be made. */
void standin_fail_after(uint32_t nr);

#endif
