/* SPDX-License-Identifier: MIT */
/*
 * summary.c - the few numbers of a store that need no copy of it, and the switch of its mode.
 */
#include "store/summary.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/freeze.h"
#include "store/process.h"
#include "util/clock.h"
#include "util/error.h"

static bool read_whole(int fd, void *buf, size_t len, uint64_t off)
{
	return pread(fd, buf, len, (off_t)off) == (ssize_t)len;
}

static int read_parts(int fd, const char *path, struct hs_header *h, struct hs_control *c,
		      struct hs_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return hs_error_system(err, "read", path);
	if (!S_ISREG(st.st_mode) || !read_whole(fd, h, sizeof(*h), HS_HEADER_OFF) ||
	    !read_whole(fd, c, sizeof(*c), HS_CONTROL_OFF) ||
	    memcmp(h->magic, HS_STORE_MAGIC, sizeof(h->magic)))
		return hs_error_set(err, HS_E_FORMAT, "'%s' is not a store", path);
	if (h->version != HS_STORE_VERSION || h->must_know || h->header_size != sizeof(*h))
		return hs_error_set(err, HS_E_VERSION,
				    "'%s' is a store of version %u; this heapstory reads version "
				    "%u",
				    path, h->version, HS_STORE_VERSION);
	return 0;
}

/* Opens a store; on success the caller closes *ret_fd. access: O_RDONLY or O_RDWR. */
static int open_parts(const char *path, int access, int *ret_fd, struct hs_header *h,
		      struct hs_control *c, struct hs_error *err)
{
	int fd = open(path, access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), res;

	*ret_fd = -1;
	if (fd < 0)
		return hs_error_system(err, "open", path);
	res = read_parts(fd, path, h, c, err);
	if (res)
		close(fd);
	else
		*ret_fd = fd;
	return res;
}

/* Reads element i of an array that has elements of this size; false: there is none to be had. */
static bool read_element(int fd, const struct hs_array *a, uint64_t i, void *buf, size_t size)
{
	uint64_t count = a->count < a->ready ? a->count : a->ready;
	uint32_t k;

	if (a->elem_size != size || a->shift > 32 || i >= count)
		return false;
	k = hs_array_extent(a->shift, i);
	return k < HS_NR_EXTENTS &&
	       read_whole(fd, buf, size, a->extent[k] + (i - hs_array_first(a->shift, k)) * size);
}

/* Takes off a block that was freed, and has record nr as long as its totals count it. */
static void take_off_dead(int fd, const struct hs_header *h, uint32_t nr, struct store_summary *ret)
{
	struct hs_long_lineage lineage;
	struct hs_record r;
	uint64_t size;

	if (!read_element(fd, &h->arrays[HS_ARRAY_RECORDS], nr, &r, sizeof(r)) || !r.word)
		return;
	size = r.size & HS_SIZE_MAX;
	if (r.word & HS_RECORD_LONG && read_element(fd, &h->arrays[HS_ARRAY_LONG_LINEAGES], r.birth,
						    &lineage, sizeof(lineage)))
		size = lineage.size;
	ret->live_bytes = (int64_t)((uint64_t)ret->live_bytes - size);
	ret->live_count = (int64_t)((uint64_t)ret->live_count - 1);
}

/* What threads have not told the header yet. */
static void add_untold(int fd, const struct hs_header *h, struct store_summary *ret)
{
	const struct hs_array *a = &h->arrays[HS_ARRAY_THREADS];
	struct hs_thread t;

	/* A slot has 16 bits of a serial, so no more can be real. */
	for (uint64_t i = 0; i < 65536 && read_element(fd, a, i, &t, sizeof(t)); i++) {
		ret->live_bytes =
			(int64_t)((uint64_t)ret->live_bytes + (uint64_t)t.unflushed_bytes);
		ret->live_count =
			(int64_t)((uint64_t)ret->live_count + (uint64_t)t.unflushed_count);
		for (uint32_t k = 0; k < HS_NR_PENDING; k++)
			if (t.pending[k])
				take_off_dead(fd, h, t.pending[k], ret);
	}
}

bool store_process_runs(const struct hs_header *h)
{
	uint8_t boot_id[16];

	return process_boot_id(boot_id) && !memcmp(boot_id, h->boot_id, sizeof(boot_id)) &&
	       process_runs((pid_t)h->pid, h->start_ticks);
}

/* The state says HS_STATE_EXECED from before an exec on, which may fail: then all goes on. */
bool store_image_runs(const struct hs_header *h, int fd)
{
	if (h->state == HS_STATE_NEW || !store_process_runs(h))
		return false;
	return h->state != HS_STATE_EXECED || process_maps_file((pid_t)h->pid, fd);
}

int store_summary(const char *path, struct store_summary *ret, struct hs_error *err)
{
	struct hs_header h;
	struct hs_control c;
	int fd, res = open_parts(path, O_RDONLY, &fd, &h, &c, err);

	if (res)
		return res;
	*ret = (struct store_summary){
		.pid = h.pid,
		.state = h.state,
		.flags = h.flags,
		.generation = h.generation,
		.mode = c.word & HS_CONTROL_MODE,
		.live_bytes = h.live_bytes,
		.live_count = h.live_count,
		.start_real_ns = h.start_real_ns,
		.start_ns = h.start_ns,
		.start_after_ms = h.start_after_ns / 1000000,
		.since_ms = c.mode_since_ms,
		.nr_snapshots = c.nr_snapshots,
		.supervisor = c.supervisor,
		.process_runs = store_process_runs(&h),
		.alive = store_image_runs(&h, fd),
	};
	memcpy(ret->comm, h.comm, sizeof(ret->comm) - 1);
	if (ret->alive && monotonic_ns() > h.start_ns)
		ret->now_ms = (monotonic_ns() - h.start_ns) / 1000000;
	add_untold(fd, &h, ret);
	close(fd);
	return 0;
}

bool store_alive(const char *path)
{
	struct store_summary s;

	return !store_summary(path, &s, NULL) && s.alive;
}

/* ---- mode -------------------------------------------------------------------------------- */

bool store_mode_records(uint32_t mode)
{
	return mode == HS_MODE_LIVE || mode == HS_MODE_SAMPLE || mode == HS_MODE_FULL;
}

/* With the lock held, so that nobody else switches. Freezes are none of its business. */
static void switch_mode(struct hs_control *c, uint32_t mode, uint64_t now_ms)
{
	uint32_t word = __atomic_load_n(&c->word, __ATOMIC_SEQ_CST), old, new;

	do {
		old = word & HS_CONTROL_MODE;
		/* Blocks that are known are followed until they are gone. */
		new = mode == HS_MODE_OFF && old != HS_MODE_OFF ? (uint32_t)HS_MODE_DRAIN : mode;
		if (old == new)
			return;
	} while (!__atomic_compare_exchange_n(&c->word, &word, (word & ~HS_CONTROL_MODE) | new,
					      false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	if (store_mode_records(old) && now_ms > c->mode_since_ms)
		c->live_ms += now_ms - c->mode_since_ms;
	c->mode_since_ms = now_ms;
}

int store_mode_set(const char *path, enum hs_mode mode, struct hs_error *err)
{
	struct freezer f = {.fd = -1};
	struct hs_header h;
	struct hs_control c;
	int fd, res = open_parts(path, O_RDWR, &fd, &h, &c, err);

	if (res)
		return res;
	if (!store_image_runs(&h, fd))
		res = hs_error_set(err, HS_E_STATE, "the program of '%s' does not run any more",
				   path);
	if (!res && h.state == HS_STATE_STOPPED)
		res = hs_error_set(err, HS_E_STATE, "process %u has stopped recording for good",
				   h.pid);
	if (!res)
		res = freezer_init(&f, fd, h.flags, path, err);
	if (!res)
		switch_mode(f.control, mode,
			    monotonic_ns() > h.start_ns ? (monotonic_ns() - h.start_ns) / 1000000
							: 0);
	freezer_release(&f);
	close(fd);
	return res;
}
