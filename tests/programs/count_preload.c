/* SPDX-License-Identifier: MIT */
/*
 * count_preload.c - the second witness: keeps address and asked size of every live block.
 *
 * Stands after the tracer in LD_PRELOAD and sees what the tracer passes on. Its table lies in a
 * shared mapping of the file $COUNT_FILE.PID, so it is there after any end of the process: slots
 * of two 64-bit words, address and size + 1 (0: freed). A slot keeps its address for ever and is
 * used again by the next block there, whose owner is its only writer; so there is no lock. What is
 * called from inside an allocator (operator new calls malloc) is not counted again.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS	  (UINT64_C(1) << 23)
#define EXPORT(x) __asm__(x) __attribute__((visibility("default")))

static struct slot {
	uint64_t address;
	uint64_t size1;
} * table;

static int started; /* the file was opened, or there is none to open */
static char *owner; /* a page that reads 0 in a child made by fork */
static __thread int depth __attribute__((tls_model("initial-exec")));
static char boot[65536] __attribute__((aligned(16)));
static size_t boot_used;
static void *next_malloc, *next_aligned, *next_free; /* where there is no operator new */

/* By hand: at the first call libc may not have set up environ. */
static int file_name(char *name, size_t size)
{
	static char env[1 << 20];
	int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	ssize_t n = 0, got;

	while (fd >= 0 && (got = read(fd, env + n, sizeof(env) - 1 - (size_t)n)) > 0)
		n += got;
	close(fd);
	for (char *p = env; p < env + n; p += strlen(p) + 1)
		if (!strncmp(p, "COUNT_FILE=", 11))
			return snprintf(name, size, "%s.%d", p + 11, (int)getpid());
	return 0;
}

static void start(void)
{
	int saved = errno, fd = -1;
	char name[4096];

	started = 1;
	if (file_name(name, sizeof(name)) > 0)
		fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0 && !ftruncate(fd, SLOTS * sizeof(*table))) {
		void *t = mmap(NULL, SLOTS * sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			       0);

		owner = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
		if (t == MAP_FAILED || owner == MAP_FAILED || madvise(owner, 4096, MADV_WIPEONFORK))
			_exit(98);
		*owner = 1;
		table = t;
	}
	close(fd);
	errno = saved;
}

static void enter(void)
{
	if (!depth++ && !started)
		start();
}

static void leave(int *unused)
{
	(void)unused;
	depth--;
}

/* Also runs when an exception passes through. */
#define GUARD                                          \
	int guard __attribute__((cleanup(leave))) = 0; \
	enter()

/* Sets what is known of p, returns what was: size + 1, 0 for no live block. */
static uint64_t put(void *p, uint64_t size1)
{
	uint64_t address = (uint64_t)(uintptr_t)p, old = 0;
	uint64_t i = address / 16 % SLOTS;

	if (!p || !table || !*owner || depth != 1)
		return 0;
	for (uint64_t n = 0; n < SLOTS; n++, i = (i + 1) % SLOTS) {
		uint64_t there = __atomic_load_n(&table[i].address, __ATOMIC_ACQUIRE);

		if (!there && !size1)
			return 0; /* born before the first call */
		if (!there && __atomic_compare_exchange_n(&table[i].address, &there, address, 0,
							  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			there = address;
		if (there == address) {
			old = table[i].size1;
			__atomic_store_n(&table[i].size1, size1, __ATOMIC_RELEASE);
			return old;
		}
	}
	_exit(97);
}

static void *born(void *p, size_t size)
{
	put(p, (uint64_t)size + 1);
	return p;
}

/* What dlsym() itself may ask for; never given back. */
static void *boot_alloc(size_t size)
{
	void *p = boot + boot_used;

	boot_used += (size + 31) & ~(size_t)15;
	return boot_used <= sizeof(boot) ? p : NULL;
}

static int in_boot(const void *p)
{
	return (const char *)p >= boot && (const char *)p < boot + sizeof(boot);
}

/* The next definition of a function, or NULL: while it is looked up, or where there is none. */
static void *find(void **next, const char *symbol)
{
	static __thread int busy __attribute__((tls_model("initial-exec")));

	if (!*next && !busy) {
		busy = 1;
		*next = dlsym(RTLD_NEXT, symbol);
		busy = 0;
	}
	return *next;
}

/* name(params) gives a block of `size` bytes; `otherwise` where there is no next definition. */
#define ALLOCATES(name, symbol, size, otherwise, params, args)  \
	void *name params EXPORT(symbol);                       \
	void *name params                                       \
	{                                                       \
		static void *next;                              \
		GUARD;                                          \
		if (!find(&next, symbol))                       \
			return otherwise;                       \
		return born(((void *(*)params)next)args, size); \
	}

#define FREES(name, symbol, params, args)                 \
	void name params EXPORT(symbol);                  \
	void name params                                  \
	{                                                 \
		static void *next;                        \
		GUARD;                                    \
		put(p, 0);                                \
		if (in_boot(p))                           \
			return;                           \
		if (find(&next, symbol))                  \
			((void(*) params)next) args;      \
		else if (find(&next_free, "free"))        \
			((void (*)(void *))next_free)(p); \
	}

ALLOCATES(count_malloc, "malloc", n, boot_alloc(n), (size_t n), (n))
ALLOCATES(count_calloc, "calloc", n *m, boot_alloc(n *m), (size_t n, size_t m), (n, m))
ALLOCATES(count_memalign, "memalign", n, NULL, (size_t align, size_t n), (align, n))
ALLOCATES(count_aligned_alloc, "aligned_alloc", n, NULL, (size_t align, size_t n), (align, n))
ALLOCATES(count_valloc, "valloc", n, NULL, (size_t n), (n))
ALLOCATES(count_pvalloc, "pvalloc", n, NULL, (size_t n), (n))

/* A library that was dlopened may be the only one with operator new: then malloc serves it. */
static void *plain(size_t n)
{
	return find(&next_malloc, "malloc") ? born(((void *(*)(size_t))next_malloc)(n), n) : NULL;
}

static void *aligned(size_t n, size_t a)
{
	void *p = find(&next_aligned, "aligned_alloc")
			  ? ((void *(*)(size_t, size_t))next_aligned)(a, n)
			  : NULL;

	return born(p, n);
}

#define NEW(name, symbol)                                                                     \
	ALLOCATES(name##1, symbol, n, plain(n), (size_t n), (n))                              \
	ALLOCATES(name##2, symbol "RKSt9nothrow_t", n, plain(n), (size_t n, void *t), (n, t)) \
	ALLOCATES(name##3, symbol "St11align_val_t", n, aligned(n, a), (size_t n, size_t a),  \
		  (n, a))                                                                     \
	ALLOCATES(name##4, symbol "St11align_val_tRKSt9nothrow_t", n, aligned(n, a),          \
		  (size_t n, size_t a, void *t), (n, a, t))

#define DELETE(name, symbol)                                                                 \
	FREES(name##1, symbol, (void *p), (p))                                               \
	FREES(name##2, symbol "m", (void *p, size_t n), (p, n))                              \
	FREES(name##3, symbol "RKSt9nothrow_t", (void *p, void *t), (p, t))                  \
	FREES(name##4, symbol "St11align_val_t", (void *p, size_t a), (p, a))                \
	FREES(name##5, symbol "mSt11align_val_t", (void *p, size_t n, size_t a), (p, n, a))  \
	FREES(name##6, symbol "St11align_val_tRKSt9nothrow_t", (void *p, size_t a, void *t), \
	      (p, a, t))

FREES(count_free, "free", (void *p), (p))
NEW(count_new, "_Znwm")
NEW(count_new_array, "_Znam")
DELETE(count_delete, "_ZdlPv")
DELETE(count_delete_array, "_ZdaPv")

int count_posix_memalign(void **ret, size_t align, size_t n) EXPORT("posix_memalign");
int count_posix_memalign(void **ret, size_t align, size_t n)
{
	static void *next;
	int r;
	GUARD;

	if (!find(&next, "posix_memalign"))
		return ENOMEM;
	r = ((int (*)(void **, size_t, size_t))next)(ret, align, n);
	if (!r)
		born(*ret, n);
	return r;
}

/* What is moved may be someone else's block before realloc returns: so forget it first. */
#define RESIZES(name, symbol, size, params, args) \
	void *name params EXPORT(symbol);         \
	void *name params                         \
	{                                         \
		static void *next;                \
		uint64_t old;                     \
		void *q;                          \
		GUARD;                            \
		if (!find(&next, symbol))         \
			return NULL;              \
		old = put(p, 0);                  \
		q = ((void *(*)params)next)args;  \
		if (q)                            \
			born(q, size);            \
		else if ((size) != 0 && old)      \
			put(p, old);              \
		return q;                         \
	}

RESIZES(count_realloc, "realloc", n, (void *p, size_t n), (p, n))
RESIZES(count_reallocarray, "reallocarray", n *m, (void *p, size_t n, size_t m), (p, n, m))
