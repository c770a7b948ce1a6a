/* SPDX-License-Identifier: MIT */
/*
 * class_brackets.c - brackets in names of types; see class_brackets.h.
 */
#include "analysis/class_brackets.h"

#include <ctype.h>
#include <string.h>

bool name_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

bool name_starts(const char *s, const char *start)
{
	return !strncmp(s, start, strlen(start));
}

bool name_follows(const char *s, const char *p, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(p - s) >= len && !strncmp(p - len, word, len);
}

/* Whether p is in the middle of "operator<", "operator->" and so on, or of "->". */
static bool no_bracket(const char *text, const char *p)
{
	const char *q = p;

	if (*p == '>' && p > text && p[-1] == '-')
		return true;
	while (q > text && strchr("<>=-", q[-1]))
		q--;
	return q - text >= 8 && !strncmp(q - 8, "operator", 8) &&
	       (q - text == 8 || !name_is_word(q[-9]));
}

int bracket(const char *text, const char *p)
{
	if (!strchr("<([{>)]}", *p) || ((*p == '<' || *p == '>') && no_bracket(text, p)))
		return 0;
	return strchr("<([{", *p) ? 1 : -1;
}

const char *group_end(const char *text, const char *p)
{
	size_t depth = 0;

	for (; *p; p++) {
		int step = bracket(text, p);

		depth += step > 0;
		depth -= step < 0;
		if (step < 0 && !depth)
			break;
	}
	return p;
}
