/* SPDX-License-Identifier: MIT */
/*
 * fuzz_pattern.c - what a user may type after --addresses.
 */
#include "tests/fuzz/fuzz.h"

#include "analysis/names.h"
#include "analysis/pattern.h"
#include "analysis/snapshot.h"
#include "tests/unit/fake_heap.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

/* Whether any block of a small heap fits, by size and class. */
static void match(const struct pattern *pattern)
{
	static struct fake_heap heap;
	static struct snapshot *snapshot;
	static struct names *names;
	struct pattern_verdicts verdicts = {NULL};

	if (!snapshot) {
		fake_heap_init(&heap, 3);
		for (uint32_t stack = 1; stack < FAKE_STACKS; stack++)
			fake_heap_add(&heap, UINT64_C(1) << stack, stack, 1);
		snapshot = fake_heap_snapshot(&heap, 0);
		names = names_new(snapshot, fake_heap_lookup, NULL);
	}
	for (size_t i = 0; i < snapshot->nr_blocks; i++)
		(void)pattern_matches(pattern, &verdicts, names, &snapshot->blocks[i]);
	pattern_verdicts_release(&verdicts);
}

void fuzz_one(const uint8_t *data, size_t len)
{
	char *text = malloc(len + 1);
	struct pattern pattern;
	struct hs_error err;

	if (!text)
		return;
	memcpy(text, data, len);
	text[len] = 0;
	if (pattern_parse(text, &pattern, &err) == 0) {
		match(&pattern);
		pattern_release(&pattern);
	}
	free(text);
}
