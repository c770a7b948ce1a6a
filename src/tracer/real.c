/* SPDX-License-Identifier: MIT */
/*
 * real.c - the next definitions of what hooks.c interposes.
 *
 * Runs in the traced program; dlsym() is called only here: for the malloc family once at the
 * start, for the rest when it is first needed. What is not there is remembered too.
 */
#include "tracer/real.h"

#include "tracer/boot.h"
#include "tracer/lifecycle.h"
#include "tracer/thread.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <string.h>

#define NOT_THERE ((void *)-1)

/* ---- before the real functions are found: the first call starts the tracer ---- */

/* Our own hooks: the first call is an event as well, so it goes through them once more. */
void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t size);
void free(void *p);
void *memalign(size_t align, size_t size);
void *aligned_alloc(size_t align, size_t size);
int posix_memalign(void **ret, size_t align, size_t size);
void *valloc(size_t size);
void *pvalloc(size_t size);

static void *first_malloc(size_t size)
{
	lifecycle_start();
	return malloc(size);
}

static void *first_calloc(size_t n, size_t size)
{
	lifecycle_start();
	return calloc(n, size);
}

static void *first_realloc(void *p, size_t size)
{
	lifecycle_start();
	return realloc(p, size);
}

static void first_free(void *p)
{
	lifecycle_start();
	free(p);
}

static void *first_memalign(size_t align, size_t size)
{
	lifecycle_start();
	return memalign(align, size);
}

static void *first_aligned_alloc(size_t align, size_t size)
{
	lifecycle_start();
	return aligned_alloc(align, size);
}

static int first_posix_memalign(void **p, size_t align, size_t size)
{
	lifecycle_start();
	return posix_memalign(p, align, size);
}

static void *first_valloc(size_t size)
{
	lifecycle_start();
	return valloc(size);
}

static void *first_pvalloc(size_t size)
{
	lifecycle_start();
	return pvalloc(size);
}

static size_t first_usable(void *p)
{
	lifecycle_start();
	return real.malloc_usable_size(p);
}

struct real real = {
	first_malloc,        first_calloc,         first_realloc, first_free,    first_memalign,
	first_aligned_alloc, first_posix_memalign, first_valloc,  first_pvalloc, first_usable,
};

/* ---- while they are being found: blocks of our own ---- */

static void *plain_malloc(size_t size)
{
	return boot_alloc(size, 16);
}

static void *plain_calloc(size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : boot_alloc(bytes, 16);
}

static void *plain_memalign(size_t align, size_t size)
{
	return boot_alloc(size, align);
}

static int plain_posix_memalign(void **p, size_t align, size_t size)
{
	*p = boot_alloc(size, align);
	return *p ? 0 : 12; /* ENOMEM */
}

static void *plain_page(size_t size)
{
	return boot_alloc(size, 4096);
}

static size_t plain_usable(void *p)
{
	return boot_usable(p);
}

static const struct real boot_real = {
	plain_malloc,   plain_calloc,         boot_realloc, boot_free,  plain_memalign,
	plain_memalign, plain_posix_memalign, plain_page,   plain_page, plain_usable,
};

/* ---- the program's own ---- */

static void *others[REAL_NR_OTHER];
static bool foreign_pvalloc, foreign_memalign, foreign_aligned, foreign_posix, foreign_valloc;
static bool has_usable;
static bool header_tells; /* blocks have glibc's word in front of them: size_in_header() */

static void *find(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static const char *const other_names[REAL_NR_OTHER] = {
	"mallocx", "rallocx", "xallocx", "sallocx", "dallocx", "sdallocx", "free_sized",
	"free_aligned_sized", "dlclose", "__cxa_finalize", "execve", "execvpe", "fexecve",
	"execveat", "posix_spawn", "posix_spawnp", "system", "popen", "mmap", "mmap64", "munmap",
	"mremap", "mprotect", "brk", "sbrk", "setrlimit", "setrlimit64", "prlimit", "prlimit64",
	"mlockall",
};

void *real_other(enum real_other nr)
{
	void *p = __atomic_load_n(&others[nr], __ATOMIC_ACQUIRE);

	if (!p) {
		p = find(other_names[nr]);
		__atomic_store_n(&others[nr], p ? p : NOT_THERE, __ATOMIC_RELEASE);
	}
	return p == NOT_THERE ? NULL : p;
}

/* Whether two functions come from different libraries, so that their blocks do. */
static bool apart(const void *a, const void *b)
{
	struct dl_find_object oa, ob;

	return _dl_find_object((void *)(uintptr_t)a, &oa) ||
	       _dl_find_object((void *)(uintptr_t)b, &ob) || oa.dlfo_map_start != ob.dlfo_map_start;
}

/* Puts the next definition of a function into the table, if there is one. */
#define FIND(name)                                                                                 \
	do {                                                                                       \
		void *next = find(#name);                                                          \
		if (next)                                                                          \
			memcpy(&found.name, &next, sizeof(next));                                  \
	} while (0)

bool real_find(void)
{
	struct real found = boot_real;

	real = boot_real;
	FIND(malloc);
	FIND(calloc);
	FIND(realloc);
	FIND(free);
	FIND(memalign);
	FIND(aligned_alloc);
	FIND(posix_memalign);
	FIND(valloc);
	FIND(pvalloc);
	FIND(malloc_usable_size);
	if (found.malloc == boot_real.malloc || found.free == boot_real.free)
		return false;
	has_usable = !apart((void *)found.malloc, (void *)found.malloc_usable_size);
	header_tells = has_usable &&
		       !apart((void *)found.malloc, (void *)gnu_get_libc_version);
	foreign_pvalloc = apart((void *)found.malloc, (void *)found.pvalloc);
	foreign_memalign = apart((void *)found.malloc, (void *)found.memalign);
	foreign_aligned = apart((void *)found.malloc, (void *)found.aligned_alloc);
	foreign_posix = apart((void *)found.malloc, (void *)found.posix_memalign);
	foreign_valloc = apart((void *)found.malloc, (void *)found.valloc);
	/* an allocator maps memory under its own locks, a fork child of threads sets limits: dlsym()
	 * must not be needed then */
	for (enum real_other nr = REAL_MMAP; nr <= REAL_MLOCKALL; nr++)
		real_other(nr);
	real = found;
	return true;
}

/* size_t is m (unsigned long) in mangled names on 64-bit machines. */
static const char *const new_names[REAL_NR_NEW] = {
	"_Znwm",
	"_Znam",
	"_ZnwmRKSt9nothrow_t",
	"_ZnamRKSt9nothrow_t",
	"_ZnwmSt11align_val_t",
	"_ZnamSt11align_val_t",
	"_ZnwmSt11align_val_tRKSt9nothrow_t",
	"_ZnamSt11align_val_tRKSt9nothrow_t",
};

static const char *const delete_names[REAL_NR_DELETE] = {
	"_ZdlPv",
	"_ZdaPv",
	"_ZdlPvm",
	"_ZdaPvm",
	"_ZdlPvRKSt9nothrow_t",
	"_ZdaPvRKSt9nothrow_t",
	"_ZdlPvSt11align_val_t",
	"_ZdaPvSt11align_val_t",
	"_ZdlPvmSt11align_val_t",
	"_ZdaPvmSt11align_val_t",
	"_ZdlPvSt11align_val_tRKSt9nothrow_t",
	"_ZdaPvSt11align_val_tRKSt9nothrow_t",
};

static struct real_cxx cxx;
static uint32_t cxx_found;

/* Fills `cxx` from a library, or from what comes after us; the last thing stored is new[0]. */
static void *find_cxx(void *library)
{
	struct dl_find_object o;
	void *plain = dlsym(library, new_names[REAL_NEW]);

	if (!plain || _dl_find_object(plain, &o))
		return NULL;
	for (int i = 1; i < REAL_NR_NEW; i++)
		cxx.new[i] = dlsym(library, new_names[i]);
	for (int i = 0; i < REAL_NR_DELETE; i++)
		cxx.delete[i] = dlsym(library, delete_names[i]);
	cxx.start = (uintptr_t)o.dlfo_map_start;
	cxx.end = (uintptr_t)o.dlfo_map_end;
	cxx.pool = apart(plain, (void *)real.malloc);
	cxx.plain = strstr(o.dlfo_link_map->l_name, "/libstdc++.so.6") != NULL;
	cxx.new[REAL_NEW] = plain;
	__atomic_store_n(&cxx_found, 1, __ATOMIC_RELEASE);
	return plain;
}

/* Operators that only a module loaded later has: its C++ library, or it itself. */
static void find_cxx_late(uintptr_t caller)
{
	static const char *const names[] = { "libstdc++.so.6", "libc++.so.1", "libc++abi.so.1" };
	struct dl_find_object o;

	if (find_cxx(RTLD_NEXT))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library && find_cxx(library))
			return;
	}
	if (_dl_find_object((void *)caller, &o) == 0 && *o.dlfo_link_map->l_name) {
		void *library = dlopen(o.dlfo_link_map->l_name, RTLD_LAZY | RTLD_NOLOAD);

		if (library)
			find_cxx(library);
	}
}

/* dlsym() allocates a message for each name that is not there: not from the program's heap. */
static __attribute__((noinline)) void find_cxx_apart(uintptr_t caller)
{
	struct thread *t = tracer_self;

	if (!t && tracer_active())
		t = thread_first();
	if (!t || t->special & (THREAD_ORPHAN | THREAD_BUSY | THREAD_OWN_WORK)) {
		find_cxx_late(caller);
		return;
	}
	tracer_own_begin();
	find_cxx_late(caller);
	tracer_own_end();
}

const struct real_cxx *real_cxx(uintptr_t caller)
{
	if (__builtin_expect(!__atomic_load_n(&cxx_found, __ATOMIC_ACQUIRE), 0))
		find_cxx_apart(caller);
	return &cxx;
}

/*
 * The word before a block of glibc's is the size of its chunk, with flags in the low three bits. The
 * chunk begins with that word, and where flag 2 says that it has a mapping of its own, one before.
 */
static inline size_t size_in_header(const void *p)
{
	size_t word = ((const size_t *)p)[-1];

	return (word & ~(size_t)7) - (word & 2 ? 2 : 1) * sizeof(word);
}

/*
 * An allocator may allocate the first time it is asked (tcmalloc does, by operator new), and so
 * come back here: it is not asked again within.
 */
static __attribute__((noinline)) size_t ask_usable(struct thread *t, void *p, size_t size)
{
	size_t usable;

	if (!t && tracer_active())
		t = thread_first();
	if (!t)
		return real.malloc_usable_size(p);
	if (t->sizing)
		return size;
	t->sizing = true;
	usable = real.malloc_usable_size(p);
	t->sizing = false;
	if (header_tells && usable != size_in_header(p))
		header_tells = false;
	return usable;
}

/* A glibc that keeps something else there would show: each thread asks at once, and now and then. */
#define ASK_EACH 1024u

size_t real_usable(void *p, size_t size)
{
	struct thread *t = tracer_self;
	size_t usable;

	if (!has_usable)
		return size;
	if (__builtin_expect(header_tells && t && t->nr_sized++ % ASK_EACH, 1))
		usable = size_in_header(p);
	else
		usable = ask_usable(t, p, size);
	return usable < size ? size : usable;
}

size_t real_usable_of(void *p, size_t size, const void *maker)
{
	bool foreign = (maker == (void *)real.pvalloc && foreign_pvalloc) ||
		       (maker == (void *)real.memalign && foreign_memalign) ||
		       (maker == (void *)real.aligned_alloc && foreign_aligned) ||
		       (maker == (void *)real.posix_memalign && foreign_posix) ||
		       (maker == (void *)real.valloc && foreign_valloc);

	return foreign ? size : real_usable(p, size);
}
