/* SPDX-License-Identifier: MIT */
/*
 * form.c - values of attributes in each form; see form.h.
 */
#include "symbolizer/form.h"

#include "symbolizer/dwarf_names.h"

int32_t form_size(uint64_t form, struct dwarf_format format)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_flag:
	case DW_FORM_ref1:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return format.address_size;
	case DW_FORM_ref_addr: /* DWARF 2 gave it the size of an address */
		return format.version < 3 ? format.address_size : format.offset_size;
	case DW_FORM_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return format.offset_size;
	default:
		return -1;
	}
}

static enum form_kind kind_of(uint64_t form)
{
	switch (form) {
	case DW_FORM_addr:
		return FORM_ADDRESS;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return FORM_ADDRESS_INDEX;
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_flag:
		return FORM_CONSTANT;
	case DW_FORM_sec_offset:
		return FORM_SECTION_OFFSET;
	case DW_FORM_rnglistx:
		return FORM_RANGES_INDEX;
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		return FORM_UNIT_REF;
	case DW_FORM_ref_addr:
		return FORM_INFO_REF;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		return FORM_ALT_REF;
	default:
		return FORM_OTHER;
	}
}

/* Those whose length stands in the value itself. */
static struct form_value read_variable(struct dwarf_cursor *c, uint64_t form,
				       struct dwarf_format format)
{
	struct form_value v = { kind_of(form), 0 };

	switch (form) {
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		v.value = dwarf_uleb(c);
		break;
	case DW_FORM_sdata:
		v.kind = FORM_CONSTANT;
		v.value = (uint64_t)dwarf_sleb(c);
		break;
	case DW_FORM_string:
		dwarf_string(c);
		break;
	case DW_FORM_block1:
		dwarf_skip(c, dwarf_u8(c));
		break;
	case DW_FORM_block2:
		dwarf_skip(c, dwarf_u16(c));
		break;
	case DW_FORM_block4:
		dwarf_skip(c, dwarf_u32(c));
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		dwarf_skip(c, dwarf_uleb(c));
		break;
	case DW_FORM_indirect:
		form = dwarf_uleb(c);
		/* Of each other they could go on without end. */
		if (form != DW_FORM_indirect && form != DW_FORM_implicit_const)
			return form_read(c, form, 0, format);
		dwarf_fail(c);
		break;
	default:
		dwarf_fail(c);
	}
	return v;
}

struct form_value form_read(struct dwarf_cursor *c, uint64_t form, int64_t implicit,
			    struct dwarf_format format)
{
	int32_t size = form_size(form, format);
	struct form_value v = { kind_of(form), 0 };

	if (size < 0)
		return read_variable(c, form, format);
	if (form == DW_FORM_implicit_const)
		return (struct form_value){ FORM_CONSTANT, (uint64_t)implicit };
	if (form == DW_FORM_flag_present)
		return (struct form_value){ FORM_CONSTANT, 1 };
	if (size > 8)
		dwarf_skip(c, (uint64_t)size);
	else
		v.value = dwarf_fixed(c, (unsigned int)size);
	return v;
}

const char *form_read_string(struct dwarf_cursor *c, uint64_t form, struct dwarf_format format,
			     struct bytes str, struct bytes line_str)
{
	struct dwarf_cursor at;

	switch (form) {
	case DW_FORM_string:
		return dwarf_string(c);
	case DW_FORM_strp:
		at = dwarf_cursor_at(str, dwarf_fixed(c, format.offset_size));
		return dwarf_string(&at);
	case DW_FORM_line_strp:
		at = dwarf_cursor_at(line_str, dwarf_fixed(c, format.offset_size));
		return dwarf_string(&at);
	default:
		form_read(c, form, 0, format);
		return NULL;
	}
}
