/* SPDX-License-Identifier: MIT */
/*
 * contents.h - whether a block holds a copy of another one.
 */
#ifndef HEAPSTORY_TRACER_CONTENTS_H
#define HEAPSTORY_TRACER_CONTENTS_H

#include <stdint.h>

/*
 * How many of four words in the beginning of the old block, of `size` bytes, which are not more than
 * the other has, are found in the copy at their place; 0 if it is none. Zeroes say nothing and are
 * not among them, so they may be fewer; where there are four one may differ. The
 * old block is the caller's; the other one need not be, or be there. Addresses: multiples of 4.
 */
uint32_t contents_alike(uint64_t old, uint64_t size, uint64_t copy);

#endif
