/* SPDX-License-Identifier: MIT */
/*
 * stackbounds.c - where a thread's stacks lie: what the unwinder may read of them.
 *
 * Runs in any thread of the traced program, with `in` set. See stackbounds.h.
 *
 * Why reading is safe. A frame that is still to be returned to is mapped. A step by unwind data
 * reads such frames only, so a stack is probed once, when it is met, against wrong unwind data.
 * What is known is forgotten when the memory changes: by the hooks of mmap, munmap, mremap,
 * mprotect and brk, and of the malloc family where a large block comes or goes inside the hull of
 * known foreign stacks. Memory that changes unseen (an allocator that unmaps a block which is
 * free, a raw system call) leaves a stale range; but a new stack in that place comes by one of
 * those hooks again, and until then no frame lies there.
 * A step that is a guess (code without unwind data, whose frame pointer may be anything) never
 * leaves the page of a foreign stack to which steps by unwind data have come: what was known of
 * the next page may be stale, and what a probe says of it may be past before it is read, as other
 * threads unmap memory. The thread's own stack outward from where it runs is in use, to its end.
 */
#include "tracer/stackbounds.h"

#include <pthread.h>
#include <sys/auxv.h>

#include "tracer/sys.h"
#include "tracer/unwind.h"
#include "tracer/unwind_internal.h"

extern void *__libc_stack_end;

/* How far below what is known of its own stack a thread may turn up, to be looked for there. */
#define OWN_STEP (1u << 20)
/* How far apart two frames of one foreign stack may be. */
#define MAX_FRAME  (8u << 20)
#define PROBE_STEP ((uintptr_t)64 << 10)

/* The kernel maps nothing that near below the top of the first thread's stack. */
#define MAIN_LEAST (8u << 20)

/* Changes that are kept; a thread that comes later than that forgets everything. */
#define NR_CHANGES 64u

/* Where struct pthread may have what we look for, in bytes. */
#define DESCRIPTOR_START 256
#define DESCRIPTOR_END	 1792
/* How far above a thread's descriptor its stack block may end. */
#define MAX_ABOVE (1u << 20)

struct stack_changes stack_changes = { .lo = UINTPTR_MAX };

static struct {
	uint32_t lock;
	struct {
		uintptr_t start, end;
	} ring[NR_CHANGES];
} changes;

static struct {
	uintptr_t page;
	uintptr_t main_thread; /* pthread_self() of the first thread */
	uintptr_t main_top;
	size_t block_offset; /* in struct pthread, of start and size of the stack; 0: not known */
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

/* ---- memory that comes and goes ---- */

/*
 * One writer at a time. A second one, perhaps a signal handler in the first, does not wait: it
 * makes all threads forget everything, by a count that none can have kept up with. That is a
 * multiple of NR_CHANGES, so that the first one's change still is where it belongs.
 */
void stack_memory_changed(uintptr_t start, uintptr_t end)
{
	uint64_t nr;

	if (__atomic_exchange_n(&changes.lock, 1, __ATOMIC_ACQUIRE)) {
		__atomic_fetch_add(&stack_changes.count, 2 * NR_CHANGES, __ATOMIC_RELEASE);
		return;
	}
	nr = __atomic_load_n(&stack_changes.count, __ATOMIC_RELAXED) + 1;
	__atomic_store_n(&changes.ring[nr % NR_CHANGES].start, start, __ATOMIC_RELAXED);
	__atomic_store_n(&changes.ring[nr % NR_CHANGES].end, end, __ATOMIC_RELAXED);
	__atomic_fetch_add(&stack_changes.count, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&changes.lock, 0, __ATOMIC_RELEASE);
}

void stack_changes_reset(void)
{
	__atomic_store_n(&changes.lock, 0, __ATOMIC_RELAXED);
}

/* Forgets what has a page in common with [start, end). */
static void forget(struct stack_bounds *b, uintptr_t start, uintptr_t end)
{
	start = page_floor(start);
	end = end > UINTPTR_MAX - known.page ? UINTPTR_MAX : page_floor(end + known.page - 1);
	if (start < b->own_hi && end > b->own_lo)
		b->own_lo = b->own_hi;
	for (uint32_t i = 0; i < STACK_NR_RANGES; i++) {
		struct stack_range *r = &b->ranges[i];

		if (start < r->hi && end > r->lo)
			r->lo = r->hi = 0;
	}
}

/* The writer may be at the place of the change that is NR_CHANGES older than its own. */
void stack_bounds_refresh(struct stack_bounds *b)
{
	uint64_t count = __atomic_load_n(&stack_changes.count, __ATOMIC_ACQUIRE);

	if (count - b->seen < NR_CHANGES)
		for (uint64_t i = b->seen + 1; i <= count; i++)
			forget(b,
			       __atomic_load_n(&changes.ring[i % NR_CHANGES].start,
					       __ATOMIC_RELAXED),
			       __atomic_load_n(&changes.ring[i % NR_CHANGES].end, __ATOMIC_RELAXED));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&stack_changes.count, __ATOMIC_RELAXED) - b->seen >= NR_CHANGES)
		forget(b, 0, UINTPTR_MAX);
	b->seen = count;
}

/* Foreign stacks reach from lo to hi, among others. */
static void widen_hull(uintptr_t lo, uintptr_t hi)
{
	uintptr_t old = __atomic_load_n(&stack_changes.lo, __ATOMIC_RELAXED);

	while (lo < old && !__atomic_compare_exchange_n(&stack_changes.lo, &old, lo, true,
							__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	old = __atomic_load_n(&stack_changes.hi, __ATOMIC_RELAXED);
	while (hi > old && !__atomic_compare_exchange_n(&stack_changes.hi, &old, hi, true,
							__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* ---- the thread's own stack ---- */

static uintptr_t descriptor_word(uintptr_t self, size_t offset)
{
	return *(const uintptr_t *)(self + offset);
}

/*
 * glibc keeps start and size of a thread's stack block in its struct pthread; the first thread's
 * are 0 and __libc_stack_end, which tells where. 0: not found, or not without doubt.
 */
static size_t find_block_offset(uintptr_t self, uintptr_t top)
{
	size_t found = 0;

	for (size_t off = DESCRIPTOR_START; off < DESCRIPTOR_END; off += sizeof(uintptr_t)) {
		if (descriptor_word(self, off) != 0 ||
		    descriptor_word(self, off + sizeof(uintptr_t)) != top)
			continue;
		if (found)
			return 0;
		found = off;
	}
	return found;
}

void stack_bounds_init(void)
{
	unsigned long page = getauxval(AT_PAGESZ);

	if (page)
		known.page = page;
	known.main_thread = (uintptr_t)pthread_self();
	known.main_top = (uintptr_t)__libc_stack_end;
	known.block_offset = find_block_offset(known.main_thread, known.main_top);
}

/* Where the stack of the thread with this descriptor ends; 0: what is there can't be its block. */
static uintptr_t own_limit(uintptr_t self)
{
	uintptr_t block, size;

	if (!known.block_offset)
		return 0;
	block = descriptor_word(self, known.block_offset);
	size = descriptor_word(self, known.block_offset + sizeof(uintptr_t));
	if (!block || block >= self || size <= self - block ||
	    size - (self - block) > MAX_ABOVE)
		return 0;
	return block;
}

bool stack_surely_own(uintptr_t at)
{
	uintptr_t self = (uintptr_t)pthread_self(), limit;

	if (self == known.main_thread)
		return at < known.main_top && known.main_top - at <= MAIN_LEAST;
	limit = own_limit(self);
	return limit && at >= limit && at < self;
}

void stack_bounds_start(struct stack_bounds *b)
{
	uintptr_t self = (uintptr_t)pthread_self();
	bool is_main = self == known.main_thread;

	b->own_hi = (is_main ? known.main_top : self) & ~(uintptr_t)15;
	b->own_lo = b->own_hi;
	b->own_min = is_main ? 0 : page_floor(own_limit(self));
	forget(b, 0, UINTPTR_MAX);
	b->seen = __atomic_load_n(&stack_changes.count, __ATOMIC_ACQUIRE);
}

static bool own_grow(struct stack_bounds *b, uintptr_t at)
{
	uintptr_t lo = page_floor(at);

	if (at >= b->own_lo || at < b->own_min || b->own_lo - at > OWN_STEP)
		return false;
	if (!probe(lo, page_floor(b->own_lo + known.page - 1)))
		return false;
	b->own_lo = lo;
	return true;
}

/* ---- other stacks ---- */

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
			widen_hull(r->lo, r->hi);
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
		widen_hull(r->lo, r->hi);
	}
	c->range = r;
	c->lo = r->lo;
	c->hi = r->hi;
	if (c->unsure)
		c->hi = c->lo; /* that the stack is there at all is a guess */
}

__attribute__((noinline)) void stack_distrust(struct cursor *c)
{
	uintptr_t end = page_floor(c->sp - 8) + known.page;

	if (c->hi > end)
		c->hi = end;
	c->no_memo = true;
}

/* Probes from `hi` on up to `need`, or to a page that is not there; returns how far it came. */
static uintptr_t probe_up(uintptr_t hi, uintptr_t need)
{
	uintptr_t step = PROBE_STEP;

	while (hi < need) {
		uintptr_t next = page_floor(need + known.page - 1);

		if (next - hi > step)
			next = hi + step;
		if (probe(hi, next))
			hi = next;
		else if (next - hi > known.page)
			step = known.page;
		else
			break;
	}
	return hi;
}

/* c has come to own_lo, on memory that is contiguous: it was the thread's own stack after all. */
static bool own_reached(struct cursor *c, uintptr_t hi)
{
	struct stack_bounds *b = c->bounds;

	return hi >= b->own_lo && c->lo < b->own_lo && c->lo >= b->own_min;
}

__attribute__((noinline)) bool cursor_extend(struct cursor *c, uintptr_t need)
{
	struct stack_bounds *b = c->bounds;
	struct stack_range *r = c->range;

	if (!r || c->unsure || need < c->hi || need - c->hi > MAX_FRAME)
		return false;
	/* the range may have been given to another stack since */
	if (r->lo != c->lo || r->hi < c->hi)
		r = NULL;
	else if (r->hi >= need || r->final) {
		c->hi = r->hi;
		return c->hi >= need;
	}
	c->hi = probe_up(c->hi, need);
	if (own_reached(c, c->hi)) {
		b->own_lo = c->lo;
		c->hi = b->own_hi;
		c->range = NULL;
		if (r)
			r->lo = r->hi = 0;
	} else if (r) {
		r->hi = c->hi;
		r->final = c->hi < need;
		widen_hull(r->lo, r->hi);
	}
	return c->hi >= need;
}

bool stack_known(const struct cursor *c, uintptr_t at)
{
	const struct stack_bounds *b = c->bounds;
	uintptr_t first = c->regs->sp - 8;

	if (at >= b->own_lo && at < b->own_hi && b->own_hi - at >= 8)
		return true;
	for (uint32_t i = 0; i < STACK_NR_RANGES; i++) {
		const struct stack_range *r = &b->ranges[i];

		if (first >= r->lo && first < r->hi)
			return at >= r->lo && at < r->hi && r->hi - at >= 8;
	}
	return false;
}
