/* SPDX-License-Identifier: MIT */
/*
 * diename.c - the names of functions and scopes, by the places of their DIEs; see diename.h.
 *
 * Offline only.
 */
#include "symbolizer/diename.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "symbolizer/abbrev.h"
#include "symbolizer/dwarf_cursor.h"
#include "symbolizer/dwarf_names.h"
#include "symbolizer/form.h"
#include "symbolizer/section.h"
#include "symbolizer/timelimit.h"
#include "util/alloc.h"

#define HOPS_MAX 32             /* from a function to the DIE with its name; real ones take 3 */
#define ABBREV_BYTES_MAX ((size_t)16 << 20) /* beyond it one starts afresh; libc takes 3 MB */

/* What is read of a DIE. */
struct named {
	const char *linkage, *name;
	struct die_place next;          /* abstract_origin, else specification */
	uint64_t language;
};

/* Of one table, which units may share. */
struct die_abbrevs {
	uint64_t offset;                /* in .debug_abbrev */
	struct abbrev_index index;
	UT_hash_handle hh;
};

void die_source_release(struct die_source *source)
{
	struct die_abbrevs *a, *next;

	HASH_ITER(hh, source->abbrevs, a, next) {
		HASH_DEL(source->abbrevs, a);
		abbrev_index_release(&a->index);
		free(a);
	}
	source->abbrev_bytes = 0;
}

static const struct abbrev_index *abbrevs_of(struct die_source *source,
					     const struct dwarf_unit *unit)
{
	struct die_abbrevs *a;

	HASH_FIND(hh, source->abbrevs, &unit->abbrev, sizeof(unit->abbrev), a);
	if (a)
		return &a->index;
	if (source->abbrev_bytes > ABBREV_BYTES_MAX)
		die_source_release(source);
	a = xcalloc(1, sizeof(*a));
	a->offset = unit->abbrev;
	time_limit_start(source->limit);
	if (!time_limit_passed(source->limit))
		abbrev_index_init(&a->index, dwarf_section(source->sections, DWARF_ABBREV),
				  a->offset);
	time_limit_stop(source->limit);
	source->abbrev_bytes += sizeof(*a) + a->index.alloc * sizeof(*a->index.places);
	HASH_ADD(hh, source->abbrevs, offset, sizeof(a->offset), a);
	return &a->index;
}

size_t die_source_unit(const struct die_source *source, uint64_t die)
{
	size_t low = 0, high = source->nr_units;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (source->units[middle].end <= die)
			low = middle + 1;
		else
			high = middle;
	}
	return low < source->nr_units && source->units[low].offset <= die ? low :
									      source->nr_units;
}

static const char *string_at(struct die_source *source, uint64_t offset)
{
	struct dwarf_cursor c = dwarf_cursor_at(dwarf_section(source->sections, DWARF_STR), offset);

	return dwarf_string(&c);
}

/* String number `index` of the unit, by .debug_str_offsets. */
static const char *string_by_index(struct die_source *source, const struct dwarf_unit *unit,
				   uint64_t index)
{
	uint8_t size = unit->format.offset_size;
	uint64_t base = unit->str_offsets_base, offset;
	struct dwarf_cursor c;

	/* Without a base they follow the header that DWARF 5 has there, and GNU's section has not. */
	if (base == DWARF_NONE)
		base = unit->format.version < 5 ? 0 : size == 8 ? 16 : 8;
	c = dwarf_cursor_at(dwarf_section(source->sections, DWARF_STR_OFFSETS), base);
	if (index > SIZE_MAX / 8)
		return NULL;
	dwarf_skip(&c, index * size);
	offset = dwarf_fixed(&c, size);
	return c.bad ? NULL : string_at(source, offset);
}

static const char *read_string(struct die_source *source, const struct dwarf_unit *unit,
			       struct dwarf_cursor *c, uint64_t form)
{
	struct form_value v;
	const char *string;

	switch (form) {
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		v = form_read(c, form, 0, unit->format);
		string = c->bad ? NULL : string_by_index(source, unit, v.value);
		break;
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		v = form_read(c, form, 0, unit->format);
		string = c->bad || !source->alt ? NULL : string_at(source->alt, v.value);
		break;
	default:
		string = form_read_string(c, form, unit->format,
					  dwarf_section(source->sections, DWARF_STR),
					  dwarf_section(source->sections, DWARF_LINE_STR));
	}
	return string && *string ? string : NULL;
}

static struct die_place follow(struct die_source *source, const struct dwarf_unit *unit,
			       struct form_value v)
{
	switch (v.kind) {
	case FORM_UNIT_REF:
		return (struct die_place){ source, unit->offset + v.value };
	case FORM_INFO_REF:
		return (struct die_place){ source, v.value };
	case FORM_ALT_REF:
		return (struct die_place){ source->alt, v.value };
	default:
		return (struct die_place){ NULL, 0 };
	}
}

/* Reads the values in c of the attributes that stand in spec. */
static void read_values(struct die_source *source, const struct dwarf_unit *unit,
			struct dwarf_cursor *spec, struct dwarf_cursor *c, struct named *ret)
{
	for (;;) {
		uint64_t attribute = dwarf_uleb(spec), form = dwarf_uleb(spec);
		int64_t implicit = form == DW_FORM_implicit_const ? dwarf_sleb(spec) : 0;

		if (spec->bad || c->bad || (!attribute && !form))
			return;
		switch (attribute) {
		case DW_AT_name:
			ret->name = read_string(source, unit, c, form);
			break;
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
			ret->linkage = read_string(source, unit, c, form);
			break;
		case DW_AT_language:
			ret->language = form_read(c, form, implicit, unit->format).value;
			break;
		case DW_AT_abstract_origin:
		case DW_AT_specification:
			ret->next = follow(source, unit,
					   form_read(c, form, implicit, unit->format));
			break;
		default:
			form_read(c, form, implicit, unit->format);
		}
	}
}

/* Reads the names in a DIE; false where there is none. */
static bool read_die(struct die_place place, struct named *ret)
{
	struct die_source *source = place.source;
	size_t nr = die_source_unit(source, place.die);
	const struct abbrev_place *abbrev;
	const struct dwarf_unit *unit;
	struct dwarf_cursor c, spec;

	memset(ret, 0, sizeof(*ret));
	if (nr == source->nr_units)
		return false;
	unit = &source->units[nr];
	c = dwarf_cursor_at(dwarf_section(source->sections, DWARF_INFO), place.die);
	if (c.bad || place.die < unit->die || unit->end - place.die > dwarf_left(&c))
		return false;
	c.end = c.at + (unit->end - place.die);
	abbrev = abbrev_index_find(abbrevs_of(source, unit), dwarf_uleb(&c));
	if (!abbrev)
		return false;
	spec = dwarf_cursor_at(dwarf_section(source->sections, DWARF_ABBREV),
			       unit->abbrev + abbrev->at);
	dwarf_skip_leb(&spec); /* tag */
	dwarf_u8(&spec); /* children */
	read_values(source, unit, &spec, &c, ret);
	return !c.bad && !spec.bad;
}

bool die_function_names(struct die_place place, struct die_names *ret)
{
	struct named named;
	int hops;

	memset(ret, 0, sizeof(*ret));
	for (hops = 0; hops < HOPS_MAX && place.source && read_die(place, &named); hops++) {
		ret->declared = place;
		if (!ret->linkage)
			ret->linkage = named.linkage;
		if (!ret->name)
			ret->name = named.name;
		place = named.next;
	}
	return hops;
}

const char *die_name(struct die_place place)
{
	struct named named;

	return place.source && read_die(place, &named) ? named.name : NULL;
}

uint64_t die_language(struct die_place place)
{
	struct named named;

	return place.source && read_die(place, &named) ? named.language : 0;
}
