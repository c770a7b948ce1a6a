/* SPDX-License-Identifier: MIT */
/*
 * runtime.c - the table of what is not the program's own, and the taking apart of names that the
 * table is matched with.
 */
#include "analysis/runtime.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/* File names of modules, as globs. Versions follow a '.' or a '-': libm must not match libmine. */
static const char *const runtime_modules[] = {
	/* C library, loader, kernel */
	"libc[.-]*",
	"libm[.-]*",
	"libdl[.-]*",
	"librt[.-]*",
	"libpthread[.-]*",
	"ld-*",
	"ld64*",
	"ld.so*",
	"linux-vdso*",
	"[[]vdso*",
	/* C++, Rust and compiler runtimes */
	"libstdc++[.-]*",
	"libc++[.-]*",
	"libc++abi[.-]*",
	"libgcc_s[.-]*",
	"libstd[.-]*",
	"libasan[.-]*",
	"libunwind*[.-]*",
	/* allocators, and heapstory itself */
	"libjemalloc*[.-]*",
	"libtcmalloc*[.-]*",
	"libmimalloc*[.-]*",
	"libheapstory*[.-]*",
};

/* First part of the path of a function: namespaces and crates. */
static const char *const runtime_roots[] = {
	"std",
	"__gnu_cxx",
	"__cxxabiv1", /* C++ */
	"alloc",
	"core",
	"hashbrown",
	"__rustc",
	"compiler_builtins", /* Rust, linked into programs */
	"tcmalloc",
};

/* Functions without a namespace, as globs. */
static const char *const runtime_functions[] = {
	/* the C and C++ interfaces, also where a program has its own allocator linked in */
	"malloc",
	"calloc",
	"realloc",
	"reallocarray",
	"memalign",
	"aligned_alloc",
	"posix_memalign",
	"valloc",
	"pvalloc",
	"free",
	"cfree",
	"mallocx",
	"rallocx",
	"__libc_malloc",
	"__libc_calloc",
	"__libc_realloc",
	"__libc_reallocarray",
	"__libc_memalign",
	"__libc_valloc",
	"__libc_pvalloc",
	"__libc_free",
	"__libc_cfree",
	"__malloc",
	"__calloc",
	"__realloc",
	"__reallocarray",
	"__memalign",
	"__aligned_alloc",
	"__posix_memalign",
	"__valloc",
	"__pvalloc",
	"__free",
	"__cfree",
	"__libc_aligned_alloc",
	"__libc_posix_memalign",
	"operator new",
	"operator delete",
	/* language support */
	"__rust_*",
	"__rdl_*",
	"__rg_*",
	"__cxa_*",
	"__morestack*",
	/* allocators linked into a program */
	"je_*alloc*",
	"mi_*alloc*",
	"tc_*alloc*",
	"tc_new*",
	/* wrappers that a language or its object system puts around every call */
	"PyMem_*alloc",
	"PyMem_Raw*alloc",
	"_PyMem_*alloc",
	"_PyMem_Raw*",
	"PyObject_*alloc",
	"_PyObject_*alloc",
	"_PyMem_Debug*",
	"g_malloc",
	"g_malloc0",
	"g_malloc_n",
	"g_malloc0_n",
	"g_realloc",
	"g_realloc_n",
	"g_try_*alloc*",
	"heapstory_*",
};

/*
 * What programs and libraries put around every call of malloc, under the names that are common, as
 * globs. Only what is known to be one: a function whose name just ends in malloc may be where the
 * program does its work. Add more here.
 */
static const char *const wrapper_functions[] = {
	/* in many programs: gcc, binutils, git, GNU tools */
	"xmalloc*",
	"xcalloc*",
	"xrealloc*",
	"xreallocarray",
	"xzalloc*",
	"xnmalloc",
	"xnrealloc",
	"x2realloc",
	"x2nrealloc",
	"xpalloc",
	"xstrdup",
	"xstrndup",
	"xmemdup*",
	"do_xmalloc",
	"emalloc",
	"ecalloc",
	"erealloc",
	"estrdup",
	"safe_malloc",
	"safe_calloc",
	"safe_realloc",
	"safe_strdup",
	"my_malloc",
	"my_calloc",
	"my_realloc",
	"my_strdup",
	/* redis and its kin, with the allocator of zlib's interface */
	"zmalloc*",
	"zcalloc*",
	"zrealloc*",
	"ztrymalloc*",
	"ztrycalloc*",
	"ztryrealloc*",
	"zstrdup",
	/* gcc */
	"ggc_internal_alloc*",
	"ggc_internal_cleared_alloc*",
	"ggc_realloc",
	/* Perl, PHP, Ruby, Lua */
	"Perl_safesys*alloc",
	"_emalloc*",
	"_ecalloc*",
	"_erealloc*",
	"_safe_*alloc",
	"_estrdup",
	"_estrndup",
	"__zend_*alloc",
	"ruby_xmalloc*",
	"ruby_xcalloc*",
	"ruby_xrealloc*",
	"rb_xmalloc*",
	"objspace_x*alloc*",
	"l_alloc",
	"luaM_*alloc_",
	/* GLib, D-Bus */
	"g_strdup",
	"g_strndup",
	"g_memdup",
	"g_memdup2",
	"dbus_malloc*",
	"dbus_realloc",
	/* OpenSSL */
	"CRYPTO_malloc",
	"CRYPTO_zalloc",
	"CRYPTO_realloc",
	"CRYPTO_clear_realloc",
	"CRYPTO_secure_*alloc",
	"CRYPTO_strdup",
	"CRYPTO_strndup",
	"CRYPTO_memdup",
	/* SQLite */
	"sqlite3Malloc*",
	"sqlite3Realloc*",
	"sqlite3MemMalloc",
	"sqlite3MemRealloc",
	"sqlite3DbMalloc*",
	"sqlite3DbRealloc*",
	"sqlite3DbStrDup",
	"sqlite3DbStrNDup",
	"sqlite3_malloc*",
	"sqlite3_realloc*",
	"dbMallocRawFinish",
	"dbReallocFinish",
	/* FFmpeg, SDL, libuv, nginx, PostgreSQL's tools, the JVM */
	"av_malloc*",
	"av_calloc",
	"av_realloc*",
	"av_strdup",
	"SDL_malloc*",
	"SDL_calloc*",
	"SDL_realloc*",
	"uv__malloc",
	"uv__calloc",
	"uv__realloc*",
	"uv__strdup",
	"ngx_alloc",
	"ngx_calloc",
	"pg_malloc*",
	"pg_realloc",
	"pg_strdup",
	"AllocateHeap",
	"ReallocateHeap",
};

/* The same with a namespace or class. */
static const char *const wrapper_methods[][2] = {
	{"os", "malloc"}, /* the JVM */
	{"os", "realloc"},
	{"os", "strdup"},
	{"CHeapObj", "operator new"},
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static bool any_glob(const char *const *globs, size_t nr, const char *text)
{
	for (size_t i = 0; i < nr; i++) {
		/* most differ in the first letter already */
		if ((globs[i][0] == text[0] || globs[i][0] == '[') && !fnmatch(globs[i], text, 0))
			return true;
	}
	return false;
}

bool runtime_module(const char *path)
{
	const char *slash = strrchr(path, '/');

	return any_glob(runtime_modules, NR(runtime_modules), slash ? slash + 1 : path);
}

bool runtime_function(const char *function)
{
	struct function_path path;
	bool found = false;

	function_path_init(&path, function);
	if (!path.qualified) {
		found = any_glob(runtime_functions, NR(runtime_functions), path.part[0]);
	} else {
		for (size_t i = 0; i < NR(runtime_roots) && !found; i++)
			found = !strcmp(path.part[0], runtime_roots[i]);
	}
	function_path_release(&path);
	return found;
}

/* The user's, beside those of the tables. */
static struct {
	const char **globs;
	size_t nr;
} own_wrappers;

void runtime_add_wrapper(const char *glob)
{
	own_wrappers.globs = xreallocarray(own_wrappers.globs, own_wrappers.nr + 1,
					   sizeof(*own_wrappers.globs));
	own_wrappers.globs[own_wrappers.nr++] = glob;
}

static bool own_wrapper(const char *function)
{
	char *name = own_wrappers.nr ? function_short(function) : NULL;
	bool found = false;

	for (size_t i = 0; i < own_wrappers.nr && !found; i++)
		found = !fnmatch(own_wrappers.globs[i], name, 0);
	free(name);
	return found;
}

bool runtime_wrapper(const char *function)
{
	struct function_path path;
	bool found = own_wrapper(function);

	function_path_init(&path, function);
	if (!path.qualified && !found)
		found = any_glob(wrapper_functions, NR(wrapper_functions), path.part[0]);
	for (size_t i = 0; path.nr == 2 && i < NR(wrapper_methods) && !found; i++)
		found = !strcmp(path.part[0], wrapper_methods[i][0]) &&
			!strcmp(path.part[1], wrapper_methods[i][1]);
	function_path_release(&path);
	return found;
}

bool runtime_file(const char *path)
{
	const char *include = strstr(path, "/include/");

	return strstr(path, "/rustc/") == path || strstr(path, "/rustlib/src/") ||
	       (include && (strstr(include, "/c++/") || strstr(include, "/bits/")));
}

bool runtime_jit(const char *name)
{
	static const char *const kinds[] = {"Builtin:", "BytecodeHandler:", "Stub:"};

	for (size_t i = 0; i < NR(kinds); i++) {
		if (!strncmp(name, kinds[i], strlen(kinds[i])))
			return true;
	}
	return false;
}

/* ---- paths ------------------------------------------------------------------------------- */

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

	for (size_t i = 0; i < NR(words); i++) {
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
