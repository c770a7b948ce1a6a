/* SPDX-License-Identifier: MIT */
/*
 * class_type.c - tight types as people write them; see class_text.h.
 *
 * What is nested too deep is left as it is.
 */
#include "analysis/class_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/class_brackets.h"
#include "util/alloc.h"
#include "util/buffer.h"

#define MAX_DEPTH 64u

/* Arguments that say nothing where they are not the first. */
static const char *const defaults[] = {
	"std::allocator<",
	"std::less<",
	"std::hash<",
	"std::equal_to<",
	"std::char_traits<",
	"std::default_delete<",
	"std::regex_traits<",
	"alloc::alloc::Global",
	"Global",
	"std::hash::random::RandomState",
	"RandomState",
};

/* What std::basic_string<char> and its like are known as: these arguments are in the name. */
static const struct {
	const char *arguments, *prefix;
} characters[] = {
	{"<char>", ""},	       {"<wchar_t>", "w"},
	{"<char8_t>", "u8"},   {"<char16_t>", "u16"},
	{"<char32_t>", "u32"}, {"<char, std::pmr::polymorphic_allocator<char>>", "pmr::"},
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

	while (last && name_is_word(path[last - 1]))
		last--;
	/* what stands before the path stays: "&mut ", "*const ", "dyn " */
	for (first = last; first && (name_is_word(path[first - 1]) || path[first - 1] == ':');)
		first--;
	for (size_t i = 0; i < sizeof(crates) / sizeof(crates[0]); i++) {
		if (last - first >= strlen(crates[i]) && name_starts(path + first, crates[i]) &&
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

/* Whether a second argument is the default one: in b stands "std::queue<A", it is "std::deque<A>". */
static bool is_default_container(struct buffer *b, const char *second)
{
	static const char *const adaptors[][2] = {
		{"std::queue<", "std::deque<"},
		{"std::stack<", "std::deque<"},
		{"std::priority_queue<", "std::vector<"},
	};

	for (size_t i = 0; i < sizeof(adaptors) / sizeof(adaptors[0]); i++) {
		char *first, *both;
		bool same;

		if (!name_starts(second, adaptors[i][1]) || second[strlen(second) - 1] != '>')
			continue;
		first = xstrndup(second + strlen(adaptors[i][1]),
				 strlen(second) - strlen(adaptors[i][1]) - 1);
		both = xasprintf("%s%s", adaptors[i][0], first);
		same = name_follows(buffer_string(b), buffer_string(b) + b->len, both);
		free(both);
		free(first);
		if (same)
			return true;
	}
	return false;
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
		if (!nr || close != '>' ||
		    (!is_default(buffer_string(&one)) &&
		     !(nr == 1 && is_default_container(b, buffer_string(&one))))) {
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

/* "std::basic_ostream<wchar_t>" is std::wostream. */
static void use_character_alias(struct buffer *b, size_t start)
{
	static const char basic[] = "std::basic_";
	const char *type = buffer_string(b) + start, *arguments;
	char *name;

	if (!name_starts(type, basic) || !(arguments = strchr(type, '<')))
		return;
	for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++) {
		if (!strcmp(arguments, characters[i].arguments)) {
			type += strlen(basic);
			name = xasprintf("std::%s%.*s", characters[i].prefix,
					 (int)(arguments - type), type);
			b->len = start;
			buffer_add_string(b, name);
			free(name);
			return;
		}
	}
}

static void use_alias(struct buffer *b, size_t start)
{
	static const char future[] = "GenFuture<"; /* of an async fn, by rustc before 1.67 */
	char *type = buffer_string(b) + start;
	size_t len = strlen(type);

	if (name_starts(type, future) && type[len - 1] == '>') {
		memmove(type, type + strlen(future), len - strlen(future));
		b->len -= strlen(future) + 1;
		return;
	}
	use_character_alias(b, start);
}

/* Rust's "Fn<(u8, A), Output=B>" is written "Fn(u8, A) -> B", and "Fn(u8, A)" where B is (). */
static void use_call_form(struct buffer *b, size_t start)
{
	static const char output[] = ", Output=";
	char *text = buffer_string(b) + start, *open = strchr(text, '<'), *close, *ret;
	size_t len;

	if (!open || open[1] != '(' ||
	    !(name_follows(text, open, "Fn") || name_follows(text, open, "FnMut") ||
	      name_follows(text, open, "FnOnce")))
		return;
	close = (char *)group_end(text, open + 1);
	if (!*close || !name_starts(close + 1, output) || text[strlen(text) - 1] != '>')
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
	bool is_operator = name_follows(p, p + len - 1, "operator");

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
		       (*end != '+' || name_follows(piece, end, "operator") ||
			name_follows(piece, end, "+")))
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

/* "(*)", "(&)" or "(A::*)" of a pointer to something, which people write behind a blank. */
static bool is_pointer_declarator(const char *p)
{
	return *p == '(' && (p[1] == '*' || p[1] == '&' || name_follows(p, group_end(p, p), "::*"));
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
		if (name_starts(p, "(dyn ")) {
			p = add_dyn(b, p, depth);
		} else if (*p == '<' || *p == '(' || *p == '[' || *p == '{') {
			static const char open[] = "<([{", close[] = ">)]}";
			char closing = close[strchr(open, *p) - open];

			if (is_pointer_declarator(p) && b->len > start)
				buffer_add_byte(b, ' ');
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
