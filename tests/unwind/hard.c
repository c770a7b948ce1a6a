/* SPDX-License-Identifier: MIT */
/*
 * hard.c - the unwinder where there is little to stand on: in a handler on a stack of 8 KiB, with
 * all descriptors closed, without system calls, with a stack that it may not overrun.
 *
 * Linked with the unwinder and standin.c. Each stack has a frame that only libunwind can step out
 * of; on other machines than x86-64 an ordinary one. Prints a line for each check, "ok NAME" or "not ok NAME".
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "store/format.h"
#include "tests/programs/by_rbx.h"
#include "tests/unwind/standin.h"
#include "tracer/stackbounds.h"
#include "tracer/unwind.h"

#define DEPTH  128
#define EXPORT __attribute__((noinline, visibility("default")))

/* Whether frames that rows can't express go to libunwind, see fallback.c. */
#ifdef __x86_64__
#define LIBUNWIND true
#else
#define LIBUNWIND false
#endif

static struct unwind_thread *self;
static uint64_t pcs[DEPTH + 2];
static uint32_t nr_pcs, flags;
static volatile int sink;
static int failed;
static uintptr_t hook_sp;

EXPORT void capture(void);
EXPORT void in_handler(int sig);
EXPORT void interrupted(void);
EXPORT void outer(void (*function)(void));
EXPORT void middle(void);

static void check(const char *name, int ok)
{
	printf("%s %s\n", ok ? "ok" : "not ok", name);
	failed |= !ok;
	for (uint32_t i = 0; !ok && i < nr_pcs; i++) {
		Dl_info info = {0};

		dladdr((void *)(pcs[i] & ~HS_NODE_SIGNAL), &info);
		printf("# %#lx %s\n", (unsigned long)pcs[i], info.dli_sname ? info.dli_sname : "?");
	}
}

/* Stands for a hook. */
void capture(void)
{
	struct unwind_regs regs;
	uint32_t node;

	UNWIND_HERE(&regs);
	hook_sp = regs.sp;
	node = unwind_capture(self, DEPTH, &regs, &flags);
	nr_pcs = standin_frames(node, pcs, DEPTH + 2);
}

static void capture_it(int unused)
{
	(void)unused;
	capture();
}

void middle(void)
{
	by_rbx(capture_it, 0);
	sink++;
}

void outer(void (*function)(void))
{
	function();
	sink++;
}

/* Whether the stack has a frame of this function. */
static int has(const char *name)
{
	for (uint32_t i = 0; i < nr_pcs; i++) {
		uint64_t pc = pcs[i] & ~HS_NODE_SIGNAL;
		Dl_info info;

		if (pc >= HS_PC_FIRST_REAL && dladdr((void *)(pc - 1), &info) && info.dli_sname &&
		    !strcmp(info.dli_sname, name))
			return 1;
	}
	return 0;
}

static int whole(void)
{
	return flags == 0 && has("__libc_start_main") && has("middle") && has("by_rbx");
}

#if defined(__aarch64__) && defined(__ARM_FEATURE_PAC_DEFAULT)
/* Whether return addresses in memory are signed, as this code is built for. */
EXPORT bool is_signed(void);
bool is_signed(void)
{
	const uintptr_t *frame = __builtin_frame_address(0);

	sink++;
	getpid();
	return frame[1] >> 48;
}
#endif

/* ---- a small signal stack ---- */

void in_handler(int sig)
{
	outer(middle);
	sink += sig;
}

void interrupted(void)
{
	raise(SIGUSR1);
	sink++;
}

static void small_stack(void)
{
	struct sigaction sa = {.sa_handler = in_handler, .sa_flags = SA_ONSTACK};
	size_t page = 4096, size = 8192;
	char *map = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t alt = {.ss_sp = map + page, .ss_size = size};

	mprotect(map + page, size, PROT_READ | PROT_WRITE);
	sigaltstack(&alt, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < 3; i++) {
		nr_pcs = 0;
		outer(interrupted);
		check(i ? "small stack, again" : "small stack",
		      whole() && has("in_handler") && has("interrupted"));
	}
	unwind_forget();
	outer(interrupted);
	check("small stack, no row cached", whole() && has("interrupted"));
}

/* ---- how much of the host's stack it takes ---- */

static ucontext_t main_context, side_context;

EXPORT void on_side(void);
void on_side(void)
{
	outer(middle);
	sink++;
}

static void stack_use(const char *name)
{
	size_t size = 64 << 10;
	unsigned char *stack =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile size_t low = 0;
	size_t used;
	char line[100];

	memset(stack, 0xa5, size);
	getcontext(&side_context);
	side_context.uc_stack.ss_sp = stack;
	side_context.uc_stack.ss_size = size;
	side_context.uc_link = &main_context;
	makecontext(&side_context, on_side, 0);
	swapcontext(&main_context, &side_context);
	while (low < size && stack[low] == 0xa5)
		low++;
	used = hook_sp - (uintptr_t)(stack + low);
	snprintf(line, sizeof(line), "%s: %zu bytes of the host's stack, at most 2048", name, used);
	check(line, used <= 2048 && flags == 0 && has("by_rbx") && has("on_side"));
	stack_memory_changed((uintptr_t)stack, (uintptr_t)stack + size);
	munmap(stack, size);
}

/* ---- handlers that need their own stack ---- */

#define HANDLER_DEPTH ((size_t)200 << 10)

static struct {
	uintptr_t lo, hi; /* of the thread that is interrupted */
	volatile unsigned nr, strange; /* handlers run, those on another stack */
	volatile int end;
	pid_t tid;
} storm;

/* As a handler of a garbage collector: it takes its stack pointer for one of the thread's own. */
static void in_storm(int sig)
{
	volatile char deep[HANDLER_DEPTH];
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

	if (sp < storm.lo || sp >= storm.hi) {
		storm.strange++;
		return;
	}
	for (size_t i = 0; i < sizeof(deep); i += 4096)
		deep[i] = (char)sig;
	storm.nr++;
}

static void *send_storm(void *arg)
{
	while (!storm.end)
		syscall(SYS_tgkill, getpid(), storm.tid, SIGUSR2);
	return arg;
}

static void handlers(void)
{
	struct sigaction sa = {.sa_handler = in_storm};
	pthread_attr_t attr;
	pthread_t id;
	void *lo;
	size_t size;
	unsigned cut = 0, nr = 0;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &lo, &size);
	pthread_attr_destroy(&attr);
	storm.lo = (uintptr_t)lo;
	storm.hi = storm.lo + size;
	storm.tid = (pid_t)syscall(SYS_gettid);
	sigaction(SIGUSR2, &sa, NULL);
	pthread_create(&id, NULL, send_storm, NULL);
	for (; nr < 20000 || (storm.nr < 2000 && nr < 2000000); nr++) {
		outer(middle);
		cut += !whole();
	}
	storm.end = 1;
	pthread_join(id, NULL);
	printf("# %u stacks, %u handlers between and in them\n", nr, storm.nr);
	check("handlers run on the stack that is theirs",
	      storm.nr >= 2000 && !storm.strange && !cut);
}

/* ---- nothing open ---- */

static void closed_descriptors(void)
{
	char path[] = "hard.XXXXXX";
	int out = dup(1), data;
	struct stat st;

	fflush(stdout);
	fcntl(out, F_DUPFD, 1000);
	for (int fd = 0; fd < 1000; fd++)
		close(fd);
	/* the program's data takes the low numbers */
	data = mkstemp(path);
	for (int i = 0; i < 8; i++)
		dup(data);
	unwind_forget();
	outer(middle);
	fstat(data, &st);
	unlink(path);
	for (int fd = 0; fd < 1000; fd++)
		close(fd);
	dup2(1000, 0);
	dup2(1000, 1);
	dup2(1000, 2);
	check("all descriptors closed and used anew", whole() && st.st_size == 0);
}

/* The number that the next file would get. */
static int next_descriptor(void)
{
	int fd = open("/", O_RDONLY);

	close(fd);
	return fd;
}

/* Loading libunwind, with another thread that opens and closes what it can. */

static volatile int opening, opened_enough;
static int refused;

static void *open_and_close(void *arg)
{
	for (int fd; !opened_enough; opening = 1) {
		fd = open("/", O_RDONLY);
		refused += fd < 0;
		close(fd);
	}
	return arg;
}

static void load(void)
{
	struct sigaction sa = {.sa_handler = SIG_DFL};
	int next = next_descriptor();
	struct rlimit before, after;
	sigset_t pending, all, mask;
	pthread_t id;
	bool loaded;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	sigaction(SIGCHLD, &sa, NULL);
	getrlimit(RLIMIT_NOFILE, &before);
	pthread_create(&id, NULL, open_and_close, NULL);
	while (!opening)
		;
	errno = 77;
	unwind_start();
	loaded = unwind_load();
	check(LIBUNWIND ? "libunwind is there, errno as before" : "libunwind is not asked for",
	      loaded == LIBUNWIND && errno == 77);
	opened_enough = 1;
	pthread_join(id, NULL);
	check("no descriptor is kept, no other thread was refused one",
	      next_descriptor() == next && !refused);
	getrlimit(RLIMIT_NOFILE, &after);
	sigpending(&pending);
	check("no limit changed, no child, no signal",
	      after.rlim_cur == before.rlim_cur && waitpid(-1, NULL, __WALL) == -1 &&
		      errno == ECHILD && sigisemptyset(&pending));
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* ---- no system calls ---- */

static volatile int go;

EXPORT void *waiting_thread(void *arg);
void *waiting_thread(void *arg)
{
	void *own = arg;

	go = -1;
	while (go != 1)
		;
	self = own;
	outer(middle);
	go = 2;
	for (;;)
		;
	return NULL;
}

#define ALLOW(nr)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##nr, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Leaves what the tracer may call after its start, and rt_sigprocmask if that is asked for. */
static int forbid(int and_masks)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 and_masks ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW),
		ALLOW(mmap),
		ALLOW(munmap),
		ALLOW(madvise),
		ALLOW(futex),
		ALLOW(getpid),
		ALLOW(write),
		ALLOW(exit_group),
		ALLOW(prctl),
		ALLOW(seccomp),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			    &program);
}

static void *thread_memory(void)
{
	return mmap(NULL, unwind_thread_size(DEPTH), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void no_system_calls(void)
{
	pthread_t id;

	pthread_create(&id, NULL, waiting_thread, thread_memory());
	while (go != -1)
		;
	if (forbid(0)) {
		printf("ok no system calls # SKIP no seccomp here\n");
		return;
	}
	unwind_forget();
	outer(middle);
	check("no system calls", whole());
	go = 1;
	while (go != 2)
		;
	check("no system calls, another thread",
	      flags == 0 && has("middle") && has("by_rbx") && has("waiting_thread"));
	forbid(1);
	outer(middle);
	check("signals can't be blocked: cut where libunwind is needed",
	      LIBUNWIND ? flags == UNWIND_CUT && has("by_rbx") && !has("middle") : whole());
	outer(capture);
	check("signals can't be blocked: the others as ever",
	      flags == 0 && has("outer") && has("__libc_start_main"));
}

int main(void)
{
	static char buffer[8192];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	standin_start();
	load();
	self = thread_memory();
#if defined(__aarch64__) && defined(__ARM_FEATURE_PAC_DEFAULT)
	check("return addresses are signed", is_signed());
#endif
	stack_use("nothing cached");
	stack_use("rows cached");
	outer(middle);
	check("frame described by another register", whole());
	small_stack();
	handlers();
	closed_descriptors();
	no_system_calls();
	fflush(stdout);
	_exit(failed);
}
