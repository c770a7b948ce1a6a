/* SPDX-License-Identifier: MIT */
/*
 * scan.c - the functions of a unit and what is inlined into them; see scan.h.
 *
 * Offline only. A unit has some hundred DIEs for each one that matters here, so all others are
 * only stepped over: by the size of their abbreviation where it is fixed, and with all that is in
 * them where a DW_AT_sibling leads past it. Functions without code are gone into all the same:
 * the bodies of lambdas and of local classes hang below the abstract function.
 */
#include "symbolizer/scan.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/abbrev.h"
#include "symbolizer/dwarf_cursor.h"
#include "symbolizer/dwarf_names.h"
#include "symbolizer/timelimit.h"
#include "util/alloc.h"

#define STEP 16384u             /* DIEs between two looks at the clock */
#define DEPTH_MAX 65536u        /* real units nest some hundred deep */

struct level {
	uint32_t scope, place;  /* SCOPE_NONE: in no function, in no place */
	bool idle;              /* scope is of this level and has no code of its own */
};

struct scan {
	struct scope_tree *tree;
	const struct scan_source *source;
	const struct dwarf_unit *unit;
	struct dwarf_cursor c;
	struct ranges ranges;
	struct level *levels;   /* from the unit to the DIE whose children are read */
	size_t depth, alloc;
};

/* What is read of a function's DIE. */
struct function {
	struct form_value low, high, ranges, origin;
	bool has_low, has_high, has_ranges, has_origin;
	uint64_t call_file, call_line, call_column, sibling;
};

static void read_function(struct scan *s, const struct abbrev *abbrev, struct function *ret)
{
	const struct abbrev_table *table = s->source->abbrevs;
	uint32_t i;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < abbrev->nr; i++) {
		const struct abbrev_attribute *a = &table->attributes[abbrev->first + i];
		struct form_value v = form_read(&s->c, a->form, a->implicit, s->unit->format);

		switch (a->attribute) {
		case DW_AT_low_pc:
			ret->low = v;
			ret->has_low = true;
			break;
		case DW_AT_high_pc:
			ret->high = v;
			ret->has_high = true;
			break;
		case DW_AT_ranges:
			ret->ranges = v;
			ret->has_ranges = true;
			break;
		case DW_AT_abstract_origin:
			ret->origin = v;
			ret->has_origin = true;
			break;
		case DW_AT_call_file:
			ret->call_file = v.value;
			break;
		case DW_AT_call_line:
			ret->call_line = v.value;
			break;
		case DW_AT_call_column:
			ret->call_column = v.value;
			break;
		case DW_AT_sibling:
			ret->sibling = v.value;
			break;
		}
	}
}

static uint32_t clamped(uint64_t value, uint32_t max)
{
	return value < max ? (uint32_t)value : max;
}

static bool address_of(const struct scan *s, struct form_value v, uint64_t *ret)
{
	*ret = v.value;
	return v.kind == FORM_ADDRESS ||
		(v.kind == FORM_ADDRESS_INDEX &&
		 range_address(&s->source->ranges, s->unit, v.value, ret));
}

static void add_ranges(struct scan *s, const struct function *f, uint32_t scope)
{
	uint64_t low, high;

	if (f->has_ranges) {
		ranges_read(&s->ranges, &s->source->ranges, s->unit, f->ranges, scope);
	} else if (f->has_low && f->has_high && address_of(s, f->low, &low)) {
		if (f->high.kind == FORM_CONSTANT)
			high = low + f->high.value;
		else if (!address_of(s, f->high, &high))
			return;
		ranges_add(&s->ranges, low, high, scope);
	}
}

/* Adds the scope of a function's DIE; returns its number. */
static uint32_t add_scope(struct scan *s, const struct function *f, uint64_t die, bool inlined)
{
	struct scope_tree *t = s->tree;
	struct scope *scope;

	t->scopes = xgrow(t->scopes, &t->alloc, t->nr + 1, sizeof(*t->scopes));
	scope = &t->scopes[t->nr];
	*scope = (struct scope){
		.die = die,
		/* A function inside another one is not a part of it. */
		.parent = inlined && s->depth ? s->levels[s->depth - 1].scope : SCOPE_NONE,
		.call_file = clamped(f->call_file, UINT32_MAX),
		.call_line = clamped(f->call_line, UINT32_MAX),
		.call_column = clamped(f->call_column, (1u << 30) - 1),
		.inlined = inlined,
	};
	/* One DIE for all places where it is inlined; a function's own may have a name of its own. */
	if (inlined && f->has_origin && f->origin.kind == FORM_UNIT_REF)
		scope->die = s->unit->offset + f->origin.value;
	else if (inlined && f->has_origin && f->origin.kind != FORM_OTHER)
		scope->die = f->origin.value;
	scope->alt = inlined && f->has_origin && f->origin.kind == FORM_ALT_REF;
	add_ranges(s, f, (uint32_t)t->nr);
	return (uint32_t)t->nr++;
}

static void skip_values(struct scan *s, const struct abbrev *abbrev, uint64_t *ret_sibling)
{
	const struct abbrev_attribute *a = &s->source->abbrevs->attributes[abbrev->first];
	const struct abbrev_attribute *end = a + abbrev->nr;

	for (; a < end; a++) {
		if (a->attribute == DW_AT_sibling)
			*ret_sibling = form_read(&s->c, a->form, a->implicit,
						 s->unit->format).value;
		else if (a->size >= 0)
			dwarf_skip(&s->c, (uint64_t)a->size);
		else
			form_read(&s->c, a->form, a->implicit, s->unit->format);
	}
}

/*
 * Whether code may hang below a DIE with that tag. That of methods stands outside of their types,
 * but gcc has some code of local classes and lambdas, which are in a function, below the type.
 */
static bool may_hold_code(uint32_t tag, bool in_function)
{
	switch (tag) {
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		return in_function;
	case DW_TAG_array_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_formal_parameter:
	case DW_TAG_subroutine_type:
	case DW_TAG_subrange_type:
	case DW_TAG_variable:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		return false;
	default:
		return true;
	}
}

/* Moves to the sibling, which is an offset in the unit. False: it leads nowhere. */
static bool jump(struct scan *s, uint64_t sibling)
{
	const uint8_t *start = s->source->info.data + s->unit->offset;

	if (sibling > (uint64_t)(s->c.end - start) || start + sibling < s->c.at)
		return false;
	s->c.at = start + sibling;
	return true;
}

static void push(struct scan *s, struct level level)
{
	if (s->depth >= DEPTH_MAX) {
		dwarf_fail(&s->c);
		return;
	}
	s->levels = xgrow(s->levels, &s->alloc, s->depth + 1, sizeof(*s->levels));
	s->levels[s->depth++] = level;
}

/* Whether names of functions begin with the name of such a DIE, or it is a function. */
static bool is_place(uint32_t tag)
{
	switch (tag) {
	case DW_TAG_class_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_module:
	case DW_TAG_namespace:
	case DW_TAG_subprogram:
		return true;
	default:
		return false;
	}
}

static uint32_t add_place(struct scan *s, uint64_t die, uint32_t tag, uint32_t parent)
{
	struct scope_tree *t = s->tree;

	t->places = xgrow(t->places, &t->alloc_places, t->nr_places + 1, sizeof(*t->places));
	t->places[t->nr_places] = (struct scope_place){ die, parent, tag };
	return (uint32_t)t->nr_places++;
}

/* Most functions are only declared, or all that is left of them is inlined: nobody is in those. */
static void drop_idle(struct scan *s, const struct level *level)
{
	if (level->idle && level->scope == s->tree->nr - 1)
		s->tree->nr--;
}

/* One DIE; goes one level down if it has children that are read. */
static void scan_die(struct scan *s, const struct abbrev *abbrev, uint64_t die)
{
	struct level level = { SCOPE_NONE, SCOPE_NONE, false };
	bool places = s->source->with_places;
	uint64_t sibling = 0;
	size_t nr_ranges;

	if (s->depth)
		level = s->levels[s->depth - 1];
	level.idle = false;
	if (places && is_place(abbrev->tag))
		level.place = add_place(s, die, abbrev->tag, level.place);
	if (abbrev->tag == DW_TAG_subprogram || abbrev->tag == DW_TAG_inlined_subroutine) {
		struct function f;

		read_function(s, abbrev, &f);
		if (s->c.bad)
			return;
		nr_ranges = s->ranges.nr;
		level.scope = add_scope(s, &f, die, abbrev->tag == DW_TAG_inlined_subroutine);
		level.idle = s->ranges.nr == nr_ranges;
	} else if (abbrev->size >= 0 && !(abbrev->sibling && abbrev->children)) {
		dwarf_skip(&s->c, (uint64_t)abbrev->size);
	} else {
		skip_values(s, abbrev, &sibling);
	}
	if (!abbrev->children) {
		drop_idle(s, &level);
		return;
	}
	if (sibling && !(places && is_place(abbrev->tag)) &&
	    !may_hold_code(abbrev->tag, level.scope != SCOPE_NONE) && jump(s, sibling))
		return;
	push(s, level);
}

/* Scopes and ranges of one unit may not fill the memory, whatever refers to how many ranges. */
static bool too_large(const struct scan *s)
{
	return s->tree->nr * sizeof(struct scope) +
		s->tree->nr_places * sizeof(struct scope_place) +
		s->ranges.nr * (sizeof(struct range) + 2 * RANGE_PIECE_BYTES) >
		s->source->max_bytes;
}

static bool scan_all(struct scan *s, struct time_limit *limit)
{
	uint32_t nr = 0;

	while (dwarf_left(&s->c)) {
		uint64_t die = (uint64_t)(s->c.at - s->source->info.data);
		uint64_t code = dwarf_uleb(&s->c);
		const struct abbrev *abbrev;

		if (!code) {
			if (s->depth <= 1)
				break; /* the unit's own end, or padding behind it */
			s->depth--;
			drop_idle(s, &s->levels[s->depth]);
			continue;
		}
		abbrev = abbrev_find(s->source->abbrevs, code);
		if (!abbrev)
			return false;
		scan_die(s, abbrev, die);
		if (!s->depth)
			break; /* a unit without children */
		if (!(++nr % STEP) && (time_limit_passed(limit) || too_large(s)))
			return false;
	}
	return !s->c.bad;
}

bool scope_tree_init(struct scope_tree *tree, const struct scan_source *source,
		     const struct dwarf_unit *unit, struct time_limit *limit)
{
	struct scan s = { .tree = tree, .source = source, .unit = unit };
	bool whole;

	memset(tree, 0, sizeof(*tree));
	if (unit->end > source->info.len || unit->die > unit->end)
		return false;
	s.c = dwarf_cursor_at(source->info, unit->die);
	s.c.end = source->info.data + unit->end;
	s.ranges.max = source->max_bytes / (sizeof(struct range) + 2 * RANGE_PIECE_BYTES);
	whole = scan_all(&s, limit);
	range_map_init(&tree->map, &s.ranges);
	ranges_release(&s.ranges);
	free(s.levels);
	tree->scopes = xreallocarray(tree->scopes, tree->nr + 1, sizeof(*tree->scopes));
	tree->places = xreallocarray(tree->places, tree->nr_places + 1, sizeof(*tree->places));
	tree->alloc = tree->nr + 1;
	tree->alloc_places = tree->nr_places + 1;
	return whole;
}

void scope_tree_release(struct scope_tree *tree)
{
	free(tree->scopes);
	free(tree->places);
	range_map_release(&tree->map);
	memset(tree, 0, sizeof(*tree));
}

size_t scope_tree_size(const struct scope_tree *tree)
{
	return tree->alloc * sizeof(*tree->scopes) +
		tree->map.alloc * RANGE_PIECE_BYTES +
		tree->alloc_places * sizeof(*tree->places);
}

const struct scope *scope_tree_find(const struct scope_tree *tree, uint64_t address)
{
	uint32_t nr = range_map_find(&tree->map, address);

	return nr < tree->nr ? &tree->scopes[nr] : NULL;
}

uint32_t scope_place_find(const struct scope_tree *tree, uint64_t die)
{
	size_t low = 0, high = tree->nr_places;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tree->places[middle].die < die)
			low = middle + 1;
		else
			high = middle;
	}
	return low < tree->nr_places && tree->places[low].die == die ? (uint32_t)low : SCOPE_NONE;
}

const struct scope *scope_parent(const struct scope_tree *tree, const struct scope *scope)
{
	return scope->parent < tree->nr ? &tree->scopes[scope->parent] : NULL;
}
