/* SPDX-License-Identifier: MIT */
/*
 * finish.c - the stores of a program that is gone find their last place; see finish.h.
 *
 * A store on another file system is copied, data only (it is sparse), to a name aside, then put
 * in the place of the link, and only then removed: a kill at any point loses nothing.
 */
#include "cli/finish.h"

#include "store/format.h"
#include "store/place.h"
#include "util/alloc.h"
#include "util/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES (1u << 20)

/* A store on its way: `place` is its name in the folder, `file` where it is now. */
struct moving {
	char place[PATH_MAX], file[PATH_MAX];
	bool is_link;
	int fd;
	struct hs_header header;
	uint64_t size; /* bytes that are worth keeping */
};

static int cannot_move(const struct moving *m, struct hs_error *err)
{
	char text[512];

	snprintf(text, sizeof(text), "%s", strerror(errno));
	return hs_error_set(err, HS_E_SYSTEM, "cannot move the store to '%s': %s; it stays at '%s'",
			    m->place, text, m->file);
}

/* Opens the store and reads its header; false if it is none of ours. */
static bool open_store(struct moving *m)
{
	struct stat st;
	ssize_t len;

	if (lstat(m->place, &st))
		return false;
	m->is_link = S_ISLNK(st.st_mode);
	if (m->is_link) {
		len = readlink(m->place, m->file, sizeof(m->file) - 1);
		if (len <= 0)
			return false;
		m->file[len] = 0;
	} else {
		memcpy(m->file, m->place, sizeof(m->file));
	}
	m->fd = open(m->file, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (m->fd < 0 || fstat(m->fd, &st) || !S_ISREG(st.st_mode) ||
	    pread(m->fd, &m->header, sizeof(m->header), 0) != (ssize_t)sizeof(m->header) ||
	    memcmp(m->header.magic, HS_STORE_MAGIC, sizeof(m->header.magic)))
		return false;
	m->size = (uint64_t)st.st_size;
	if (m->header.used >= HS_DATA_OFF && m->header.used < m->size)
		m->size = m->header.used;
	return true;
}

static int copy_range(int from, int to, off_t start, off_t end, char *buf)
{
	while (start < end) {
		size_t want = end - start < COPY_BYTES ? (size_t)(end - start) : COPY_BYTES;
		ssize_t n = pread(from, buf, want, start);

		if (n > 0)
			n = pwrite(to, buf, (size_t)n, start);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (!n)
			return 0; /* shorter than it was: what follows is a hole */
		start += n;
	}
	return 0;
}

/* The data of the file below size; holes stay holes. 0 or -1. */
static int copy_data(int from, int to, off_t size)
{
	char *buf = xmalloc(COPY_BYTES);
	off_t pos = 0;
	int ret = ftruncate(to, size);

	while (!ret && pos < size) {
		off_t data = lseek(from, pos, SEEK_DATA), hole;

		if (data < 0 && errno == ENXIO)
			break;
		hole = data < 0 ? size : lseek(from, data, SEEK_HOLE);
		if (data < 0)
			data = pos; /* a file system that knows no holes */
		if (hole < 0 || hole > size)
			hole = size;
		ret = copy_range(from, to, data, hole, buf);
		pos = hole;
	}
	free(buf);
	return ret;
}

static int copy_store(const struct moving *m, struct hs_error *err)
{
	char temp[PATH_MAX + 32];
	int to;

	snprintf(temp, sizeof(temp), "%s.%d.tmp", m->place, (int)getpid());
	to = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return cannot_move(m, err);
	if (copy_data(m->fd, to, (off_t)m->size)) {
		int saved = errno;

		close(to);
		unlink(temp);
		errno = saved;
		return cannot_move(m, err);
	}
	if (close(to) || rename(temp, m->place)) {
		int saved = errno;

		unlink(temp);
		errno = saved;
		return cannot_move(m, err);
	}
	unlink(m->file);
	return 0;
}

static int move_store(const struct moving *m, struct hs_error *err)
{
	if (m->is_link && rename(m->file, m->place)) {
		if (errno == EXDEV)
			return copy_store(m, err);
		return cannot_move(m, err);
	}
	if (ftruncate(m->fd, (off_t)m->size))
		return cannot_move(m, err);
	return 0;
}

/* The registry need not know a process that is gone. */
static void unregister(const struct hs_header *header)
{
	char folder[PATH_MAX], link[PATH_MAX + 64];

	if (registry_path(folder, sizeof(folder), NULL))
		return;
	snprintf(link, sizeof(link), "%s/%" PRIu32 ".%" PRIu64, folder, header->pid,
		 header->start_ticks);
	unlink(link);
}

static int finish_one(struct moving *m, struct finish_result *ret, struct hs_error *err)
{
	if (m->header.state == HS_STATE_NEW) {
		unlink(m->file);
		unlink(m->place);
		ret->nr_unused++;
		return 0;
	}
	ret->nr_stores++;
	ret->nr_untraced += m->header.lost[HS_LOST_CHILD];
	if (m->header.state == HS_STATE_STOPPED) {
		ret->stop_reason = m->header.stop_reason;
		ret->stopped_ms = m->header.stopped_ms;
	}
	unregister(&m->header);
	return move_store(m, err);
}

/* store.live or store.N. */
static int is_store(const struct dirent *entry)
{
	const char *name = entry->d_name;

	if (strncmp(name, "store.", 6))
		return 0;
	return !strcmp(name + 6, "live") || (name[6] && !name[6 + strspn(name + 6, "0123456789")]);
}

int finish_stores(const char *dir, struct finish_result *ret, struct hs_error *err)
{
	struct moving *m = xmalloc(sizeof(*m));
	struct hs_error one;
	struct dirent **names = NULL;
	int result = 0, nr = scandir(dir, &names, is_store, alphasort); /* store.live comes last */

	memset(ret, 0, sizeof(*ret));
	if (nr < 0)
		result = hs_error_system(err, "read folder", dir);
	for (int i = 0; i < nr; i++) {
		m->fd = -1;
		if (snprintf(m->place, sizeof(m->place), "%s/%s", dir, names[i]->d_name) <
			    PATH_MAX &&
		    open_store(m) && finish_one(m, ret, &one)) {
			if (!result && err)
				*err = one;
			result = -HS_E_SYSTEM;
		}
		if (m->fd >= 0)
			close(m->fd);
		free(names[i]);
	}
	free(names);
	free(m);
	return result;
}
