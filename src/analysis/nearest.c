/* SPDX-License-Identifier: MIT */
/*
 * nearest.c - the names that are most like one that is not there; see nearest.h.
 */
#include "analysis/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/buffer.h"

#define MIN_PART 3u /* letters of a part of a name by which it is known */

static int lower(const char *s, size_t at)
{
	return tolower((unsigned char)s[at]);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Letters that have to be added, dropped, changed or swapped with the next one, whatever their case,
 * to make b of a.
 */
static size_t edits(const char *a, const char *b)
{
	size_t len_a = strlen(a), len = strlen(b), ret;
	size_t *rows = xmallocarray(len + 1, 3 * sizeof(*rows));
	size_t *before = rows, *last = before + len + 1, *row = last + len + 1, *free_row;

	for (size_t k = 0; k <= len; k++)
		row[k] = k;
	for (size_t i = 1; i <= len_a; i++) {
		free_row = before;
		before = last;
		last = row;
		row = free_row;
		row[0] = i;
		for (size_t k = 1; k <= len; k++) {
			bool same = lower(a, i - 1) == lower(b, k - 1);

			row[k] = least(last[k - 1] + !same, least(last[k], row[k - 1]) + 1);
			if (i > 1 && k > 1 && lower(a, i - 1) == lower(b, k - 2) &&
			    lower(a, i - 2) == lower(b, k - 1))
				row[k] = least(row[k], before[k - 2] + 1);
		}
	}
	ret = row[len];
	free(rows);
	return ret;
}

/* A part of a name that is there, or more than it, is as good as one letter that is wrong. */
static size_t distance(const char *wanted, const char *name)
{
	size_t ret = edits(wanted, name);

	if (ret && least(strlen(wanted), strlen(name)) >= MIN_PART &&
	    (strcasestr(name, wanted) || strcasestr(wanted, name)))
		return 1;
	return ret;
}

void nearest_release(struct nearest *n)
{
	for (size_t i = 0; i < NEAREST_NR; i++)
		free(n->names[i]);
	memset(n, 0, sizeof(*n));
}

void nearest_add(struct nearest *n, const char *wanted, const char *name)
{
	size_t mine, at = 0;

	for (size_t i = 0; i < NEAREST_NR && n->names[i]; i++) {
		if (!strcmp(n->names[i], name))
			return;
	}
	mine = distance(wanted, name);
	while (at < NEAREST_NR && n->names[at] &&
	       (n->distances[at] < mine ||
		(n->distances[at] == mine && strcmp(n->names[at], name) < 0)))
		at++;
	if (at == NEAREST_NR)
		return;
	free(n->names[NEAREST_NR - 1]);
	for (size_t i = NEAREST_NR - 1; i > at; i--) {
		n->names[i] = n->names[i - 1];
		n->distances[i] = n->distances[i - 1];
	}
	n->names[at] = xstrdup(name);
	n->distances[at] = mine;
}

const char *nearest_meant(const struct nearest *n, const char *wanted)
{
	size_t letters = strlen(wanted) - strspn(wanted, "-"), most = letters / 3 ? letters / 3 : 1;

	return letters > 1 && n->names[0] && n->distances[0] <= most ? n->names[0] : NULL;
}

char *nearest_text(const struct nearest *n, const char *what)
{
	struct buffer text = {0};

	if (!n->names[0])
		return NULL;
	if (n->names[1])
		buffer_addf(&text, "the nearest %s%s are", what,
			    what[strlen(what) - 1] == 's' ? "es" : "s");
	else
		buffer_addf(&text, "the nearest %s is", what);
	for (size_t i = 0; i < NEAREST_NR && n->names[i]; i++)
		buffer_addf(&text, "%s '%s'", i ? "," : "", n->names[i]);
	return buffer_detach(&text);
}
