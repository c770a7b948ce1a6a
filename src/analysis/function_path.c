/* SPDX-License-Identifier: MIT */
/*
 * function_path.c - takes demangled names apart; see function_path.h.
 */
#include "analysis/function_path.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Cuts "::h0123456789abcdef", "@@VERSION" and ".isra.0", ".cold" off the end. */
static void cut_suffixes(char *s)
{
	char *at = strchr(s, '@');
	size_t len;

	if (at && at != s)
		*at = 0;
	len = strlen(s);
	if (len > 19 && !strncmp(s + len - 19, "::h", 3) &&
	    strspn(s + len - 16, "0123456789abcdef") == 16)
		s[len - 19] = 0;
	for (;;) {
		char *dot = strrchr(s, '.');

		if (!dot || dot == s)
			return;
		if (strspn(dot + 1, "0123456789") == strlen(dot + 1) && dot[1]) {
			/* a number counts only behind a word: ".isra.0" */
			char *word = dot - 1;

			while (word > s && islower((unsigned char)*word))
				word--;
			if (*word != '.' || word == dot - 1 || word == s)
				return;
			*word = 0;
		} else if (islower((unsigned char)dot[1]) &&
			   strspn(dot + 1, "abcdefghijklmnopqrstuvwxyz") == strlen(dot + 1)) {
			*dot = 0;
		} else {
			return;
		}
	}
}

/* "operator<<", "operator()", "operator[]" become "operator?"; "operator new" stays. */
static void mask_operators(char *s)
{
	char *p = s;

	while ((p = strstr(p, "operator")) != NULL) {
		char *rest = p + 8, *end;

		if ((p > s && is_word(p[-1])) || is_word(*rest)) {
			p = rest;
			continue;
		}
		for (end = rest; *end == ' '; end++)
			;
		if (!strncmp(end, "()", 2) || !strncmp(end, "[]", 2)) {
			end += 2;
		} else {
			char *symbol = end;

			while (*end && !is_word(*end) && !isspace((unsigned char)*end) &&
			       *end != '(')
				end++;
			if (end == symbol) {
				p = rest;
				continue;
			}
		}
		*rest = '?';
		memmove(rest + 1, end, strlen(end) + 1);
		p = rest + 1;
	}
}

/* Leaves out what is in brackets of any kind, "->" and stray '>'. */
static void drop_groups(char *s)
{
	static const char open[] = "<([{", close[] = ">)]}";
	size_t len = strlen(s), nr_open = 0, out = 0;
	size_t *open_at = xmallocarray(len + 1, sizeof(*open_at));

	for (size_t i = 0; i < len; i++) {
		const char *kind;

		if (s[i] == '-' && s[i + 1] == '>') {
			i++;
			continue;
		}
		if (strchr(open, s[i])) {
			open_at[nr_open++] = out;
		} else if ((kind = strchr(close, s[i])) != NULL) {
			size_t k = nr_open;

			while (k && s[open_at[k - 1]] != open[kind - close])
				k--;
			if (k) {
				nr_open = k - 1;
				out = open_at[nr_open];
				continue;
			}
			if (s[i] == '>')
				continue;
		}
		s[out++] = s[i];
	}
	s[out] = 0;
	free(open_at);
}

/* Drops " const", " &&" and a last "::" behind the name. */
static void cut_qualifiers(char *s)
{
	static const char *const words[] = {" const", " volatile", " &&", " &", " ", "::"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(s), n = strlen(words[i]);

		if (len > n && !strcmp(s + len - n, words[i])) {
			s[len - n] = 0;
			i = (size_t)-1;
		}
	}
}

/* "T as a::C::f": a bare T says nothing and goes; else " as " becomes "::". */
static char *merge_trait(char *s)
{
	char *as = strstr(s, " as ");

	if (!as)
		return s;
	*as = 0;
	if (!strstr(s, "::"))
		return as + 4;
	memcpy(as, "::", 2);
	memmove(as + 2, as + 4, strlen(as + 4) + 1);
	return s;
}

/* Drops the return type: all before the last blank that is not in "operator new". */
static char *cut_return_type(char *s)
{
	char *operator= strstr(s, "operator "), *end = operator? operator: s + strlen(s);
	char *p = end;

	while (p > s && p[-1] != ' ')
		p--;
	while (*p == '&' || *p == '*')
		p++;
	return p;
}

void function_path_init(struct function_path *path, const char *function)
{
	char *s, *next;

	path->text = xstrdup(function);
	cut_suffixes(path->text);
	mask_operators(path->text);
	s = path->text + strspn(path->text, "<"); /* "<<A as B>::f as C>::g" is C::g */
	drop_groups(s);
	s = merge_trait(s);
	cut_qualifiers(s);
	s = cut_return_type(s);

	path->part = xmallocarray(strlen(s) / 2 + 2, sizeof(*path->part));
	path->nr = 0;
	for (; s; s = next) {
		next = strstr(s, "::");
		if (next) {
			*next = 0;
			next += 2;
		}
		if (s[strspn(s, " ")])
			path->part[path->nr++] = s;
	}
	path->qualified = path->nr > 1;
	if (path->nr > 1 && !strcmp(path->part[path->nr - 1], "operator?"))
		path->nr--;
	if (!path->nr) {
		static char unknown[] = "?";

		path->part[path->nr++] = unknown;
	}
}

void function_path_release(struct function_path *path)
{
	free(path->part);
	free(path->text);
	path->part = NULL;
	path->text = NULL;
}

char *function_short(const char *function)
{
	struct function_path path;
	char *s, *p;

	function_path_init(&path, function);
	p = s = xmalloc(strlen(function) + 2 * path.nr + 2);
	for (size_t i = 0; i < path.nr; i++) {
		if (i)
			p = stpcpy(p, "::");
		p = stpcpy(p, path.part[i]);
	}
	function_path_release(&path);
	return s;
}
