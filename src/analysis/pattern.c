/* SPDX-License-Identifier: MIT */
/*
 * pattern.c - patterns of classes and sizes; see pattern.h.
 */
#include "analysis/pattern.h"

#include <string.h>

#include "analysis/snapshot.h"
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
	struct pattern p = {0, UINT64_MAX};

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
	*ret = p;
	return 0;
}

int pattern_parse(const char *text, struct pattern *ret, struct hs_error *err)
{
	struct pattern p = {0, UINT64_MAX};
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
	if (class_len && !(class_len == 2 && !memcmp(text, ".*", 2)))
		return hs_error_set(err, HS_E_USAGE,
				    "pattern '%s' names a class: classes are not in "
				    "this version, only sizes as in '[1m+]'",
				    text);
	*ret = p;
	return 0;
}

bool pattern_matches(const struct pattern *pattern, uint64_t size)
{
	return size >= pattern->low && size <= pattern->high;
}

void pattern_nearest(const struct pattern *pattern, const struct snapshot *snapshot,
		     struct pattern_nearest *ret)
{
	struct pattern_nearest n = {0};

	for (size_t i = 0; i < snapshot->nr_blocks; i++) {
		uint64_t size = snapshot->blocks[i].size;

		if (size < pattern->low) {
			if (!n.nr_below || size > n.below) {
				n.below = size;
				n.nr_below = 0;
			}
			n.nr_below += size == n.below;
		} else if (size > pattern->high) {
			if (!n.nr_above || size < n.above) {
				n.above = size;
				n.nr_above = 0;
			}
			n.nr_above += size == n.above;
		}
	}
	*ret = n;
}
