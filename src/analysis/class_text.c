/* SPDX-License-Identifier: MIT */
/*
 * class_text.c - names of types and functions as text; see class_text.h.
 *
 * The names come from files that may be anything: brackets need not match, and what is nested too
 * deep is left as it is.
 */
#include "analysis/class_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/buffer.h"

#define MAX_DEPTH   64u
#define MAX_PATTERN 10000u /* steps that one match may take */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool starts_with(const char *s, const char *start)
{
	return !strncmp(s, start, strlen(start));
}

/* ---- brackets ---------------------------------------------------------------------------- */

/* Whether p is in the middle of "operator<", "operator->" and so on, or of "->". */
static bool no_bracket(const char *text, const char *p)
{
	const char *q = p;

	if (*p == '>' && p > text && p[-1] == '-')
		return true;
	while (q > text && strchr("<>=-", q[-1]))
		q--;
	return q - text >= 8 && !strncmp(q - 8, "operator", 8) && (q - text == 8 || !is_word(q[-9]));
}

/* 1 at a bracket that opens, -1 at one that closes, else 0. */
static int bracket(const char *text, const char *p)
{
	if (!strchr("<([{>)]}", *p) || ((*p == '<' || *p == '>') && no_bracket(text, p)))
		return 0;
	return strchr("<([{", *p) ? 1 : -1;
}

/* Where the group that opens at p is closed, or the end of the text. */
static const char *group_end(const char *text, const char *p)
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

/* ---- tight ------------------------------------------------------------------------------- */

static bool begins_word(const char *p)
{
	return is_word(*p) || starts_with(p, "(anonymous namespace)");
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
		if (starts_with(p, types[i][0]) && !is_word(p[*ret_len]))
			return types[i][1];
	}
	return NULL;
}

/* Behind what a "const" in front is of: "A<B>" of "A<B>*", "f()::A" of "f()::A[2]". */
static char *qualified_end(const char *s, char *p)
{
	while (*p && !strchr(",*&[", *p) && bracket(s, p) >= 0) {
		char *end = bracket(s, p) > 0 ? (char *)group_end(s, p) : p;

		if (*p == '(' && !starts_with(end, ")::"))
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

			if (!starts_with(p, qualifiers[i]))
				continue;
			type_len = (size_t)(qualified_end(s, p + len) - p) - len;
			memmove(p, p + len, type_len);
			p[type_len] = ' ';
			memcpy(p + type_len + 1, qualifiers[i], len - 1);
		}
	}
}

char *class_tight(const char *text)
{
	static const char *const inline_namespaces[] = {"__1::", "__cxx11::", "__ndk1::", "_V2::"};
	char *ret = xmalloc(strlen(text) + 1), *out = ret;

	for (const char *p = text; *p; p++) {
		bool skipped = false;
		const char *known_as;
		size_t len;

		if ((out == ret || !is_word(out[-1])) && (known_as = base_type(p, &len))) {
			out = stpcpy(out, known_as);
			p += len - 1;
			continue;
		}
		/* a blank counts between words only: "unsigned long", "Foo const" */
		if (*p == ' ' && (out == ret || !begins_word(p + 1) ||
				  !(is_word(out[-1]) || strchr(">)]", out[-1]))))
			continue;
		for (size_t i = 0; i < 4 && out - ret > 2 && !strncmp(out - 2, "::", 2); i++) {
			if (starts_with(p, inline_namespaces[i])) {
				p += strlen(inline_namespaces[i]) - 1;
				skipped = true;
				break;
			}
		}
		if (!skipped)
			*out++ = *p;
	}
	*out = 0;
	move_qualifiers(ret);
	return ret;
}

/* ---- functions --------------------------------------------------------------------------- */

static bool follows(const char *s, const char *p, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(p - s) >= len && !strncmp(p - len, word, len);
}

/*
 * Cuts "(int) const" off, but not the () of "operator()", nor what is "(anonymous namespace)::f" or
 * "decltype(x) f".
 */
static void cut_parameters(char *s)
{
	for (char *p = s; *p; p++) {
		bool call = starts_with(p, "()") && follows(s, p, "operator");

		if (*p == '(' && !call && !starts_with(p, "(anonymous") &&
		    !follows(s, p, "decltype")) {
			*p = 0;
			return;
		}
		if (call)
			p++;
		else if (bracket(s, p) > 0)
			p = (char *)group_end(s, p);
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
		} else if (starts_with(p, "operator") && !is_word(p[8])) {
			break;
		} else if (*p == ' ') {
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
	if (!*end || !starts_with(end, ">::"))
		return;
	for (char *p = s + 1; p < end && !as; p++) {
		if (bracket(s, p) > 0)
			p = (char *)group_end(s, p);
		else if (starts_with(p, " as "))
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

/* ---- patterns ---------------------------------------------------------------------------- */

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

/* ---- types as people write them ------------------------------------------------------------ */

/* Arguments that say nothing where they are not the first. */
static const char *const defaults[] = {
	"std::allocator<",    "std::less<",	    "std::hash<",	  "std::equal_to<",
	"std::char_traits<",  "std::default_delete<", "alloc::alloc::Global", "Global",
	"std::hash::random::RandomState", "RandomState",
};

static const struct {
	const char *type, *known_as;
} aliases[] = {
	{"std::basic_string<char>", "std::string"},
	{"std::basic_string<wchar_t>", "std::wstring"},
	{"std::basic_string<char16_t>", "std::u16string"},
	{"std::basic_string<char32_t>", "std::u32string"},
	{"std::basic_string_view<char>", "std::string_view"},
	{"std::basic_stringstream<char>", "std::stringstream"},
	{"std::basic_istringstream<char>", "std::istringstream"},
	{"std::basic_ostringstream<char>", "std::ostringstream"},
	{"std::basic_fstream<char>", "std::fstream"},
	{"std::basic_ifstream<char>", "std::ifstream"},
	{"std::basic_ofstream<char>", "std::ofstream"},
};

static bool is_default(const char *type)
{
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		size_t len = strlen(defaults[i]);

		if (!strncmp(type, defaults[i], len) && (defaults[i][len - 1] == '<' || !type[len]))
			return true;
	}
	return false;
}

/*
 * Puts a path into b. Rust's own types are known without their modules: a name that begins with a
 * capital, in std, core, alloc or hashbrown, which in C++'s std none does.
 */
static void add_path(struct buffer *b, const char *path, size_t len)
{
	static const char *const crates[] = {"std::", "core::", "alloc::", "hashbrown::"};
	size_t last = len, first;

	while (last && is_word(path[last - 1]))
		last--;
	/* what stands before the path stays: "&mut ", "*const ", "dyn " */
	for (first = last; first && (is_word(path[first - 1]) || path[first - 1] == ':');)
		first--;
	for (size_t i = 0; i < sizeof(crates) / sizeof(crates[0]); i++) {
		if (last - first >= strlen(crates[i]) && starts_with(path + first, crates[i]) &&
		    isupper((unsigned char)path[last])) {
			buffer_add(b, path, first);
			buffer_add(b, path + last, len - last);
			return;
		}
	}
	buffer_add(b, path, len);
}

static const char *add_type(struct buffer *b, const char *p, unsigned int depth);

/* "4ul" becomes "4": the type of an argument that is a number is known. */
static void cut_number_type(struct buffer *b)
{
	const char *text = buffer_string(b);
	size_t len = b->len;

	while (len && strchr("ul", text[len - 1]))
		len--;
	if (len && strspn(text + (*text == '-'), "0123456789") == len - (*text == '-'))
		b->len = len;
}

/* The arguments behind a '<' or '(', up to what closes them; returns what is behind that. */
static const char *add_arguments(struct buffer *b, const char *p, char close, unsigned int depth)
{
	size_t nr = 0;

	while (*p && *p != close) {
		struct buffer one = {NULL, 0, 0};
		const char *start = p;

		p = add_type(&one, p, depth + 1);
		cut_number_type(&one);
		if (!nr || close != '>' || !is_default(buffer_string(&one))) {
			if (nr)
				buffer_add_string(b, ", ");
			buffer_add_string(b, buffer_string(&one));
		}
		buffer_clear(&one);
		nr++;
		p += *p == ',';
		if (p == start) /* brackets that do not match */
			buffer_add_byte(b, (uint8_t)*p++);
	}
	buffer_add_byte(b, (uint8_t)close);
	return p + (*p != 0);
}

static void use_alias(struct buffer *b, size_t start)
{
	static const char future[] = "GenFuture<"; /* of an async fn, by rustc before 1.67 */
	char *type = buffer_string(b) + start;
	size_t len = strlen(type);

	if (starts_with(type, future) && type[len - 1] == '>') {
		memmove(type, type + strlen(future), len - strlen(future));
		b->len -= strlen(future) + 1;
		return;
	}
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (!strcmp(type, aliases[i].type)) {
			b->len = start;
			buffer_add_string(b, aliases[i].known_as);
			return;
		}
	}
}

/* Rust's "Fn<(u8, A), Output=B>" is written "Fn(u8, A) -> B", and "Fn(u8, A)" where B is (). */
static void use_call_form(struct buffer *b, size_t start)
{
	static const char output[] = ", Output=";
	char *text = buffer_string(b) + start, *open = strchr(text, '<'), *close, *ret;
	size_t len;

	if (!open || open[1] != '(' || !(follows(text, open, "Fn") || follows(text, open, "FnMut") ||
					 follows(text, open, "FnOnce")))
		return;
	close = (char *)group_end(text, open + 1);
	if (!*close || !starts_with(close + 1, output) || text[strlen(text) - 1] != '>')
		return;
	ret = xstrdup(close + 1 + strlen(output));
	len = strlen(ret) - 1;
	memmove(open, open + 1, (size_t)(close - open));
	b->len = start + (size_t)(close - text);
	if (len != 2 || memcmp(ret, "()", 2)) {
		buffer_add_string(b, " -> ");
		buffer_add(b, ret, len);
	}
	free(ret);
}

/* The "->" of Rust's function types, which has blanks around it, or of C++'s operator. */
static const char *add_arrow(struct buffer *b, const char *p, size_t len)
{
	bool is_operator = follows(p, p + len - 1, "operator");

	buffer_add(b, p, len - 1);
	buffer_add_string(b, is_operator ? "->" : " -> ");
	p += len + 1;
	return p + (*p == ' ' && !is_operator);
}

/*
 * What stands between brackets: Rust's "[u8;16]" is "[u8; 16]", its "A+B" is "A + B", but for that as
 * add_path().
 */
static void add_piece(struct buffer *b, const char *piece, size_t len)
{
	while (len) {
		const char *end = piece;

		while (end < piece + len && *end != ';' &&
		       (*end != '+' || follows(piece, end, "operator") || follows(piece, end, "+")))
			end++;
		add_path(b, piece, (size_t)(end - piece));
		len -= (size_t)(end - piece);
		piece = end;
		if (len) {
			buffer_add_string(b, *piece == ';' ? "; " : " + ");
			piece++;
			len--;
		}
	}
}

/* Rust's "(dyn A + B)" is written without the brackets within an argument. */
static const char *add_dyn(struct buffer *b, const char *p, unsigned int depth)
{
	p = add_type(b, p + 1, depth + 1);
	return p + (*p == ')');
}

/* One argument: up to a comma or a bracket that closes; returns where that is. */
static const char *add_type(struct buffer *b, const char *p, unsigned int depth)
{
	size_t start = b->len;

	while (*p && !strchr(",>)]}", *p)) {
		size_t len = strcspn(p, ",<>()[]{}");

		if (depth > MAX_DEPTH) {
			buffer_add_string(b, p);
			return p + strlen(p);
		}
		if (p[len] == '>' && len && p[len - 1] == '-') {
			p = add_arrow(b, p, len);
			continue;
		}
		add_piece(b, p, len);
		p += len;
		if (starts_with(p, "(dyn ")) {
			p = add_dyn(b, p, depth);
		} else if (*p == '<' || *p == '(' || *p == '[' || *p == '{') {
			static const char open[] = "<([{", close[] = ">)]}";
			char closing = close[strchr(open, *p) - open];

			buffer_add_byte(b, (uint8_t)*p);
			p = add_arguments(b, p + 1, closing, depth);
			use_alias(b, start);
			use_call_form(b, start);
		}
	}
	return p;
}

char *class_type(const char *tight)
{
	struct buffer b = {NULL, 0, 0};
	const char *p = tight;

	while (*p) {
		p = add_type(&b, p, 0);
		if (*p) /* a comma or bracket too many */
			buffer_add_byte(&b, (uint8_t)*p++);
	}
	return buffer_detach(&b);
}
