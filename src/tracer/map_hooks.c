/* SPDX-License-Identifier: MIT */
/*
 * map_hooks.c - the interposed functions that map, unmap and protect memory.
 *
 * Runs on any thread of the traced program. Only calls that go through the dynamic linker come
 * here: libc's own, for malloc and for the stacks of threads, do not.
 *
 * What the unwinder knows of stacks in that memory is forgotten once the call has been made: from
 * then on a probe tells the truth. That holds in all modes.
 */
#include "tracer/real.h"
#include "tracer/stackbounds.h"
#include "tracer/thread.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define HS_EXPORT __attribute__((visibility("default")))

/* The pages of [start, start + size) are not what they were. Only a traced process minds. */
static void changed(const void *start, size_t size)
{
	uintptr_t end;

	if (!tracer_gate->control)
		return;
	if (__builtin_add_overflow((uintptr_t)start, size, &end))
		end = UINTPTR_MAX;
	stack_memory_changed((uintptr_t)start, end);
}

typedef void *mmap_fn(void *, size_t, int, int, int, off_t);

static void *map(enum real_other nr, void *at, size_t size, int prot, int flags, int fd, off_t off)
{
	mmap_fn *next = (mmap_fn *)real_other(nr);
	void *p;

	if (!next) {
		errno = ENOSYS;
		return MAP_FAILED;
	}
	p = next(at, size, prot, flags, fd, off);
	if (p != MAP_FAILED)
		changed(p, size);
	return p;
}

HS_EXPORT void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t off)
{
	return map(REAL_MMAP, at, size, prot, flags, fd, off);
}

HS_EXPORT void *mmap64(void *at, size_t size, int prot, int flags, int fd, off_t off)
{
	return map(REAL_MMAP64, at, size, prot, flags, fd, off);
}

HS_EXPORT int munmap(void *at, size_t size)
{
	int (*next)(void *, size_t) = (int (*)(void *, size_t))real_other(REAL_MUNMAP);
	int ret;

	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	ret = next(at, size);
	changed(at, size);
	return ret;
}

HS_EXPORT void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	void *(*next)(void *, size_t, size_t, int, ...) =
		(void *(*)(void *, size_t, size_t, int, ...))real_other(REAL_MREMAP);
	void *at = NULL, *p;
	va_list more;

	va_start(more, flags);
	if (flags & ~MREMAP_MAYMOVE) /* MREMAP_FIXED, MREMAP_DONTUNMAP */
		at = va_arg(more, void *);
	va_end(more);
	if (!next) {
		errno = ENOSYS;
		return MAP_FAILED;
	}
	p = next(old, old_size, size, flags, at);
	if (p != MAP_FAILED) {
		changed(old, old_size);
		changed(p, size);
	}
	return p;
}

HS_EXPORT int mprotect(void *at, size_t size, int prot)
{
	int (*next)(void *, size_t, int) =
		(int (*)(void *, size_t, int))real_other(REAL_MPROTECT);
	int ret;

	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	ret = next(at, size, prot);
	if (!(prot & PROT_READ))
		changed(at, size);
	return ret;
}

HS_EXPORT void *sbrk(intptr_t step)
{
	void *(*next)(intptr_t) = (void *(*)(intptr_t))real_other(REAL_SBRK);
	void *old;

	if (!next) {
		errno = ENOMEM;
		return (void *)-1;
	}
	old = next(step);
	if (old != (void *)-1 && step < 0)
		changed((char *)old + step, (size_t)-step);
	return old;
}

HS_EXPORT int brk(void *end)
{
	int (*next)(void *) = (int (*)(void *))real_other(REAL_BRK);
	void *(*next_sbrk)(intptr_t) = (void *(*)(intptr_t))real_other(REAL_SBRK);
	char *old;
	int ret;

	if (!next || !next_sbrk) {
		errno = ENOMEM;
		return -1;
	}
	old = next_sbrk(0);
	ret = next(end);
	if (ret == 0 && (char *)end < old)
		changed(end, (size_t)(old - (char *)end));
	return ret;
}
