/* SPDX-License-Identifier: MIT */
/*
 * sys.c - every system call of the tracer, made directly, so that errno is left alone.
 *
 * The instruction itself is the only assembly; other machines go through syscall(2) with errno
 * put back.
 */
#include "tracer/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define LOCK_SPINS 100u
#define SIGNAL_BIT(signal) (UINT64_C(1) << ((signal) - 1))
#define MASK_NONE  UINT64_MAX /* can't be one: SIGKILL is never blocked */

static long call6(long nr, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
	int saved = errno;
	long ret = syscall(nr, a, b, c, d, e, f);

	if (ret == -1)
		ret = -errno;
	errno = saved;
	return ret;
#endif
}

#define CALL0(nr) call6(nr, 0, 0, 0, 0, 0, 0)
#define CALL1(nr, a) call6(nr, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(nr, a, b) call6(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(nr, a, b, c) call6(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(nr, a, b, c, d) call6(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static bool failed(long ret)
{
	return ret < 0 && ret >= -4095;
}

/*
 * Maps and unmaps. Under the thread sanitizer (unit tests) through libc, whose calls it watches:
 * memory that was mapped behind its back looks to it as if earlier users of the address still had
 * it.
 */
static long map(size_t size, int flags, int fd)
{
#if defined(__SANITIZE_THREAD__)
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	return p == MAP_FAILED ? -errno : (long)p;
#else
	return call6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, flags, fd, 0);
#endif
}

static void unmap(void *p, size_t size)
{
#if defined(__SANITIZE_THREAD__)
	munmap(p, size);
#else
	CALL2(SYS_munmap, p, size);
#endif
}

void *sys_map(size_t size)
{
	long p = map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (failed(p))
		return NULL;
	sys_madvise((void *)p, size, MADV_DONTDUMP);
	return (void *)p;
}

void sys_unmap(void *p, size_t size)
{
	unmap(p, size);
}

long sys_populate_write(void *p, size_t size)
{
	return CALL3(SYS_madvise, p, size, MADV_POPULATE_WRITE);
}

long sys_probe_read(const void *p, size_t size)
{
	uintptr_t mask = getauxval(AT_PAGESZ) - 1, start = (uintptr_t)p & ~mask;
	uintptr_t end = ((uintptr_t)p + size + mask) & ~mask;

	return CALL3(SYS_madvise, start, end - start, MADV_POPULATE_READ);
}

long sys_discard(void *p, size_t size)
{
	return CALL3(SYS_madvise, p, size, MADV_DONTNEED);
}

long sys_futex_wait(uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(timeout_ns / 1000000000u),
		.tv_nsec = (long)(timeout_ns % 1000000000u),
	};

	return CALL4(SYS_futex, word, FUTEX_WAIT, expected, &ts);
}

long sys_futex_wake_all(uint32_t *word)
{
	return CALL3(SYS_futex, word, FUTEX_WAKE, INT32_MAX);
}

bool sys_futex_differs(const uint32_t *word, uint32_t value)
{
	/* Wakes none and requeues none, if the word has the value; else the call fails. */
	return call6(SYS_futex, (long)word, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, (long)word, value) != 0;
}

bool sys_lock(uint32_t *word, uint32_t patience_ms)
{
	for (uint32_t tries = 0; __atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE); tries++) {
		if (tries < LOCK_SPINS)
			continue;
		if (tries - LOCK_SPINS >= patience_ms)
			return false;
		sys_futex_wait(word, 1, 1000000);
	}
	return true;
}

void sys_unlock(uint32_t *word)
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

bool sys_lock_masked(uint32_t *word, uint32_t patience_ms, uint64_t *ret_mask)
{
	if (sys_block_signals(ret_mask))
		*ret_mask = MASK_NONE;
	return sys_lock(word, patience_ms);
}

void sys_unlock_masked(uint32_t *word, bool locked, uint64_t mask)
{
	if (locked)
		sys_unlock(word);
	if (mask != MASK_NONE)
		sys_restore_signals(mask);
}

long sys_getpid(void)
{
	return CALL0(SYS_getpid);
}

long sys_block_signals(uint64_t *ret_old)
{
	static const uint64_t all = ~(SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGSYS) |
				      SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGTRAP));

	return CALL4(SYS_rt_sigprocmask, SIG_SETMASK, &all, ret_old, sizeof(all));
}

long sys_restore_signals(uint64_t mask)
{
	return CALL4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, sizeof(mask));
}

long sys_forbid(void *p, size_t size)
{
	return CALL3(SYS_mprotect, p, size, PROT_NONE);
}

long sys_allow(void *p, size_t size)
{
	return CALL3(SYS_mprotect, p, size, PROT_READ | PROT_WRITE);
}

long sys_munlock(void *p, size_t size)
{
	return CALL2(SYS_munlock, p, size);
}

bool sys_on_signal_stack(void)
{
	stack_t now;

	return CALL2(SYS_sigaltstack, 0, &now) != 0 || now.ss_flags & SS_ONSTACK;
}

long sys_wait_clone(int pid)
{
	return CALL4(SYS_wait4, pid, 0, __WCLONE, 0);
}

long sys_gettid(void)
{
	return CALL0(SYS_gettid);
}

long sys_getppid(void)
{
	return CALL0(SYS_getppid);
}

long sys_getuid(void)
{
	return CALL0(SYS_getuid);
}

long sys_open(const char *path, int flags, unsigned mode)
{
	return CALL4(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

long sys_close(int fd)
{
	return CALL1(SYS_close, fd);
}

long sys_read(int fd, void *buf, size_t size)
{
	return CALL3(SYS_read, fd, buf, size);
}

long sys_pread(int fd, void *buf, size_t size, uint64_t off)
{
	return CALL4(SYS_pread64, fd, buf, size, off);
}

long sys_pwrite(int fd, const void *buf, size_t size, uint64_t off)
{
	return CALL4(SYS_pwrite64, fd, buf, size, off);
}

long sys_ftruncate(int fd, uint64_t size)
{
	return CALL2(SYS_ftruncate, fd, size);
}

long sys_fallocate(int fd, uint64_t off, uint64_t size)
{
	return CALL4(SYS_fallocate, fd, 0, off, size);
}

void *sys_map_file(int fd, uint64_t size)
{
	long p = map(size, MAP_SHARED, fd);

	return failed(p) ? NULL : (void *)p;
}

long sys_madvise(void *p, size_t size, int advice)
{
	return CALL3(SYS_madvise, p, size, advice);
}

long sys_readlink(const char *path, char *buf, size_t size)
{
	return CALL4(SYS_readlinkat, AT_FDCWD, path, buf, size);
}

long sys_symlink(const char *target, const char *path)
{
	return CALL3(SYS_symlinkat, target, AT_FDCWD, path);
}

long sys_rename(const char *from, const char *to)
{
	return call6(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0, 0);
}

long sys_unlink(const char *path)
{
	return CALL3(SYS_unlinkat, AT_FDCWD, path, 0);
}

bool sys_may_write_in(const char *path)
{
	long err = -ENOSYS;

#ifdef SYS_faccessat2 /* Linux 5.8; the other one asks for the real user */
	err = CALL4(SYS_faccessat2, AT_FDCWD, path, W_OK | X_OK, AT_EACCESS);
#endif
	if (err == -ENOSYS)
		err = CALL3(SYS_faccessat, AT_FDCWD, path, W_OK | X_OK);
	return !err;
}

long sys_rmdir(const char *path)
{
	return CALL3(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

long sys_mkdir(const char *path, unsigned mode)
{
	return CALL3(SYS_mkdirat, AT_FDCWD, path, mode);
}

static long stat_at(int fd, const char *path, int flags, struct sys_stat *ret_stat)
{
	struct stat st;
	long ret = CALL4(SYS_newfstatat, fd, path, &st, flags);

	if (ret < 0)
		return ret;
	ret_stat->dev = st.st_dev;
	ret_stat->inode = st.st_ino;
	ret_stat->size = (uint64_t)st.st_size;
	ret_stat->uid = st.st_uid;
	ret_stat->mode = st.st_mode;
	return 0;
}

long sys_stat(const char *path, int nofollow, struct sys_stat *ret_stat)
{
	return stat_at(AT_FDCWD, path, nofollow ? AT_SYMLINK_NOFOLLOW : 0, ret_stat);
}

long sys_fstat(int fd, struct sys_stat *ret_stat)
{
	return stat_at(fd, "", AT_EMPTY_PATH, ret_stat);
}

long sys_move_map(void *from, void *to, size_t size)
{
	long ret = call6(SYS_mremap, (long)from, (long)size, (long)size,
			 MREMAP_MAYMOVE | MREMAP_FIXED, (long)to, 0);

	return failed(ret) ? ret : 0;
}

long sys_membarrier(void)
{
	return CALL3(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

long sys_membarrier_register(void)
{
	return CALL3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
}

long sys_getrlimit(int resource, uint64_t *ret_soft, uint64_t *ret_hard)
{
	uint64_t limit[2];
	long ret = CALL4(SYS_prlimit64, 0, resource, 0, limit);

	if (ret == 0) {
		*ret_soft = limit[0];
		*ret_hard = limit[1];
	}
	return ret;
}

long sys_setrlimit(int resource, uint64_t soft, uint64_t hard)
{
	uint64_t limit[2] = { soft, hard };

	return CALL4(SYS_prlimit64, 0, resource, limit, 0);
}
