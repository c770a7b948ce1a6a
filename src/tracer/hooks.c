/* SPDX-License-Identifier: MIT */
/*
 * hooks.c - the interposed functions of the malloc family and of operator new and delete.
 *
 * Runs on any thread of the traced program. Each hook passes its call to the next definition and
 * puts one event into the table.
 *
 * Orders. A birth is recorded after the allocator gave the block and a death before it gets it
 * back: in between the calling thread is the block's only owner, so two threads never touch one
 * record. realloc takes the block out of the table before the call (its old address may belong
 * to another thread during it) into the thread's in-flight slot, and puts it back after it.
 *
 * Pairs. operator new of libstdc++ calls malloc, others do not. So that there is one event either
 * way, with the stack of the outer call, the outer hook leaves its registers in `outer`; a malloc
 * called from the operator's own library uses them once. Back in the outer hook, a block that is
 * the thread's newest was recorded within. Nothing is held during the real call: a new_handler
 * that frees its caches, a signal handler, an exception passing through are recorded as usual.
 * libstdc++'s plain forms are malloc and free themselves as long as malloc succeeds, so these are
 * called without the detour. A malloc that fails ends the pair, so no exception leaves `outer`
 * behind. In the same way a death recorded by operator delete is left in `freeing` for the free
 * within.
 *
 * No hook changes errno by itself: what is called while recording makes no libc call that fails.
 */
#include "tracer/boot.h"
#include "tracer/lifecycle.h"
#include "tracer/module.h"
#include "tracer/real.h"
#include "tracer/record.h"
#include "tracer/stackbounds.h"
#include "tracer/thread.h"
#include "tracer/unwind.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define HS_EXPORT __attribute__((visibility("default")))

/* Declared here, not by libc's headers, whose attributes would let the compiler reason about them. */
void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t size);
void *reallocarray(void *p, size_t n, size_t size);
void free(void *p);
void cfree(void *p);
void *memalign(size_t align, size_t size);
void *aligned_alloc(size_t align, size_t size);
int posix_memalign(void **ret, size_t align, size_t size);
void *valloc(size_t size);
void *pvalloc(size_t size);
size_t malloc_usable_size(void *p);
void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t align, size_t size);
void *mallocx(size_t size, int flags);
void *rallocx(void *p, size_t size, int flags);
size_t xallocx(void *p, size_t size, size_t extra, int flags);
size_t sallocx(const void *p, int flags);
void dallocx(void *p, int flags);
void sdallocx(void *p, size_t size, int flags);
int dlclose(void *handle);
void __cxa_finalize(void *library);

/* ---- one event ---- */

/* Ends the pair of calls that the outer hook began, if this is its inner call. */
static const struct unwind_regs *outer_of(struct thread *t, const struct unwind_regs *regs,
					  uint32_t *family)
{
	const struct unwind_regs *outer = t->outer;

	if (__builtin_expect(!outer, 1) || regs->pc < t->outer_start || regs->pc >= t->outer_end)
		return regs;
	t->outer = NULL;
	*family = t->outer_family;
	return outer;
}

static __attribute__((noinline)) void born_nothing(void)
{
	if (tracer_self)
		tracer_self->outer = NULL;
}

static void born(const struct unwind_regs *regs, void *p, size_t size, size_t usable,
		 uint32_t family)
{
	struct thread *t;
	int saved = errno;

	if (__builtin_expect(!p, 0)) {
		born_nothing();
		return;
	}
	stack_block_changed((uintptr_t)p, usable);
	t = tracer_enter();
	if (t) {
		struct block b = { (uintptr_t)p, size, usable, 0 };

		regs = outer_of(t, regs, &family);
		b.family = family;
		record_birth(t, &b, regs);
		tracer_leave(t);
	}
	errno = saved;
}

/* The block at p is about to be freed. */
static void dying(void *p)
{
	struct thread *t = tracer_enter();

	if (!t)
		return;
	if (__builtin_expect(t->freeing == (uintptr_t)p, 0))
		t->freeing = 0;
	else
		record_death(t, (uintptr_t)p);
	tracer_leave(t);
}

/* The same from an outer hook, whose real function may call free. */
static void dying_outer(void *p)
{
	struct thread *t;

	__builtin_prefetch((char *)p - 16, 1); /* see free() */
	t = tracer_enter();
	if (!t)
		return;
	record_death(t, (uintptr_t)p);
	t->freeing = (uintptr_t)p;
	tracer_leave(t);
}

static void freed_outer(void)
{
	if (tracer_self)
		tracer_self->freeing = 0;
}

/* ---- malloc family ---- */

HS_EXPORT void *malloc(size_t size)
{
	struct unwind_regs regs;
	void *p;

	if (!tracer_active())
		return real.malloc(size);
	if (tracer_own_work())
		return boot_alloc(size, 16);
	p = real.malloc(size);
	UNWIND_HERE(&regs);
	born(&regs, p, size, p ? real_usable(p, size) : 0, HS_FAMILY_MALLOC);
	return p;
}

HS_EXPORT void *calloc(size_t n, size_t size)
{
	struct unwind_regs regs;
	void *p;

	if (!tracer_active())
		return real.calloc(n, size);
	if (tracer_own_work())
		return size && n > SIZE_MAX / size ? NULL : boot_alloc(n * size, 16);
	p = real.calloc(n, size);
	UNWIND_HERE(&regs);
	born(&regs, p, n * size, p ? real_usable(p, n * size) : 0, HS_FAMILY_CALLOC);
	return p;
}

HS_EXPORT void free(void *p)
{
	if (!p)
		return;
	if (boot_owns(p)) {
		boot_free(p);
		return;
	}
	if (tracer_active()) {
		/* The allocator reads its header next: fetch it while our own look-ups miss. */
		__builtin_prefetch((char *)p - 16, 1);
		dying(p);
	}
	real.free(p);
}

HS_EXPORT void cfree(void *p)
{
	free(p);
}

/* realloc of a block of our own, from before the real allocator was found. */
static void *leave_boot(const struct unwind_regs *regs, void *p, size_t size)
{
	void *q;

	if (tracer_own_work())
		return boot_realloc(p, size);
	q = real.malloc(size);
	if (q)
		__builtin_memcpy(q, p, boot_usable(p) < size ? boot_usable(p) : size);
	if (tracer_active())
		born(regs, q, size, q ? real_usable(q, size) : 0, HS_FAMILY_REALLOC);
	return q;
}

/* After the real realloc: q is what it gave, 0 with a size of 0 may be a free. */
static void resized(const struct unwind_regs *regs, struct resize *r, void *q, size_t size,
		    bool was_freed)
{
	struct thread *t = tracer_enter();

	if (!t)
		return;
	t->freeing = 0;
	if (q) {
		struct block b = { (uintptr_t)q, size, real_usable(q, size), HS_FAMILY_REALLOC };

		stack_block_changed(b.address, b.usable);
		record_resize_end(t, r, &b, regs);
	} else if (was_freed) {
		record_resize_free(t, r);
	} else {
		record_resize_undo(t, r);
	}
	tracer_leave(t);
}

static void *resize(const struct unwind_regs *regs, void *p, size_t size)
{
	struct resize r;
	struct thread *t;
	int saved = errno, failure;
	void *q;

	__builtin_prefetch((char *)p - 16, 1);
	t = tracer_enter();
	if (!t)
		return real.realloc(p, size);
	record_resize_begin(t, (uintptr_t)p, &r);
	t->freeing = (uintptr_t)p;
	tracer_leave(t);
	/* NULL for size 0 is a free or a failure: errno tells. */
	errno = 0;
	q = real.realloc(p, size);
	failure = errno;
	resized(regs, &r, q, size, !size && failure != ENOMEM);
	errno = failure ? failure : saved;
	return q;
}

static void *realloc_from(const struct unwind_regs *regs, void *p, size_t size)
{
	void *q;

	if (p && boot_owns(p))
		return leave_boot(regs, p, size);
	if (!tracer_active())
		return real.realloc(p, size);
	if (tracer_own_work())
		return boot_realloc(p, size);
	if (p)
		return resize(regs, p, size);
	q = real.realloc(NULL, size);
	born(regs, q, size, q ? real_usable(q, size) : 0, HS_FAMILY_REALLOC);
	return q;
}

HS_EXPORT void *realloc(void *p, size_t size)
{
	struct unwind_regs regs;

	UNWIND_HERE(&regs);
	return realloc_from(&regs, p, size);
}

HS_EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	struct unwind_regs regs;
	size_t bytes;

	UNWIND_HERE(&regs);
	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc_from(&regs, p, bytes);
}

/* One hook of the aligned family that returns its block. */
#define ALIGNED_HOOK(name, parameters, arguments, align, bytes)                                    \
	HS_EXPORT void *name parameters                                                            \
	{                                                                                          \
		struct unwind_regs regs;                                                           \
		void *p;                                                                           \
                                                                                                   \
		if (!tracer_active())                                                              \
			return real.name arguments;                                                \
		if (tracer_own_work())                                                             \
			return boot_alloc(bytes, align);                                           \
		p = real.name arguments;                                                           \
		UNWIND_HERE(&regs);                                                                \
		born(&regs, p, bytes, p ? real_usable_of(p, bytes, (void *)real.name) : 0,         \
		     HS_FAMILY_ALIGNED);                                                           \
		return p;                                                                          \
	}

ALIGNED_HOOK(memalign, (size_t align, size_t size), (align, size), align, size)
ALIGNED_HOOK(aligned_alloc, (size_t align, size_t size), (align, size), align, size)
ALIGNED_HOOK(valloc, (size_t size), (size), 4096, size)
ALIGNED_HOOK(pvalloc, (size_t size), (size), 4096, size)

HS_EXPORT int posix_memalign(void **ret, size_t align, size_t size)
{
	struct unwind_regs regs;
	int error;

	if (!tracer_active())
		return real.posix_memalign(ret, align, size);
	if (tracer_own_work()) {
		*ret = boot_alloc(size, align);
		return *ret ? 0 : ENOMEM;
	}
	error = real.posix_memalign(ret, align, size);
	UNWIND_HERE(&regs);
	if (!error)
		born(&regs, *ret, size, real_usable_of(*ret, size, (void *)real.posix_memalign),
		     HS_FAMILY_ALIGNED);
	return error;
}

HS_EXPORT size_t malloc_usable_size(void *p)
{
	if (!p)
		return 0;
	return boot_owns(p) ? boot_usable(p) : real.malloc_usable_size(p);
}

/* ---- operator new and delete ---- */

/* Begins a pair: what the real operator allocates by malloc has the stack of our caller. */
static void outer_begin(const struct unwind_regs *regs, const struct real_cxx *cxx,
			uint32_t family)
{
	struct thread *t = tracer_self;

	if (!tracer_active())
		return;
	if (!t)
		t = thread_first();
	if (t->special & (THREAD_ORPHAN | THREAD_BUSY))
		return;
	t->outer_start = cxx->start;
	t->outer_end = cxx->end;
	t->outer_family = family;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->outer = regs;
}

static void outer_born(const struct unwind_regs *regs, const struct real_cxx *cxx, void *p,
		       size_t size, uint32_t family)
{
	struct thread *t = tracer_self;

	if (t)
		t->outer = NULL;
	if (p && tracer_active() && !(t && t->newest == (uintptr_t)p))
		born(regs, p, size, cxx->pool ? size : real_usable(p, size), family);
}

typedef void *new_fn(size_t size, uintptr_t a, uintptr_t b);

/*
 * All forms of new: (size), (size, nothrow), (size, align), (size, align, nothrow). Arguments that
 * a form does not have are passed all the same and not looked at. A process without the form has
 * a C++ library that never calls it; then malloc's family serves.
 */
static void *new_block(const struct unwind_regs *regs, enum real_new form, uint32_t family,
		       size_t size, uintptr_t a, uintptr_t b)
{
	const struct real_cxx *cxx = real_cxx(regs->pc);
	new_fn *next = (new_fn *)cxx->new[form];
	void *p;

	if (!next) {
		p = form >= REAL_NEW_ALIGNED ? real.memalign(a, size) : real.malloc(size ? size : 1);
		if (tracer_active())
			born(regs, p, size, p ? real_usable(p, size) : 0, family);
		return p;
	}
	if (cxx->plain && form < REAL_NEW_ALIGNED) {
		p = real.malloc(size ? size : 1);
		if (p) {
			if (tracer_active())
				born(regs, p, size, real_usable(p, size), family);
			return p;
		}
	}
	outer_begin(regs, cxx, family);
	p = next(size, a, b);
	outer_born(regs, cxx, p, size, family);
	return p;
}

#define NEW_HOOK(symbol, form, family, parameters, a, b)                                           \
	void *symbol parameters;                                                                   \
	HS_EXPORT void *symbol parameters                                                          \
	{                                                                                          \
		struct unwind_regs regs;                                                           \
                                                                                                   \
		UNWIND_HERE(&regs);                                                                \
		return new_block(&regs, form, family, size, a, b);                                 \
	}

NEW_HOOK(_Znwm, REAL_NEW, HS_FAMILY_NEW, (size_t size), 0, 0)
NEW_HOOK(_Znam, REAL_NEW_ARRAY, HS_FAMILY_NEW_ARRAY, (size_t size), 0, 0)
NEW_HOOK(_ZnwmRKSt9nothrow_t, REAL_NEW_NOTHROW, HS_FAMILY_NEW, (size_t size, uintptr_t a), a, 0)
NEW_HOOK(_ZnamRKSt9nothrow_t, REAL_NEW_ARRAY_NOTHROW, HS_FAMILY_NEW_ARRAY,
	 (size_t size, uintptr_t a), a, 0)
NEW_HOOK(_ZnwmSt11align_val_t, REAL_NEW_ALIGNED, HS_FAMILY_NEW, (size_t size, uintptr_t a), a, 0)
NEW_HOOK(_ZnamSt11align_val_t, REAL_NEW_ARRAY_ALIGNED, HS_FAMILY_NEW_ARRAY,
	 (size_t size, uintptr_t a), a, 0)
NEW_HOOK(_ZnwmSt11align_val_tRKSt9nothrow_t, REAL_NEW_ALIGNED_NOTHROW, HS_FAMILY_NEW,
	 (size_t size, uintptr_t a, uintptr_t b), a, b)
NEW_HOOK(_ZnamSt11align_val_tRKSt9nothrow_t, REAL_NEW_ARRAY_ALIGNED_NOTHROW, HS_FAMILY_NEW_ARRAY,
	 (size_t size, uintptr_t a, uintptr_t b), a, b)

typedef void delete_fn(void *p, uintptr_t a, uintptr_t b);

static void delete_block(uintptr_t caller, enum real_delete form, void *p, uintptr_t a, uintptr_t b)
{
	const struct real_cxx *cxx = real_cxx(caller);
	delete_fn *next = (delete_fn *)cxx->delete[form];

	if (!next || (cxx->plain && form < REAL_DELETE_ALIGNED)) {
		free(p);
		return;
	}
	if (p && boot_owns(p))
		return;
	if (p && tracer_active())
		dying_outer(p);
	next(p, a, b);
	freed_outer();
}

#define DELETE_HOOK(symbol, form, parameters, a, b)                                                \
	void symbol parameters;                                                                    \
	HS_EXPORT void symbol parameters                                                           \
	{                                                                                          \
		delete_block((uintptr_t)__builtin_return_address(0), form, p, a, b);               \
	}

DELETE_HOOK(_ZdlPv, REAL_DELETE, (void *p), 0, 0)
DELETE_HOOK(_ZdaPv, REAL_DELETE_ARRAY, (void *p), 0, 0)
DELETE_HOOK(_ZdlPvm, REAL_DELETE_SIZED, (void *p, uintptr_t a), a, 0)
DELETE_HOOK(_ZdaPvm, REAL_DELETE_ARRAY_SIZED, (void *p, uintptr_t a), a, 0)
DELETE_HOOK(_ZdlPvRKSt9nothrow_t, REAL_DELETE_NOTHROW, (void *p, uintptr_t a), a, 0)
DELETE_HOOK(_ZdaPvRKSt9nothrow_t, REAL_DELETE_ARRAY_NOTHROW, (void *p, uintptr_t a), a, 0)
DELETE_HOOK(_ZdlPvSt11align_val_t, REAL_DELETE_ALIGNED, (void *p, uintptr_t a), a, 0)
DELETE_HOOK(_ZdaPvSt11align_val_t, REAL_DELETE_ARRAY_ALIGNED, (void *p, uintptr_t a), a, 0)
DELETE_HOOK(_ZdlPvmSt11align_val_t, REAL_DELETE_SIZED_ALIGNED,
	    (void *p, uintptr_t a, uintptr_t b), a, b)
DELETE_HOOK(_ZdaPvmSt11align_val_t, REAL_DELETE_ARRAY_SIZED_ALIGNED,
	    (void *p, uintptr_t a, uintptr_t b), a, b)
DELETE_HOOK(_ZdlPvSt11align_val_tRKSt9nothrow_t, REAL_DELETE_ALIGNED_NOTHROW,
	    (void *p, uintptr_t a, uintptr_t b), a, b)
DELETE_HOOK(_ZdaPvSt11align_val_tRKSt9nothrow_t, REAL_DELETE_ARRAY_ALIGNED_NOTHROW,
	    (void *p, uintptr_t a, uintptr_t b), a, b)

/* ---- allocators' further entries; where the process has none, the plain ones serve ---- */

HS_EXPORT void free_sized(void *p, size_t size)
{
	void (*next)(void *, size_t) = (void (*)(void *, size_t))real_other(REAL_FREE_SIZED);

	if (!next || !p || boot_owns(p)) {
		free(p);
		return;
	}
	if (tracer_active())
		dying_outer(p);
	next(p, size);
	freed_outer();
}

HS_EXPORT void free_aligned_sized(void *p, size_t align, size_t size)
{
	void (*next)(void *, size_t, size_t) =
		(void (*)(void *, size_t, size_t))real_other(REAL_FREE_ALIGNED_SIZED);

	if (!next || !p || boot_owns(p)) {
		free(p);
		return;
	}
	if (tracer_active())
		dying_outer(p);
	next(p, align, size);
	freed_outer();
}

/* jemalloc: the low 6 bits of flags are the logarithm of the alignment, bit 6 asks for zeroes. */
#define MALLOCX_ALIGN(flags) ((size_t)1 << ((flags) & 63))
#define MALLOCX_ZERO 0x40

HS_EXPORT void *mallocx(size_t size, int flags)
{
	void *(*next)(size_t, int) = (void *(*)(size_t, int))real_other(REAL_MALLOCX);
	struct unwind_regs regs;
	void *p;

	UNWIND_HERE(&regs);
	if (next) {
		p = next(size, flags);
	} else {
		p = MALLOCX_ALIGN(flags) > 16 ? real.memalign(MALLOCX_ALIGN(flags), size) :
						real.malloc(size);
		if (p && flags & MALLOCX_ZERO)
			__builtin_memset(p, 0, size);
	}
	if (tracer_active())
		born(&regs, p, size, p ? real_usable(p, size) : 0, HS_FAMILY_MALLOCX);
	return p;
}

HS_EXPORT void *rallocx(void *p, size_t size, int flags)
{
	void *(*next)(void *, size_t, int) =
		(void *(*)(void *, size_t, int))real_other(REAL_RALLOCX);
	struct unwind_regs regs;
	struct resize r;
	struct thread *t;
	void *q;

	UNWIND_HERE(&regs);
	if (!next)
		return realloc_from(&regs, p, size);
	t = tracer_active() ? tracer_enter() : NULL;
	if (!t)
		return next(p, size, flags);
	record_resize_begin(t, (uintptr_t)p, &r);
	tracer_leave(t);
	q = next(p, size, flags);
	resized(&regs, &r, q, size, false);
	return q;
}

/* Resizes in place, to between size and size + extra; the block's size is then the result. */
HS_EXPORT size_t xallocx(void *p, size_t size, size_t extra, int flags)
{
	size_t (*next)(void *, size_t, size_t, int) =
		(size_t (*)(void *, size_t, size_t, int))real_other(REAL_XALLOCX);
	struct unwind_regs regs;
	struct resize r;
	struct thread *t;
	size_t before, after;

	UNWIND_HERE(&regs);
	before = real_usable(p, 0);
	if (!next)
		return before;
	t = tracer_active() ? tracer_enter() : NULL;
	if (!t)
		return next(p, size, extra, flags);
	record_resize_begin(t, (uintptr_t)p, &r);
	tracer_leave(t);
	after = next(p, size, extra, flags);
	if (after == before)
		resized(&regs, &r, NULL, 0, false);
	else
		resized(&regs, &r, p, after < size ? after : size, false);
	return after;
}

HS_EXPORT size_t sallocx(const void *p, int flags)
{
	size_t (*next)(const void *, int) =
		(size_t (*)(const void *, int))real_other(REAL_SALLOCX);

	return next ? next(p, flags) : real_usable((void *)(uintptr_t)p, 0);
}

HS_EXPORT void dallocx(void *p, int flags)
{
	void (*next)(void *, int) = (void (*)(void *, int))real_other(REAL_DALLOCX);

	if (!next || boot_owns(p)) {
		free(p);
		return;
	}
	if (tracer_active())
		dying_outer(p);
	next(p, flags);
	freed_outer();
}

HS_EXPORT void sdallocx(void *p, size_t size, int flags)
{
	void (*next)(void *, size_t, int) =
		(void (*)(void *, size_t, int))real_other(REAL_SDALLOCX);

	if (!next || boot_owns(p)) {
		free(p);
		return;
	}
	if (tracer_active())
		dying_outer(p);
	next(p, size, flags);
	freed_outer();
}

/* ---- libraries that go away ---- */

HS_EXPORT int dlclose(void *handle)
{
	int (*next)(void *) = (int (*)(void *))real_other(REAL_DLCLOSE);
	int ret = next ? next(handle) : -1;

	if (tracer_active())
		module_suspect();
	return ret;
}

/* Called by a library's own finalization, whoever unloads it; with NULL by exit. */
HS_EXPORT void __cxa_finalize(void *library)
{
	void (*next)(void *) = (void (*)(void *))real_other(REAL_CXA_FINALIZE);

	if (library && tracer_active())
		module_ending((uintptr_t)library);
	if (next)
		next(library);
}
