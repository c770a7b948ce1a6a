/* SPDX-License-Identifier: MIT */
/*
 * runtime.c - the table of what is not the program's own; see runtime.h.
 */
#include "analysis/runtime.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/function_path.h"
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
