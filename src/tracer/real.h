/* SPDX-License-Identifier: MIT */
/*
 * real.h - the next definitions of what hooks.c interposes.
 *
 * The table starts out with functions of boot.c, so no hook tests for NULL; real_find() fills in
 * the program's own. Entries that the process does not have stay NULL in `optional` and are
 * replaced by their plain equivalents, see hooks.c.
 */
#ifndef HEAPSTORY_TRACER_REAL_H
#define HEAPSTORY_TRACER_REAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct real {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	void *(*memalign)(size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	size_t (*malloc_usable_size)(void *);
};

extern struct real real;

/* The 20 forms of operator new and delete, by the shape of their arguments. */
enum real_new {
	REAL_NEW,                 /* (size) */
	REAL_NEW_ARRAY,
	REAL_NEW_NOTHROW,         /* (size, nothrow) */
	REAL_NEW_ARRAY_NOTHROW,
	REAL_NEW_ALIGNED,         /* (size, align) */
	REAL_NEW_ARRAY_ALIGNED,
	REAL_NEW_ALIGNED_NOTHROW, /* (size, align, nothrow) */
	REAL_NEW_ARRAY_ALIGNED_NOTHROW,
	REAL_NR_NEW,
};

enum real_delete {
	REAL_DELETE,              /* (p) */
	REAL_DELETE_ARRAY,
	REAL_DELETE_SIZED,        /* (p, size) */
	REAL_DELETE_ARRAY_SIZED,
	REAL_DELETE_NOTHROW,      /* (p, nothrow) */
	REAL_DELETE_ARRAY_NOTHROW,
	REAL_DELETE_ALIGNED,      /* (p, align) */
	REAL_DELETE_ARRAY_ALIGNED,
	REAL_DELETE_SIZED_ALIGNED, /* (p, size, align) */
	REAL_DELETE_ARRAY_SIZED_ALIGNED,
	REAL_DELETE_ALIGNED_NOTHROW, /* (p, align, nothrow) */
	REAL_DELETE_ARRAY_ALIGNED_NOTHROW,
	REAL_NR_DELETE,
};

enum real_other {
	REAL_MALLOCX,
	REAL_RALLOCX,
	REAL_XALLOCX,
	REAL_SALLOCX,
	REAL_DALLOCX,
	REAL_SDALLOCX,
	REAL_FREE_SIZED,
	REAL_FREE_ALIGNED_SIZED,
	REAL_DLCLOSE,
	REAL_CXA_FINALIZE,
	REAL_EXECVE,
	REAL_EXECVPE,
	REAL_FEXECVE,
	REAL_EXECVEAT,
	REAL_POSIX_SPAWN,
	REAL_POSIX_SPAWNP,
	REAL_SYSTEM,
	REAL_POPEN,
	REAL_MMAP,
	REAL_MMAP64,
	REAL_MUNMAP,
	REAL_MREMAP,
	REAL_MPROTECT,
	REAL_BRK,
	REAL_SBRK,
	REAL_SETRLIMIT,
	REAL_SETRLIMIT64,
	REAL_PRLIMIT,
	REAL_PRLIMIT64,
	REAL_MLOCKALL,
	REAL_NR_OTHER,
};

/* A provider of operator new and delete, and where its code lies. */
struct real_cxx {
	void *new[REAL_NR_NEW];
	void *delete[REAL_NR_DELETE];
	uintptr_t start, end;
	bool plain; /* libstdc++'s: malloc and free but for size 0, failure and alignment */
	bool pool;  /* what it gives without malloc is not of malloc's library: it has no usable size */
};

/* Looks everything up by dlsym(RTLD_NEXT); once, at the start. False: no malloc to be found. */
bool real_find(void);

/* Next definition of other function nr, NULL if the process has none (looked for once). */
void *real_other(enum real_other nr);

/*
 * The program's operators; NULL where there are none. A C++ library that a plugin brought along
 * is not behind RTLD_NEXT: it is looked for by name, and at last in the caller's own module.
 */
const struct real_cxx *real_cxx(uintptr_t caller);

/* Bytes of a block of the real allocator; size where it can't tell. */
size_t real_usable(void *p, size_t size);

/* The same for a block from pvalloc, memalign etc., which may be another allocator's. */
size_t real_usable_of(void *p, size_t size, const void *maker);

#endif
