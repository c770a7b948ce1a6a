/* SPDX-License-Identifier: MIT */
/*
 * pattern.c - patterns of classes and sizes; see pattern.h.
 */
#include "analysis/pattern.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "analysis/block_stream.h"
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

static void near_sizes(const struct pattern *p, struct pattern_verdicts *verdicts,
		       struct names *names, const struct snap_block *blocks, size_t nr,
		       struct pattern_nearest *n)
{
	for (size_t i = 0; i < nr; i++) {
		if (p->has_class && !class_fits(p, verdicts, names_class(names, &blocks[i])))
			continue;
		n->class_fits = true;
		n->fits = n->fits || (blocks[i].size >= p->low && blocks[i].size <= p->high);
		near_size(p, blocks[i].size, n);
	}
}

void pattern_nearest_add(const struct pattern *p, struct names *names, struct pattern_nearest *n)
{
	struct pattern_verdicts verdicts = {NULL};
	struct pattern_verdict *one, *next;
	const struct snap_block *blocks;
	struct block_stream *stream;
	struct hs_error err;
	size_t nr;

	if (block_stream_open(names_snapshot(names), &stream, &err))
		return;
	while (!block_stream_next(stream, &blocks, &nr, &err) && nr)
		near_sizes(p, &verdicts, names, blocks, nr, n);
	block_stream_close(stream);
	HASH_ITER(hh, verdicts.all, one, next) {
		if (!n->class_fits)
			nearest_add(&n->classes, p->class_text, one->class);
	}
	pattern_verdicts_release(&verdicts);
}

char *pattern_nearest_text(const struct pattern_nearest *n, const char *text)
{
	char *classes, *ret;

	if (n->fits)
		return NULL;
	if (n->nr_below && n->nr_above)
		return xasprintf("no block matches '%s'; the nearest sizes are %" PRIu64
				 " (%zu) and %" PRIu64 " (%zu)",
				 text, n->below, n->nr_below, n->above, n->nr_above);
	if (n->class_fits)
		return xasprintf("no block matches '%s'; the nearest size is %" PRIu64 " (%zu)",
				 text, n->nr_below ? n->below : n->above,
				 n->nr_below ? n->nr_below : n->nr_above);
	classes = nearest_text(&n->classes, "class");
	ret = xasprintf("no block matches '%s'; %s", text,
			classes ? classes : "there are no live blocks");
	free(classes);
	return ret;
}
