/* SPDX-License-Identifier: MIT */
/*
 * paths.c - names of files at the tracer's start, without stdio.
 *
 * Runs once in the traced program, and in an exec hook.
 */
#include "tracer/paths.h"

#include "tracer/sys.h"

#include <errno.h>
#include <string.h>

static char live_link[ENVIRONMENT_PATH], old_link[ENVIRONMENT_PATH];

void path_start(struct path *path, char *buf, size_t size, const char *text)
{
	*path = (struct path){ 0, size, buf };
	buf[0] = '\0';
	path_add(path, text);
}

void path_add(struct path *path, const char *text)
{
	size_t len = strlen(text);

	if (path->len + len < path->size)
		memcpy(path->text + path->len, text, len + 1);
	path->len += len;
}

void path_add_number(struct path *path, uint64_t number)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	path_add(path, digits + at);
}

static bool name_live_link(const struct environment *env)
{
	struct path path;

	path_start(&path, live_link, sizeof(live_link), env->dir);
	path_add(&path, "/store.live");
	return path_fits(&path);
}

uint32_t paths_proc_id(const char *link)
{
	char text[64];
	long n = sys_readlink(link, text, sizeof(text) - 1);
	uint32_t id = 0;
	const char *at;

	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, '/');
	for (at = at ? at + 1 : text; *at >= '0' && *at <= '9'; at++)
		id = id * 10 + (uint32_t)(*at - '0');
	return *at ? 0 : id;
}

/* Makes child.PID or, with env->folder, child.PID.N. */
static long make_child_dir(struct environment *env, uint32_t pid)
{
	struct path path;

	path_start(&path, env->dir, sizeof(env->dir), env->root);
	path_add(&path, "/child.");
	path_add_number(&path, pid);
	if (env->folder) {
		path_add(&path, ".");
		path_add_number(&path, env->folder);
	}
	return path_fits(&path) ? sys_mkdir(env->dir, 0700) : -ENAMETOOLONG;
}

long paths_settle_dir(struct environment *env, uint32_t pid)
{
	struct sys_stat st;
	long err;

	if (!name_live_link(env))
		return -ENAMETOOLONG;
	if (!env->child && (env->generation > 0 || sys_stat(live_link, 1, &st) == -ENOENT))
		return 0;
	env->child = true;
	if (env->generation > 0) { /* of this process before its exec */
		err = make_child_dir(env, pid);
		return err == -EEXIST ? 0 : err;
	}
	env->folder = 0;
	while ((err = make_child_dir(env, pid)) == -EEXIST)
		env->folder += env->folder ? 1 : 2;
	return err;
}

long paths_link_store(const struct environment *env)
{
	struct path old;
	struct sys_stat st;

	if (!name_live_link(env))
		return -ENAMETOOLONG;
	if (env->generation > 0 && sys_stat(live_link, 1, &st) == 0) {
		path_start(&old, old_link, sizeof(old_link), env->dir);
		path_add(&old, "/store.");
		path_add_number(&old, env->generation - 1);
		if (path_fits(&old))
			sys_rename(live_link, old_link);
	}
	return sys_symlink(env->store, live_link);
}
