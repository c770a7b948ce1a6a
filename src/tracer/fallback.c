/* SPDX-License-Identifier: MIT */
/*
 * fallback.c - steps out of frames that rows can't express, by libunwind.
 *
 * Runs on any thread of the traced program, perhaps in a signal handler. A frame that rows can't
 * express needs registers that rows do not follow, so libunwind starts at our own frame, with the
 * registers as they are, walks out to the frame in question, and one step further; from there
 * rows go on. All memory it reads comes through access_mem(), which knows what may be read.
 *
 * It runs on a stack of the tracer's, as it takes more than a host's may have; there are a few of
 * them, each under a lock that is tried once. Signals are blocked meanwhile: a handler of the host
 * may need more than is left there, may take the stack pointer for one of its own stack (garbage
 * collectors that stop threads do), or never come back. Where that is refused there is no walk.
 *
 * Only x86-64 has the few instructions of assembly that this takes. On other machines such a
 * frame is the end of the stack; their rows express nearly everything.
 */
#include "tracer/fallback.h"

#include "tracer/unwind_internal.h"

#if defined(__x86_64__)

#include <dlfcn.h>
#include <errno.h>
#include <libunwind.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "tracer/ehframe.h"
#include "tracer/module.h"
#include "tracer/rows.h"
#include "tracer/sys.h"
#include "tracer/unwind.h"

#define SCRATCH_SIZE ((size_t)64 << 10)
#define GUARD_SIZE   ((size_t)4 << 10) /* below each of them */
#define NR_SCRATCH   4u
#define MAX_STEPS    512

/* Callee-saved registers, as the instructions in read_registers() store them. */
struct registers {
	uintptr_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
};

/* One use of libunwind, and the stack that it runs on. */
struct walk {
	uint32_t busy; /* the lock */
	char *top; /* of its stack */
	struct cursor *c;
	struct registers regs;
	struct rows_image image; /* of the module that was asked for last */
	unw_cursor_t cursor;
	uintptr_t pc, sp, fp; /* result */
	bool interrupted;
	bool found;
};

static struct {
	bool ready;
	struct walk walks[NR_SCRATCH];
	unw_addr_space_t space;
	__typeof__(unw_create_addr_space) *create_addr_space;
	__typeof__(unw_set_caching_policy) *set_caching_policy;
	__typeof__(unw_init_remote) *init_remote;
	__typeof__(unw_step) *step;
	__typeof__(unw_get_reg) *get_reg;
	__typeof__(unw_is_signal_frame) *is_signal_frame;
	int (*search_unwind_table)(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *info,
				   unw_proc_info_t *ret_info, int need_unwind_info, void *arg);
} fallback;

/* ---- what libunwind asks us ---- */

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *ret_info,
			  int need_unwind_info, void *arg)
{
	struct walk *w = arg;
	struct module_unwind module;
	unw_dyn_info_t info;
	uintptr_t table;
	uint64_t nr;

	if (!module_find(ip, &module) || !module.eh_frame_hdr || !rows_image(&module, &w->image) ||
	    !ehframe_table(&w->image, &table, &nr))
		return -UNW_ENOINFO;
	__builtin_memset(&info, 0, sizeof(info));
	info.start_ip = module.start;
	info.end_ip = module.end;
	info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	info.u.rti.segbase = module.eh_frame_hdr;
	info.u.rti.table_data = table;
	info.u.rti.table_len = nr * 8 / sizeof(unw_word_t);
	return fallback.search_unwind_table(space, ip, &info, ret_info, need_unwind_info, arg);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
	(void)space;
	(void)info;
	(void)arg;
}

static int get_dyn_info_list_addr(unw_addr_space_t space, unw_word_t *ret, void *arg)
{
	(void)space;
	(void)ret;
	(void)arg;
	return -UNW_ENOINFO;
}

static bool in_image(const struct rows_image *image, uintptr_t at)
{
	for (uint32_t i = 0; i < image->nr_spans; i++)
		if (at >= image->spans[i].start && at < image->spans[i].end &&
		    image->spans[i].end - at >= sizeof(unw_word_t))
			return true;
	return false;
}

static int access_mem(unw_addr_space_t space, unw_word_t at, unw_word_t *value, int write,
		      void *arg)
{
	struct walk *w = arg;
	struct cursor *c = w->c;

	(void)space;
	if (write)
		return -UNW_EREADONLYREG;
	/* our own frames and the host's inner ones lie below what the cursor has come to */
	if ((at >= w->regs.rsp && at < c->regs->sp && c->regs->sp - at >= sizeof(*value)) ||
	    (at >= c->lo && at < c->hi && c->hi - at >= sizeof(*value)) || stack_known(c, at) ||
	    in_image(&w->image, at)) {
		*value = *(const unw_word_t *)at;
		return 0;
	}
	return -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *value, int write,
		      void *arg)
{
	const struct registers *r = &((struct walk *)arg)->regs;

	(void)space;
	if (write)
		return -UNW_EREADONLYREG;
	switch (reg) {
	case UNW_X86_64_RBX:
		*value = r->rbx;
		return 0;
	case UNW_X86_64_RBP:
		*value = r->rbp;
		return 0;
	case UNW_X86_64_R12:
		*value = r->r12;
		return 0;
	case UNW_X86_64_R13:
		*value = r->r13;
		return 0;
	case UNW_X86_64_R14:
		*value = r->r14;
		return 0;
	case UNW_X86_64_R15:
		*value = r->r15;
		return 0;
	case UNW_X86_64_RSP:
		*value = r->rsp;
		return 0;
	case UNW_X86_64_RIP:
		*value = r->rip;
		return 0;
	default:
		/* clobbered by the calls on the way here */
		return -UNW_EBADREG;
	}
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value, int write,
			void *arg)
{
	(void)space;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	(void)space;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t at, char *ret_name, size_t size,
			 unw_word_t *ret_off, void *arg)
{
	(void)space;
	(void)at;
	(void)ret_name;
	(void)size;
	(void)ret_off;
	(void)arg;
	return -UNW_ENOINFO;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_proc_info,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = get_dyn_info_list_addr,
	.access_mem = access_mem,
	.access_reg = access_reg,
	.access_fpreg = access_fpreg,
	.resume = resume,
	.get_proc_name = get_proc_name,
};

/* ---- a walk ---- */

static bool at_cursor(unw_cursor_t *cursor, const struct cursor *c)
{
	unw_word_t ip, sp;

	return !fallback.get_reg(cursor, UNW_REG_IP, &ip) &&
	       !fallback.get_reg(cursor, UNW_REG_SP, &sp) && ip == c->pc && sp == c->sp;
}

/* On the scratch stack. */
static void walk(void *arg)
{
	struct walk *w = arg;
	unw_cursor_t *cursor = &w->cursor;
	unw_word_t ip, sp, fp;

	if (fallback.init_remote(cursor, fallback.space, w))
		return;
	for (uint32_t i = 0; !at_cursor(cursor, w->c); i++)
		if (i == MAX_STEPS || fallback.step(cursor) <= 0)
			return;
	w->interrupted = fallback.is_signal_frame(cursor) > 0;
	if (fallback.step(cursor) <= 0 || fallback.get_reg(cursor, UNW_REG_IP, &ip) ||
	    fallback.get_reg(cursor, UNW_REG_SP, &sp) ||
	    fallback.get_reg(cursor, UNW_X86_64_RBP, &fp))
		return;
	w->pc = ip;
	w->sp = sp;
	w->fp = fp;
	w->found = true;
}

/*
 * Calls walk(w) on the stack that ends at top. The frame address makes the compiler describe this
 * frame by rbp, so that whoever unwinds from inside finds the way back.
 */
static __attribute__((noinline)) void call_on_stack(struct walk *w, char *top)
{
	void *frame = __builtin_frame_address(0);

	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "callq *%[function]\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(w), "+r"(frame)
			 : [top] "r"(top), [function] "r"(walk)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory",
			   "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
			   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

/* The registers at the end of these instructions, in the frame of whom it is inlined into. */
#define READ_REGISTERS(r)                            \
	__asm__ volatile("movq %%rbx, 0(%[to])\n\t"  \
			 "movq %%rbp, 8(%[to])\n\t"  \
			 "movq %%r12, 16(%[to])\n\t" \
			 "movq %%r13, 24(%[to])\n\t" \
			 "movq %%r14, 32(%[to])\n\t" \
			 "movq %%r15, 40(%[to])\n\t" \
			 "movq %%rsp, 48(%[to])\n\t" \
			 "leaq 0f(%%rip), %%rax\n\t" \
			 "movq %%rax, 56(%[to])\n"   \
			 "0:"                        \
			 :                           \
			 : [to] "r"(r)               \
			 : "rax", "memory")

static struct walk *walk_take(void)
{
	for (uint32_t i = 0; i < NR_SCRATCH; i++)
		if (!__atomic_exchange_n(&fallback.walks[i].busy, 1, __ATOMIC_ACQUIRE))
			return &fallback.walks[i];
	return NULL;
}

__attribute__((noinline)) bool fallback_step(struct cursor *c)
{
	struct walk *w;
	uint64_t mask;
	bool ok = false;

	if (!fallback.ready || sys_block_signals(&mask))
		return false;
	w = walk_take();
	if (w) {
		w->c = c;
		w->image.nr_spans = 0;
		w->found = false;
		READ_REGISTERS(&w->regs);
		call_on_stack(w, w->top);
		ok = w->found && w->sp > c->sp && !(w->sp & 7);
		if (ok) {
			c->pc = w->pc;
			c->sp = w->sp;
			c->fp = w->fp;
			c->slot = w->sp - 8;
			c->sp_off = 1;
			c->interrupted = w->interrupted;
		}
		__atomic_store_n(&w->busy, 0, __ATOMIC_RELEASE);
	}
	sys_restore_signals(mask);
	return ok;
}

#define STRING(x) #x
#define EXPAND(x) STRING(x)
#define FIND(member, name)                                                                        \
	((fallback.member = (__typeof__(fallback.member))dlsym(handle, EXPAND(UNW_OBJ(name)))) != \
	 NULL)

static int set_up(void *arg)
{
	(void)arg;
	if (sys_setrlimit(RLIMIT_NOFILE, 0, 0))
		return 1;
	fallback.set_caching_policy(fallback.space, UNW_CACHE_NONE);
	fallback.ready = true;
	return 0;
}

/*
 * Has libunwind set itself up. It would open a pipe, for its local address space, which is never
 * used here; that would take two of the program's descriptors. So it runs as vfork's child does:
 * in this memory, but with descriptors and limits of its own, by which it can open nothing.
 * Where the memory is not shared after all (emulators make a fork of this), ready stays false.
 */
static void set_up_aside(void)
{
	uint64_t mask;
	int pid;

	if (sys_block_signals(&mask))
		return; /* one that ended it half done would leave a lock behind */
	pid = clone(set_up, fallback.walks[0].top, CLONE_VM | CLONE_VFORK, NULL);
	if (pid > 0)
		sys_wait_clone(pid);
	sys_restore_signals(mask);
}

static bool make_stacks(void)
{
	for (uint32_t i = 0; i < NR_SCRATCH; i++) {
		char *stack = sys_map(GUARD_SIZE + SCRATCH_SIZE);

		if (!stack || sys_forbid(stack, GUARD_SIZE))
			return false;
		fallback.walks[i].top = stack + GUARD_SIZE + SCRATCH_SIZE;
	}
	return true;
}

static bool load(void)
{
	/* the one that takes accessors; libunwind.so.8 itself knows only the local address space */
	void *handle = dlopen("libunwind-x86_64.so.8", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return false;
	if (!FIND(create_addr_space, create_addr_space) ||
	    !FIND(set_caching_policy, set_caching_policy) || !FIND(init_remote, init_remote) ||
	    !FIND(step, step) || !FIND(get_reg, get_reg) ||
	    !FIND(is_signal_frame, is_signal_frame) ||
	    !FIND(search_unwind_table, dwarf_search_unwind_table))
		return false;
	fallback.space = fallback.create_addr_space(&accessors, 0);
	return fallback.space != NULL;
}

bool fallback_start(void)
{
	int saved = errno;

	if (load() && make_stacks())
		set_up_aside();
	errno = saved;
	return fallback.ready;
}

#else

bool fallback_start(void)
{
	return false;
}

bool fallback_step(struct cursor *c)
{
	(void)c;
	return false;
}

#endif
