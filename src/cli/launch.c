/* SPDX-License-Identifier: MIT */
/*
 * launch.c - output folder and store of a program that is about to start.
 *
 * Whatever fails here fails before the program runs, and leaves nothing behind.
 */
#include "cli/launch.h"

#include "cli/command.h"
#include "store/create.h"
#include "store/format.h"
#include "store/place.h"
#include "store/process.h"
#include "util/error.h"
#include "util/tempfile.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY	    "libheapstory.so"
#define PROBE_BYTES 65536u

/* Beside the tool, as in a build folder, or where `make install` puts it. */
static int find_library(char ret[PATH_MAX], struct hs_error *err)
{
	static const char *const places[] = {LIBRARY, "../lib/heapstory/" LIBRARY};
	char exe[PATH_MAX], path[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (len < 0)
		return hs_error_system(err, "read", "/proc/self/exe");
	exe[len] = 0;
	*(strrchr(exe, '/') + 1) = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", exe, places[i]);
		if (!realpath(path, ret) || access(ret, R_OK))
			continue;
		if (strpbrk(ret, " :\t\n"))
			return hs_error_set(err, HS_E_STATE,
					    "cannot preload '%s': "
					    "its path has a space or colon",
					    ret);
		return 0;
	}
	return hs_error_set(err, HS_E_NOT_FOUND, "cannot find '" LIBRARY "' beside '%s'", exe);
}

int launch_init(struct launch *l, const struct launch_options *options, struct hs_error *err)
{
	struct hs_error no_registry;
	int ret;

	memset(l, 0, sizeof(*l));
	l->options = options;
	ret = find_library(l->library, err);
	if (ret)
		return ret;
	/* Without a registry the program is traced all the same, but `list` does not know it. */
	if (registry_path(l->registry, sizeof(l->registry), &no_registry)) {
		say_error(&no_registry);
		l->registry[0] = 0;
	}
	return 0;
}

int absolute_path(const char *path, char ret[PATH_MAX], struct hs_error *err)
{
	char cwd[PATH_MAX] = "";

	if (!*path)
		return hs_error_set(err, HS_E_USAGE, "an empty path names no file");
	if (*path != '/' && !getcwd(cwd, sizeof(cwd)))
		return hs_error_system(err, "find", "the current folder");
	if (snprintf(ret, PATH_MAX, "%s%s%s", cwd, *path == '/' || !strcmp(cwd, "/") ? "" : "/",
		     path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return hs_error_system(err, "use", path);
	}
	return 0;
}

static int check_empty(const char *dir, struct hs_error *err)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	bool empty = true;

	if (!d)
		return hs_error_system(err, "use folder", dir);
	while (empty && (entry = readdir(d)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(d);
	return empty ? 0 : hs_error_set(err, HS_E_USAGE, "folder '%s' is not empty", dir);
}

/*
 * A limit on the size of files is the program's, not ours: the supervisor raises it as far as is
 * allowed, so that is what is tried. This process may still become the program: all is put back.
 */
struct file_limit {
	struct rlimit limit;
	struct sigaction on_excess;
};

static void file_limit_raise(struct file_limit *saved)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct rlimit raised;

	sigaction(SIGXFSZ, &ignore, &saved->on_excess);
	getrlimit(RLIMIT_FSIZE, &saved->limit);
	raised = saved->limit;
	raised.rlim_cur = raised.rlim_max;
	setrlimit(RLIMIT_FSIZE, &raised);
}

static void file_limit_restore(const struct file_limit *saved)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	setrlimit(RLIMIT_FSIZE, &saved->limit);
	/* where it is blocked one may be pending, and would end us later: this throws it away */
	sigaction(SIGXFSZ, &ignore, NULL);
	sigaction(SIGXFSZ, &saved->on_excess, NULL);
}

/* Whether a file of some size can be written there: better to fail now than at the end. */
static int probe_folder(const char *dir, struct hs_error *err)
{
	static const char zeros[PROBE_BYTES];
	struct tempfile t = TEMPFILE_INIT;
	struct file_limit limit;
	char path[PATH_MAX + 16];
	int ret;

	snprintf(path, sizeof(path), "%s/exit.hs", dir);
	file_limit_raise(&limit);
	ret = tempfile_open(&t, path, err);
	if (!ret)
		ret = tempfile_write(&t, zeros, sizeof(zeros), err);
	tempfile_abort(&t);
	file_limit_restore(&limit);
	return ret;
}

int output_folder(const char *path, char ret[PATH_MAX], bool *ret_made, struct hs_error *err)
{
	bool made;
	int res = absolute_path(path, ret, err);

	if (res)
		return res;
	made = !mkdir(ret, 0700);
	if (!made && errno != EEXIST)
		return hs_error_system(err, "make folder", path);
	if (!made)
		res = check_empty(path, err);
	res = res ? res : probe_folder(ret, err);
	if (res && made)
		rmdir(ret);
	if (!res)
		*ret_made = made;
	return res;
}

int launch_make_dir(struct launch *l, const char *default_dir, struct hs_error *err)
{
	const char *path = l->options->dir ? l->options->dir : default_dir;
	int ret = path ? output_folder(path, l->dir, &l->made_dir, err) : 0;

	if (!ret)
		ret = store_where(l->dir[0] ? l->dir : NULL, l->options->store, &l->where, err);
	if (ret)
		launch_undo(l);
	return ret;
}

static int name_store(struct launch *l, pid_t pid, struct hs_error *err)
{
	struct process_stat stat;
	int len;

	if (l->where.in_dir) {
		len = snprintf(l->store, sizeof(l->store), "%s/store.live", l->dir);
	} else {
		if (!process_stat_read(pid, 0, &stat))
			return hs_error_set(err, HS_E_STATE, "cannot read '/proc/%d/stat'",
					    (int)pid);
		len = snprintf(l->store, sizeof(l->store), "%s/heapstory-%u.%d.%" PRIu64 ".store",
			       l->where.folder, (unsigned int)getuid(), (int)pid, stat.start_ticks);
	}
	if (len < (int)sizeof(l->store))
		return 0;
	l->store[0] = 0;
	errno = ENAMETOOLONG;
	return hs_error_system(err, "make store in", l->where.folder);
}

static int link_store(struct launch *l, struct hs_error *err)
{
	char link[PATH_MAX + 16];

	if (l->where.in_dir)
		return 0;
	if (snprintf(link, sizeof(link), "%s/store.live", l->dir) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return hs_error_system(err, "use folder", l->dir);
	}
	if (symlink(l->store, link))
		return hs_error_system(err, "make link", link);
	strcpy(l->link, link);
	return 0;
}

int launch_make_store(struct launch *l, pid_t pid, struct hs_error *err)
{
	struct store_options options = {
		.depth = l->options->depth,
		.mode = l->options->mode,
		.flags = HS_STORE_SUPERVISED |
			 (l->options->follow ? (uint32_t)HS_STORE_FOLLOW : 0) |
			 (l->where.on_tmpfs ? (uint32_t)HS_STORE_ON_TMPFS : 0),
		.dir = l->dir,
	};
	int ret = name_store(l, pid, err);
	long made;

	if (!ret) {
		made = store_create(l->store, &options);
		if (made) {
			errno = (int)-made;
			ret = hs_error_system(err, "make store", l->store);
			l->store[0] = 0;
		}
	}
	if (!ret)
		ret = link_store(l, err);
	if (ret)
		launch_undo(l);
	return ret;
}

void launch_undo(struct launch *l)
{
	if (l->link[0])
		unlink(l->link);
	if (l->store[0])
		unlink(l->store);
	if (l->made_dir)
		rmdir(l->dir);
	l->link[0] = l->store[0] = 0;
	l->made_dir = false;
}
