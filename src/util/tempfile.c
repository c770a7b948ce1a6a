/* SPDX-License-Identifier: MIT */
/*
 * tempfile.c - written aside, then renamed; see tempfile.h.
 */
#include "util/tempfile.h"

#include "util/alloc.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void release(struct tempfile *t)
{
	if (t->fd >= 0)
		close(t->fd);
	free(t->path);
	free(t->temp);
	free(t->shown);
	*t = (struct tempfile)TEMPFILE_INIT;
}

/* Folder of path, "." if it names none. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Finds t->temp, a name beside the file at which make(t) can make one. 0, or -1 and errno. */
static int make_beside(struct tempfile *t, int (*make)(struct tempfile *t))
{
	for (unsigned int try = 0; try < 100; try++) {
		t->temp = xasprintf("%s.%d.%u.tmp", t->path, (int)getpid(), try);
		if (!make(t))
			return 0;
		free(t->temp);
		t->temp = NULL;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

static int create_temp(struct tempfile *t)
{
	t->fd = open(t->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return t->fd < 0 ? -1 : 0;
}

static int link_to(const struct tempfile *t, const char *name)
{
	char fd_path[64];

	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", t->fd);
	return linkat(AT_FDCWD, fd_path, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int link_temp(struct tempfile *t)
{
	return link_to(t, t->temp);
}

static int open_aside(struct tempfile *t)
{
	char *folder = folder_of(t->path);

	t->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	free(folder);
	if (t->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -1;
	return make_beside(t, create_temp);
}

int tempfile_open(struct tempfile *t, const char *path, struct hs_error *err)
{
	struct stat st;
	int ret;

	*t = (struct tempfile)TEMPFILE_INIT;
	t->shown = xstrdup(path);
	if (stat(path, &st)) {
		t->path = xstrdup(path);
	} else if (S_ISREG(st.st_mode)) {
		char real[PATH_MAX];

		t->path = xstrdup(realpath(path, real) ? real : path);
	} else {
		t->path = xstrdup(path);
		t->direct = true;
	}
	if (t->direct) {
		if (S_ISDIR(st.st_mode))
			errno = EISDIR;
		else
			t->fd = open(path, O_WRONLY | O_CLOEXEC);
	} else if (open_aside(t)) {
		t->fd = -1;
	}
	if (t->fd >= 0)
		return 0;
	ret = hs_error_system(err, "write", path);
	release(t);
	return ret;
}

int tempfile_write(struct tempfile *t, const void *bytes, size_t len, struct hs_error *err)
{
	const char *p = bytes;

	while (len) {
		ssize_t n = write(t->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (!n)
				errno = ENOSPC;
			return hs_error_system(err, "write", t->shown);
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Gives a file without a name one: its own if that is free, else one aside. 0 or -1. */
static int link_aside(struct tempfile *t)
{
	if (!link_to(t, t->path))
		return 0;
	return errno == EEXIST ? make_beside(t, link_temp) : -1;
}

int tempfile_commit(struct tempfile *t, struct hs_error *err)
{
	int ret = 0, fd;

	if (!t->direct && !t->temp && link_aside(t))
		ret = hs_error_system(err, "write", t->shown);
	fd = t->fd;
	t->fd = -1;
	/* Some file systems tell of a full disk only here. */
	if (close(fd) && !ret && errno != EINTR)
		ret = hs_error_system(err, "write", t->shown);
	if (t->temp) {
		if (!ret && rename(t->temp, t->path))
			ret = hs_error_system(err, "write", t->shown);
		if (ret)
			unlink(t->temp);
	}
	release(t);
	return ret;
}

void tempfile_abort(struct tempfile *t)
{
	if (t->temp)
		unlink(t->temp);
	release(t);
}
