/* SPDX-License-Identifier: MIT */
/*
 * timeline.c - per-stack totals at each snapshot; see timeline.h for the format.
 *
 * Invariant: what `section` knows is what the lines of the file's last section have told so far. A
 * line that could not be written therefore ends the section.
 */
#include "cli/timeline.h"

#include "analysis/snapshot.h"
#include "cli/timeline_log.h"
#include "cli/timeline_section.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/error.h"
#include "util/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct timeline {
	char *path;
	uint64_t budget; /* bytes; 0: none */
	int fd; /* -1: not open */
	bool begun; /* the section has its first line */
	off_t end; /* of the file after our latest line */
	uint8_t image[32]; /* of the section */
	struct timeline_section section;
};

struct timeline *timeline_new(const char *path, uint64_t budget)
{
	struct timeline *t = xcalloc(1, sizeof(*t));

	t->path = xstrdup(path);
	t->budget = budget;
	t->fd = -1;
	return t;
}

static void section_clear(struct timeline *t)
{
	timeline_section_clear(&t->section);
	t->begun = false;
}

static void close_file(struct timeline *t)
{
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	section_clear(t);
	close_file(t);
	free(t->path);
	free(t);
}

/* ---- the file ---------------------------------------------------------------------------- */

/* Size of the whole lines of a file. */
static off_t whole_lines(int fd, off_t size)
{
	char buf[4096];

	while (size > 0) {
		off_t start = size > (off_t)sizeof(buf) ? size - (off_t)sizeof(buf) : 0;
		ssize_t n = pread(fd, buf, (size_t)(size - start), start);
		char *newline = n > 0 ? memrchr(buf, '\n', (size_t)n) : NULL;

		if (newline)
			return start + (newline - buf) + 1;
		size = start;
	}
	return 0;
}

static int open_file(struct timeline *t, struct hs_error *err)
{
	t->fd = open(t->path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return t->fd < 0 ? hs_error_system(err, "write", t->path) : 0;
}

/* Waits until no other writer is at it. */
static int lock(struct timeline *t, struct hs_error *err)
{
	while (flock(t->fd, LOCK_EX)) {
		if (errno != EINTR)
			return hs_error_system(err, "lock", t->path);
	}
	return 0;
}

/* Whether the file that is open is the one of that name: another writer may have thinned it out. */
static bool is_current(const struct timeline *t)
{
	struct stat mine, named;

	return !fstat(t->fd, &mine) && !stat(t->path, &named) && mine.st_dev == named.st_dev &&
	       mine.st_ino == named.st_ino;
}

/* Opens and locks the file of that name. */
static int open_locked(struct timeline *t, struct hs_error *err)
{
	for (;;) {
		int ret = t->fd < 0 ? open_file(t, err) : 0;

		if (!ret)
			ret = lock(t, err);
		if (ret || is_current(t))
			return ret;
		close_file(t);
		section_clear(t);
	}
}

/*
 * Keeps other writers out, cuts off half a line that one of them was killed in, and ends the
 * section if they wrote since: numbers would mean those of their section.
 */
static int lock_file(struct timeline *t, struct hs_error *err)
{
	int ret = open_locked(t, err);
	struct stat st;
	off_t whole;

	if (ret)
		return ret;
	if (fstat(t->fd, &st))
		return hs_error_system(err, "read", t->path);
	whole = whole_lines(t->fd, st.st_size);
	if (whole != st.st_size && ftruncate(t->fd, whole))
		return hs_error_system(err, "write", t->path);
	if (whole != t->end)
		section_clear(t);
	return 0;
}

static int append(struct timeline *t, const struct buffer *b, struct hs_error *err)
{
	off_t before = lseek(t->fd, 0, SEEK_END);
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = write(t->fd, b->data + done, b->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int saved = n ? errno : ENOSPC;

			if (before >= 0 && ftruncate(t->fd, before))
				saved = errno;
			errno = saved;
			return hs_error_system(err, "write", t->path);
		}
		done += (size_t)n;
	}
	return 0;
}

/* ---- the budget -------------------------------------------------------------------------- */

/* Writes what is left of a timeline in place of it; the file stays locked by its old name. */
static int replace(struct timeline *t, const struct buffer *b, struct hs_error *err)
{
	struct tempfile out = TEMPFILE_INIT;
	int ret = tempfile_open(&out, t->path, err);

	if (!ret)
		ret = tempfile_write(&out, b->data, b->len, err);
	if (!ret)
		return tempfile_commit(&out, err);
	tempfile_abort(&out);
	return ret;
}

/*
 * Where the file has outgrown its budget, leaves out lines in the middle until half of that is
 * enough; the next line begins a section in the new file.
 */
static int thin(struct timeline *t, struct hs_error *err)
{
	struct buffer b = {NULL, 0, 0};
	struct timeline_log log;
	int ret;

	if (!t->budget || (uint64_t)t->end <= t->budget)
		return 0;
	ret = timeline_log_read(t->path, &log, err);
	if (ret)
		return ret;
	timeline_log_thin(&log, t->budget / 2, &b);
	timeline_log_release(&log);
	ret = replace(t, &b, err);
	buffer_clear(&b);
	section_clear(t);
	close_file(t);
	return ret;
}

int timeline_add(struct timeline *t, const struct snapshot *snapshot, const char *name,
		 struct hs_error *err)
{
	struct buffer b = {NULL, 0, 0};
	struct timeline_image image;
	int ret = lock_file(t, err);

	if (ret)
		goto out;
	if (!t->begun || memcmp(t->image, snapshot->image, sizeof(t->image))) {
		section_clear(t);
		memcpy(t->image, snapshot->image, sizeof(t->image));
		timeline_image_of(snapshot, &image);
		timeline_section_header(&image, &b);
		t->begun = true;
	}
	timeline_section_add(&t->section, snapshot, name, &b);
	ret = append(t, &b, err);
	if (ret)
		section_clear(t);
	t->end = lseek(t->fd, 0, SEEK_END);
	if (!ret)
		ret = thin(t, err);
out:
	if (t->fd >= 0)
		flock(t->fd, LOCK_UN);
	buffer_clear(&b);
	return ret;
}
