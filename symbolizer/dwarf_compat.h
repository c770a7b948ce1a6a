/* SPDX-License-Identifier: MIT */
/*
 * dwarf_compat.h - one face for libdwarf of 2021 (20210528) and of today (0.x), for dwarf.c only.
 *
 * What differs: the names in the structs by which an object file is described, whether closing
 * reports an error, and how a reference is read.
 */
#ifndef HEAPSTORY_SYMBOLIZER_DWARF_COMPAT_H
#define HEAPSTORY_SYMBOLIZER_DWARF_COMPAT_H

#include <libdwarf/libdwarf.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef DW_LIBDWARF_VERSION /* since 0.1 */

typedef Dwarf_Obj_Access_Interface_a compat_interface;
typedef Dwarf_Obj_Access_Methods_a compat_methods;
typedef Dwarf_Obj_Access_Section_a compat_section;
typedef Dwarf_Unsigned compat_index;
typedef Dwarf_Small compat_endian;

#define COMPAT_LITTLE 2 /* DW_END_little */

#define COMPAT_SECTION(NAME, SIZE)                                                           \
	(compat_section)                                                                     \
	{                                                                                    \
		.as_name = (NAME), .as_type = 1 /* SHT_PROGBITS */, .as_size = (SIZE)        \
	}
#define COMPAT_INTERFACE(OBJECT, METHODS)                                                    \
	(compat_interface)                                                                   \
	{                                                                                    \
		.ai_object = (OBJECT), .ai_methods = (METHODS)                               \
	}
#define COMPAT_METHODS(INFO, ENDIAN, SIZE, FILE_SIZE, COUNT, LOAD)                           \
	{                                                                                    \
		.om_get_section_info = (INFO), .om_get_byte_order = (ENDIAN),                \
		.om_get_length_size = (SIZE), .om_get_pointer_size = (SIZE),                 \
		.om_get_filesize = (FILE_SIZE), .om_get_section_count = (COUNT),             \
		.om_load_section = (LOAD)                                                    \
	}

static inline void compat_finish(Dwarf_Debug dbg)
{
	dwarf_object_finish(dbg);
}

static inline int compat_reference(Dwarf_Attribute attribute, Dwarf_Off *ret, Dwarf_Error *err)
{
	Dwarf_Bool is_info = true;

	return dwarf_global_formref_b(attribute, ret, &is_info, err);
}

#else /* 20210528 */

typedef Dwarf_Obj_Access_Interface compat_interface;
typedef Dwarf_Obj_Access_Methods compat_methods;
typedef Dwarf_Obj_Access_Section compat_section;
typedef Dwarf_Half compat_index;
typedef Dwarf_Endianness compat_endian;

#define COMPAT_LITTLE DW_OBJECT_LSB

#define COMPAT_SECTION(NAME, SIZE)                                                           \
	(compat_section)                                                                     \
	{                                                                                    \
		.name = (NAME), .type = 1 /* SHT_PROGBITS */, .size = (SIZE)                 \
	}
#define COMPAT_INTERFACE(OBJECT, METHODS)                                                    \
	(compat_interface)                                                                   \
	{                                                                                    \
		.object = (OBJECT), .methods = (METHODS)                                     \
	}
#define COMPAT_METHODS(INFO, ENDIAN, SIZE, FILE_SIZE, COUNT, LOAD)                           \
	{                                                                                    \
		.get_section_info = (INFO), .get_byte_order = (ENDIAN),                      \
		.get_length_size = (SIZE), .get_pointer_size = (SIZE),                       \
		.get_section_count = (COUNT), .load_section = (LOAD)                         \
	}

static inline void compat_finish(Dwarf_Debug dbg)
{
	Dwarf_Error err = NULL;

	if (dwarf_object_finish(dbg, &err) == DW_DLV_ERROR && err)
		dwarf_dealloc_error(NULL, err);
}

static inline int compat_reference(Dwarf_Attribute attribute, Dwarf_Off *ret, Dwarf_Error *err)
{
	return dwarf_global_formref(attribute, ret, err);
}

#endif

#endif
