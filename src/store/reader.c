/* SPDX-License-Identifier: MIT */
/*
 * reader.c - copies a store as it is at one moment; see reader.h.
 *
 * The memory that the copy goes to is made and touched before the program is frozen. Arrays that
 * others refer to are copied after those that refer to them (threads, records, lineages, cells,
 * stacks, nodes, modules), and the count of each is read just before: so even in a copy that was
 * overrun no number points beyond the end of what was copied.
 */
#include "store/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/copy.h"
#include "store/freeze.h"
#include "store/process.h"
#include "util/alloc.h"
#include "util/error.h"

#define MAX_ATTEMPTS 3u
#define MAX_GROWTHS  20u
#define PAUSE_US     20000u
/* Less than the program's own patience, so that its threads need not overrun us to get on. */
#define QUIET_NS   (UINT64_C(80) * 1000000)
#define HALTED_NS  UINT64_C(1000000)
#define MAX_STRING 4096u

/* What reading an array returns besides 0 and -HS_E_*: it has outgrown the memory made for it. */
#define GREW 1

/* ---- names and sizes --------------------------------------------------------------------- */

uint32_t store_elem_size(unsigned int array)
{
	static const uint32_t sizes[HS_ARRAY_CELLS] = {
		[HS_ARRAY_RECORDS] = sizeof(struct hs_record),
		[HS_ARRAY_NODES] = sizeof(struct hs_node),
		[HS_ARRAY_STACKS] = sizeof(struct hs_stack),
		[HS_ARRAY_LINEAGES] = sizeof(struct hs_lineage),
		[HS_ARRAY_LONG_LINEAGES] = sizeof(struct hs_long_lineage),
		[HS_ARRAY_MODULES] = sizeof(struct hs_module),
		[HS_ARRAY_THREADS] = sizeof(struct hs_thread),
		[HS_ARRAY_MAPPINGS] = sizeof(struct hs_record),
	};

	return array < HS_ARRAY_CELLS ? sizes[array] : (uint32_t)sizeof(struct hs_cell);
}

const char *store_array_name(unsigned int array, char ret[static 32])
{
	static const char *const names[HS_ARRAY_CELLS] = {
		[HS_ARRAY_RECORDS] = "records",
		[HS_ARRAY_NODES] = "nodes",
		[HS_ARRAY_STACKS] = "stacks",
		[HS_ARRAY_LINEAGES] = "lineages",
		[HS_ARRAY_LONG_LINEAGES] = "long lineages",
		[HS_ARRAY_MODULES] = "modules",
		[HS_ARRAY_THREADS] = "threads",
		[HS_ARRAY_MAPPINGS] = "mappings",
	};

	if (array < HS_ARRAY_CELLS)
		snprintf(ret, 32, "%s", names[array]);
	else
		snprintf(ret, 32, "cells of shard %u", array - HS_ARRAY_CELLS);
	return ret;
}

/* ---- reading the file -------------------------------------------------------------------- */

/* All len bytes at off, or an error: the file may have been cut short meanwhile. */
static int read_at(const struct store_image *image, void *buf, uint64_t len, uint64_t off,
		   struct hs_error *err)
{
	char *p = buf;

	while (len) {
		ssize_t n = pread(image->fd, p, len < (1u << 30) ? len : 1u << 30, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return hs_error_system(err, "read", image->path);
		if (!n)
			return hs_error_set(err, HS_E_FORMAT,
					    "'%s' is cut short: it ends at byte %llu", image->path,
					    (unsigned long long)off);
		p += n;
		off += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return 0;
}

static int open_store(const char *path, int *ret_fd, bool *ret_writable, uint64_t *ret_size,
		      struct hs_error *err)
{
	const int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	bool writable = true;
	struct stat st;
	int fd = open(path, O_RDWR | flags);

	if (fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM || errno == ETXTBSY)) {
		writable = false;
		fd = open(path, O_RDONLY | flags);
	}
	if (fd < 0)
		return hs_error_system(err, "open", path);
	if (fstat(fd, &st)) {
		int ret = hs_error_system(err, "read", path);

		close(fd);
		return ret;
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return hs_error_set(err, HS_E_FORMAT, "'%s' is not a regular file", path);
	}
	*ret_fd = fd;
	*ret_writable = writable;
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

int store_is_store(const char *path, bool *ret_is_store, struct hs_error *err)
{
	uint8_t magic[16];
	bool writable;
	uint64_t size;
	ssize_t n;
	int fd, ret = open_store(path, &fd, &writable, &size, err);

	if (ret)
		return ret;
	n = pread(fd, magic, sizeof(magic), 0);
	if (n < 0)
		ret = hs_error_system(err, "read", path);
	else
		*ret_is_store = n == sizeof(magic) && !memcmp(magic, HS_STORE_MAGIC, sizeof(magic));
	close(fd);
	return ret;
}

/* Numbers of an array that have been handed out and have pages. */
static uint64_t array_count(const struct hs_array *a)
{
	return a->count < a->ready ? a->count : a->ready;
}

/* That all elements below the count lie within the file. */
static int check_array(const struct store_image *image, unsigned int array,
		       const struct hs_array *a, struct hs_error *err)
{
	uint64_t count = array_count(a), bytes, end, len;
	char name[32];

	store_array_name(array, name);
	if (a->elem_size != store_elem_size(array) || a->shift > 32)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: the array of %s has elements of %u bytes, "
				    "expected %u",
				    image->path, name, a->elem_size, store_elem_size(array));
	if (!count)
		return 0;
	if (__builtin_mul_overflow(count, a->elem_size, &bytes) || bytes > image->file_size)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: %llu %s do not fit into %llu bytes",
				    image->path, (unsigned long long)count, name,
				    (unsigned long long)image->file_size);
	for (uint32_t k = 0; k < HS_NR_EXTENTS && hs_array_first(a->shift, k) < count; k++) {
		len = hs_array_extent_len(a->shift, k);
		if (len > count - hs_array_first(a->shift, k))
			len = count - hs_array_first(a->shift, k);
		if (a->extent[k] < HS_DATA_OFF ||
		    __builtin_add_overflow(a->extent[k], len * a->elem_size, &end) ||
		    end > image->file_size)
			return hs_error_set(err, HS_E_FORMAT,
					    "'%s' is damaged: extent %u of %s lies at %llu, beyond "
					    "%llu bytes",
					    image->path, k, name, (unsigned long long)a->extent[k],
					    (unsigned long long)image->file_size);
	}
	if (hs_array_extent(a->shift, count - 1) >= HS_NR_EXTENTS)
		return hs_error_set(err, HS_E_FORMAT, "'%s' is damaged: too many %s: %llu",
				    image->path, name, (unsigned long long)count);
	return 0;
}

/* Bytes of the file that are no holes, as far as the file system tells. */
static uint64_t data_bytes(const struct store_image *image)
{
	uint64_t sum = 0;
	off_t pos = 0, hole;

	while ((pos = lseek(image->fd, pos, SEEK_DATA)) >= 0) {
		hole = lseek(image->fd, pos, SEEK_HOLE);
		if (hole <= pos)
			return image->file_size;
		sum += (uint64_t)(hole - pos);
		pos = hole;
	}
	return errno == ENXIO ? sum : image->file_size;
}

static int check_header(const struct store_image *image, struct hs_error *err)
{
	const struct hs_header *h = &image->header;
	uint64_t claimed = 0;

	if (memcmp(h->magic, HS_STORE_MAGIC, sizeof(h->magic)))
		return hs_error_set(err, HS_E_FORMAT, "'%s' is not a store", image->path);
	if (h->version != HS_STORE_VERSION)
		return hs_error_set(err, HS_E_VERSION,
				    "'%s' is a store of version %u; this heapstory reads version "
				    "%u",
				    image->path, h->version, HS_STORE_VERSION);
	if (h->must_know)
		return hs_error_set(err, HS_E_VERSION,
				    "'%s' uses features 0x%x that this heapstory does not know",
				    image->path, h->must_know);
	if (h->header_size != sizeof(*h) ||
	    (h->arch != HS_ARCH_X86_64 && h->arch != HS_ARCH_AARCH64))
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: header of %u bytes, expected %zu, machine %u",
				    image->path, h->header_size, sizeof(*h), h->arch);
	/* Compared with `used`, not with `cap`: a finished store may have lost its empty end. */
	if (h->used > image->file_size || h->used > h->cap)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is cut short: %llu bytes, expected %llu", image->path,
				    (unsigned long long)image->file_size,
				    (unsigned long long)h->used);
	for (unsigned int i = 0; i < HS_NR_ARRAYS; i++) {
		int ret = check_array(image, i, &h->arrays[i], err);

		if (ret)
			return ret;
		claimed += array_count(&h->arrays[i]) * store_elem_size(i);
	}
	/* A small file with large holes must not make us take memory for all that it claims. */
	if (claimed > (UINT64_C(16) << 20) && claimed / 4 > data_bytes(image))
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: it claims %llu bytes of records and holds "
				    "fewer",
				    image->path, (unsigned long long)claimed);
	return 0;
}

static int read_header(struct store_image *image, struct hs_error *err)
{
	int ret;

	if (image->file_size < HS_DATA_OFF)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is cut short: %llu bytes, expected %u or more",
				    image->path, (unsigned long long)image->file_size, HS_DATA_OFF);
	ret = read_at(image, &image->header, sizeof(image->header), HS_HEADER_OFF, err);
	if (ret)
		return ret;
	return check_header(image, err);
}

/* ---- memory for the copy ----------------------------------------------------------------- */

static void array_release(struct store_array *a)
{
	if (a->data)
		munmap(a->data, a->mapped);
	*a = (struct store_array){NULL, 0, 0};
}

/* Memory that has its pages, so that no fault happens while the program is held up. */
static void touch(void *p, size_t size)
{
#ifdef MADV_POPULATE_WRITE
	if (!madvise(p, size, MADV_POPULATE_WRITE))
		return;
#endif
	for (size_t i = 0; i < size; i += 4096)
		((volatile char *)p)[i] = 0;
}

static void array_room(struct store_array *a, uint64_t bytes, bool touched)
{
	void *p;

	if (!bytes || a->mapped >= bytes)
		return;
	array_release(a);
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		fprintf(stderr, "heapstory: out of memory (%llu bytes)\n",
			(unsigned long long)bytes);
		exit(2);
	}
	if (bytes >= (4u << 20))
		madvise(p, bytes, MADV_HUGEPAGE);
	if (touched)
		touch(p, bytes);
	a->data = p;
	a->mapped = bytes;
}

/* Reads the header and makes room for what it tells, with slack for what a running program adds. */
static int make_room(struct store_image *image, bool live, struct hs_error *err)
{
	int ret = read_header(image, err);

	for (unsigned int i = 0; !ret && i < HS_NR_ARRAYS; i++) {
		uint64_t count = array_count(&image->header.arrays[i]);

		if (live && count)
			count += count / 8 + (i == HS_ARRAY_RECORDS ? 65536 : 64);
		array_room(&image->arrays[i], count * store_elem_size(i), live);
	}
	return ret;
}

/* ---- the copy ---------------------------------------------------------------------------- */

static int copy_array(struct store_image *image, unsigned int array, struct hs_error *err)
{
	struct hs_array *a = &image->header.arrays[array];
	struct store_array *to = &image->arrays[array];
	struct copy_piece pieces[HS_NR_EXTENTS];
	uint64_t count, done = 0;
	size_t nr = 0;
	int ret = read_at(image, a, sizeof(*a),
			  HS_HEADER_OFF + offsetof(struct hs_header, arrays) + array * sizeof(*a),
			  err);

	if (!ret)
		ret = check_array(image, array, a, err);
	if (ret)
		return ret;
	count = array_count(a);
	if (count * a->elem_size > to->mapped)
		return GREW;
	for (uint32_t k = 0; done < count; k++) {
		uint64_t len = hs_array_extent_len(a->shift, k);

		if (len > count - done)
			len = count - done;
		pieces[nr++] = (struct copy_piece){(char *)to->data + done * a->elem_size,
						   a->extent[k], len * a->elem_size};
		done += len;
	}
	to->count = count;
	if (!copier_run(image->copier, pieces, nr))
		return 0;
	if (errno)
		return hs_error_system(err, "read", image->path);
	return hs_error_set(err, HS_E_FORMAT, "'%s' is cut short", image->path);
}

static int copy_store(struct store_image *image, struct hs_error *err)
{
	static const unsigned int first[] = {HS_ARRAY_THREADS, HS_ARRAY_RECORDS, HS_ARRAY_LINEAGES,
					     HS_ARRAY_LONG_LINEAGES, HS_ARRAY_MAPPINGS};
	static const unsigned int last[] = {HS_ARRAY_STACKS, HS_ARRAY_NODES, HS_ARRAY_MODULES};
	int ret = read_at(image, &image->header, sizeof(image->header), HS_HEADER_OFF, err);

	for (size_t i = 0; !ret && i < sizeof(first) / sizeof(first[0]); i++)
		ret = copy_array(image, first[i], err);
	for (unsigned int i = 0; !ret && i < HS_NR_SHARDS; i++)
		ret = copy_array(image, HS_ARRAY_CELLS + i, err);
	for (size_t i = 0; !ret && i < sizeof(last) / sizeof(last[0]); i++)
		ret = copy_array(image, last[i], err);
	if (!ret)
		ret = read_at(image, &image->control, sizeof(image->control), HS_CONTROL_OFF, err);
	if (!ret)
		ret = read_at(image, &image->messages, sizeof(image->messages), HS_MESSAGES_OFF,
			      err);
	return ret;
}

void store_image_words(const struct store_image *image,
		       void (*each)(void *context, const struct hs_word *words, size_t nr),
		       void *context)
{
	struct hs_words *w = xmalloc(sizeof(*w));
	uint64_t at = image->header.words_off, before = HS_DATA_OFF - 1;

	/* places only rise, so a chain that is damaged ends, too */
	while (at > before && !read_at(image, w, sizeof(*w), at, NULL) && w->count <= HS_NR_WORDS) {
		each(context, w->words, w->count);
		before = at;
		at = w->next;
	}
	free(w);
}

void store_image_records_now(const struct store_image *image,
			     void (*each)(void *context, const struct hs_record *records, size_t nr),
			     void *context)
{
	const size_t most = 32768;
	struct hs_record *records;
	struct hs_array a;
	uint64_t count;

	if (read_at(image, &a, sizeof(a),
		    HS_HEADER_OFF + offsetof(struct hs_header, arrays[HS_ARRAY_RECORDS]), NULL) ||
	    check_array(image, HS_ARRAY_RECORDS, &a, NULL))
		return;
	count = array_count(&a);
	records = xmallocarray(most, sizeof(*records));
	for (uint64_t i = 0; i < count;) {
		uint32_t k = hs_array_extent(a.shift, i);
		uint64_t at = i - hs_array_first(a.shift, k);
		uint64_t nr = hs_array_extent_len(a.shift, k) - at;

		nr = nr < count - i ? nr : count - i;
		nr = nr < most ? nr : most;
		if (read_at(image, records, nr * sizeof(*records),
			    a.extent[k] + at * sizeof(*records), NULL))
			break;
		each(context, records, nr);
		i += nr;
	}
	free(records);
}

/* ---- waiting for the threads ------------------------------------------------------------- */

/* Slots as they are now, into image->arrays[HS_ARRAY_THREADS]. */
static int look_at_threads(struct store_image *image, struct hs_error *err)
{
	int ret = copy_array(image, HS_ARRAY_THREADS, err);

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return ret;
}

static bool slot_halted(const struct store_image *image, uint64_t slot)
{
	const struct hs_thread *t = (struct hs_thread *)image->arrays[HS_ARRAY_THREADS].data + slot;
	pid_t pid = (pid_t)image->header.pid;

	if (t->state == HS_THREAD_LEFT || !process_runs(pid, image->header.start_ticks))
		return true;
	return slot ? process_thread_halted(pid, (pid_t)t->tid) : process_halted(pid);
}

/*
 * Waits until no thread is in the middle of a change but those that cannot go on. Sets *ret_stuck
 * to how many these are; *ret_quiet is false if others were still busy in the end.
 */
static int wait_quiet(struct store_image *image, bool *ret_quiet, uint32_t *ret_stuck,
		      struct hs_error *err)
{
	uint64_t start = monotonic_ns();

	for (;;) {
		const struct store_array *threads = &image->arrays[HS_ARRAY_THREADS];
		uint64_t elapsed;
		uint32_t nr_in = 0, nr_halted = 0;
		int ret = look_at_threads(image, err);

		if (ret)
			return ret;
		elapsed = monotonic_ns() - start;
		for (uint64_t i = 0; i < threads->count; i++) {
			const struct hs_thread *t = (struct hs_thread *)threads->data + i;

			if (!t->in)
				continue;
			nr_in++;
			if (t->state == HS_THREAD_LEFT)
				nr_halted++;
			else if (elapsed > HALTED_NS && nr_halted == nr_in - 1)
				nr_halted += slot_halted(image, i);
		}
		*ret_stuck = nr_in;
		*ret_quiet = nr_in == nr_halted;
		if (*ret_quiet || elapsed > QUIET_NS)
			return 0;
		if (elapsed < 200000)
			sched_yield();
		else
			usleep(100);
	}
}

/* Whether the threads that were found stuck have not moved since. */
static bool still_stuck(struct store_image *image, uint32_t nr_stuck)
{
	const struct store_array *threads = &image->arrays[HS_ARRAY_THREADS];
	const struct hs_thread *copied = threads->data;
	struct hs_array *a = &image->header.arrays[HS_ARRAY_THREADS];
	uint32_t nr = 0;

	for (uint64_t i = 0; i < threads->count && nr_stuck; i++) {
		uint32_t k = hs_array_extent(a->shift, i), in;

		if (!copied[i].in)
			continue;
		nr++;
		if (read_at(image, &in, sizeof(in),
			    a->extent[k] + (i - hs_array_first(a->shift, k)) * a->elem_size,
			    NULL) ||
		    !in || !slot_halted(image, i))
			return false;
	}
	return nr == nr_stuck;
}

/*
 * Freezes the program and copies once. *ret_whole says whether the copy is of one moment. With
 * `last` it is made even if threads did not come to rest.
 */
static int freeze_and_copy(struct store_image *image, struct freezer *f, bool last, bool *ret_whole,
			   struct hs_error *err)
{
	bool quiet = false, whole;
	uint32_t stuck = 0;
	int ret;

	freezer_set(f);
	ret = wait_quiet(image, &quiet, &stuck, err);
	if (!ret && (quiet || last))
		ret = copy_store(image, err);
	image->nr_stuck = stuck;
	whole = quiet && !ret && still_stuck(image, stuck);
	whole = freezer_clear(f) && whole;
	image->held_ns = monotonic_ns() - f->since_ns;
	*ret_whole = whole;
	return ret;
}

static int copy_live(struct store_image *image, struct hs_error *err)
{
	unsigned int growths = 0;
	bool whole = false;
	struct freezer f;
	int ret = freezer_init(&f, image->fd, image->header.flags, image->path, err);

	while (!ret) {
		ret = make_room(image, true, err);
		if (ret)
			break;
		ret = freeze_and_copy(image, &f, image->attempts + 1 >= MAX_ATTEMPTS, &whole, err);
		if (ret == GREW && growths++ < MAX_GROWTHS) {
			ret = 0;
			continue;
		}
		if (ret == GREW)
			ret = hs_error_set(err, HS_E_STATE, "'%s' grows too fast to be copied",
					   image->path);
		image->attempts++;
		if (ret || whole || image->attempts >= MAX_ATTEMPTS)
			break;
		usleep(PAUSE_US);
	}
	if (!ret) {
		image->control.nr_snapshots =
			__atomic_add_fetch(&f.control->nr_snapshots, 1, __ATOMIC_RELAXED);
		image->taken_ms = (f.since_ns - image->header.start_ns) / 1000000;
		/* The coarse clock of the program may be a tick behind, never ahead. */
		if (f.since_ns < image->header.start_ns)
			image->taken_ms = 0;
		image->consistent = whole;
	}
	freezer_release(&f);
	return ret;
}

/* ---- a store whose program has gone ------------------------------------------------------ */

static uint64_t later(uint64_t ms, uint32_t ticks)
{
	uint64_t other = ticks == UINT32_MAX ? 0 : (uint64_t)ticks * HS_TICK_MS;

	return other > ms ? other : ms;
}

static uint64_t last_birth_ms(const struct store_array *records, uint64_t ms)
{
	for (uint64_t i = 0; i < records->count; i++) {
		const struct hs_record *r = (struct hs_record *)records->data + i;

		/* The others have the number of a lineage there, or had. */
		if (r->word && !(r->word & HS_RECORD_LINEAGE))
			ms = later(ms, r->birth);
	}
	return ms;
}

/* The latest time that anything in the store bears. */
static uint64_t last_sign_ms(const struct store_image *image)
{
	const struct store_array *a = image->arrays;
	uint64_t ms = image->header.stopped_ms;

	ms = image->header.peak_ms > ms ? image->header.peak_ms : ms;
	ms = image->control.mode_since_ms > ms ? image->control.mode_since_ms : ms;
	ms = last_birth_ms(&a[HS_ARRAY_RECORDS], ms);
	ms = last_birth_ms(&a[HS_ARRAY_MAPPINGS], ms);
	for (uint64_t i = 0; i < a[HS_ARRAY_LINEAGES].count; i++)
		ms = later(ms, ((struct hs_lineage *)a[HS_ARRAY_LINEAGES].data)[i].head.changed);
	for (uint64_t i = 0; i < a[HS_ARRAY_LONG_LINEAGES].count; i++)
		ms = later(
			ms,
			((struct hs_long_lineage *)a[HS_ARRAY_LONG_LINEAGES].data)[i].head.changed);
	for (uint64_t i = 0; i < a[HS_ARRAY_THREADS].count; i++)
		ms = later(ms, ((struct hs_thread *)a[HS_ARRAY_THREADS].data)[i].born_tick);
	for (unsigned int i = 0; i < HS_NR_MESSAGES; i++)
		ms = image->messages.ring[i].ms > ms ? image->messages.ring[i].ms : ms;
	return ms;
}

static int copy_dead(struct store_image *image, struct hs_error *err)
{
	const struct hs_thread *threads;
	int ret = make_room(image, false, err);

	if (!ret)
		ret = copy_store(image, err);
	if (ret == GREW)
		ret = hs_error_set(err, HS_E_STATE,
				   "'%s' is being written by a program that cannot be found",
				   image->path);
	if (ret)
		return ret;
	threads = image->arrays[HS_ARRAY_THREADS].data;
	for (uint64_t i = 0; i < image->arrays[HS_ARRAY_THREADS].count; i++)
		image->nr_stuck += threads[i].in != 0;
	image->consistent = true;
	image->taken_ms = last_sign_ms(image);
	return 0;
}

/* ---- the whole --------------------------------------------------------------------------- */

/* A thread has a name by now that the store need not know: most are named after their first block. */
static void name_threads(struct store_image *image)
{
	struct hs_thread *threads = image->arrays[HS_ARRAY_THREADS].data;
	struct process_stat st;

	for (uint64_t i = 1; i < image->arrays[HS_ARRAY_THREADS].count; i++) {
		if (threads[i].state == HS_THREAD_LIVE && threads[i].tid &&
		    process_stat_read((pid_t)image->header.pid, (pid_t)threads[i].tid, &st))
			memcpy(threads[i].name, st.comm, sizeof(threads[i].name));
	}
}

static int image_open(const char *path, struct store_image *ret, bool *ret_writable,
		      struct hs_error *err)
{
	int res;

	memset(ret, 0, sizeof(*ret));
	ret->fd = -1;
	res = open_store(path, &ret->fd, ret_writable, &ret->file_size, err);
	if (res)
		return res;
	ret->path = xstrdup(path);
	res = read_header(ret, err);
	if (!res && ret->header.state > HS_STATE_EXECED)
		res = hs_error_set(err, HS_E_FORMAT, "'%s' is damaged: state %u", path,
				   ret->header.state);
	if (!res && ret->header.state == HS_STATE_NEW)
		res = hs_error_set(err, HS_E_STATE, "no program has begun to record into '%s'",
				   path);
	if (!res)
		ret->alive = store_image_runs(&ret->header, ret->fd);
	return res;
}

int store_image_read(const char *path, struct store_image *ret, struct hs_error *err)
{
	bool writable;
	int res = image_open(path, ret, &writable, err);

	if (!res && ret->alive && !writable)
		res = hs_error_set(err, HS_E_SYSTEM,
				   "cannot open '%s' for writing, which a running program's store "
				   "needs",
				   path);
	if (!res) {
		ret->copier = copier_new(ret->fd);
		res = ret->alive ? copy_live(ret, err) : copy_dead(ret, err);
		copier_free(ret->copier);
		ret->copier = NULL;
	}
	if (!res && ret->alive)
		name_threads(ret);
	if (res)
		store_image_release(ret);
	return res;
}

void store_image_release(struct store_image *image)
{
	for (unsigned int i = 0; i < HS_NR_ARRAYS; i++)
		array_release(&image->arrays[i]);
	if (image->fd >= 0)
		close(image->fd);
	free(image->path);
	memset(image, 0, sizeof(*image));
	image->fd = -1;
}

int store_image_string(const struct store_image *image, uint64_t off, char **ret,
		       struct hs_error *err)
{
	char buf[MAX_STRING];
	uint64_t len = sizeof(buf);
	int res;

	if (!off) {
		*ret = xstrdup("");
		return 0;
	}
	if (off < HS_DATA_OFF || off >= image->file_size)
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: a string lies at %llu, beyond %llu bytes",
				    image->path, (unsigned long long)off,
				    (unsigned long long)image->file_size);
	if (len > image->file_size - off)
		len = image->file_size - off;
	res = read_at(image, buf, len, off, err);
	if (res)
		return res;
	if (!memchr(buf, 0, len))
		return hs_error_set(err, HS_E_FORMAT,
				    "'%s' is damaged: the string at %llu does not end", image->path,
				    (unsigned long long)off);
	*ret = xstrdup(buf);
	return 0;
}
