/* SPDX-License-Identifier: MIT */
/*
 * dwarf.c - what libdwarf is used for: the units of a file and what their first DIEs say.
 *
 * Offline only. The one file that includes libdwarf. Its automatic freeing is off (that costs a
 * quarter of the time), so every DIE, attribute and error is given back here.
 */
#include "symbolizer/dwarf.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/dwarf_compat.h"
#include "symbolizer/dwarf_cursor.h"
#include "symbolizer/dwarf_names.h"
#include "symbolizer/section.h"
#include "util/alloc.h"

/* What libdwarf may see. Number 0 is no section, as in ELF. */
static const enum dwarf_section visible[] = {
	DWARF_INFO, DWARF_ABBREV, DWARF_STR, DWARF_LINE_STR, DWARF_STR_OFFSETS, DWARF_ADDR,
};

#define NR_VISIBLE (sizeof(visible) / sizeof(visible[0]))

struct dwarf_file {
	struct dwarf_sections *sections;
	struct dwarf_sections *alt;
	Dwarf_Debug dbg;
	compat_interface interface;     /* libdwarf keeps a pointer to it */
	char names[NR_VISIBLE][32];
};

/* ---- the file as libdwarf sees it -------------------------------------------------------- */

static struct bytes visible_bytes(const struct dwarf_file *file, uint64_t index)
{
	if (!index || index > NR_VISIBLE)
		return (struct bytes){ NULL, 0 };
	return dwarf_section(file->sections, visible[index - 1]);
}

static int section_info(void *object, compat_index index, compat_section *ret, int *ret_error)
{
	const struct dwarf_file *file = object;
	struct bytes bytes = visible_bytes(file, index);

	(void)ret_error;
	if (index > NR_VISIBLE)
		return DW_DLV_NO_ENTRY;
	*ret = COMPAT_SECTION(bytes.len ? file->names[index - 1] : "", bytes.len);
	return DW_DLV_OK;
}

static int load_section(void *object, compat_index index, Dwarf_Small **ret, int *ret_error)
{
	struct bytes bytes = visible_bytes(object, index);

	(void)ret_error;
	if (!bytes.len)
		return DW_DLV_NO_ENTRY;
	*ret = (Dwarf_Small *)bytes.data; /* it does not write there */
	return DW_DLV_OK;
}

static compat_endian byte_order(void *object)
{
	(void)object;
	return COMPAT_LITTLE;
}

static Dwarf_Small word_size(void *object)
{
	(void)object;
	return 8;
}

static Dwarf_Unsigned section_count(void *object)
{
	(void)object;
	return NR_VISIBLE + 1;
}

static Dwarf_Unsigned file_size(void *object)
{
	Dwarf_Unsigned size = 0;
	size_t i;

	for (i = 1; i <= NR_VISIBLE; i++)
		size += visible_bytes(object, i).len;
	return size;
}

static const compat_methods methods =
	COMPAT_METHODS(section_info, byte_order, word_size, file_size, section_count, load_section);

/* Whether a call went well; its error, if there is one, is freed. */
static bool done(const struct dwarf_file *file, int status, Dwarf_Error *err)
{
	if (status == DW_DLV_ERROR && *err)
		dwarf_dealloc_error(file->dbg, *err);
	*err = NULL;
	return status == DW_DLV_OK;
}

struct dwarf_file *dwarf_file_open(struct dwarf_sections *sections, struct dwarf_sections *alt)
{
	struct dwarf_file *file;
	Dwarf_Error err = NULL;
	size_t i;

	(void)file_size; /* only newer ones ask */
	if (!dwarf_section(sections, DWARF_INFO).len || !dwarf_section(sections, DWARF_ABBREV).len)
		return NULL;
	dwarf_set_de_alloc_flag(0);
	file = xcalloc(1, sizeof(*file));
	file->sections = sections;
	file->alt = alt;
	for (i = 0; i < NR_VISIBLE; i++) {
		strcpy(file->names[i], dwarf_section_name(visible[i]));
		if (sections->split)
			strcat(file->names[i], ".dwo");
	}
	file->interface = COMPAT_INTERFACE(file, &methods);
	if (!done(file, dwarf_object_init_b(&file->interface, NULL, NULL, DW_GROUPNUMBER_ANY,
					    &file->dbg, &err), &err)) {
		free(file);
		return NULL;
	}
	return file;
}

void dwarf_file_close(struct dwarf_file *file)
{
	if (!file)
		return;
	compat_finish(file->dbg);
	free(file);
}

/* ---- values ------------------------------------------------------------------------------ */

static Dwarf_Half form_of(const struct dwarf_file *file, Dwarf_Attribute attribute)
{
	Dwarf_Error err = NULL;
	Dwarf_Half form = 0;

	return done(file, dwarf_whatform(attribute, &form, &err), &err) ? form : 0;
}

/* A string of the file that dwz made. */
static const char *alt_string(const struct dwarf_file *file, Dwarf_Attribute attribute)
{
	struct dwarf_cursor at;
	Dwarf_Error err = NULL;
	Dwarf_Off offset = 0;

	if (!file->alt || !done(file, compat_reference(attribute, &offset, &err), &err))
		return NULL;
	at = dwarf_cursor_at(dwarf_section(file->alt, DWARF_STR), offset);
	return dwarf_string(&at);
}

/* The string, which lives in a section; NULL where there is none. */
static const char *string_of(const struct dwarf_file *file, Dwarf_Attribute attribute)
{
	Dwarf_Half form = form_of(file, attribute);
	const char *string = NULL;
	Dwarf_Error err = NULL;
	char *own = NULL;

	if (form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup)
		string = alt_string(file, attribute);
	else if (done(file, dwarf_formstring(attribute, &own, &err), &err))
		string = own;
	return string && *string ? string : NULL;
}

static uint64_t number_of(const struct dwarf_file *file, Dwarf_Attribute attribute)
{
	Dwarf_Error err = NULL;
	Dwarf_Unsigned value = 0;
	Dwarf_Off offset = 0;

	/* Asked for what a value is not, it makes up an error text, which costs more than the rest. */
	if (form_of(file, attribute) != DW_FORM_sec_offset &&
	    done(file, dwarf_formudata(attribute, &value, &err), &err))
		return value;
	return done(file, compat_reference(attribute, &offset, &err), &err) ? offset : 0;
}

/* An address, a constant, or an index of an address. */
static struct form_value address_of(const struct dwarf_file *file, Dwarf_Attribute attribute)
{
	struct form_value v = { FORM_OTHER, 0 };
	Dwarf_Error err = NULL;
	Dwarf_Unsigned index = 0;
	Dwarf_Addr address = 0;

	switch (form_of(file, attribute)) {
	case DW_FORM_addr:
		if (done(file, dwarf_formaddr(attribute, &address, &err), &err))
			v = (struct form_value){ FORM_ADDRESS, address };
		break;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		if (done(file, dwarf_get_debug_addr_index(attribute, &index, &err), &err))
			v = (struct form_value){ FORM_ADDRESS_INDEX, index };
		break;
	default:
		v = (struct form_value){ FORM_CONSTANT, number_of(file, attribute) };
	}
	return v;
}

/* ---- units ------------------------------------------------------------------------------- */

static void take_attribute(struct dwarf_file *file, struct dwarf_unit *unit, Dwarf_Attribute a)
{
	Dwarf_Error err = NULL;
	Dwarf_Half name = 0;

	if (!done(file, dwarf_whatattr(a, &name, &err), &err))
		return;
	switch (name) {
	case DW_AT_name:
		unit->name = string_of(file, a);
		break;
	case DW_AT_comp_dir:
		unit->comp_dir = string_of(file, a);
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		unit->dwo_name = string_of(file, a);
		break;
	case DW_AT_GNU_dwo_id:
		unit->dwo_id = number_of(file, a);
		break;
	case DW_AT_language:
		dwarf_unit_language(unit, number_of(file, a));
		break;
	case DW_AT_stmt_list:
		unit->line = number_of(file, a);
		break;
	case DW_AT_low_pc:
		unit->low = address_of(file, a);
		break;
	case DW_AT_high_pc:
		unit->high = address_of(file, a);
		break;
	case DW_AT_ranges:
		unit->has_ranges = true;
		unit->ranges.kind = form_of(file, a) == DW_FORM_rnglistx ? FORM_RANGES_INDEX :
									    FORM_SECTION_OFFSET;
		unit->ranges.value = number_of(file, a);
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		unit->addr_base = number_of(file, a);
		break;
	case DW_AT_str_offsets_base:
		unit->str_offsets_base = number_of(file, a);
		break;
	case DW_AT_rnglists_base:
		unit->rnglists_base = number_of(file, a);
		break;
	case DW_AT_GNU_ranges_base:
		unit->ranges_base = number_of(file, a);
		break;
	}
}

/* Reads the attributes of the unit's own DIE; false where there is none. */
static bool read_unit_die(struct dwarf_file *file, struct dwarf_unit *unit)
{
	Dwarf_Attribute *attributes = NULL;
	Dwarf_Signed nr = 0, i;
	Dwarf_Error err = NULL;
	Dwarf_Die die = NULL;
	Dwarf_Off offset = 0;

	if (!done(file, dwarf_siblingof_b(file->dbg, NULL, true, &die, &err), &err))
		return false;
	if (done(file, dwarf_dieoffset(die, &offset, &err), &err))
		unit->die = offset;
	if (done(file, dwarf_attrlist(die, &attributes, &nr, &err), &err)) {
		for (i = 0; i < nr; i++) {
			take_attribute(file, unit, attributes[i]);
			dwarf_dealloc_attribute(attributes[i]);
		}
		dwarf_dealloc(file->dbg, attributes, DW_DLA_LIST);
	}
	dwarf_dealloc_die(die);
	return offset;
}

size_t dwarf_file_units(struct dwarf_file *file, struct dwarf_unit **ret)
{
	size_t total = dwarf_section(file->sections, DWARF_INFO).len, nr = 0, alloc = 0;
	struct dwarf_unit *units = NULL;
	uint64_t at = 0;

	for (;;) {
		struct dwarf_unit unit = {
			.offset = at, .low = { FORM_OTHER, 0 }, .high = { FORM_OTHER, 0 },
			.line = DWARF_NONE, .addr_base = DWARF_NONE,
			.rnglists_base = DWARF_NONE, .str_offsets_base = DWARF_NONE,
		};
		Dwarf_Half version, address_size, offset_size, extension, type = 0;
		Dwarf_Unsigned len, type_offset, next = 0;
		Dwarf_Off abbrev = 0;
		Dwarf_Sig8 id = { 0 };
		Dwarf_Error err = NULL;

		if (!done(file, dwarf_next_cu_header_d(file->dbg, true, &len, &version, &abbrev,
						       &address_size, &offset_size, &extension, &id,
						       &type_offset, &next, &type, &err), &err))
			break;
		unit.end = next;
		unit.abbrev = abbrev;
		unit.type = (uint8_t)type;
		unit.format = (struct dwarf_format){ version, (uint8_t)address_size,
						     (uint8_t)offset_size };
		memcpy(&unit.dwo_id, &id, sizeof(unit.dwo_id));
		if (next <= at || next > total)
			break;
		if (version >= 2 && version <= 5 && (address_size == 4 || address_size == 8) &&
		    read_unit_die(file, &unit) && type != DW_UT_type && type != DW_UT_split_type) {
			units = xgrow(units, &alloc, nr + 1, sizeof(*units));
			units[nr++] = unit;
		}
		at = next;
	}
	*ret = units;
	return nr;
}
