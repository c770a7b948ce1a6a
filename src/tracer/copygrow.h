/* SPDX-License-Identifier: MIT */
/*
 * copygrow.h - finds buffers that grow by copying: a larger block is made, the contents are moved
 * over, the old block is freed, as std::vector, hash tables and plain C do it.
 *
 * A thread keeps an eye on a few blocks that it made last, the candidates. When it then frees a
 * smaller one, this says whether one of them is its heir. What is evidence stands in copygrow.c.
 *
 * Lineages of buffers that are still small, or not yet certain, are kept in the thread's nursery:
 * most of them die there, and readers never see them. When the buffer is large enough and certain
 * its lineage goes into the record.
 */
#ifndef HEAPSTORY_TRACER_COPYGROW_H
#define HEAPSTORY_TRACER_COPYGROW_H

#include <stdbool.h>
#include <stdint.h>

#include "store/format.h"

struct thread;

#define COPY_SITE_BITS 8
#define COPY_CANDIDATES 4
#define COPY_SMALL_SETS 256u
#define COPY_LARGE_SETS 128u
#define COPY_SET 4u
#define COPY_LARGE 1024u /* bytes from which on a block is large: looked at whatever it costs */

/* What a thread knows about its blocks of one stack and order of magnitude. */
struct copy_site {
	uint32_t key;       /* see copygrow_key(); 0: free */
	uint32_t old_stack; /* of the block whose contents were found in a new one last */
	uint16_t rest;      /* so many births are passed over: they are no heirs */
	uint8_t fails;      /* how often that was found: each time, the rest doubles */
	uint8_t unmatched;  /* blocks in a row that were heir to none */
	uint16_t skip;      /* so many times the contents need not be looked at */
	uint16_t ratio;     /* of the sizes when they were found equal last, in 64ths */
	uint8_t equal;      /* times in a row that the contents were found equal */
	uint8_t barren;     /* small heirs since one of them went on growing */
};

/* A young block that may be the heir of an older one. */
struct copy_candidate {
	struct hs_record born; /* its record at birth */
	struct copy_site *site;
	uint32_t key;          /* of site, which may have become another's */
	uint32_t nr;           /* number of the record */
	uint32_t lives;        /* frees that it stays a candidate for */
};

/* The lineage of a block whose record has none. That of one step is made when a second one comes. */
struct copy_nursling {
	uint64_t serial;       /* of its block; 0: none */
	uint64_t born_size;    /* of the buffer */
	uint32_t born_stack;
	uint32_t birth;
	uint32_t lineage;      /* 0: a step from born_size to what the block is */
	bool is_long;
	bool foreign;          /* the first unsure step is from a block of another stack */
	uint16_t unsure;       /* so many of its latest steps are perhaps none */
};

/* Of a thread; zeroed is ready. */
struct copygrow {
	uint32_t nr_candidates;
	uint64_t due;          /* serial up to which looks at unknown sites are paid for */
	uint64_t good[(1u << COPY_SITE_BITS) / 64]; /* bit per site: one of its blocks was an heir */
	struct copy_candidate candidates[COPY_CANDIDATES]; /* oldest first */
	struct copy_site sites[1u << COPY_SITE_BITS];
	struct copy_nursling nursery[COPY_SMALL_SETS + COPY_LARGE_SETS][COPY_SET];
};

/* What the blocks of one stack and order of magnitude have in common. */
static inline uint32_t copygrow_key(const struct hs_record *r)
{
	return r->stack << 6 | (63 - (uint32_t)__builtin_clzll((r->size & HS_SIZE_MAX) | 1));
}

/* The place among the sites of the one with that key; it may be another's. */
static inline uint32_t copygrow_place(uint32_t key)
{
	return key * 0x9E3779B1u >> (32 - COPY_SITE_BITS);
}

static inline bool copygrow_good(const struct copygrow *c, uint32_t place)
{
	return c->good[place / 64] >> place % 64 & 1;
}

void copygrow_watch(struct copygrow *c, uint32_t key, uint32_t nr, const struct hs_record *born);

/*
 * The block of record nr was born. Most births end here, at the cost of one line of memory: that of
 * a site of which nothing good is known is looked at only where that is paid for.
 */
static inline void copygrow_birth(struct copygrow *c, uint32_t nr, const struct hs_record *born)
{
#ifdef COPYGROW_OFF /* to measure what it costs: tests/bench/copygrow */
	return;
#endif
	uint32_t key = copygrow_key(born), place = copygrow_place(key);
	struct copy_site *site;

	if (!copygrow_good(c, place)) {
		if (c->due > born->serial && (born->size & HS_SIZE_MAX) < COPY_LARGE)
			return;
		site = &c->sites[place];
		if (site->key == key && site->rest) {
			site->rest--;
			return;
		}
	}
	copygrow_watch(c, key, nr, born);
}

/* True if copygrow_heir() may find something: asked at each death. */
static inline bool copygrow_any(const struct copygrow *c)
{
	return __builtin_expect(c->nr_candidates != 0, 0);
}

/* The death of a block that goes on in another one. */
struct copy_link {
	uint32_t heir_nr;           /* of its record */
	struct hs_record heir;      /* its record at birth; another thread may have freed it since */
	struct copy_nursling *from; /* lineage of the old block, if it is in the nursery */
	uint16_t unsure;            /* steps that are perhaps none, this one included */
	bool begins;                /* what went before is not known to be of this buffer */
	bool foreign;               /* as in the nursling */
	bool shows;                 /* the lineage is to be in the heir's record, not the nursery */
	bool is_note;               /* no record but the old one's, as it stands, has a part in it */
};

/*
 * The block of record nr is about to be freed by this thread. True if it has an heir, which is then
 * a candidate no longer.
 */
bool copygrow_heir(struct thread *t, uint32_t nr, struct copy_link *ret_link);

/*
 * Makes the lineage of `old`, a copy of the record, one of the heir, with a step more. Where it shows,
 * `old` has it then, or none if there was no room; else the nursery. But for a note, the record has to
 * be taken out of the table before.
 */
void copygrow_inherit(struct thread *t, struct hs_record *old, const struct copy_link *link);

#endif
