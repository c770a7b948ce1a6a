/* SPDX-License-Identifier: MIT */
/*
 * funcname.c - the names of functions that DWARF describes; see funcname.h.
 *
 * Offline only. Functions are known by the DIE that has their name: an inlined function has one
 * for all the places that it is inlined into.
 */
#include "symbolizer/funcname.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "symbolizer/debuginfo.h"
#include "symbolizer/demangle.h"
#include "symbolizer/strings.h"
#include "symbolizer/symbolizer.h"
#include "util/alloc.h"

struct function_name {
	struct die_place place; /* the key; no padding in it */
	struct function_spellings names;
	UT_hash_handle hh;
};

_Static_assert(sizeof(struct die_place) == sizeof(void *) + sizeof(uint64_t),
	       "hashed as bytes");

static struct function_spellings make_names(struct debuginfo *info, const struct debug_frame *frame,
					    struct strings *strings)
{
	struct function_spellings made = { NULL, NULL, NULL };
	struct die_names names;
	char *scoped = NULL;

	if (!die_function_names(frame->function, &names))
		return made;
	if (names.linkage && (name_is_mangled(names.linkage) || !names.name)) {
		made.linked = strings_take(strings, symbolizer_demangle(names.linkage));
		if (strcmp(made.linked, names.linkage))
			made.raw = strings_take(strings, xstrdup(names.linkage));
	}
	if (frame->rust || (!made.linked && frame->cplusplus))
		scoped = debuginfo_scope_name(info, &names);
	else if (!made.linked && names.name)
		scoped = xstrdup(names.name);
	if (scoped && frame->cplusplus) {
		char *untidy = xstrdup(scoped);

		name_tidy(scoped);
		if (!made.linked && strcmp(scoped, untidy))
			made.raw = strings_take(strings, untidy);
		else
			free(untidy);
	}
	made.scoped = strings_take(strings, scoped);
	return made;
}

struct function_spellings function_names_find(struct function_names *names, struct debuginfo *info,
					      const struct debug_frame *frame,
					      struct strings *strings)
{
	struct function_name *name;

	if (!frame->function.source)
		return (struct function_spellings){ NULL, NULL, NULL };
	HASH_FIND(hh, names->all, &frame->function, sizeof(frame->function), name);
	if (!name) {
		name = xcalloc(1, sizeof(*name));
		name->place = frame->function;
		name->names = make_names(info, frame, strings);
		HASH_ADD(hh, names->all, place, sizeof(name->place), name);
	}
	return name->names;
}

void function_names_release(struct function_names *names)
{
	struct function_name *name, *next;

	HASH_ITER(hh, names->all, name, next) {
		HASH_DEL(names->all, name);
		free(name);
	}
}
