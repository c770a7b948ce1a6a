/* SPDX-License-Identifier: MIT */
/*
 * held.c - the files that a running program has its code from, kept open; see held.h.
 *
 * That a file is the right one is not judged here: the symbolizer looks at its build id. What the
 * program maps is asked of the kernel rather than of the store, which knows only modules that stacks
 * go through, and only later.
 */
#include "cli/held.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "util/alloc.h"
#include "util/proc_maps.h"

#define FIRST_PAUSE_NS UINT64_C(50000000)
#define LAST_PAUSE_NS  UINT64_C(30000000000)
#define DELETED	       " (deleted)"

struct file_id {
	uint64_t dev, inode; /* as in /proc/PID/maps; the path there changes on deletion */
};

struct held_file {
	UT_hash_handle hh;
	bool seen; /* in the present look */
	int fd; /* -1: it could not be opened, which need not be tried again */
	char path[32]; /* through fd */
	struct file_id id; /* the key */
	struct proc_map map; /* where it was at the last look; with the device that stat() shows */
};

/* A device may be mapped as well, and to open one may do something. */
static int open_read(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/*
 * By the kernel's link to what is mapped, which needs privileges; as the program itself; or by its
 * path as the process sees it, unless that is gone.
 */
static int open_mapped(pid_t pid, const struct proc_map *m)
{
	size_t len = strlen(m->path), deleted = strlen(DELETED);
	char path[PATH_MAX];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->start,
		 m->end);
	fd = open_read(path);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (!stat(path, &st) && st.st_ino == m->inode)
		return open_read(path);
	if ((len > deleted && !strcmp(m->path + len - deleted, DELETED)) ||
	    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, m->path) >= PATH_MAX)
		return -1;
	return open_read(path);
}

/* A program may be allowed few open files, and so are we: half of the numbers are for other work. */
static int keep_half(int fd)
{
	struct rlimit limit;

	if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) || (rlim_t)fd < limit.rlim_cur / 2)
		return fd;
	close(fd);
	return -1;
}

static void hold(struct held_files *held, pid_t pid, const struct proc_map *m)
{
	const struct file_id id = {m->dev, m->inode};
	struct held_file *f;

	HASH_FIND(hh, held->all, &id, sizeof(id), f);
	if (!f) {
		f = xcalloc(1, sizeof(*f));
		f->id = id;
		f->fd = keep_half(open_mapped(pid, m));
		f->map = *m;
		proc_map_stat_device(&f->map, pid);
		f->map.path = f->path;
		snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
		HASH_ADD(hh, held->all, id, sizeof(f->id), f);
	}
	f->map.start = m->start;
	f->map.end = m->end;
	f->map.offset = m->offset;
	f->seen = true;
}

static void drop(struct held_files *held, struct held_file *f)
{
	HASH_DEL(held->all, f);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

/* Whether the process has any code at all: one that has ended has not. */
static bool look(struct held_files *held, pid_t pid)
{
	struct proc_maps maps;
	struct proc_map m;
	bool any = false;

	proc_maps_open(&maps, pid);
	while (proc_maps_next(&maps, &m)) {
		if (!m.code || !m.inode || m.path[0] != '/')
			continue;
		hold(held, pid, &m);
		any = true;
	}
	proc_maps_close(&maps);
	return any;
}

uint64_t held_look(struct held_files *held, pid_t pid, uint64_t now_ns)
{
	struct held_file *f, *next;
	bool any;

	if (now_ns < held->next_ns)
		return held->next_ns;
	any = look(held, pid);
	HASH_ITER(hh, held->all, f, next) {
		if (any && !f->seen)
			drop(held, f);
		else
			f->seen = false;
	}
	held->pause_ns = held->pause_ns ? 2 * held->pause_ns : FIRST_PAUSE_NS;
	if (held->pause_ns > LAST_PAUSE_NS)
		held->pause_ns = LAST_PAUSE_NS;
	held->next_ns = now_ns + held->pause_ns;
	return held->next_ns;
}

size_t held_paths(const struct held_files *held, const char ***ret)
{
	const char **paths = xcalloc(HASH_COUNT(held->all) + 1, sizeof(*paths));
	struct held_file *f, *next;
	size_t nr = 0;

	HASH_ITER(hh, held->all, f, next) {
		if (f->fd >= 0)
			paths[nr++] = f->path;
	}
	*ret = paths;
	return nr;
}

size_t held_maps(const struct held_files *held, struct proc_map **ret)
{
	struct proc_map *maps = xcalloc(HASH_COUNT(held->all) + 1, sizeof(*maps));
	struct held_file *f, *next;
	size_t nr = 0;

	HASH_ITER(hh, held->all, f, next)
		maps[nr++] = f->map;
	*ret = maps;
	return nr;
}

void held_release(struct held_files *held)
{
	struct held_file *f, *next;

	HASH_ITER(hh, held->all, f, next)
		drop(held, f);
	memset(held, 0, sizeof(*held));
}
