/* SPDX-License-Identifier: MIT */
/*
 * abbrev.c - the abbreviations of a unit; see abbrev.h. DWARF 5, section 7.5.3.
 */
#include "symbolizer/abbrev.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/dwarf_cursor.h"
#include "symbolizer/dwarf_names.h"
#include "symbolizer/form.h"
#include "util/alloc.h"

void abbrev_table_release(struct abbrev_table *table)
{
	free(table->abbrevs);
	free(table->attributes);
	memset(table, 0, sizeof(*table));
}

/* Reads the attributes of one abbreviation up to the pair of zeros. */
static void read_attributes(struct abbrev_table *table, struct abbrev *abbrev,
			    struct dwarf_cursor *c)
{
	abbrev->first = (uint32_t)table->nr_attributes;
	for (;;) {
		uint64_t attribute = dwarf_uleb(c), form = dwarf_uleb(c);
		struct abbrev_attribute *a;
		int32_t size;

		if (c->bad || (!attribute && !form))
			return;
		if (form > UINT16_MAX || table->nr_attributes >= UINT32_MAX) {
			dwarf_fail(c);
			return;
		}
		table->attributes = xgrow(table->attributes, &table->alloc_attributes,
					  table->nr_attributes + 1, sizeof(*table->attributes));
		a = &table->attributes[table->nr_attributes++];
		a->attribute = attribute <= UINT16_MAX ? (uint16_t)attribute : 0;
		a->form = (uint16_t)form;
		a->implicit = form == DW_FORM_implicit_const ? dwarf_sleb(c) : 0;
		abbrev->nr++;
		abbrev->sibling |= attribute == DW_AT_sibling;
		a->size = size = form_size(form, table->format);
		if (size < 0 || abbrev->size < 0 || abbrev->size > INT32_MAX - size)
			abbrev->size = -1;
		else
			abbrev->size += size;
	}
}

static int by_code(const void *a, const void *b)
{
	const struct abbrev *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

bool abbrev_table_init(struct abbrev_table *table, struct bytes section, uint64_t offset,
		       struct dwarf_format format)
{
	struct dwarf_cursor c = dwarf_cursor_at(section, offset);
	uint64_t code;

	memset(table, 0, sizeof(*table));
	table->offset = offset;
	table->format = format;
	table->dense = true;
	while ((code = dwarf_uleb(&c))) {
		struct abbrev *abbrev;

		table->abbrevs = xgrow(table->abbrevs, &table->alloc, table->nr + 1,
				       sizeof(*table->abbrevs));
		abbrev = &table->abbrevs[table->nr++];
		memset(abbrev, 0, sizeof(*abbrev));
		abbrev->code = code;
		abbrev->tag = (uint32_t)dwarf_uleb(&c);
		abbrev->children = dwarf_u8(&c);
		read_attributes(table, abbrev, &c);
		table->dense &= code == table->nr;
	}
	if (c.bad) {
		abbrev_table_release(table);
		return false;
	}
	if (!table->dense)
		qsort(table->abbrevs, table->nr, sizeof(*table->abbrevs), by_code);
	return true;
}

const struct abbrev *abbrev_find_slow(const struct abbrev_table *table, uint64_t code)
{
	size_t low = 0, high = table->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->abbrevs[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->nr && table->abbrevs[low].code == code ? &table->abbrevs[low] : NULL;
}

void abbrev_index_release(struct abbrev_index *index)
{
	free(index->places);
	memset(index, 0, sizeof(*index));
}

/* Steps over one abbreviation, from its tag to behind the pair of zeros. */
static void skip_abbrev(struct dwarf_cursor *c)
{
	uint64_t attribute, form;

	dwarf_skip_leb(c);
	dwarf_u8(c);
	do {
		attribute = dwarf_uleb(c);
		form = dwarf_uleb(c);
		if (form == DW_FORM_implicit_const)
			dwarf_skip_leb(c);
	} while (attribute || form);
}

static int by_place_code(const void *a, const void *b)
{
	const struct abbrev_place *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

void abbrev_index_init(struct abbrev_index *index, struct bytes section, uint64_t offset)
{
	struct dwarf_cursor c = dwarf_cursor_at(section, offset);
	const uint8_t *start = c.at;
	bool sorted = true;
	uint64_t code;

	memset(index, 0, sizeof(*index));
	while ((code = dwarf_uleb(&c)) && code <= UINT32_MAX && c.at - start <= UINT32_MAX) {
		struct abbrev_place place = { (uint32_t)code, (uint32_t)(c.at - start) };

		skip_abbrev(&c);
		if (c.bad)
			break;
		sorted &= !index->nr || index->places[index->nr - 1].code < place.code;
		index->places = xgrow(index->places, &index->alloc, index->nr + 1,
				      sizeof(*index->places));
		index->places[index->nr++] = place;
	}
	if (!sorted)
		qsort(index->places, index->nr, sizeof(*index->places), by_place_code);
}

const struct abbrev_place *abbrev_index_find(const struct abbrev_index *index, uint64_t code)
{
	size_t low = 0, high = index->nr;

	if (code - 1 < index->nr && index->places[code - 1].code == code)
		return &index->places[code - 1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->places[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	return low < index->nr && index->places[low].code == code ? &index->places[low] : NULL;
}
