/* SPDX-License-Identifier: MIT */
/*
 * stackbounds.c - where a thread's stacks lie: what the unwinder may read of them.
 *
 * Runs in any thread of the traced program, with `in` set. See stackbounds.h.
 */
#include "tracer/stackbounds.h"

#include <pthread.h>
#include <sys/auxv.h>

#include "tracer/sys.h"
#include "tracer/unwind_internal.h"

extern void *__libc_stack_end;

/* How far below what is known of its own stack a thread may turn up, to be looked for there. */
#define OWN_STEP (1u << 20)
/* How far apart two frames of one foreign stack may be. */
#define MAX_FRAME  (8u << 20)
#define PROBE_STEP ((uintptr_t)64 << 10)

static struct {
	uintptr_t page;
	uintptr_t main_thread; /* pthread_self() of the first thread */
	uintptr_t main_top;
} known = {
#ifdef __aarch64__
	.page = 65536,
#else
	.page = 4096,
#endif
};

static uintptr_t page_floor(uintptr_t p)
{
	return p & ~(known.page - 1);
}

static bool probe(uintptr_t start, uintptr_t end)
{
	return sys_probe_read((const void *)start, end - start) == 0;
}

void stack_bounds_init(void)
{
	unsigned long page = getauxval(AT_PAGESZ);

	if (page)
		known.page = page;
	known.main_thread = (uintptr_t)pthread_self();
	known.main_top = (uintptr_t)__libc_stack_end;
}

void stack_bounds_start(struct stack_bounds *b)
{
	uintptr_t self = (uintptr_t)pthread_self();
	uintptr_t top = self == known.main_thread ? known.main_top : self;

	b->own_hi = top & ~(uintptr_t)15;
	b->own_lo = b->own_hi;
}

static bool own_grow(struct stack_bounds *b, uintptr_t at)
{
	uintptr_t lo = page_floor(at);

	if (at >= b->own_lo || b->own_lo - at > OWN_STEP)
		return false;
	if (!probe(lo, page_floor(b->own_lo + known.page - 1)))
		return false;
	b->own_lo = lo;
	return true;
}

/* The range that holds `at`, or that does when grown down by a step; NULL: none. */
static struct stack_range *range_find(struct stack_bounds *b, uintptr_t at)
{
	for (uint32_t i = 0; i < STACK_NR_RANGES; i++) {
		struct stack_range *r = &b->ranges[i];

		if (at >= r->lo && at < r->hi)
			return r;
	}
	for (uint32_t i = 0; i < STACK_NR_RANGES; i++) {
		struct stack_range *r = &b->ranges[i];

		if (at < r->lo && r->lo - at <= PROBE_STEP && probe(page_floor(at), r->lo)) {
			r->lo = page_floor(at);
			return r;
		}
	}
	return NULL;
}

__attribute__((noinline)) void stack_place_slow(struct cursor *c, uintptr_t sp)
{
	struct stack_bounds *b = c->bounds;
	struct stack_range *r;
	uintptr_t at = sp - 8;

	if ((at >= b->own_lo && at < b->own_hi) || own_grow(b, at)) {
		c->lo = b->own_lo;
		c->hi = b->own_hi;
		c->range = NULL;
		return;
	}
	r = range_find(b, at);
	if (!r) {
		c->lo = c->hi = sp;
		c->range = NULL;
		if (!probe(page_floor(at), page_floor(at) + known.page))
			return;
		r = &b->ranges[b->next_range++ % STACK_NR_RANGES];
		r->lo = page_floor(at);
		r->hi = r->lo + known.page;
		r->final = false;
	}
	c->range = r;
	c->lo = r->lo;
	c->hi = r->hi;
}

__attribute__((noinline)) bool cursor_extend(struct cursor *c, uintptr_t need)
{
	struct stack_bounds *b = c->bounds;
	struct stack_range *r = c->range;
	uintptr_t hi = c->hi, step = PROBE_STEP;
	bool final = false;

	if (!r || need < hi || need - hi > MAX_FRAME)
		return false;
	/* the range may have been given to another stack since */
	if (r->lo != c->lo || r->hi < hi)
		r = NULL;
	else if (r->hi >= need || r->final) {
		c->hi = r->hi;
		return c->hi >= need;
	}
	while (hi < need && !final) {
		uintptr_t next = page_floor(need + known.page - 1);

		if (next - hi > step)
			next = hi + step;
		if (probe(hi, next))
			hi = next;
		else if (next - hi > known.page)
			step = known.page;
		else
			final = true;
	}
	if (hi >= b->own_lo && c->lo < b->own_lo) {
		/* it was the thread's own stack after all, deeper than ever */
		b->own_lo = c->lo;
		hi = b->own_hi;
		c->range = NULL;
		if (r)
			r->lo = r->hi = 0;
	} else if (r) {
		r->hi = hi;
		r->final = final;
	}
	c->hi = hi;
	return hi >= need;
}

void stack_bounds_forget(struct stack_bounds *b)
{
	for (uint32_t i = 0; i < STACK_NR_RANGES; i++)
		b->ranges[i].lo = b->ranges[i].hi = 0;
}

bool stack_known(const struct stack_bounds *b, uintptr_t at)
{
	if (at >= b->own_lo && at < b->own_hi && b->own_hi - at >= 8)
		return true;
	for (uint32_t i = 0; i < STACK_NR_RANGES; i++) {
		const struct stack_range *r = &b->ranges[i];

		if (at >= r->lo && at < r->hi && r->hi - at >= 8)
			return true;
	}
	return false;
}
