/* SPDX-License-Identifier: MIT */
/*
 * limit_hooks.c - the interposed functions that limit the address space, or lock all of it.
 *
 * Runs on any thread of the traced program, in a fork or vfork child of it. All but RLIMIT_AS is
 * passed on unseen. The store is mapped in full, as nothing that is mapped can move; a limit of the
 * address space would have no room beside it. So the store's unused end is given back before such a
 * limit is set: another thread must not meet the limit and the store together.
 *
 * mlockall() would give each page of the store memory. What is not in use is withheld meanwhile.
 */
#include "tracer/lifecycle.h"
#include "tracer/real.h"
#include "tracer/sys.h"
#include "tracer/thread.h"

#include "store/writer.h"

#include <errno.h>
#include <stdbool.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/types.h>

#define HS_EXPORT __attribute__((visibility("default")))

_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "64-bit machines only");

/* A limit that the kernel would refuse to read is left to it; an old kernel can't tell (EINVAL). */
static bool readable(const struct rlimit64 *limit)
{
	long err = limit ? sys_probe_read(limit, sizeof(*limit)) : -EFAULT;

	return !err || err == -EINVAL;
}

/*
 * This process is about to get a limit. A vfork child shares the address space with its parent, who
 * gives back for it. In a fork child that is not traced the gate is closed, as it is before and
 * after a start that failed: there the store is gone, or about to be used.
 */
static void coming(int resource, const struct rlimit64 *limit)
{
	if (resource != RLIMIT_AS || !store.base || !readable(limit) ||
	    limit->rlim_cur == RLIM64_INFINITY || limit->rlim_cur > limit->rlim_max)
		return;
	if (tracer_gate->control)
		store_shrink(store_share(limit->rlim_cur));
	else if (!lifecycle_is_own_process())
		store_leave();
}

static int set(enum real_other nr, int resource, const void *limit)
{
	int (*next)(int, const void *) = (int (*)(int, const void *))real_other(nr);

	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	coming(resource, limit);
	return next(resource, limit);
}

static int set_of(enum real_other nr, pid_t pid, int resource, const void *limit, void *old)
{
	int (*next)(pid_t, int, const void *, void *) =
		(int (*)(pid_t, int, const void *, void *))real_other(nr);

	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	if (limit && (!pid || pid == (pid_t)sys_getpid()))
		coming(resource, limit);
	return next(pid, resource, limit, old);
}

HS_EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	return set(REAL_SETRLIMIT, (int)resource, limit);
}

HS_EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	return set(REAL_SETRLIMIT64, (int)resource, limit);
}

HS_EXPORT int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit,
		      struct rlimit *old)
{
	return set_of(REAL_PRLIMIT, pid, (int)resource, limit, old);
}

HS_EXPORT int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *limit,
			struct rlimit64 *old)
{
	return set_of(REAL_PRLIMIT64, pid, (int)resource, limit, old);
}

/* ---- locking ---- */

/* Bytes of the address space, 0: unknown. */
static uint64_t address_space(void)
{
	char text[32];
	long fd = sys_open("/proc/self/statm", O_RDONLY, 0), n = 0;
	uint64_t pages = 0;

	if (fd >= 0) {
		n = sys_read((int)fd, text, sizeof(text));
		sys_close((int)fd);
	}
	for (long i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
		pages = pages * 10 + (uint64_t)(text[i] - '0');
	return pages * getauxval(AT_PAGESZ);
}

/*
 * Who may lock only so much can't lock an address space that is larger. True if it is so with the
 * store, but would not be without it; then the store is made smaller.
 */
static bool make_lockable(void)
{
	uint64_t soft, hard, all = address_space();

	if (sys_getrlimit(RLIMIT_MEMLOCK, &soft, &hard) || all <= soft ||
	    all - store.mapped > soft)
		return false;
	store_shrink(store_share(soft));
	return true;
}

HS_EXPORT int mlockall(int flags)
{
	int (*next)(int) = (int (*)(int))real_other(REAL_MLOCKALL);
	bool open = tracer_gate->control != NULL, withheld = false;
	int ret, before = errno, failure;

	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	if (flags & MCL_CURRENT && open)
		withheld = store_withhold();
	else if (flags & MCL_CURRENT && store.base && !lifecycle_is_own_process())
		store_leave();
	ret = next(flags);
	if (ret && errno == ENOMEM && withheld && make_lockable()) {
		errno = before;
		ret = next(flags);
	}
	failure = errno;
	if (withheld)
		store_restore();
	errno = failure;
	return ret;
}
