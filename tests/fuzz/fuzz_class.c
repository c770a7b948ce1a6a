/* SPDX-License-Identifier: MIT */
/*
 * fuzz_class.c - names of functions as files may have them: lines, each a frame, innermost first; a
 * line that begins with '|' is a name in scopes.
 */
#include "tests/fuzz/fuzz.h"

#include "analysis/class.h"
#include "analysis/class_text.h"
#include "analysis/names.h"

#include <stdlib.h>
#include <string.h>

#define NR_FRAMES 8

void fuzz_one(const uint8_t *data, size_t len)
{
	char *text = malloc(len + 1), *line, *rest;
	struct frame frames[NR_FRAMES];
	const struct frame *list[NR_FRAMES];
	struct stack_class c;
	size_t nr = 0;

	if (!text)
		return;
	memcpy(text, data, len);
	text[len] = 0;
	rest = text;
	while (nr < NR_FRAMES && (line = strsep(&rest, "\n"))) {
		frames[nr] = (struct frame){.function = line + (*line == '|'),
					    .scope = *line == '|' ? line + 1 : NULL,
					    .module = "m",
					    .runtime = true};
		list[nr] = &frames[nr];
		nr++;
	}
	class_of_stack(list, nr, &c);
	class_release(&c);
	for (size_t i = 0; i < nr; i++) {
		free(class_of_site(list[i]));
		free(class_of_vtable(frames[i].function));
	}
	free(text);
}
