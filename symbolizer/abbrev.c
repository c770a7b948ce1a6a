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
