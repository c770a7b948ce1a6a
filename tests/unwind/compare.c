/* SPDX-License-Identifier: MIT */
/*
 * compare.c - preload library that holds the unwinder against libunwind, frame by frame.
 *
 * At each malloc, calloc and realloc the stack is taken twice by our unwinder, with the memo and
 * without, and at each COMPARE_EVERY-th also by libunwind's unw_step(); on aarch64, where a cross
 * compiler brings no libunwind, by libgcc's _Unwind_Backtrace(). Counts, and the first stacks that
 * differ, go to the file COMPARE_OUT.PID at exit. Only for tests: libunwind unwinds locally here,
 * and the hooks do not bother about forks.
 */
#ifdef __aarch64__
#include <unwind.h>
#else
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/format.h"
#include "tests/unwind/standin.h"
#include "tracer/unwind.h"
#include "tracer/unwind_internal.h"

#define DEPTH	 256
#define NR_SHOWN 12
#define EXPORT	 __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *p, size_t size);

enum kind {
	KIND_EQUAL,
	KIND_CUT, /* ours was cut, theirs goes on */
	KIND_SHORT, /* ours ended, theirs goes on */
	KIND_LONG, /* theirs ended, ours goes on */
	KIND_DIFFER, /* a frame is another */
	KIND_LOST, /* ours has no frame, or theirs did not come to the hook's caller */
	NR_KINDS,
};

static const char *const kind_names[NR_KINDS] = {"equal", "cut", "short", "long", "differ", "lost"};

struct stack {
	uint32_t nr;
	uint32_t flags;
	uint64_t pcs[DEPTH + 2];
};

struct state {
	int busy;
	uint64_t events;
	struct unwind_thread *memo, *plain;
	struct stack ours, theirs, other;
};

static struct {
	int ready;
	uint64_t every;
	uint64_t events, compared, frames;
	uint64_t memo_differs;
	uint64_t kinds[NR_KINDS];
	uint64_t cut_stacks;
	int nr_shown;
	char shown[NR_SHOWN][8192];
#ifdef __aarch64__
	__typeof__(_Unwind_Backtrace) *backtrace;
	__typeof__(_Unwind_GetIP) *get_ip;
	__typeof__(_Unwind_GetCFA) *get_cfa;
#else
	int (*init_local)(unw_cursor_t *, unw_context_t *);
	int (*step)(unw_cursor_t *);
	int (*get_reg)(unw_cursor_t *, int, unw_word_t *);
	int (*get_context)(unw_context_t *);
#endif
} compare;

static __thread struct state *self __attribute__((tls_model("initial-exec")));

static void count(uint64_t *n, uint64_t by)
{
	__atomic_add_fetch(n, by, __ATOMIC_RELAXED);
}

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static struct state *state_new(void)
{
	struct state *s = map(sizeof(*s));
	char *p = map(2 * unwind_thread_size(DEPTH));

	s->memo = (void *)p;
	s->plain = (void *)(p + unwind_thread_size(DEPTH));
	unwind_without_memo(s->plain);
	return s;
}

static void take(struct unwind_thread *u, const struct unwind_regs *regs, struct stack *ret)
{
	uint32_t node = unwind_capture(u, DEPTH, regs, &ret->flags);

	ret->nr = standin_frames(node, ret->pcs, DEPTH + 2);
	if (ret->nr && ret->pcs[ret->nr - 1] < HS_PC_FIRST_REAL)
		ret->nr--;
	for (uint32_t i = 0; i < ret->nr; i++)
		ret->pcs[i] &= ~HS_NODE_SIGNAL;
}

#ifdef __aarch64__

struct walk {
	const struct unwind_regs *regs;
	struct stack *stack;
	bool found;
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *arg)
{
	struct walk *w = arg;
	uintptr_t pc = compare.get_ip(context);

	w->found |= pc == w->regs->pc && compare.get_cfa(context) == w->regs->sp;
	if (w->found && pc)
		w->stack->pcs[w->stack->nr++] = pc;
	return w->stack->nr < DEPTH + 1 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static __attribute__((noinline)) void take_theirs(const struct unwind_regs *regs, struct stack *ret)
{
	struct walk w = {regs, ret, false};

	ret->nr = 0;
	compare.backtrace(take_frame, &w);
}

#else

static __attribute__((noinline)) void take_theirs(const struct unwind_regs *regs, struct stack *ret)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip, sp;
	int found = 0;

	ret->nr = 0;
	compare.get_context(&context);
	if (compare.init_local(&cursor, &context))
		return;
	do {
		compare.get_reg(&cursor, UNW_REG_IP, &ip);
		compare.get_reg(&cursor, UNW_REG_SP, &sp);
		found |= ip == regs->pc && sp == regs->sp;
		if (found && ip)
			ret->pcs[ret->nr++] = ip;
	} while (ret->nr < DEPTH + 1 && compare.step(&cursor) > 0);
}

#endif

static enum kind judge(const struct stack *ours, const struct stack *theirs)
{
	uint32_t n = ours->nr < theirs->nr ? ours->nr : theirs->nr;

	if (!n)
		return KIND_LOST;
	for (uint32_t i = 0; i < n; i++)
		if (ours->pcs[i] != theirs->pcs[i])
			return KIND_DIFFER;
	if (ours->nr > n)
		return KIND_LONG;
	if (theirs->nr > n && !(ours->flags & UNWIND_CUT_DEPTH))
		return ours->flags & UNWIND_CUT ? KIND_CUT : KIND_SHORT;
	return KIND_EQUAL;
}

static size_t show_stack(char *to, size_t size, const char *name, const struct stack *s)
{
	size_t at = 0;

	for (uint32_t i = 0; i < s->nr && at + 160 < size; i++) {
		Dl_info info;

		if (!dladdr((void *)s->pcs[i], &info))
			memset(&info, 0, sizeof(info));
		at += (size_t)snprintf(to + at, size - at, "  %s #%u %lx %.60s %.60s+%lx\n", name,
				       i, (unsigned long)s->pcs[i],
				       info.dli_sname ? info.dli_sname : "?",
				       info.dli_fname ? info.dli_fname : "?",
				       (unsigned long)(s->pcs[i] - (uintptr_t)info.dli_fbase));
	}
	return at;
}

static void show(const char *what, const struct stack *a, const struct stack *b)
{
	int i = __atomic_fetch_add(&compare.nr_shown, 1, __ATOMIC_RELAXED);
	char *to;
	size_t at;

	if (i >= NR_SHOWN)
		return;
	to = compare.shown[i];
	at = (size_t)snprintf(to, 100, "%s:\n", what);
	at += show_stack(to + at, 4000, "ours", a);
	show_stack(to + at, 4000, "theirs", b);
}

static __attribute__((noinline)) void event(const struct unwind_regs *regs)
{
	struct state *s = self;
	enum kind kind;

	if (!compare.ready)
		return;
	if (!s)
		self = s = state_new();
	if (s->busy)
		return;
	s->busy = 1;
	s->events++;
	count(&compare.events, 1);
	take(s->memo, regs, &s->ours);
	take(s->plain, regs, &s->other);
	count(&compare.cut_stacks, (s->ours.flags & UNWIND_CUT) != 0);
	if (s->ours.nr != s->other.nr || s->ours.flags != s->other.flags ||
	    memcmp(s->ours.pcs, s->other.pcs, s->ours.nr * sizeof(s->ours.pcs[0]))) {
		count(&compare.memo_differs, 1);
		show("memo differs", &s->ours, &s->other);
	}
	if (s->events % compare.every == 0) {
		take_theirs(regs, &s->theirs);
		kind = judge(&s->ours, &s->theirs);
		count(&compare.compared, 1);
		count(&compare.frames, s->ours.nr);
		count(&compare.kinds[kind], 1);
		if (kind != KIND_EQUAL)
			show(kind_names[kind], &s->ours, &s->theirs);
	}
	s->busy = 0;
}

EXPORT void *malloc(size_t size)
{
	struct unwind_regs regs;

	UNWIND_HERE(&regs);
	event(&regs);
	return __libc_malloc(size);
}

EXPORT void *calloc(size_t nr, size_t size)
{
	struct unwind_regs regs;

	UNWIND_HERE(&regs);
	event(&regs);
	return __libc_calloc(nr, size);
}

EXPORT void *realloc(void *p, size_t size)
{
	struct unwind_regs regs;

	UNWIND_HERE(&regs);
	event(&regs);
	return __libc_realloc(p, size);
}

EXPORT int munmap(void *p, size_t size)
{
	stack_memory_changed((uintptr_t)p, (uintptr_t)p + size);
	return (int)syscall(SYS_munmap, p, size);
}

EXPORT int dlclose(void *handle)
{
	int (*next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
	int ret = next(handle);

	unwind_forget();
	return ret;
}

static void *symbol(void *handle, const char *name)
{
	void *p = dlsym(handle, name);

	if (!p)
		_exit(99);
	return p;
}

static void find_theirs(void)
{
#ifdef __aarch64__
	void *handle = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		_exit(99);
	compare.backtrace = symbol(handle, "_Unwind_Backtrace");
	compare.get_ip = symbol(handle, "_Unwind_GetIP");
	compare.get_cfa = symbol(handle, "_Unwind_GetCFA");
#else
	void *handle = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		_exit(99);
	compare.init_local = symbol(handle, "_ULx86_64_init_local");
	compare.step = symbol(handle, "_ULx86_64_step");
	compare.get_reg = symbol(handle, "_ULx86_64_get_reg");
	compare.get_context = symbol(handle, "_Ux86_64_getcontext");
#endif
}

static __attribute__((constructor)) void start(void)
{
	const char *every = getenv("COMPARE_EVERY");

	find_theirs();
	compare.every = every ? strtoul(every, NULL, 10) : 1;
	standin_start();
	unwind_start();
	unwind_load();
	compare.ready = 1;
}

static __attribute__((destructor)) void stop(void)
{
	const char *out = getenv("COMPARE_OUT");
	char path[4096];
	FILE *f;

	compare.ready = 0;
	if (!out)
		return;
	snprintf(path, sizeof(path), "%s.%d", out, (int)getpid());
	f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f,
		"events %lu\ncompared %lu\nframes %lu\nnodes %u\nmemo_differs %lu\ncut_stacks "
		"%lu\n",
		compare.events, compare.compared, compare.frames, standin_nr_nodes(),
		compare.memo_differs, compare.cut_stacks);
	for (int i = 0; i < NR_KINDS; i++)
		fprintf(f, "%s %lu\n", kind_names[i], compare.kinds[i]);
	for (int i = 0; i < compare.nr_shown && i < NR_SHOWN; i++)
		fprintf(f, "\n%s", compare.shown[i]);
	fclose(f);
}
