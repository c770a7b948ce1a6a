/* SPDX-License-Identifier: MIT */
/*
 * class_text.c - names of types and functions made tight; see class_text.h.
 *
 * What is nested too deep is left as it is.
 */
#include "analysis/class_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/class_brackets.h"
#include "util/alloc.h"

#define MAX_DEPTH 64u

/* ---- tight ------------------------------------------------------------------------------- */

static bool begins_word(const char *p)
{
	return name_is_word(*p) || name_starts(p, "(anonymous namespace)");
}

/*
 * The demangler's spelling of a type that gcc's debug information spells differently at p, where a
 * word begins; NULL: there is none.
 */
static const char *base_type(const char *p, size_t *ret_len)
{
	static const char *const types[][2] = {
		{"long long unsigned int", "unsigned long long"},
		{"long unsigned int", "unsigned long"},
		{"short unsigned int", "unsigned short"},
		{"__int128 unsigned", "unsigned __int128"},
		{"long long int", "long long"},
		{"long int", "long"},
		{"short int", "short"},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		*ret_len = strlen(types[i][0]);
		if (name_starts(p, types[i][0]) && !name_is_word(p[*ret_len]))
			return types[i][1];
	}
	return NULL;
}

/* Behind what a "const" in front is of: "A<B>" of "A<B>*", "f()::A" of "f()::A[2]". */
static char *qualified_end(const char *s, char *p)
{
	while (*p && !strchr(",*&[", *p) && bracket(s, p) >= 0) {
		char *end = bracket(s, p) > 0 ? (char *)group_end(s, p) : p;

		if (*p == '(' && !name_starts(end, ")::"))
			break;
		p = end + (*end != 0);
	}
	return p;
}

/* "const A" at the start of an argument becomes "A const", as the demangler has it. */
static void move_qualifiers(char *s)
{
	static const char *const qualifiers[] = {"const ", "volatile "};

	for (char *p = s; *p; p++) {
		if (p > s && !strchr("<,(", p[-1]))
			continue;
		for (size_t i = 0; i < 2; i++) {
			size_t len = strlen(qualifiers[i]), type_len;

			if (!name_starts(p, qualifiers[i]))
				continue;
			type_len = (size_t)(qualified_end(s, p + len) - p) - len;
			memmove(p, p + len, type_len);
			p[type_len] = ' ';
			memcpy(p + type_len + 1, qualifiers[i], len - 1);
		}
	}
}

/* Length of what stands at p, behind "::", if it is a namespace that people never write; else 0. */
static size_t inner_namespace(const char *p)
{
	static const char *const names[] = {
		"__1::",     "__cxx11::", "__ndk1::",	       "__Cr::",    "_V2::",
		"__n4861::", "__fs::",	  "__exception_ptr::", "__debug::", "__cxx1998::",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (name_starts(p, names[i]))
			return strlen(names[i]);
	}
	return 0;
}

char *class_tight(const char *text)
{
	char *ret = xmalloc(strlen(text) + 1), *out = ret;

	for (const char *p = text; *p; p++) {
		bool begins = out == ret || !name_is_word(out[-1]);
		const char *known_as;
		size_t len;

		if (begins && (known_as = base_type(p, &len))) {
			out = stpcpy(out, known_as);
			p += len - 1;
		} else if (*p == ' ' && (out == ret || !begins_word(p + 1) ||
					 !(name_is_word(out[-1]) || strchr(">)]", out[-1])))) {
			continue; /* a blank counts between words only: "unsigned long", "Foo const" */
		} else if (out - ret > 2 && name_follows(ret, out, "::") &&
			   (len = inner_namespace(p))) {
			p += len - 1;
		} else if (name_starts(p, "[abi:") && *group_end(text, p)) {
			p = group_end(text, p);
		} else if (begins && name_starts(p, "main()::")) {
			out = stpcpy(out, "main"); /* the demangler has no parameters for it */
			p += strlen("main()") - 1;
		} else {
			*out++ = *p;
		}
	}
	*out = 0;
	move_qualifiers(ret);
	return ret;
}

/* ---- functions --------------------------------------------------------------------------- */

/* Behind the parameters at p, if they are of a function that has something in it; else NULL. */
static char *outer_parameters(char *s, char *p)
{
	char *end = (char *)group_end(s, p);

	if (*end && name_starts(end + 1, " const::"))
		return end + strlen(" const");
	return *end && name_starts(end + 1, "::") ? end : NULL;
}

/*
 * Cuts "(int) const" off, but not the () of "operator()", nor what is "(anonymous namespace)::f",
 * "decltype(x) f" or "f(int)::{lambda()#1}::g".
 */
static void cut_parameters(char *s)
{
	for (char *p = s; *p; p++) {
		bool call = name_starts(p, "()") && name_follows(s, p, "operator");

		if (*p == '(' && !call && !name_follows(s, p, "decltype")) {
			char *end = outer_parameters(s, p);

			if (!end) {
				*p = 0;
				return;
			}
			p = end;
		} else if (call) {
			p++;
		} else if (bracket(s, p) > 0) {
			p = (char *)group_end(s, p);
		}
		if (!*p)
			return;
	}
}

/* Behind the last blank outside of brackets that no "operator" stands before. */
static char *skip_return_type(char *s)
{
	char *name = s;

	for (char *p = s; *p; p++) {
		if (bracket(s, p) > 0) {
			p = (char *)group_end(s, p);
			if (!*p)
				break;
		} else if (name_starts(p, "operator") && !name_is_word(p[8])) {
			break;
		} else if (*p == ' ' && !(name_follows(s, p, ")") && name_starts(p, " const::"))) {
			name = p + 1;
		} else if ((*p == '*' || *p == '&') && p[1] != ' ') {
			name = p + 1; /* "Foo*std::f" */
		}
	}
	return name;
}

/* "<X>::f" and "<X as Y>::f" become "X::f". */
static void open_qualified(char *s)
{
	char *end, *as = NULL, *inner;

	if (*s != '<')
		return;
	end = (char *)group_end(s, s);
	if (!*end || !name_starts(end, ">::"))
		return;
	for (char *p = s + 1; p < end && !as; p++) {
		if (bracket(s, p) > 0)
			p = (char *)group_end(s, p);
		else if (name_starts(p, " as "))
			as = p;
	}
	inner = xstrndup(s + 1, (size_t)((as ? as : end) - s - 1));
	memmove(s + strlen(inner), end + 1, strlen(end + 1) + 1);
	memcpy(s, inner, strlen(inner));
	free(inner);
}

char *class_function(const char *function)
{
	char *s = class_tight(function), *name, *ret;

	/* from the inside out: "<<X as Y>::f as Z>::g" */
	for (unsigned int i = 0; i < MAX_DEPTH && *s == '<'; i++)
		open_qualified(s);
	cut_parameters(s);
	name = skip_return_type(s);
	ret = xstrdup(name);
	free(s);
	return ret;
}
