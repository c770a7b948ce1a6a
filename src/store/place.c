/* SPDX-License-Identifier: MIT */
/*
 * place.c - the registry of running traced processes, and what a TARGET means; see place.h.
 *
 * The registry is a folder of symbolic links PID.STARTTICKS -> store. Which folder depends on the
 * environment, and that of `snap` in a cron job is not that of `run` in a session; so all the
 * places where it can be are searched.
 */
#include "store/place.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/process.h"
#include "store/snapshot_format.h"
#include "store/summary.h"
#include "util/alloc.h"
#include "util/error.h"

#define STORE_NAME "store.live"
#define NR_PLACES  3

/* ---- where the registry is --------------------------------------------------------------- */

/* Whether path is a folder of ours that nobody else can write to. errno says why not. */
static bool own_folder(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return false;
	errno = ENOTDIR;
	if (!S_ISDIR(st.st_mode))
		return false;
	errno = EPERM;
	return st.st_uid == geteuid() && !(st.st_mode & 022);
}

/* The folders that a registry may be in, best first: "" if there is none of that kind. */
static void registry_places(char places[NR_PLACES][PATH_MAX])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char session[64];
	unsigned int uid = geteuid();

	memset(places, 0, NR_PLACES * sizeof(places[0]));
	if (runtime && *runtime == '/' && strlen(runtime) < PATH_MAX - 16 && own_folder(runtime))
		snprintf(places[0], PATH_MAX, "%.*s/heapstory", PATH_MAX - 16, runtime);
	snprintf(places[1], PATH_MAX, "/tmp/heapstory-%u", uid);
	snprintf(session, sizeof(session), "/run/user/%u", uid);
	if (own_folder(session))
		snprintf(places[2], PATH_MAX, "%s/heapstory", session);
	if (!strcmp(places[0], places[2]))
		places[2][0] = '\0';
}

int registry_path(char *ret, size_t size, struct hs_error *err)
{
	char places[NR_PLACES][PATH_MAX];
	const char *path;

	registry_places(places);
	path = places[0][0] ? places[0] : places[1];
	if (mkdir(path, 0700) && errno != EEXIST)
		return hs_error_system(err, "make folder", path);
	if (!own_folder(path)) {
		if (errno == EPERM)
			return hs_error_set(err, HS_E_STATE,
					    "folder '%s' is not ours alone: others own it or may "
					    "write to it",
					    path);
		return hs_error_system(err, "use folder", path);
	}
	if (strlen(path) >= size)
		return hs_error_set(err, HS_E_USAGE, "path '%s' is too long", path);
	memcpy(ret, path, strlen(path) + 1);
	return 0;
}

/* ---- its entries ------------------------------------------------------------------------- */

/* "PID.STARTTICKS" and nothing else. */
static bool parse_entry(const char *name, pid_t *ret_pid, uint64_t *ret_ticks)
{
	char *end;
	unsigned long pid;
	unsigned long long ticks;

	if (!isdigit((unsigned char)name[0]))
		return false;
	pid = strtoul(name, &end, 10);
	if (*end != '.' || !isdigit((unsigned char)end[1]) || !pid || pid > INT_MAX)
		return false;
	ticks = strtoull(end + 1, &end, 10);
	if (*end)
		return false;
	*ret_pid = (pid_t)pid;
	*ret_ticks = ticks;
	return true;
}

/* Fills an entry from its link. False if the link cannot be read. */
static bool read_entry(int dir_fd, const char *name, struct registry_entry *e)
{
	ssize_t n = readlinkat(dir_fd, name, e->store, sizeof(e->store) - 1);
	struct process_stat st;

	if (n <= 0)
		return false;
	e->store[n] = '\0';
	if (!process_stat_read(e->pid, 0, &st))
		return false;
	memcpy(e->comm, st.comm, sizeof(e->comm));
	if (!process_exe(e->pid, e->exe, sizeof(e->exe)))
		e->exe[0] = '\0';
	return true;
}

static bool listed(const struct registry_entry *entries, size_t nr, pid_t pid)
{
	for (size_t i = 0; i < nr; i++) {
		if (entries[i].pid == pid)
			return true;
	}
	return false;
}

static void list_folder(const char *folder, struct registry_entry **entries, size_t *nr,
			size_t *alloc)
{
	struct dirent *d;
	DIR *dir;

	if (!folder[0] || !own_folder(folder))
		return;
	dir = opendir(folder);
	if (!dir)
		return;
	while ((d = readdir(dir))) {
		struct registry_entry *e;
		uint64_t ticks;
		pid_t pid;

		if (!parse_entry(d->d_name, &pid, &ticks))
			continue;
		if (!process_runs(pid, ticks)) {
			unlinkat(dirfd(dir), d->d_name, 0);
			continue;
		}
		*entries = xgrow(*entries, alloc, *nr + 1, sizeof(**entries));
		e = &(*entries)[*nr];
		memset(e, 0, sizeof(*e));
		e->pid = pid;
		e->start_ticks = ticks;
		/* It may go on as another program whose store is not there yet, or is not ours. */
		if (read_entry(dirfd(dir), d->d_name, e) && store_alive(e->store) &&
		    !listed(*entries, *nr, pid))
			(*nr)++;
	}
	closedir(dir);
}

static int by_pid(const void *a, const void *b)
{
	const struct registry_entry *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int registry_list(struct registry_entry **ret, size_t *ret_nr, struct hs_error *err)
{
	char places[NR_PLACES][PATH_MAX];
	struct registry_entry *entries = NULL;
	size_t nr = 0, alloc = 0;

	(void)err;
	registry_places(places);
	for (int i = 0; i < NR_PLACES; i++)
		list_folder(places[i], &entries, &nr, &alloc);
	if (nr)
		qsort(entries, nr, sizeof(*entries), by_pid);
	*ret = entries ? entries : xcalloc(1, sizeof(*entries));
	*ret_nr = nr;
	return 0;
}

/* ---- targets ----------------------------------------------------------------------------- */

static int give_path(const char *path, char *ret_path, size_t size, struct hs_error *err)
{
	size_t len = strlen(path);

	if (len >= size)
		return hs_error_set(err, HS_E_USAGE, "path '%s' is too long", path);
	memmove(ret_path, path, len + 1);
	return 0;
}

/* Effective user of a process; false if there is none, or that is hidden from us. */
static bool user_of(unsigned long pid, uid_t *ret)
{
	char path[64], *line = NULL;
	unsigned int uid;
	size_t alloc = 0;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%lu/status", pid);
	f = fopen(path, "re");
	while (f && !found && getline(&line, &alloc, f) > 0)
		found = sscanf(line, "Uid: %*u %u", &uid) == 1;
	free(line);
	if (f)
		fclose(f);
	if (found)
		*ret = uid;
	return found;
}

/* "user 'redis'" */
static void name_user(uid_t uid, char *ret, size_t size)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(ret, size, "user '%s'", user->pw_name);
	else
		snprintf(ret, size, "user %u", (unsigned int)uid);
}

/* Stores and registry are their owner's alone; root could read them, but does not know where. */
static const char *why_not_other_user(void)
{
	return geteuid() ? strerror(EACCES) : "run heapstory as that user, or name its store";
}

static int find_pid(const char *target, const struct registry_entry *entries, size_t nr,
		    char *ret_path, size_t size, struct hs_error *err)
{
	unsigned long pid = strtoul(target, NULL, 10);
	char proc[64], user[64];
	uid_t uid;

	for (size_t i = 0; i < nr; i++) {
		if ((unsigned long)entries[i].pid == pid)
			return give_path(entries[i].store, ret_path, size, err);
	}
	snprintf(proc, sizeof(proc), "/proc/%lu", pid);
	if (pid && pid <= INT_MAX && user_of(pid, &uid) && uid != geteuid()) {
		name_user(uid, user, sizeof(user));
		return hs_error_set(err, HS_E_SYSTEM, "cannot look into process %s of %s: %s",
				    target, user, why_not_other_user());
	}
	if (pid && pid <= INT_MAX && !access(proc, F_OK))
		return hs_error_set(err, HS_E_NOT_FOUND, "process %s is not traced", target);
	return hs_error_set(err, HS_E_NOT_FOUND, "there is no process %s", target);
}

static bool entry_has_name(const struct registry_entry *e, const char *name)
{
	const char *slash = strrchr(e->exe, '/');

	return !strcmp(e->comm, name) || !strcmp(slash ? slash + 1 : e->exe, name);
}

/* "12 (/usr/bin/a), 34 (/usr/bin/b)", as many as there is room for. */
static void list_names(const struct registry_entry *entries, size_t nr, const char *name, char *ret,
		       size_t size)
{
	size_t len = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < nr && len < size; i++) {
		const struct registry_entry *e = &entries[i];
		int n;

		if (name && !entry_has_name(e, name))
			continue;
		n = snprintf(ret + len, size - len, "%s%d (%s)", len ? ", " : "", (int)e->pid,
			     e->exe[0] && name ? e->exe : e->comm);
		len += n > 0 ? (size_t)n : 0;
	}
	if (len >= size)
		memcpy(ret + size - 4, "...", 4);
}

/* A process of another user whose command has the name: its pid, or 0. */
static pid_t others_process(const char *name, uid_t *ret_uid)
{
	DIR *dir = opendir("/proc");
	struct process_stat st;
	struct dirent *d;
	pid_t found = 0;

	while (dir && !found && (d = readdir(dir))) {
		unsigned long pid = strtoul(d->d_name, NULL, 10);

		if (pid && process_stat_read((pid_t)pid, 0, &st) &&
		    !strncmp(st.comm, name, sizeof(st.comm) - 1) && user_of(pid, ret_uid) &&
		    *ret_uid != geteuid())
			found = (pid_t)pid;
	}
	if (dir)
		closedir(dir);
	return found;
}

static int find_name(const char *target, const struct registry_entry *entries, size_t nr,
		     char *ret_path, size_t size, struct hs_error *err)
{
	const struct registry_entry *found = NULL;
	size_t nr_found = 0;
	char names[700], user[64];
	pid_t other;
	uid_t uid;

	for (size_t i = 0; i < nr; i++) {
		if (entry_has_name(&entries[i], target)) {
			found = &entries[i];
			nr_found++;
		}
	}
	if (nr_found == 1)
		return give_path(found->store, ret_path, size, err);
	if (nr_found) {
		list_names(entries, nr, target, names, sizeof(names));
		return hs_error_set(err, HS_E_AMBIGUOUS, "%zu traced processes are named '%s': %s",
				    nr_found, target, names);
	}
	other = others_process(target, &uid);
	if (other) {
		name_user(uid, user, sizeof(user));
		return hs_error_set(err, HS_E_SYSTEM,
				    "no traced process of ours is named '%s', and process %d of %s "
				    "cannot be looked into: %s",
				    target, (int)other, user, why_not_other_user());
	}
	list_names(entries, nr, NULL, names, sizeof(names));
	return hs_error_set(err, HS_E_NOT_FOUND,
			    "no file and no traced process is named '%s'; %s%s", target,
			    nr ? "traced are: " : "no process is traced", names);
}

/* Whether the file begins like a snapshot or store. */
static bool has_magic(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char magic[16];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, magic, sizeof(magic));
	close(fd);
	return n == sizeof(magic) &&
	       (!memcmp(magic, HS_STORE_MAGIC, 16) || !memcmp(magic, HS_FILE_MAGIC, 16));
}

/* What is said of a folder in which there is no store. */
static int no_store(const char *folder, struct hs_error *err)
{
	char inside[PATH_MAX], store[PATH_MAX];
	ssize_t len;

	snprintf(inside, sizeof(inside), "%s/%s", folder, STORE_NAME);
	len = readlink(inside, store, sizeof(store) - 1);
	if (len > 0)
		return hs_error_set(err, HS_E_NOT_FOUND, "the store of '%s' is gone: '%.*s'",
				    folder, (int)len, store);
	if (errno != ENOENT && errno != EINVAL)
		return hs_error_system(err, "open", inside);
	return hs_error_set(err, HS_E_NOT_FOUND, "folder '%s' has no " STORE_NAME, folder);
}

/*
 * Looks at target as a path. 0: it is one, *ret_path is set; 1: it is not one of ours, or none,
 * and may be a name.
 */
static int find_path(const char *target, char *ret_path, size_t size, struct hs_error *err)
{
	struct stat st;
	char inside[PATH_MAX];
	int n;

	if (stat(target, &st))
		return 1;
	if (!S_ISDIR(st.st_mode))
		return has_magic(target) || strchr(target, '/')
			       ? give_path(target, ret_path, size, err)
			       : 1;
	n = snprintf(inside, sizeof(inside), "%s/%s", target, STORE_NAME);
	if (n >= (int)sizeof(inside))
		return hs_error_set(err, HS_E_USAGE, "path '%s' is too long", target);
	if (!stat(inside, &st))
		return give_path(inside, ret_path, size, err);
	return strchr(target, '/') ? no_store(target, err) : 1;
}

static bool ends_like_snapshot(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && !strcmp(name + len - 3, ".hs");
}

int target_find(const char *target, char *ret_path, size_t size, struct hs_error *err)
{
	struct registry_entry *entries;
	struct stat st;
	size_t nr;
	int ret;

	if (!*target)
		return hs_error_set(err, HS_E_USAGE, "the target is empty");
	ret = registry_list(&entries, &nr, err);
	if (ret)
		return ret;
	if (strspn(target, "0123456789") == strlen(target)) {
		ret = find_pid(target, entries, nr, ret_path, size, err);
		/* a program may be named by digits, too */
		for (size_t i = 0; i < nr && ret == -HS_E_NOT_FOUND; i++) {
			if (entry_has_name(&entries[i], target))
				ret = find_name(target, entries, nr, ret_path, size, err);
		}
		goto out;
	}
	ret = find_path(target, ret_path, size, err);
	if (ret <= 0)
		goto out;
	if (strchr(target, '/') || ends_like_snapshot(target)) {
		errno = stat(target, &st) ? errno : EINVAL;
		ret = errno == EINVAL ? give_path(target, ret_path, size, err)
				      : hs_error_system(err, "open", target);
		goto out;
	}
	ret = find_name(target, entries, nr, ret_path, size, err);
	if (ret == -HS_E_NOT_FOUND && !stat(target, &st)) {
		/* It is there, then, but not ours: where it can be read, that is what is wrong. */
		if (S_ISDIR(st.st_mode))
			ret = no_store(target, err);
		else if (S_ISREG(st.st_mode) && !access(target, R_OK))
			ret = hs_error_set(err, HS_E_NOT_FOUND,
					   "no traced process is named '%s', and the file '%s' is "
					   "neither snapshot nor store",
					   target, target);
		else
			ret = give_path(target, ret_path, size, err);
	}
out:
	free(entries);
	return ret;
}
