/* SPDX-License-Identifier: MIT */
/*
 * class_pattern.c - tight names that have a form; see class_pattern.h.
 */
#include "analysis/class_pattern.h"

#include <string.h>

#include "analysis/class_brackets.h"
#include "util/buffer.h"

#define MAX_PATTERN 10000u /* steps that one match may take */

struct match {
	const char *text; /* all of it */
	struct class_captures *captures;
	unsigned int nr_steps;
};

static bool match_here(struct match *m, const char *pattern, const char *p);

/* Tries all ends of what may stand for "*": each from p on in which brackets match. */
static bool match_any(struct match *m, const char *rest, const char *p)
{
	for (;;) {
		if (match_here(m, rest, p))
			return true;
		if (!*p || bracket(m->text, p) < 0 || m->nr_steps > MAX_PATTERN)
			return false;
		if (bracket(m->text, p) > 0)
			p = group_end(m->text, p);
		p += *p != 0;
	}
}

static bool match_capture(struct match *m, unsigned int nr, const char *rest, const char *p)
{
	const char *start = p, *old = m->captures->start[nr];
	size_t len;

	while (*p && *p != ',' && *p != ';' && bracket(m->text, p) >= 0) {
		if (bracket(m->text, p) > 0)
			p = group_end(m->text, p);
		p += *p != 0;
	}
	len = (size_t)(p - start);
	/* "Foo const" matches "$1 const", "Foo*" matches "$1*" */
	if (*rest == ' ' || *rest == '*') {
		size_t tail = strcspn(rest, ",>");

		if (len <= tail || strncmp(p - tail, rest, tail))
			return false;
		len -= tail;
		rest += tail;
	}
	if (old)
		return len == m->captures->len[nr] && !strncmp(old, start, len) &&
		       match_here(m, rest, p);
	if (!len)
		return false;
	m->captures->start[nr] = start;
	m->captures->len[nr] = len;
	if (match_here(m, rest, p))
		return true;
	m->captures->start[nr] = NULL;
	return false;
}

static bool match_here(struct match *m, const char *pattern, const char *p)
{
	for (;; pattern++, p++) {
		if (m->nr_steps++ > MAX_PATTERN)
			return false;
		if (*pattern == '*')
			return match_any(m, pattern + 1, p);
		if (pattern[0] == ',' && pattern[1] == '*') {
			if (match_here(m, pattern + 2, p))
				return true;
			return *p == ',' && match_any(m, pattern + 2, p + 1);
		}
		if (*pattern == '$' && pattern[1] >= '1' && pattern[1] <= '3')
			return match_capture(m, (unsigned int)(pattern[1] - '0'), pattern + 2, p);
		if (*pattern != *p)
			return false;
		if (!*p)
			return true;
	}
}

bool class_match(const char *pattern, const char *text, struct class_captures *ret)
{
	struct match m = {text, ret, 0};

	memset(ret, 0, sizeof(*ret));
	return match_here(&m, pattern, text);
}

char *class_expand(const char *text, const struct class_captures *captures)
{
	struct buffer b = {NULL, 0, 0};

	for (const char *p = text; *p; p++) {
		unsigned int nr = *p == '$' ? (unsigned int)(p[1] - '0') : 0;

		if (nr >= 1 && nr < CLASS_NR_CAPTURES && captures->start[nr]) {
			buffer_add(&b, captures->start[nr], captures->len[nr]);
			p++;
		} else {
			buffer_add_byte(&b, (uint8_t)*p);
		}
	}
	return buffer_detach(&b);
}
