/* SPDX-License-Identifier: MIT */
/*
 * sys.h - every system call of the tracer, made directly, so that errno is left alone.
 *
 * All return what the kernel returns: 0 or more, or -errno.
 */
#ifndef HEAPSTORY_TRACER_SYS_H
#define HEAPSTORY_TRACER_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* After the start (see lifecycle.c): only these. */

/* Anonymous private memory, zeroed, page aligned, left out of core dumps; NULL if refused. */
void *sys_map(size_t size);
void sys_unmap(void *p, size_t size);
/* Gives the pages of [p, p+size) memory now (MADV_POPULATE_WRITE): 0 or -errno. */
long sys_populate_write(void *p, size_t size);
/* 0 if all pages of [p, p+size) are mapped and readable; faults them in. */
long sys_probe_read(const void *p, size_t size);
/* Gives back the pages of an anonymous mapping; they read as 0 afterwards. */
long sys_discard(void *p, size_t size);
/* Waits while *word == expected, timeout_ns at most. Shared futex. */
long sys_futex_wait(uint32_t *word, uint32_t expected, uint64_t timeout_ns);
long sys_futex_wake_all(uint32_t *word);
/*
 * True if *word is not `value`, or can't be read: a look at memory that may go away meanwhile, by
 * the kernel, which gets an error where we would end the program. Aligned to 4.
 */
bool sys_futex_differs(const uint32_t *word, uint32_t value);
long sys_getpid(void);
/*
 * Blocks all signals of this thread but those that the kernel sends for what the thread does
 * itself: blocked, they would end the program. A sandbox may answer our system calls by SIGSYS. The
 * mask before into *ret_old.
 */
long sys_block_signals(uint64_t *ret_old);
long sys_restore_signals(uint64_t mask);

/* True if the thread runs on its alternate signal stack now, or that can't be told. */
bool sys_on_signal_stack(void);

/*
 * A short lock on a word that is 0 when free. A thread that finds it taken spins, then looks again
 * every millisecond: letting go takes no system call. False: it was not free for patience_ms.
 */
bool sys_lock(uint32_t *word, uint32_t patience_ms);
/*
 * The same, and no signal comes to this thread until sys_unlock_masked(), also where the lock was
 * not had: so no jump out of a handler takes it along (but where a filter refuses to block them).
 */
bool sys_lock_masked(uint32_t *word, uint32_t patience_ms, uint64_t *ret_mask);
void sys_unlock_masked(uint32_t *word, bool locked, uint64_t mask);
void sys_unlock(uint32_t *word);

/* At the start, and in an exec or fork hook, only. */

long sys_gettid(void);
long sys_getppid(void);
long sys_getuid(void);
/* Takes all access to [p, p+size), page aligned; gives it back, to read and write. */
long sys_forbid(void *p, size_t size);
long sys_allow(void *p, size_t size);
long sys_munlock(void *p, size_t size);
/* Waits for the end of a child that was made without SIGCHLD. */
long sys_wait_clone(int pid);
/* flags as open(2); O_CLOEXEC is added. */
long sys_open(const char *path, int flags, unsigned mode);
long sys_close(int fd);
long sys_read(int fd, void *buf, size_t size);
long sys_pread(int fd, void *buf, size_t size, uint64_t off);
long sys_pwrite(int fd, const void *buf, size_t size, uint64_t off);
long sys_ftruncate(int fd, uint64_t size);
long sys_fallocate(int fd, uint64_t off, uint64_t size);
/* Shared mapping of a file, read and write; NULL if refused. */
void *sys_map_file(int fd, uint64_t size);
long sys_madvise(void *p, size_t size, int advice);
long sys_readlink(const char *path, char *buf, size_t size);
long sys_symlink(const char *target, const char *path);
long sys_rename(const char *from, const char *to);
long sys_unlink(const char *path);
long sys_mkdir(const char *path, unsigned mode);
long sys_rmdir(const char *path);
/* Whether this process may make files in the folder at path. */
bool sys_may_write_in(const char *path);
struct sys_stat {
	uint64_t dev, inode, size;
	uint32_t uid, mode;
};
/* Of a path, which is not followed if it is a link and nofollow is set; of an open file. */
long sys_stat(const char *path, int nofollow, struct sys_stat *ret_stat);
long sys_fstat(int fd, struct sys_stat *ret_stat);
/* Moves a mapping onto another of the same size, which it replaces; 0 or -errno. */
long sys_move_map(void *from, void *to, size_t size);
/* Orders all running threads of registered processes (MEMBARRIER_CMD_GLOBAL_EXPEDITED). */
long sys_membarrier(void);
/* Registers for MEMBARRIER_CMD_GLOBAL_EXPEDITED: 0 or -errno. */
long sys_membarrier_register(void);
/* Gets and sets a limit of this process. */
long sys_getrlimit(int resource, uint64_t *ret_soft, uint64_t *ret_hard);
long sys_setrlimit(int resource, uint64_t soft, uint64_t hard);

#endif
