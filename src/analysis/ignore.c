/* SPDX-License-Identifier: MIT */
/*
 * ignore.c - growth that is known and accepted; see ignore.h.
 */
#include "analysis/ignore.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/names.h"
#include "analysis/function_path.h"
#include "util/alloc.h"
#include "util/error.h"

static const char *const kinds[] = {
	[IGNORE_FUNCTION] = "function",
	[IGNORE_MODULE] = "module",
};
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* ---- the file ---------------------------------------------------------------------------- */

/* Takes blanks off both ends, in place. */
static char *trimmed(char *s)
{
	size_t len;

	while (isspace((unsigned char)*s))
		s++;
	for (len = strlen(s); len && isspace((unsigned char)s[len - 1]); len--)
		s[len - 1] = 0;
	return s;
}

/* Takes the reason off the end of the line; NULL: there is none. */
static char *cut_reason(char *line)
{
	for (char *p = line; (p = strchr(p, '#')) != NULL; p++) {
		if (p > line && isspace((unsigned char)p[-1]) && isspace((unsigned char)p[1])) {
			*p = 0;
			p = trimmed(p + 1);
			return *p ? p : NULL;
		}
	}
	return NULL;
}

static int parse_line(struct ignore *ignore, char *line, unsigned int nr, struct hs_error *err)
{
	struct ignore_rule rule = {.line = nr};
	char *reason, *glob;
	size_t len, kind = 0;

	line = trimmed(line);
	if (!*line || *line == '#')
		return 0;
	reason = cut_reason(line);
	if (!reason)
		return hs_error_set(err, HS_E_USAGE,
				    "'%s', line %u: the reason is missing: it stands behind ' # '",
				    ignore->path, nr);
	len = strcspn(line, " \t");
	while (kind < NR_KINDS &&
	       (strlen(kinds[kind]) != len || strncmp(line, kinds[kind], len) != 0))
		kind++;
	glob = trimmed(line + len);
	if (kind == NR_KINDS || !*glob)
		return hs_error_set(err, HS_E_USAGE,
				    "'%s', line %u: expected 'function GLOB # reason' or 'module "
				    "GLOB # reason'",
				    ignore->path, nr);
	rule.kind = (enum ignore_kind)kind;
	rule.glob = xstrdup(glob);
	rule.reason = xstrdup(reason);
	ignore->rules = xreallocarray(ignore->rules, ignore->nr_rules + 1, sizeof(rule));
	ignore->rules[ignore->nr_rules++] = rule;
	return 0;
}

int ignore_read(FILE *f, const char *name, struct ignore *ret, struct hs_error *err)
{
	unsigned int nr = 0;
	char *line = NULL;
	size_t alloc = 0;
	ssize_t len;
	int res = 0;

	*ret = (struct ignore){.path = xstrdup(name)};
	while (!res && (len = getline(&line, &alloc, f)) >= 0) {
		nr++;
		if (memchr(line, 0, (size_t)len))
			res = hs_error_set(err, HS_E_USAGE,
					   "'%s', line %u: a byte of value 0: this is no text", name,
					   nr);
		else
			res = parse_line(ret, line, nr, err);
	}
	if (!res && !feof(f))
		res = hs_error_system(err, "read", name);
	free(line);
	if (res)
		ignore_release(ret);
	return res;
}

int ignore_load(const char *path, struct ignore *ret, struct hs_error *err)
{
	FILE *f = fopen(path, "re");
	int res;

	if (!f)
		return hs_error_system(err, "open", path);
	res = ignore_read(f, path, ret, err);
	fclose(f);
	return res;
}

void ignore_release(struct ignore *ignore)
{
	for (size_t i = 0; i < ignore->nr_rules; i++) {
		free(ignore->rules[i].glob);
		free(ignore->rules[i].reason);
	}
	free(ignore->rules);
	free(ignore->path);
	memset(ignore, 0, sizeof(*ignore));
}

/* ---- matching ---------------------------------------------------------------------------- */

static bool module_fits(const char *glob, const struct frame *site)
{
	return site && site->module &&
	       (!fnmatch(glob, path_basename(site->module), 0) || !fnmatch(glob, site->module, 0));
}

/* The first of `nr` rules that a function falls under; nr: none. */
static size_t rule_of_function(const struct ignore *ignore, const char *function, size_t nr)
{
	char *path = function_short(function);
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct ignore_rule *rule = &ignore->rules[i];

		if (rule->kind == IGNORE_FUNCTION &&
		    (!fnmatch(rule->glob, function, 0) || !fnmatch(rule->glob, path, 0)))
			break;
	}
	free(path);
	return i;
}

uint32_t ignore_rule_of(const struct ignore *ignore, struct names *names, uint32_t stack)
{
	const struct frame *site = names_site(names, stack), *const *frames;
	size_t first = 0, nr;
	enum stack_cut cut;

	while (first < ignore->nr_rules && (ignore->rules[first].kind != IGNORE_MODULE ||
					    !module_fits(ignore->rules[first].glob, site)))
		first++;
	nr = names_stack(names, stack, &frames, &cut);
	for (size_t i = 0; i < nr && first; i++) {
		if (frames[i]->function)
			first = rule_of_function(ignore, frames[i]->function, first);
	}
	return first < ignore->nr_rules ? (uint32_t)first : IGNORE_NONE;
}
