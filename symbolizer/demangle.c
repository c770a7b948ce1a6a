/* SPDX-License-Identifier: MIT */
/*
 * demangle.c - names as people write them, by libiberty.
 *
 * Offline only. A name is untrusted: back references let one of a hundred bytes stand for more
 * text than there is memory, so the text is taken piece by piece and given up beyond a limit.
 */
#include "symbolizer/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/symbolizer.h"
#include "util/alloc.h"
#include "util/buffer.h"

#define MANGLED_MAX (64u << 10)         /* bytes of a name that is looked at */
#define DEMANGLED_MAX (256u << 10)      /* bytes of text it may become */
#define MODULE_MARK "_MOD_"             /* between a module of Fortran and what is in it */
#define OPTIONS (DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO)

struct text {
	struct buffer buffer;
	jmp_buf too_long;
};

/* Neither demangler has a way to stop it; both keep all they have on the stack here. */
static void take_text(const char *piece, size_t len, void *opaque)
{
	struct text *text = opaque;

	if (len > DEMANGLED_MAX - text->buffer.len)
		longjmp(text->too_long, 1);
	buffer_add(&text->buffer, piece, len);
}

/*
 * Length of a name without what compilers and linkers put behind it: ".constprop.0", ".cold",
 * ".llvm.123", "@@GLIBC_2.17", ".resume".
 */
static size_t plain_length(const char *name)
{
	static const char *const suffixes[] = {
		"cold", "constprop", "isra", "part", "__part", "lto_priv", "llvm", "localalias",
		"actor", "resume", "destroy", "cleanup", /* parts of coroutines */
	};
	size_t len = strlen(name), i;
	const char *at = strchr(name, '@');

	if (at && at != name)
		len = (size_t)(at - name);
	for (;;) {
		size_t end = len, start;

		/* Behind the dot: a word, or a word, a dot and a number. */
		while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
			end--;
		if (end == len || !end || name[end - 1] != '.')
			end = len;
		else
			end--;
		for (start = end; start && name[start - 1] != '.'; start--)
			;
		if (start < 2)
			return len;
		for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
			if (strlen(suffixes[i]) == end - start &&
			    !memcmp(name + start, suffixes[i], end - start))
				break;
		if (i == sizeof(suffixes) / sizeof(suffixes[0]))
			return len;
		len = start - 1;
	}
}

/* gfortran's: "__shapes_MOD_area"; modules begin with a letter. */
static bool is_fortran(const char *name)
{
	return !strncmp(name, "__", 2) && name[2] >= 'a' && name[2] <= 'z' &&
	       strstr(name, MODULE_MARK);
}

bool name_is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2) || !strncmp(name, "__Z", 3) ||
	       is_fortran(name);
}

/* "shapes::area" of "__shapes_MOD_area"; of a submodule "__shapes.round_MOD_area". */
static void demangle_fortran(struct buffer *text, const char *name)
{
	const char *mark = strstr(name, MODULE_MARK), *at;

	for (at = name + 2; at < mark; at++) {
		if (*at == '.')
			buffer_add_string(text, "::");
		else
			buffer_add_byte(text, (uint8_t)*at);
	}
	buffer_addf(text, "::%s", mark + strlen(MODULE_MARK));
}

/* Replaces each `from` by the shorter `to`. */
static void shorten(char *text, const char *from, const char *to)
{
	size_t from_len = strlen(from), to_len = strlen(to);
	char *in = text, *out = text, *hit;

	while ((hit = strstr(in, from))) {
		memmove(out, in, (size_t)(hit - in));
		out += hit - in;
		memcpy(out, to, to_len);
		out += to_len;
		in = hit + from_len;
	}
	memmove(out, in, strlen(in) + 1);
}

void name_tidy(char *name)
{
	static const char *const names[][2] = {
		{ "std::__cxx11::", "std::" },
		{ "std::__1::", "std::" },
		{ "std::__ndk1::", "std::" },
		{ "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
		  "std::string" },
		{ "std::basic_string<wchar_t, std::char_traits<wchar_t>, std::allocator<wchar_t> >",
		  "std::wstring" },
		{ "string >", "string>" }, /* the space stood behind a '>' */
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		shorten(name, names[i][0], names[i][1]);
}

/* In a function of its own, so that longjmp() leaves nothing indeterminate. */
static bool demangle_into(struct text *text, const char *name)
{
	if (setjmp(text->too_long))
		return false;
	if (rust_demangle_callback(name, OPTIONS, take_text, text) && text->buffer.len)
		return true;
	text->buffer.len = 0;
	return cplus_demangle_v3_callback(name, OPTIONS, take_text, text) && text->buffer.len;
}

char *symbolizer_demangle(const char *name)
{
	struct text text;
	char *plain;

	if (strlen(name) > MANGLED_MAX)
		return xstrdup(name);
	plain = xstrndup(name, plain_length(name));
	if (!name_is_mangled(plain))
		return plain;
	memset(&text.buffer, 0, sizeof(text.buffer));
	if (is_fortran(plain)) {
		demangle_fortran(&text.buffer, plain);
	} else if (!demangle_into(&text, plain)) {
		buffer_clear(&text.buffer);
		return plain;
	}
	free(plain);
	name_tidy(buffer_string(&text.buffer));
	return buffer_detach(&text.buffer);
}
