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

long paths_settle_dir(struct environment *env, uint32_t pid)
{
	struct path path;
	struct sys_stat st;
	long err;

	if (!name_live_link(env))
		return -ENAMETOOLONG;
	if (!env->child && (env->generation > 0 || sys_stat(live_link, 1, &st) == -ENOENT))
		return 0;
	env->child = true;
	path_start(&path, env->dir, sizeof(env->dir), env->root);
	path_add(&path, "/child.");
	path_add_number(&path, pid);
	if (!path_fits(&path))
		return -ENAMETOOLONG;
	err = sys_mkdir(env->dir, 0700);
	return err == -EEXIST ? 0 : err;
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
