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

/* Letters that have to be added, dropped or changed, whatever their case, to make b of a. */
static size_t distance(const char *a, const char *b)
{
	size_t len = strlen(b), *row = xmallocarray(len + 1, sizeof(*row)), ret;

	for (size_t k = 0; k <= len; k++)
		row[k] = k;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t k = 1; k <= len; k++) {
			bool same = tolower((unsigned char)a[i]) == tolower((unsigned char)b[k - 1]);
			size_t best = diagonal + !same;

			diagonal = row[k];
			if (row[k] + 1 < best)
				best = row[k] + 1;
			if (row[k - 1] + 1 < best)
				best = row[k - 1] + 1;
			row[k] = best;
		}
	}
	ret = row[len];
	free(row);
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
