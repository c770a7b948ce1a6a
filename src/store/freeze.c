/* SPDX-License-Identifier: MIT */
/*
 * freeze.c - hold a running program still; see freeze.h and struct hs_control.
 *
 * Two things tell that a freeze did not last: overrun_seq equals our freeze_seq, or the bit is
 * gone before we cleared it. The second is needed as well: a thread that has waited since the
 * freeze of a reader that was killed may have read the old freeze_seq just before we took over,
 * and then clears our bit under the old number.
 */
#include "store/freeze.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/error.h"

#define TURN_NS UINT64_C(3000000000)

int freezer_map(struct freezer *f, int fd, const char *path, struct hs_error *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t start = HS_CONTROL_OFF / page * page;

	*f = (struct freezer){.fd = fd};
	f->map_size = HS_CONTROL_OFF - start + sizeof(struct hs_control);
	f->map = mmap(NULL, f->map_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)start);
	if (f->map == MAP_FAILED) {
		f->map = NULL;
		return hs_error_system(err, "map", path);
	}
	f->control = (struct hs_control *)((char *)f->map + (HS_CONTROL_OFF - start));
	return 0;
}

int freezer_init(struct freezer *f, int fd, uint32_t store_flags, const char *path,
		 struct hs_error *err)
{
	uint64_t start = monotonic_ns();
	int ret = freezer_map(f, fd, path, err);

	if (ret)
		return ret;
	f->fenced = store_flags & HS_STORE_FENCED;
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return hs_error_system(err, "lock", path);
		if (monotonic_ns() - start > TURN_NS)
			return hs_error_set(err, HS_E_STATE,
					    "another reader has held '%s' for 3 seconds", path);
		usleep(500);
	}
	f->locked = true;
	return 0;
}

void freezer_release(struct freezer *f)
{
	if (f->locked)
		flock(f->fd, LOCK_UN);
	if (f->map)
		munmap(f->map, f->map_size);
	*f = (struct freezer){.fd = -1};
}

void freezer_set(struct freezer *f)
{
	f->since_ns = monotonic_ns();
	f->seq = __atomic_add_fetch(&f->control->freeze_seq, 1, __ATOMIC_SEQ_CST);
	__atomic_or_fetch(&f->control->word, HS_CONTROL_FREEZE, __ATOMIC_SEQ_CST);
	if (f->fenced)
		return;
	/*
	 * The program's threads store `in` and load `word` without a fence between; this is the
	 * fence. Where the cheap kind is refused, the one that waits for every CPU does it too.
	 */
	f->doubtful = syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) &&
		      syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

bool freezer_clear(struct freezer *f)
{
	uint32_t before;
	bool whole;

	/* What was copied must have been read before the bit goes. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	before = __atomic_fetch_and(&f->control->word, ~HS_CONTROL_FREEZE, __ATOMIC_SEQ_CST);
	whole = (before & HS_CONTROL_FREEZE) && !f->doubtful &&
		__atomic_load_n(&f->control->overrun_seq, __ATOMIC_SEQ_CST) != f->seq;
	syscall(SYS_futex, &f->control->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	return whole;
}
