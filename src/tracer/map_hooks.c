/* SPDX-License-Identifier: MIT */
/*
 * map_hooks.c - the interposed functions that map, unmap and protect memory.
 *
 * Runs on any thread of the traced program. Only calls that go through the dynamic linker come
 * here: libc's own, for malloc and for the stacks of threads, do not.
 *
 * What the unwinder knows of stacks in that memory is forgotten once the call has been made: from
 * then on a probe tells the truth. That holds in all modes. Then the mapping is recorded, after
 * the call: a call that fails has changed nothing; see mapping.h for what may come in between.
 *
 * Allocators that call mmap from within our hooks of malloc are recorded as well. Readers leave
 * them out, by their module and by the frame of the hook in their stack (analysis/kind.c).
 */
#include "tracer/mapping.h"
#include "tracer/real.h"
#include "tracer/record.h"
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

/*
 * Begins the recording of a change. NULL: there is nothing to record. What is known is followed in
 * all modes, until it is gone.
 */
static struct thread *enter(void)
{
	if (!tracer_gate->control || !(tracer_active() || mapping_any()))
		return NULL;
	return tracer_enter_any_mode();
}

typedef void *mmap_fn(void *, size_t, int, int, int, off_t);

static void *map(const struct unwind_regs *regs, enum real_other nr, void *at, size_t size,
		 int prot, int flags, int fd, off_t off)
{
	mmap_fn *next = (mmap_fn *)real_other(nr);
	struct thread *t;
	void *p;

	if (!next) {
		errno = ENOSYS;
		return MAP_FAILED;
	}
	p = next(at, size, prot, flags, fd, off);
	if (p == MAP_FAILED)
		return p;
	changed(p, size);
	t = enter();
	if (t) {
		mapping_born(t, (uintptr_t)p, size,
			     flags & MAP_ANONYMOUS ? HS_FAMILY_MMAP : HS_FAMILY_MMAP_FILE,
			     t->special & THREAD_DRAINING ? 0 : record_stack(t, regs));
		tracer_leave(t);
	}
	return p;
}

HS_EXPORT void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t off)
{
	struct unwind_regs regs;

	UNWIND_HERE(&regs);
	return map(&regs, REAL_MMAP, at, size, prot, flags, fd, off);
}

HS_EXPORT void *mmap64(void *at, size_t size, int prot, int flags, int fd, off_t off)
{
	struct unwind_regs regs;

	UNWIND_HERE(&regs);
	return map(&regs, REAL_MMAP64, at, size, prot, flags, fd, off);
}

HS_EXPORT int munmap(void *at, size_t size)
{
	int (*next)(void *, size_t) = (int (*)(void *, size_t))real_other(REAL_MUNMAP);
	uint64_t clock = mapping_clock();
	struct thread *t;
	int ret;

	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	ret = next(at, size);
	if (ret)
		return ret;
	changed(at, size);
	t = enter();
	if (t) {
		mapping_gone(t, (uintptr_t)at, size, clock);
		tracer_leave(t);
	}
	return ret;
}

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* mremap has been called. An old size of 0, or DONTUNMAP, makes a second mapping. */
static void moved(const struct unwind_regs *regs, const struct mapping_move *m, bool second)
{
	struct thread *t = enter();

	if (!t)
		return;
	if (second)
		mapping_born(t, m->start, m->size, HS_FAMILY_MMAP, record_stack(t, regs));
	else
		mapping_moved(t, m, record_stack(t, regs));
	tracer_leave(t);
}

HS_EXPORT void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	void *(*next)(void *, size_t, size_t, int, ...) =
		(void *(*)(void *, size_t, size_t, int, ...))real_other(REAL_MREMAP);
	struct mapping_move m = { (uintptr_t)old, old_size, 0, size, mapping_clock() };
	struct unwind_regs regs;
	void *at = NULL, *p;
	va_list more;

	UNWIND_HERE(&regs);
	va_start(more, flags);
	if (flags & ~MREMAP_MAYMOVE) /* MREMAP_FIXED, MREMAP_DONTUNMAP */
		at = va_arg(more, void *);
	va_end(more);
	if (!next) {
		errno = ENOSYS;
		return MAP_FAILED;
	}
	p = next(old, old_size, size, flags, at);
	if (p == MAP_FAILED)
		return p;
	changed(old, old_size);
	changed(p, size);
	m.start = (uintptr_t)p;
	moved(&regs, &m, !old_size || flags & MREMAP_DONTUNMAP);
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

/* The break has moved, unless it is where it was. */
static void broken(const struct unwind_regs *regs, char *old, char *end)
{
	struct thread *t;

	if (end < old)
		changed(end, (size_t)(old - end));
	t = end != old ? enter() : NULL;
	if (!t)
		return;
	mapping_break(t, (uintptr_t)old, (uintptr_t)end, end > old ? record_stack(t, regs) : 0);
	tracer_leave(t);
}

HS_EXPORT void *sbrk(intptr_t step)
{
	struct unwind_regs regs;
	void *(*next)(intptr_t) = (void *(*)(intptr_t))real_other(REAL_SBRK);
	void *old;

	if (!next) {
		errno = ENOMEM;
		return (void *)-1;
	}
	UNWIND_HERE(&regs);
	old = next(step);
	if (old != (void *)-1)
		broken(&regs, old, (char *)old + step);
	return old;
}

HS_EXPORT int brk(void *end)
{
	int (*next)(void *) = (int (*)(void *))real_other(REAL_BRK);
	void *(*next_sbrk)(intptr_t) = (void *(*)(intptr_t))real_other(REAL_SBRK);
	struct unwind_regs regs;
	char *old;
	int ret;

	if (!next || !next_sbrk) {
		errno = ENOMEM;
		return -1;
	}
	UNWIND_HERE(&regs);
	old = next_sbrk(0);
	ret = next(end);
	if (ret == 0 && old != (char *)-1)
		broken(&regs, old, end);
	return ret;
}
