/* SPDX-License-Identifier: MIT */
/*
 * fuzz_pattern.c - what a user may type after --addresses.
 */
#include "tests/fuzz/fuzz.h"

#include "analysis/pattern.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

void fuzz_one(const uint8_t *data, size_t len)
{
	char *text = malloc(len + 1);
	struct pattern pattern;
	struct hs_error err;

	if (!text)
		return;
	memcpy(text, data, len);
	text[len] = 0;
	if (pattern_parse(text, &pattern, &err) == 0)
		(void)pattern_matches(&pattern, 100);
	free(text);
}
