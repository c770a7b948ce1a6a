/* SPDX-License-Identifier: MIT */
/*
 * copygrow.c - finds buffers that grow by copying; see copygrow.h.
 *
 * Runs in the traced program with `in` set.
 *
 * Evidence. That a block is born and a smaller one freed right after it says little: whoever puts
 * a new string in the place of an old one does the same. It is taken for growth where
 *   - the contents of the old block are found in the new one (contents.c), or
 *   - both were made by the same stack and the sizes fit, three times in a row with about the same
 *     ratio, each new block being the next old one: so it is with elements that are moved one by
 *     one, or hashed anew. The first two steps are kept in the nursery until the third comes. The
 *     first old block may be another stack's, as a table's first array often is, if nothing is
 *     known of the new one's (of one that grows, it may be an element that was freed), and its
 *     own blocks do not come and go all the time. If the very next step shows by its contents what it
 *     is, the sizes were chance.
 * Against it speaks a block of the same stack that is freed after a birth of that stack and is
 * not smaller: buffers that are replaced get smaller as often as larger, growing ones never. Then
 * births of this stack and magnitude are passed over for a while, twice as long each time.
 *
 * Small buffers. Where those of a site are not found to grow any further, which most never do, the
 * site rests as well: what readers see begins at SHOWN bytes. When one does go on, it wakes up.
 *
 * Cost. Most stacks never make an heir: they rest nearly always. One that is not known is looked at
 * now and then only, unless its block is large. Contents are compared by system calls; so what was
 * equal twice for a pair of stacks is trusted where the sizes have about the same ratio, and compared
 * again after 16 times, then 32 and so on.
 */
#include "tracer/copygrow.h"

#include "store/writer.h"
#include "tracer/contents.h"
#include "tracer/lineage.h"
#include "tracer/thread.h"

#include <string.h>

#define MAX_UNMATCHED 4u /* blocks of a site in a row without being heir to one */
#define REST 32u         /* births that are then passed over, at first */
#define MAX_FAILS 10u
#define TRUSTED 2u       /* times equal, after which the contents are looked at rarely */
#define MAX_RATIO 1000u  /* of sizes: others are not trusted */
#define SKIP 16u
#define MAX_SKIP 4096u
#define SURE_STEPS 3u    /* of about one ratio */
#define NO_CHAIN UINT16_MAX
#define SHOWN 128u       /* bytes from which on a buffer has its lineage in the record */
#define BARREN 128u      /* small heirs in a row of which none went on: the site rests */
#define BARREN_AGAIN 16u /* so many after that rest */
#define BARREN_FAILS 5u  /* it begins with so long a one */

/* Looks at unknown sites are paid for with births that nobody looks at; large blocks need not pay. */
#define LOOK_PRICE 32u
#define COMPARE_PRICE 64u
#define MAX_CREDIT 8192u
#define MAX_DEBT 4096u

/* ---- sites and candidates ---- */

static void pay(struct copygrow *c, uint64_t now, uint32_t births)
{
	c->due = (c->due + MAX_CREDIT > now ? c->due : now - MAX_CREDIT) + births;
	if (c->due > now + MAX_DEBT)
		c->due = now + MAX_DEBT;
}

static bool is_good(const struct copygrow *c, const struct copy_site *site)
{
	return copygrow_good(c, (uint32_t)(site - c->sites));
}

static void set_good(struct copygrow *c, const struct copy_site *site, bool good)
{
	uint32_t place = (uint32_t)(site - c->sites);
	uint64_t bit = 1ull << place % 64;

	if (good)
		c->good[place / 64] |= bit;
	else
		c->good[place / 64] &= ~bit;
}

static void rest(struct copygrow *c, struct copy_site *site)
{
	if (site->fails < MAX_FAILS)
		site->fails++;
	site->rest = (uint16_t)(REST << site->fails);
	site->equal = 0;
	site->unmatched = 0;
	set_good(c, site, false);
}

static struct copy_site *site_of(const struct copy_candidate *candidate)
{
	return candidate->site->key == candidate->key ? candidate->site : NULL;
}

static void drop(struct copygrow *c, uint32_t i)
{
	c->nr_candidates--;
	if (i < c->nr_candidates) /* it is the latest nearly always */
		memmove(&c->candidates[i], &c->candidates[i + 1],
			(c->nr_candidates - i) * sizeof(c->candidates[0]));
}

static void drop_unmatched(struct copygrow *c, uint32_t i)
{
	struct copy_site *site = site_of(&c->candidates[i]);

	if (site && ++site->unmatched >= MAX_UNMATCHED)
		rest(c, site);
	drop(c, i);
}

/* What is known of blocks of this one's stack and magnitude, or NULL. */
static struct copy_site *known_site(struct copygrow *c, const struct hs_record *r)
{
	uint32_t key = copygrow_key(r);
	struct copy_site *site = &c->sites[copygrow_place(key)];

	return site->key == key ? site : NULL;
}

/*
 * A buffer of the site of `old` grew to a size that is seen, or from which others went on. If the
 * site rests because its buffers never do, it wakes up.
 */
static void went_on(struct copygrow *c, const struct hs_record *old)
{
	struct copy_site *site = known_site(c, old);

	if (!site)
		return;
	if (site->rest && site->barren >= BARREN - BARREN_AGAIN) {
		site->rest = 0;
		site->fails = 0;
	}
	site->barren = 0;
}

/* One more small heir of the site. */
static void stays_small(struct copygrow *c, struct copy_site *site)
{
	if (++site->barren < BARREN)
		return;
	if (site->fails < BARREN_FAILS)
		site->fails = BARREN_FAILS;
	rest(c, site);
	site->barren = BARREN - BARREN_AGAIN;
}

/* ---- the nursery ---- */

/* The places where a block may be. Large buffers, which grow seldom, have their own. */
static struct copy_nursling *places(struct copygrow *c, uint64_t serial, uint64_t size)
{
	return size < SHOWN ? c->nursery[serial % COPY_SMALL_SETS] :
			      c->nursery[COPY_SMALL_SETS + serial % COPY_LARGE_SETS];
}

/* The block of r; NULL: it is not there, or realloc has given it a lineage since, which counts. */
static struct copy_nursling *find_nursling(struct copygrow *c, const struct hs_record *r)
{
	struct copy_nursling *set = places(c, r->serial, r->size & HS_SIZE_MAX);

	if (r->word & HS_RECORD_LINEAGE)
		return NULL;
	for (uint32_t i = 0; i < COPY_SET; i++)
		if (set[i].serial == r->serial)
			return &set[i];
	return NULL;
}

/* Takes it out; the block of r, a copy of its record, has the lineage then. False: no room. */
static bool leave_nursery(struct thread *t, struct copy_nursling *n, struct hs_record *r)
{
	n->serial = 0;
	if (n->lineage) {
		r->birth = n->lineage;
		r->word |= HS_RECORD_LINEAGE | (n->is_long ? HS_RECORD_LONG : 0);
		return true;
	}
	return lineage_restore(t, r, n->born_size, n->born_stack, n->birth);
}

/* A place for a new one: a free one, or the oldest's. */
static struct copy_nursling *make_room(struct thread *t, uint64_t serial, uint64_t size)
{
	struct copy_nursling *set = places(&t->copygrow, serial, size), *n = set;

	for (uint32_t i = 1; i < COPY_SET; i++)
		if (set[i].serial < n->serial)
			n = &set[i];
	if (n->serial && n->lineage)
		lineage_give(t, n->is_long, n->lineage);
	return n;
}

/* ---- births ---- */

/* Which candidate makes room: one of the same site, or the oldest. */
static uint32_t victim(const struct copygrow *c, uint32_t key)
{
	for (uint32_t i = 0; i < c->nr_candidates; i++)
		if (c->candidates[i].key == key)
			return i;
	return 0;
}

void copygrow_watch(struct copygrow *c, uint32_t key, uint32_t nr, const struct hs_record *born)
{
	uint64_t size = born->size & HS_SIZE_MAX, now = born->serial;
	struct copy_site *site = &c->sites[copygrow_place(key)];
	uint32_t lives = 1;

	if (born->word & HS_RECORD_LINEAGE || !born->stack)
		return;
	if (site->key == key && is_good(c, site)) {
		lives = 8 + (size < 16384 ? (uint32_t)size / 64 : 256);
		__builtin_prefetch(places(c, now, size), 1);
	} else {
		if (c->due > now && size < COPY_LARGE)
			return;
		pay(c, now, LOOK_PRICE);
	}
	if (site->key != key) {
		set_good(c, site, false);
		*site = (struct copy_site){ .key = key };
	}
	if (c->nr_candidates == COPY_CANDIDATES)
		drop_unmatched(c, victim(c, key));
	c->candidates[c->nr_candidates++] =
		(struct copy_candidate){ *born, site, key, nr, lives };
}

/* ---- evidence ---- */

static bool is_own(const struct thread *t, const struct hs_record *r)
{
	return r->serial >> HS_SERIAL_SLOT_SHIFT == t->slot_nr;
}

/* True if the two steps from the first of these sizes to the last are of about one ratio. */
static bool alike(uint64_t first, uint64_t second, uint64_t third)
{
	uint64_t before, now;

	if (!first || !second)
		return false;
	before = 64 * second / first;
	now = 64 * third / second;
	return 6 * now > 5 * before && 5 * now < 6 * before;
}

/*
 * Steps that are unsure if the block of `old` goes on in one of this size, for which nothing but
 * the sizes speaks: 0 if it makes all of them sure, or NO_CHAIN. *begins comes as whether a first
 * one may be it, and goes as whether it is one, with which nothing that went before fits.
 */
static uint16_t chain(const struct thread *t, const struct hs_record *old,
		      const struct copy_nursling *from, uint64_t size, bool *begins)
{
	uint64_t old_size = old->size & HS_SIZE_MAX, before;
	struct hs_record r = *old;
	uint32_t steps = from ? from->unsure : 0;

	if (from && from->lineage) {
		r.word |= HS_RECORD_LINEAGE | (from->is_long ? HS_RECORD_LONG : 0);
		r.birth = from->lineage;
	} else if (!from && !is_own(t, &r)) {
		return NO_CHAIN; /* another thread may be changing its lineage */
	}
	before = r.word & HS_RECORD_LINEAGE ? lineage_before(&r) : from ? from->born_size : 0;
	if (!alike(before, old_size, size))
		return *begins ? 1 : NO_CHAIN;
	*begins = false;
	if (!steps && r.word & HS_RECORD_LINEAGE && lineage_head(&r)->nr_steps + 1 >= SURE_STEPS)
		return 0;
	return steps + 1 < SURE_STEPS ? (uint16_t)(steps + 1) : 0;
}

/* Of two sizes, in 64ths; 0: so large that no other is about the same. */
static uint32_t ratio_of(uint64_t old_size, uint64_t size)
{
	return old_size && size / old_size < MAX_RATIO ? (uint32_t)(64 * size / old_size) : 0;
}

static bool about(uint32_t ratio, uint32_t other)
{
	return ratio && 8 * ratio >= 7 * other && 7 * ratio <= 8 * other;
}

/* Whether the contents show that the block of `old` went on in the one that was `born`. */
static bool copied(struct copygrow *c, struct copy_site *site, const struct hs_record *born,
		   const struct hs_record *old, bool fits)
{
	uint64_t old_size = old->size & HS_SIZE_MAX, size = born->size & HS_SIZE_MAX;
	bool same_stack = born->stack == old->stack;
	uint32_t alike, ratio = ratio_of(old_size, size);

	if (site->skip) {
		site->skip--;
		if (site->equal < TRUSTED)
			return false;
		if (site->old_stack == old->stack && about(ratio, site->ratio))
			return true;
	}
	/* A little more room is usual for a copy of a short text, and so is twice for a temporary. */
	if (old_size < 64 && (4 * size < 5 * old_size || (!same_stack && size < 2 * old_size - 2)))
		return false;
	if (!fits && c->due > born->serial)
		return false;
	alike = contents_alike(old->word & HS_RECORD_ADDRESS, old_size,
			       born->word & HS_RECORD_ADDRESS);
	/* Few words have to have sizes beside them that say the same. */
	if (alike < 3 && !(alike == 2 && size == 2 * old_size) &&
	    !(alike && fits && same_stack)) {
		pay(c, born->serial, COMPARE_PRICE);
		site->skip = fits && !site->equal ? SKIP : 0;
		site->equal = 0;
		return false;
	}
	if (site->equal < UINT8_MAX)
		site->equal++;
	if (site->equal >= TRUSTED) /* each time for twice as long */
		site->skip = site->equal < 10 ? (uint16_t)(SKIP << (site->equal - TRUSTED)) :
						MAX_SKIP;
	site->old_stack = old->stack;
	site->ratio = (uint16_t)ratio;
	return true;
}

/* Whether blocks of this one's stack and size often come and go without an heir. */
static bool comes_and_goes(struct copygrow *c, const struct hs_record *r)
{
	const struct copy_site *site = known_site(c, r);

	return site && site->fails;
}

/* What a death says about one candidate, which is larger: true if it is the heir. */
static bool judge(struct thread *t, struct copy_site *site, const struct hs_record *born,
		  const struct hs_record *old, struct copy_link *link)
{
	uint64_t old_size = old->size & HS_SIZE_MAX, size = born->size & HS_SIZE_MAX;
	bool same_stack = old->stack == born->stack;
	bool fits = 4 * size >= 5 * old_size && size <= 3 * old_size;
	bool is_copied = copied(&t->copygrow, site, born, old, fits);
	struct copy_nursling *from;

	if (!is_copied && !fits)
		return false;
	from = find_nursling(&t->copygrow, old);
	link->from = from;
	link->unsure = 0;
	link->foreign = false;
	link->begins = from && from->foreign && from->unsure < SURE_STEPS - 1;
	if (is_copied)
		return true;
	link->begins = same_stack ||
		       (!is_good(&t->copygrow, site) && !comes_and_goes(&t->copygrow, old));
	link->unsure = chain(t, old, from, size, &link->begins);
	link->foreign = link->begins ? !same_stack : from && from->foreign;
	return link->unsure != NO_CHAIN;
}

/* A candidate that is not larger than what is freed: it may show that its site replaces blocks. */
static bool replaces(const struct copy_site *site, const struct hs_record *born,
		     const struct hs_record *old)
{
	return born->stack == old->stack ||
	       (site->equal && contents_alike(old->word & HS_RECORD_ADDRESS,
					      born->size & HS_SIZE_MAX,
					      born->word & HS_RECORD_ADDRESS));
}

/* A copy of a record of ours. If another thread made the block it may be changing its lineage. */
static struct hs_record read_record(const struct thread *t, const struct hs_record *r)
{
	return (struct hs_record){
		.word = __atomic_load_n(&r->word, __ATOMIC_RELAXED),
		.size = r->size,
		.serial = r->serial,
		.stack = r->stack,
		.birth = is_own(t, r) ? r->birth : 0,
	};
}

/* Candidate i is the heir of `old`. */
static void found(struct thread *t, uint32_t i, const struct hs_record *old, struct copy_link *link)
{
	struct copygrow *c = &t->copygrow;
	const struct copy_candidate *candidate = &c->candidates[i];
	bool is_large = (candidate->born.size & HS_SIZE_MAX) >= SHOWN;

	link->heir_nr = candidate->nr;
	link->heir = candidate->born;
	link->shows = !link->unsure && (is_large || old->word & HS_RECORD_LINEAGE);
	link->is_note = !link->shows && !(old->word & HS_RECORD_LINEAGE) && is_own(t, old);
	if (link->begins && link->foreign) {
		drop_unmatched(c, i); /* may well be chance */
		return;
	}
	candidate->site->unmatched = 0;
	set_good(c, candidate->site, true);
	if (is_large || candidate->site->barren < BARREN - BARREN_AGAIN)
		went_on(c, old);
	if (!is_large)
		stays_small(c, candidate->site);
	drop(c, i);
}

/* The block of record nr is freed: if it is a candidate, one that the search has not come to. */
static void forget_candidate(struct copygrow *c, uint32_t nr)
{
	for (uint32_t i = 0; i < c->nr_candidates; i++)
		if (c->candidates[i].nr == nr)
			drop(c, i--);
}

/*
 * A death has made none of the candidates an heir. One that has does not count for the others: of the
 * arrays that a table has side by side, each old one is freed after those before it.
 */
static void let_age(struct copygrow *c)
{
	for (uint32_t i = c->nr_candidates; i-- > 0;)
		if (!--c->candidates[i].lives)
			drop_unmatched(c, i);
}

bool copygrow_heir(struct thread *t, uint32_t nr, struct copy_link *ret_link)
{
	struct copygrow *c = &t->copygrow;
	struct hs_record copy = read_record(t, store_record(nr)), *old = &copy;

	for (uint32_t i = c->nr_candidates; i-- > 0;) {
		struct copy_candidate *candidate = &c->candidates[i];
		struct hs_record *now = store_record(candidate->nr);
		struct hs_record *born = &candidate->born;
		struct copy_site *site = site_of(candidate);

		if (candidate->nr == nr) {
			drop_unmatched(c, i);
			return false;
		}
		if (!site || __atomic_load_n(&now->word, __ATOMIC_RELAXED) != born->word) {
			drop(c, i);
		} else if ((born->size & HS_SIZE_MAX) <= (old->size & HS_SIZE_MAX) &&
			   replaces(site, born, old)) {
			rest(c, site);
			drop(c, i);
		} else if ((born->size & HS_SIZE_MAX) > (old->size & HS_SIZE_MAX) &&
			   judge(t, site, born, old, ret_link)) {
			found(t, i, old, ret_link);
			forget_candidate(c, nr);
			return true;
		}
	}
	let_age(c);
	return false;
}

/* A buffer's first step while it is small or unsure: no lineage is made yet. */
static void nurse_first(struct thread *t, const struct hs_record *old, const struct copy_link *link)
{
	uint64_t serial = link->heir.serial;

	*make_room(t, serial, link->heir.size & HS_SIZE_MAX) = (struct copy_nursling){
		.serial = serial,
		.born_size = old->size & HS_SIZE_MAX,
		.born_stack = old->stack,
		.birth = old->birth,
		.unsure = link->unsure,
		.foreign = link->foreign,
	};
}

/* What went before a step that begins a chain is not known to be of this buffer. */
static void forget(struct thread *t, struct hs_record *old, struct copy_nursling *from)
{
	if (from) {
		if (from->lineage)
			lineage_give(t, from->is_long, from->lineage);
		from->serial = 0;
	} else if (old->word & HS_RECORD_LINEAGE) {
		uint32_t nr = old->birth;

		old->birth = lineage_head(old)->changed;
		lineage_give(t, !!(old->word & HS_RECORD_LONG), nr);
		old->word &= ~(HS_RECORD_LINEAGE | HS_RECORD_LONG);
	}
}

/* As for the first step, but with a lineage. */
static void nurse(struct thread *t, const struct hs_record *r, const struct copy_link *link)
{
	uint64_t serial = link->heir.serial;

	*make_room(t, serial, link->heir.size & HS_SIZE_MAX) = (struct copy_nursling){
		.serial = serial,
		.lineage = r->birth,
		.is_long = !!(r->word & HS_RECORD_LONG),
		.unsure = link->unsure,
		.foreign = link->foreign,
	};
}

void copygrow_inherit(struct thread *t, struct hs_record *old, const struct copy_link *link)
{
	struct copy_nursling *from = link->from;

	if (link->begins) {
		forget(t, old, from);
		from = NULL;
	}
	if (!link->unsure)
		t->slot->nr_inferred += 1u + (from ? from->unsure : 0);
	if (!link->shows && !from && !(old->word & HS_RECORD_LINEAGE)) {
		nurse_first(t, old, link);
		return;
	}
	if ((from && !leave_nursery(t, from, old)) || !lineage_inherit(t, old, &link->heir)) {
		if (old->word & HS_RECORD_LINEAGE)
			lineage_give(t, !!(old->word & HS_RECORD_LONG), old->birth);
		old->word &= ~(HS_RECORD_LINEAGE | HS_RECORD_LONG);
	} else if (!link->shows) {
		nurse(t, old, link);
	}
}
