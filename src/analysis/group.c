/* SPDX-License-Identifier: MIT */
/*
 * group.c - which group a block belongs to; see group.h.
 *
 * A base group is found from the identity of a stack, a thread or an age, which is looked up once
 * for each of these and kept. Where sizes are split, (base, size) is looked up for each block.
 */
#include "analysis/group.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <xxhash.h>

#include "analysis/kind.h"
#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"

#define NO_GROUP UINT32_MAX
#define NR_SIDES 2

/* Ages fall below the first limit that is larger. */
static const struct {
	uint64_t below_ms;
	const char *key;
} ages[] = {
	{1000, "under 1s"},	 {10000, "1s to 10s"},	 {60000, "10s to 1m"},
	{600000, "1m to 10m"},	 {3600000, "10m to 1h"}, {86400000, "1h to 1d"},
	{UINT64_MAX, "over 1d"},
};
#define NR_AGES (sizeof(ages) / sizeof(ages[0]))

size_t group_age_count(void)
{
	return NR_AGES;
}

size_t group_age_of(uint64_t age_ms)
{
	size_t k = 0;

	while (k < NR_AGES - 1 && age_ms >= ages[k].below_ms)
		k++;
	return k;
}

const char *group_age_key(size_t age)
{
	return ages[age].key;
}

/* From the bytes that tell a group from others to its number. */
struct identity {
	UT_hash_handle hh;
	uint32_t group;
	char bytes[];
};

struct sized {
	uint64_t size;
	uint32_t base;
};

/* From (base, size) to a group. */
struct sized_identity {
	UT_hash_handle hh;
	struct sized what;
	uint32_t group;
};

struct word_group {
	const char *class; /* of names; NULL: none yet */
	uint32_t group;
};

struct side {
	struct names *names;
	uint32_t *stacks; /* base group by stack; NO_GROUP: not looked up yet */
	uint32_t *threads; /* by thread */
	struct word_group *words; /* by class word: the last class that blocks with it had */
	XXH128_hash_t *nodes; /* by node: hash of it and all frames outside; GROUP_STACK */
};

struct grouping {
	struct group_options options;
	bool sized;
	bool blind; /* of a side nobody looked at the words: classes are those of stacks on all sides */
	struct group *bases, *groups; /* the same array where nothing is split by size */
	size_t nr_bases, nr_groups, alloc_bases, alloc_groups;
	struct identity *identities;
	struct sized_identity *sized_identities;
	uint32_t ages[NR_AGES];
	struct side sides[NR_SIDES];
	uint32_t nr_sides;
};

struct grouping *grouping_new(const struct group_options *options)
{
	struct grouping *g = xcalloc(1, sizeof(*g));

	g->options = *options;
	g->sized = options->split_sizes || options->by == GROUP_SIZE;
	memset(g->ages, 0xff, sizeof(g->ages));
	return g;
}

static void free_groups(struct group *groups, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(groups[i].key);
		free(groups[i].zone);
	}
	free(groups);
}

void grouping_free(struct grouping *g)
{
	struct identity *i, *next;
	struct sized_identity *s, *next_sized;

	if (!g)
		return;
	HASH_ITER(hh, g->identities, i, next) {
		HASH_DEL(g->identities, i);
		free(i);
	}
	HASH_ITER(hh, g->sized_identities, s, next_sized) {
		HASH_DEL(g->sized_identities, s);
		free(s);
	}
	free_groups(g->bases, g->nr_bases);
	free_groups(g->groups, g->nr_groups);
	for (uint32_t k = 0; k < g->nr_sides; k++) {
		free(g->sides[k].stacks);
		free(g->sides[k].threads);
		free(g->sides[k].nodes);
		free(g->sides[k].words);
	}
	free(g);
}

/* ---- stacks by content ------------------------------------------------------------------- */

/* What makes a module the same in another snapshot. */
static XXH64_hash_t module_hash(const struct snap_module *m)
{
	if (m->build_id_len)
		return XXH3_64bits(m->build_id, m->build_id_len);
	return XXH3_64bits(m->path, strlen(m->path));
}

static XXH128_hash_t *hash_nodes(const struct snapshot *s)
{
	XXH128_hash_t *nodes = xcalloc(s->nr_nodes + 1, sizeof(*nodes));
	XXH64_hash_t *modules = xcalloc(s->nr_modules + 1, sizeof(*modules));

	for (size_t i = 1; i < s->nr_modules; i++)
		modules[i] = module_hash(&s->modules[i]);
	for (size_t i = 1; i < s->nr_nodes; i++) {
		const struct snap_node *n = &s->nodes[i];
		uint64_t word[5] = {nodes[n->parent].low64, nodes[n->parent].high64,
				    modules[n->module], n->pc, n->signal};

		if (n->module)
			word[3] -= s->modules[n->module].load_bias;
		nodes[i] = XXH3_128bits(word, sizeof(word));
	}
	free(modules);
	return nodes;
}

uint32_t grouping_add(struct grouping *g, struct names *names)
{
	const struct snapshot *s = names_snapshot(names);
	struct side *side = &g->sides[g->nr_sides];

	side->names = names;
	side->stacks = xmallocarray(s->nr_stacks + 1, sizeof(*side->stacks));
	side->threads = xmallocarray(s->nr_threads + 1, sizeof(*side->threads));
	memset(side->stacks, 0xff, (s->nr_stacks + 1) * sizeof(*side->stacks));
	memset(side->threads, 0xff, (s->nr_threads + 1) * sizeof(*side->threads));
	if (g->options.by == GROUP_STACK)
		side->nodes = hash_nodes(s);
	side->words = xcalloc(s->nr_class_words + 1, sizeof(*side->words));
	g->blind = g->blind || !s->class_words;
	return g->nr_sides++;
}

/* ---- base groups ------------------------------------------------------------------------- */

/* The base group with these identifying bytes; takes key. */
static uint32_t intern(struct grouping *g, const void *bytes, size_t len, char *key,
		       const char *zone)
{
	struct identity *i;
	struct group *group;

	HASH_FIND(hh, g->identities, bytes, len, i);
	if (i) {
		group = &g->bases[i->group];
		if (group->zone && (!zone || strcmp(group->zone, zone))) {
			free(group->zone);
			group->zone = NULL;
		}
		free(key);
		return i->group;
	}
	i = xmalloc(sizeof(*i) + len);
	memcpy(i->bytes, bytes, len);
	i->group = (uint32_t)g->nr_bases;
	HASH_ADD_KEYPTR(hh, g->identities, i->bytes, len, i);
	g->bases = xgrow(g->bases, &g->alloc_bases, g->nr_bases + 1, sizeof(*g->bases));
	g->bases[g->nr_bases] = (struct group){.key = key,
					       .zone = zone ? xstrdup(zone) : NULL,
					       .is_class = g->options.by == GROUP_CLASS};
	return (uint32_t)g->nr_bases++;
}

/*
 * A site is a place in the source: function and line, or function and module where no line is
 * known. Return addresses do not count, nor what the function was inlined into. Without a name
 * there is only the address to tell it by. `function` is how it is to be called here.
 */
static char *site_key(const struct frame *site, const char *function)
{
	char *place, *key;

	if (function && !(site->file && site->line))
		return xasprintf("%s %s", function,
				 site->module ? path_basename(site->module) : "(no module)");
	place = frame_place(site);
	if (!function)
		return place;
	key = xasprintf("%s %s", function, place);
	free(place);
	return key;
}

/*
 * What tells the group of a site, where that is not its key: raw names are known of some snapshots
 * only, and differ where people see one function.
 */
static char *site_identity(const struct grouping *g, const struct frame *site)
{
	if (!site || !site->function || site->shown == site->function)
		return NULL;
	if (g->options.by == GROUP_SITE)
		return site_key(site, site->function);
	return g->options.by == GROUP_FUNCTION ? xstrdup(site->function) : NULL;
}

static char *file_key(const struct frame *site)
{
	if (!site)
		return xstrdup("(no stack)");
	if (site->file)
		return xstrdup(site->file);
	return xasprintf("(no file) %s", site->module ? path_basename(site->module) : "");
}

static char *stack_key(const struct grouping *g, const struct side *side, uint32_t stack)
{
	const struct snapshot *s = names_snapshot(side->names);
	const struct frame *site;

	switch (g->options.by) {
	case GROUP_SITE:
		site = names_site(side->names, stack);
		return site ? site_key(site, site->shown) : xstrdup("(no stack)");
	case GROUP_STACK:
		if (!stack)
			return xstrdup("(no stack)");
		return xasprintf("%016" PRIx64 "%016" PRIx64,
				 side->nodes[s->stacks[stack].node].high64,
				 side->nodes[s->stacks[stack].node].low64);
	case GROUP_CLASS:
		return xstrdup(names_class(side->names, &(struct snap_block){.stack = stack}));
	case GROUP_FUNCTION:
		return stack ? frame_label(names_site(side->names, stack)) : xstrdup("(no stack)");
	case GROUP_FILE:
		return file_key(names_site(side->names, stack));
	case GROUP_MODULE:
	case GROUP_ZONE: {
		const char *zone = names_zone(side->names, stack);

		return xstrdup(*zone ? zone : stack ? "(no module)" : "(no stack)");
	}
	default:
		return xstrdup("");
	}
}

static uint32_t base_of_stack(struct grouping *g, struct side *side, uint32_t stack)
{
	const struct frame *const *frames;
	enum stack_cut cut;
	const char *zone;
	char *key, *plain, *identity;

	if (side->stacks[stack] != NO_GROUP)
		return side->stacks[stack];
	/* a stack of pseudo frames alone is none */
	if (stack && !names_stack(side->names, stack, &frames, &cut))
		return side->stacks[stack] = base_of_stack(g, side, 0);
	zone = names_zone(side->names, stack);
	key = stack_key(g, side, stack);
	plain = site_identity(g, names_site(side->names, stack));
	identity = xasprintf("%s\n%s", g->options.split_zones ? zone : "", plain ? plain : key);
	side->stacks[stack] = intern(g, identity, strlen(identity), key, zone);
	free(identity);
	free(plain);
	return side->stacks[stack];
}

static uint32_t base_of_thread(struct grouping *g, struct side *side, uint32_t thread)
{
	const struct snap_thread *t = &names_snapshot(side->names)->threads[thread];
	char identity[16], *key;

	if (side->threads[thread] != NO_GROUP)
		return side->threads[thread];
	/* a name may change, or be known in one snapshot only: the thread is the same */
	snprintf(identity, sizeof(identity), "%" PRIu32, thread ? t->tid : 0);
	if (thread)
		key = xasprintf(t->name[0] ? "%" PRIu32 " %.16s" : "%" PRIu32, t->tid, t->name);
	else
		key = xstrdup("unknown");
	return side->threads[thread] = intern(g, identity, strlen(identity), key, NULL);
}

static uint32_t base_of_age(struct grouping *g, const struct snap_block *b)
{
	uint64_t ms = g->options.now_ms > b->birth_ms ? g->options.now_ms - b->birth_ms : 0;
	size_t k = group_age_of(ms);

	if (g->ages[k] == NO_GROUP) {
		g->ages[k] =
			intern(g, ages[k].key, strlen(ages[k].key), xstrdup(ages[k].key), NULL);
		g->bases[g->ages[k]].order = k;
	}
	return g->ages[k];
}

/* Of a block with a class word the class may still be that of its stack; of a mapping it is not. */
static uint32_t base_of_class(struct grouping *g, struct side *side, const struct snap_block *b)
{
	struct word_group *word = &side->words[b->class_word];
	const char *class, *zone;
	char *identity;

	if ((!b->class_word || g->blind) && kind_of(b) == KIND_MALLOC)
		return base_of_stack(g, side, b->stack);
	class = names_class(side->names, b);
	/* zones are those of stacks: only where it has none already can this one change nothing */
	if (word->class == class && !g->options.split_zones && !g->bases[word->group].zone)
		return word->group;
	zone = names_zone(side->names, b->stack);
	identity = xasprintf("%s\n%s", g->options.split_zones ? zone : "", class);
	word->group = intern(g, identity, strlen(identity), xstrdup(class), zone);
	word->class = class;
	free(identity);
	return word->group;
}

static uint32_t base_of(struct grouping *g, struct side *side, const struct snap_block *b)
{
	switch (g->options.by) {
	case GROUP_THREAD:
		return base_of_thread(g, side, b->thread);
	case GROUP_AGE:
		return base_of_age(g, b);
	case GROUP_CLASS:
		return base_of_class(g, side, b);
	case GROUP_SIZE:
		return base_of_stack(g, side, g->options.split_zones ? b->stack : 0);
	default:
		return base_of_stack(g, side, b->stack);
	}
}

/* ---- groups ------------------------------------------------------------------------------ */

static uint32_t split_by_size(struct grouping *g, uint32_t base, uint64_t size)
{
	struct sized what;
	struct sized_identity *i;
	const struct group *from = &g->bases[base];
	bool sizes_alone = g->options.by == GROUP_SIZE;
	bool with_zone = from->zone && (!sizes_alone || g->options.split_zones);
	char *key;

	memset(&what, 0, sizeof(what)); /* its padding is compared as well */
	what.size = size;
	what.base = base;
	HASH_FIND(hh, g->sized_identities, &what, sizeof(what), i);
	if (i)
		return i->group;
	i = xcalloc(1, sizeof(*i));
	i->what = what;
	i->group = (uint32_t)g->nr_groups;
	HASH_ADD(hh, g->sized_identities, what, sizeof(what), i);
	key = sizes_alone ? xasprintf("%" PRIu64, size) : xstrdup(from->key);
	g->groups = xgrow(g->groups, &g->alloc_groups, g->nr_groups + 1, sizeof(*g->groups));
	g->groups[g->nr_groups] = (struct group){
		.key = key,
		.zone = with_zone ? xstrdup(from->zone) : NULL,
		.is_class = from->is_class,
		.has_size = true,
		.size = size,
		.order = from->order,
	};
	return (uint32_t)g->nr_groups++;
}

uint32_t grouping_of(struct grouping *g, uint32_t side, const struct snap_block *b)
{
	uint32_t group = base_of(g, &g->sides[side], b);

	if (g->sized)
		group = split_by_size(g, group, b->size);
	(g->sized ? g->groups : g->bases)[group].kinds |= 1u << kind_of(b);
	return group;
}

uint32_t grouping_of_stack(struct grouping *g, uint32_t side, uint32_t stack)
{
	return base_of_stack(g, &g->sides[side], stack);
}

bool grouping_by_stack(const struct grouping *g)
{
	/* no object was found where no word is known: all classes are those of stacks then */
	for (uint32_t k = 0; g->options.by == GROUP_CLASS && k < g->nr_sides; k++) {
		const struct snapshot *s = names_snapshot(g->sides[k].names);

		if ((s->nr_class_words > 1 && !g->blind) || s->kind != KIND_MALLOC)
			return false;
	}
	return !g->sized && g->options.by != GROUP_THREAD && g->options.by != GROUP_AGE;
}

bool grouping_is_passed_through(const struct grouping *g)
{
	return g->sized || g->options.by == GROUP_AGE;
}

const struct group *grouping_get(const struct grouping *g, uint32_t group)
{
	return g->sized ? &g->groups[group] : &g->bases[group];
}

int grouping_compare(const struct grouping *g, uint32_t a, uint32_t b)
{
	const struct group *x = grouping_get(g, a), *y = grouping_get(g, b);
	int order = strcmp(x->key, y->key);

	if (order)
		return order;
	if (x->zone && y->zone && (order = strcmp(x->zone, y->zone)) != 0)
		return order;
	return (x->size > y->size) - (x->size < y->size);
}
