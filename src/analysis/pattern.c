/* SPDX-License-Identifier: MIT */
/*
 * pattern.c - patterns of classes and sizes; see pattern.h.
 */
#include "analysis/pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/units.h"

/* Parses text[0 .. len) as a size. */
static int parse_bound(const char *text, size_t len, uint64_t *ret)
{
	char copy[64];

	if (!len || len >= sizeof(copy))
		return -1;
	memcpy(copy, text, len);
	copy[len] = 0;
	return units_parse_size(copy, ret);
}

/* What stands between the brackets. */
static int parse_range(const char *text, size_t len, struct pattern *ret)
{
	const char *dash = memchr(text, '-', len);
	struct pattern p = {.high = UINT64_MAX};

	if (len && text[len - 1] == '+') {
		if (parse_bound(text, len - 1, &p.low))
			return -1;
	} else if (!dash) {
		if (parse_bound(text, len, &p.low))
			return -1;
		p.high = p.low;
	} else {
		size_t low_len = (size_t)(dash - text), high_len = len - low_len - 1;

		if ((!low_len && !high_len) || (low_len && parse_bound(text, low_len, &p.low)) ||
		    (high_len && parse_bound(dash + 1, high_len, &p.high)) || p.low > p.high)
			return -1;
	}
	ret->low = p.low;
	ret->high = p.high;
	return 0;
}

/* The class-regex, text[0 .. len), for the whole of a class. */
static int parse_class(const char *text, size_t len, struct pattern *ret, struct hs_error *err)
{
	char message[256], *anchored;
	int error;

	ret->class_text = xstrndup(text, len);
	anchored = xasprintf("^(%s)$", ret->class_text);
	error = regcomp(&ret->class, anchored, REG_EXTENDED | REG_NOSUB);
	free(anchored);
	if (!error) {
		ret->has_class = true;
		return 0;
	}
	regerror(error, &ret->class, message, sizeof(message));
	hs_error_set(err, HS_E_USAGE, "pattern '%s' is no regular expression: %s", ret->class_text,
		     message);
	free(ret->class_text);
	return -HS_E_USAGE;
}

void pattern_release(struct pattern *p)
{
	if (p->has_class)
		regfree(&p->class);
	if (p->has_class)
		free(p->class_text);
	memset(p, 0, sizeof(*p));
}

int pattern_parse(const char *text, struct pattern *ret, struct hs_error *err)
{
	struct pattern p = {.high = UINT64_MAX};
	size_t len = strlen(text), class_len = len;
	const char *bracket;

	if (!strcmp(text, "all")) {
		*ret = p;
		return 0;
	}
	if (!len)
		return hs_error_set(err, HS_E_USAGE,
				    "the pattern is empty; 'all' stands for all blocks");
	bracket = strrchr(text, '[');
	if (bracket && text[len - 1] == ']') {
		if (parse_range(bracket + 1, len - (size_t)(bracket - text) - 2, &p))
			return hs_error_set(err, HS_E_USAGE,
					    "no size between the brackets of pattern "
					    "'%s'; '[64]', '[1k-2k]', '[1m+]' and '[-64]' are such",
					    text);
		class_len = (size_t)(bracket - text);
	}
	if (class_len && !(class_len == 2 && !memcmp(text, ".*", 2)) &&
	    parse_class(text, class_len, &p, err))
		return -HS_E_USAGE;
	*ret = p;
	return 0;
}

/* ---- classes ----------------------------------------------------------------------------- */

/* A class is one string as long as its names live, so its address stands for it. */
struct pattern_verdict {
	UT_hash_handle hh;
	const char *class;
	bool fits;
};

void pattern_verdicts_release(struct pattern_verdicts *v)
{
	struct pattern_verdict *one, *next;

	HASH_ITER(hh, v->all, one, next) {
		HASH_DEL(v->all, one);
		free(one);
	}
}

static bool class_fits(const struct pattern *p, struct pattern_verdicts *v, const char *class)
{
	struct pattern_verdict *one;

	if (!p->has_class)
		return true;
	HASH_FIND_PTR(v->all, &class, one);
	if (!one) {
		one = xcalloc(1, sizeof(*one));
		one->class = class;
		one->fits = !regexec(&p->class, class, 0, NULL, 0);
		HASH_ADD_PTR(v->all, class, one);
	}
	return one->fits;
}

bool pattern_matches(const struct pattern *p, struct pattern_verdicts *v, struct names *names,
		     const struct snap_block *b)
{
	return b->size >= p->low && b->size <= p->high &&
	       (!p->has_class || class_fits(p, v, names_class(names, b)));
}

/* ---- what is nearest ------------------------------------------------------------------------ */

static void near_size(const struct pattern *p, uint64_t size, struct pattern_nearest *n)
{
	if (size < p->low) {
		if (!n->nr_below || size > n->below) {
			n->below = size;
			n->nr_below = 0;
		}
		n->nr_below += size == n->below;
	} else if (size > p->high) {
		if (!n->nr_above || size < n->above) {
			n->above = size;
			n->nr_above = 0;
		}
		n->nr_above += size == n->above;
	}
}

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

/* Puts a class among the nearest ones, the nearest first; each text once. */
static void near_class(const struct pattern *p, const char *class,
		       size_t distances[PATTERN_NR_NAMES], struct pattern_nearest *n)
{
	size_t mine = distance(p->class_text, class), at = 0;

	for (size_t i = 0; i < PATTERN_NR_NAMES && n->classes[i]; i++) {
		if (!strcmp(n->classes[i], class))
			return;
	}
	while (at < PATTERN_NR_NAMES && n->classes[at] &&
	       (distances[at] < mine ||
		(distances[at] == mine && strcmp(n->classes[at], class) < 0)))
		at++;
	for (size_t i = PATTERN_NR_NAMES - 1; i > at; i--) {
		n->classes[i] = n->classes[i - 1];
		distances[i] = distances[i - 1];
	}
	if (at < PATTERN_NR_NAMES) {
		n->classes[at] = class;
		distances[at] = mine;
	}
}

void pattern_nearest(const struct pattern *p, struct names *names, struct pattern_nearest *ret)
{
	const struct snapshot *s = names_snapshot(names);
	struct pattern_verdicts verdicts = {NULL};
	struct pattern_nearest n = {0};
	size_t distances[PATTERN_NR_NAMES];
	struct pattern_verdict *one, *next;
	bool any = false;

	for (size_t i = 0; i < s->nr_blocks; i++) {
		if (p->has_class && !class_fits(p, &verdicts, names_class(names, &s->blocks[i])))
			continue;
		any = true;
		near_size(p, s->blocks[i].size, &n);
	}
	HASH_ITER(hh, verdicts.all, one, next) {
		if (!any)
			near_class(p, one->class, distances, &n);
	}
	pattern_verdicts_release(&verdicts);
	*ret = n;
}
