/* SPDX-License-Identifier: MIT */
/*
 * reader.c - copies a store as it is at one moment; see reader.h.
 *
 * The memory that the copy goes to is made and touched before the program is frozen. Arrays that
 * others refer to are copied after those that refer to them (threads, records, lineages, cells,
 * stacks, nodes, modules), and the count of each is read just before: so even in a copy that was
 * overrun no number points beyond the end of what was copied.
 */
#include "store/reader_internal.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "store/copy.h"
#include "store/freeze.h"
#include "store/process.h"
#include "util/clock.h"
#include "util/error.h"

#define MAX_ATTEMPTS 3u
#define MAX_GROWTHS  20u
#define PAUSE_US     20000u
/* Less than the program's own patience, so that its threads need not overrun us to get on. */
#define QUIET_NS  (UINT64_C(80) * 1000000)
#define HALTED_NS UINT64_C(1000000)

/* What reading an array returns besides 0 and -HS_E_*: it has outgrown the memory made for it. */
#define GREW 1

/* ---- the copy ---------------------------------------------------------------------------- */

/* Reads the header and makes room for what it tells, with slack for what a running program adds. */
static int make_room(struct store_image *image, bool live, struct hs_error *err)
{
	int ret = image_read_header(image, err);

	for (unsigned int i = 0; !ret && i < HS_NR_ARRAYS; i++) {
		uint64_t count = image_array_count(&image->header.arrays[i]);

		if (live && count)
			count += count / 8 + (i == HS_ARRAY_RECORDS ? 65536 : 64);
		image_array_room(&image->arrays[i], count * store_elem_size(i), live);
	}
	return ret;
}

static int copy_array(struct store_image *image, unsigned int array, struct hs_error *err)
{
	struct hs_array *a = &image->header.arrays[array];
	struct store_array *to = &image->arrays[array];
	struct copy_piece pieces[HS_NR_EXTENTS];
	uint64_t count, done = 0;
	size_t nr = 0;
	int ret = image_read_at(
		image, a, sizeof(*a),
		HS_HEADER_OFF + offsetof(struct hs_header, arrays) + array * sizeof(*a), err);

	if (!ret)
		ret = image_check_array(image, array, a, err);
	if (ret)
		return ret;
	count = image_array_count(a);
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
	int ret = image_read_at(image, &image->header, sizeof(image->header), HS_HEADER_OFF, err);

	for (size_t i = 0; !ret && i < sizeof(first) / sizeof(first[0]); i++)
		ret = copy_array(image, first[i], err);
	for (unsigned int i = 0; !ret && i < HS_NR_SHARDS; i++)
		ret = copy_array(image, HS_ARRAY_CELLS + i, err);
	for (size_t i = 0; !ret && i < sizeof(last) / sizeof(last[0]); i++)
		ret = copy_array(image, last[i], err);
	if (!ret)
		ret = image_read_at(image, &image->control, sizeof(image->control), HS_CONTROL_OFF,
				    err);
	if (!ret)
		ret = image_read_at(image, &image->messages, sizeof(image->messages),
				    HS_MESSAGES_OFF, err);
	return ret;
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
		if (image_read_at(image, &in, sizeof(in),
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

/* Threads have names by now that the store need not know: most are named after a first block. */
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
