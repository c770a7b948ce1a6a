/* SPDX-License-Identifier: MIT */
/*
 * export_folded.c - stacks as lines, for flame graphs; see export.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "reports/export.h"
#include "reports/report.h"
#include "util/alloc.h"
#include "util/buffer.h"

struct line {
	char *stack;
	int64_t bytes;
};

bool export_leaves_out(const struct export_profile *p, const struct frame *f)
{
	return !p->all_frames && (f->runtime || (f->function && !strcmp(f->function, "_start")));
}

/* What would end the frame or the line, for whoever reads it, becomes another character. */
static void add_frame(struct buffer *b, const char *name)
{
	char *text = report_utf8(name);

	if (b->len)
		buffer_add_byte(b, ';');
	for (const char *c = text; *c; c++)
		buffer_add_byte(b, *c == ';' ? ':' : (uint8_t)*c < ' ' ? ' ' : (uint8_t)*c);
	free(text);
}

static char *folded_stack(const struct export_profile *p, struct names *names, uint32_t stack)
{
	const struct frame *const *frames;
	struct buffer b = {0};
	enum stack_cut cut;
	size_t nr = names_stack(names, stack, &frames, &cut), nr_left = 0;

	for (size_t i = 0; i < nr; i++)
		nr_left += !export_leaves_out(p, frames[i]);
	if (cut != STACK_WHOLE)
		add_frame(&b, "[cut]");
	for (size_t i = nr; i-- > 0;) {
		char *label;

		if (nr_left && export_leaves_out(p, frames[i]))
			continue;
		label = frame_label(frames[i]);
		add_frame(&b, label);
		free(label);
	}
	if (!nr)
		add_frame(&b, "[no stack]");
	return buffer_detach(&b);
}

static int by_stack(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->stack, ((const struct line *)b)->stack);
}

void export_folded(const struct export_profile *p, struct buffer *ret)
{
	struct line *lines = xcalloc(p->nr_samples + 1, sizeof(*lines));
	size_t end;

	for (size_t i = 0; i < p->nr_samples; i++)
		lines[i] = (struct line){folded_stack(p, p->samples[i].names, p->samples[i].stack),
					 p->samples[i].bytes};
	qsort(lines, p->nr_samples, sizeof(*lines), by_stack);
	for (size_t i = 0; i < p->nr_samples; i = end) {
		int64_t bytes = 0;

		for (end = i; end < p->nr_samples && !by_stack(&lines[i], &lines[end]); end++)
			bytes += lines[end].bytes;
		if (bytes)
			buffer_addf(ret, "%s %" PRId64 "\n", lines[i].stack, bytes);
	}
	for (size_t i = 0; i < p->nr_samples; i++)
		free(lines[i].stack);
	free(lines);
}
