/* SPDX-License-Identifier: MIT */
/*
 * limit_hooks.c - the interposed functions that set limits of the process.
 *
 * Runs on any thread of the traced program, in a fork or vfork child of it. All but RLIMIT_AS is
 * passed on unseen. The store is mapped in full, as nothing that is mapped can move; a limit of the
 * address space would have no room beside it. So the store's unused end is given back before such a
 * limit is set: another thread must not meet the limit and the store together.
 */
#include "tracer/lifecycle.h"
#include "tracer/real.h"
#include "tracer/sys.h"
#include "tracer/thread.h"

#include "store/writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
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
