/* SPDX-License-Identifier: MIT */
/*
 * strings.c - strings that are kept once each; see strings.h.
 */
#include "symbolizer/strings.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

/* Names of C++ are long: uthash's own function would take a quarter of a warm run's time. */
#define HASH_FUNCTION(key, len, hash) ((hash) = (unsigned int)XXH3_64bits(key, len))
#include <uthash.h>

#include "util/alloc.h"

struct kept_string {
	char *text;
	UT_hash_handle hh;
};

const char *strings_take(struct strings *strings, char *s)
{
	struct kept_string *kept;
	size_t len;

	if (!s)
		return NULL;
	len = strlen(s);
	HASH_FIND(hh, strings->all, s, len, kept);
	if (kept) {
		free(s);
		return kept->text;
	}
	kept = xcalloc(1, sizeof(*kept));
	kept->text = s;
	HASH_ADD_KEYPTR(hh, strings->all, kept->text, len, kept);
	return kept->text;
}

void strings_release(struct strings *strings)
{
	struct kept_string *kept, *next;

	HASH_ITER(hh, strings->all, kept, next) {
		HASH_DEL(strings->all, kept);
		free(kept->text);
		free(kept);
	}
}
