/* SPDX-License-Identifier: MIT */
/*
 * contents.c - whether a block holds a copy of another one.
 *
 * Runs in the traced program with `in` set; here alone the tracer looks at the host's data.
 *
 * The old block is about to be freed by its owner, who is our caller: its first page may be read,
 * which it shares with the allocator or with others' blocks, or is probed. The other one
 * was made by this thread a moment ago, which does not make it ours: another thread may have got
 * it, and be freeing it now, and the program may protect pages of its own. A load could end the
 * host. So the kernel is asked, one word at a time, by a call that compares a word and has nothing
 * to do otherwise: a futex with no one to requeue.
 */
#include "tracer/contents.h"

#include "tracer/sys.h"

#include <stdbool.h>
#include <string.h>

#define WORDS 16u /* of 4 bytes, at the beginning of the block */
#define ASKED 4u  /* of them that are compared */
#define PAGE 4096u /* or a part of one, where they are larger */

/* Zeroes are found anywhere, and so is the upper half of a pointer. */
static bool tells(uint32_t word, uint32_t i)
{
	return i & 1 ? word > UINT16_MAX : word != 0;
}

/* Places of the words that tell something; how many. */
static uint32_t find_telling(const uint32_t *words, uint32_t nr, uint32_t *ret_places)
{
	uint32_t nr_places = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (tells(words[i], i))
			ret_places[nr_places++] = i;
	return nr_places;
}

uint32_t contents_alike(uint64_t old, uint64_t size, uint64_t copy)
{
	uint64_t on_page = PAGE - (old & (PAGE - 1)), near = size < on_page ? size : on_page;
	uint32_t nr = near / 4 < WORDS ? (uint32_t)(near / 4) : WORDS;
	uint32_t words[WORDS], places[WORDS], nr_places, nr_asked, differ = 0;

	/*
	 * Pages that begin in a block may have been protected by the program: one that begins with
	 * it is asked for, and the others are not looked at.
	 */
	if (!nr || (!(old & (PAGE - 1)) && sys_probe_read((const void *)old, PAGE)))
		return 0;
	memcpy(words, (const void *)old, nr * sizeof(*words));
	nr_places = find_telling(words, nr, places);
	nr_asked = nr_places < ASKED ? nr_places : ASKED;
	/*
	 * The first in the middle, where strangers differ at once and no header lies: it has to be
	 * equal. Of four, another may differ: a header can hold the capacity, and a small block
	 * that is replaced because the next thing does not fit need not be full.
	 */
	for (uint32_t i = 0; i < nr_asked; i++) {
		uint32_t at = places[(nr_places / 2 + i * nr_places / nr_asked) % nr_places];

		if (sys_futex_differs((const uint32_t *)copy + at, words[at]) &&
		    (!i || ++differ > nr_asked / ASKED))
			return 0;
	}
	return nr_asked - differ;
}
