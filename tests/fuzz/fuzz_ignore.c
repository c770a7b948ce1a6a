/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ignore.c - the rules of --ignore, and what they say of a stack.
 */
#include "tests/fuzz/fuzz.h"

#include "analysis/ignore.h"
#include "tests/unit/fake_heap.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>

void fuzz_one(const uint8_t *data, size_t len)
{
	FILE *f = len ? fmemopen((void *)data, len, "r") : NULL;
	struct ignore ignore;
	struct fake_heap heap;
	struct snapshot *s;
	struct names *names;
	int ret;

	if (!f)
		return;
	ret = ignore_read(f, "input", &ignore, NULL);
	fclose(f);
	if (ret)
		return;
	fake_heap_init(&heap, 1);
	s = fake_heap_snapshot(&heap, 0);
	names = names_new(s, fake_heap_lookup, NULL);
	for (uint32_t stack = 0; stack < FAKE_STACKS; stack++) {
		uint32_t rule = ignore_rule_of(&ignore, names, stack);

		if (rule != IGNORE_NONE && rule >= ignore.nr_rules)
			abort();
	}
	names_free(names);
	snapshot_free(s);
	fake_heap_release(&heap);
	ignore_release(&ignore);
}
