/* SPDX-License-Identifier: MIT */
/*
 * exec.c - hooks of exec, posix_spawn and fork: who stays traced.
 *
 * Runs in the traced program, in a vfork child of it, or in a fork child (where the gate is
 * closed and all calls pass). An exec in the traced process itself goes on being traced: it gets
 * the variables that our start took out of the environment. A child gets them only where children
 * are followed, and is counted otherwise. The new environment is an array in memory of our own
 * with the program's strings in it; nothing of the program's is changed.
 * A program that can't take our library (another C library or machine, static) does not get it:
 * musl's loader would refuse to start it, others would complain on its stderr.
 */
#include "tracer/lifecycle.h"
#include "tracer/preloadable.h"
#include "tracer/real.h"
#include "tracer/sys.h"
#include "tracer/thread.h"

#include "store/format.h"
#include "store/writer.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define HS_EXPORT __attribute__((visibility("default")))
#define NR_VARIABLES 5u /* LD_PRELOAD and four of ours */

typedef int execve_fn(const char *, char *const[], char *const[]);
typedef int fexecve_fn(int, char *const[], char *const[]);
typedef int execveat_fn(int, const char *, char *const[], char *const[], int);
typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
		     const posix_spawnattr_t *, char *const[], char *const[]);

/* An environment with our variables, and the memory it lies in. */
struct traced_env {
	char **env;   /* NULL: the program's own is to be used */
	size_t bytes;
};

static char *put_text(char *at, const char *text)
{
	size_t len = strlen(text);

	memcpy(at, text, len + 1);
	return at + len;
}

/* Writes NAME=value, if there is a value; returns where the next text goes. */
static char *put_variable(char **slot, size_t *nr, char *at, const char *name, const char *value)
{
	if (!*value)
		return at;
	slot[(*nr)++] = at;
	at = put_text(at, name);
	at = put_text(at, "=");
	return put_text(at, value) + 1;
}

static const char *preload_of(char *const env[])
{
	for (; env && *env; env++)
		if (!strncmp(*env, "LD_PRELOAD=", 11))
			return *env + 11;
	return "";
}

static void fill(struct traced_env *t, char *const env[], size_t nr, const struct lifecycle_env *l)
{
	char **slots = t->env;
	char *at = (char *)(slots + nr + NR_VARIABLES + 1);
	const char *old = preload_of(env);
	size_t n = 0;

	for (size_t i = 0; i < nr; i++)
		if (strncmp(env[i], HS_ENV_PREFIX, sizeof(HS_ENV_PREFIX) - 1))
			slots[n++] = env[i];
	/* behind what the program set; see environment_take() */
	slots[n++] = at;
	at = put_text(put_text(at, "LD_PRELOAD="), l->library);
	if (*old)
		at = put_text(put_text(at, ":"), old);
	at++;
	at = put_variable(slots, &n, at, HS_ENV_DIR, l->dir);
	at = put_variable(slots, &n, at, HS_ENV_PLACE, l->place);
	at = put_variable(slots, &n, at, HS_ENV_REGISTRY, l->registry);
	put_variable(slots, &n, at, HS_ENV_OPTIONS, l->options);
	slots[n] = NULL;
}

static struct traced_env make_env(char *const env[], const struct lifecycle_env *l)
{
	struct traced_env t = { NULL, 0 };
	size_t nr = 0, text;

	while (env && env[nr])
		nr++;
	text = strlen(l->library) + strlen(preload_of(env)) + strlen(l->dir) + strlen(l->place) +
	       strlen(l->registry) + strlen(l->options) + 256;
	t.bytes = (nr + NR_VARIABLES + 1) * sizeof(char *) + text;
	t.env = sys_map(t.bytes);
	if (t.env)
		fill(&t, env, nr, l);
	return t;
}

/* What the new image is to get; spawned: by posix_spawn, whose child is never this process. */
static struct traced_env env_for(const char *path, bool search, char *const env[], bool spawned)
{
	struct traced_env none = { NULL, 0 };
	struct lifecycle_env l;
	bool own;

	if (!tracer_gate->control)
		return none;
	own = !spawned && lifecycle_is_own_process();
	if (!lifecycle_env(own, &l)) {
		if (!own)
			store_lost(HS_LOST_CHILD);
		return none;
	}
	return preloadable(path, search) ? make_env(env, &l) : none;
}

static void drop(struct traced_env *t)
{
	if (t->env)
		sys_unmap(t->env, t->bytes);
}

/* The store is left behind by this process if the exec goes well, and only then. */
static void leaving(bool going)
{
	if (tracer_gate->control && lifecycle_is_own_process()) {
		uint32_t from = going ? HS_STATE_RECORDING : HS_STATE_EXECED;

		__atomic_compare_exchange_n(&store.header->state, &from,
					    going ? HS_STATE_EXECED : HS_STATE_RECORDING, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	}
}

static int exec_path(const char *path, char *const argv[], char *const env[], bool search)
{
	struct traced_env t = env_for(path, search, env, false);
	execve_fn *next = (execve_fn *)real_other(search ? REAL_EXECVPE : REAL_EXECVE);
	int ret, failure;

	leaving(true);
	ret = next(path, argv, t.env ? t.env : env);
	failure = errno;
	leaving(false);
	drop(&t);
	errno = failure;
	return ret;
}

HS_EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	return exec_path(path, argv, env, false);
}

HS_EXPORT int execv(const char *path, char *const argv[])
{
	return exec_path(path, argv, environ, false);
}

HS_EXPORT int execvp(const char *file, char *const argv[])
{
	return exec_path(file, argv, environ, true);
}

HS_EXPORT int execvpe(const char *file, char *const argv[], char *const env[])
{
	return exec_path(file, argv, env, true);
}

HS_EXPORT int fexecve(int fd, char *const argv[], char *const env[])
{
	fexecve_fn *next = (fexecve_fn *)real_other(REAL_FEXECVE);
	struct traced_env t = { NULL, 0 };
	char name[32] = "/proc/self/fd/";
	char digits[12];
	size_t at = sizeof(digits) - 1;
	int ret, failure, left = fd < 0 ? 0 : fd;

	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + left % 10);
	while (left /= 10);
	put_text(name + 14, digits + at);
	t = env_for(name, false, env, false);
	leaving(true);
	ret = next(fd, argv, t.env ? t.env : env);
	failure = errno;
	leaving(false);
	drop(&t);
	errno = failure;
	return ret;
}

HS_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const env[], int flags)
{
	execveat_fn *next = (execveat_fn *)real_other(REAL_EXECVEAT);
	struct traced_env t = { NULL, 0 };
	int ret, failure;

	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	if (*path == '/')
		t = env_for(path, false, env, false);
	leaving(true);
	ret = next(fd, path, argv, t.env ? t.env : env, flags);
	failure = errno;
	leaving(false);
	drop(&t);
	errno = failure;
	return ret;
}

/* ---- the forms with a list of arguments ---- */

/* The list as an array in memory of our own; its last member is NULL. */
static char **gather(const char *first, va_list *list, size_t *ret_bytes)
{
	va_list count;
	size_t nr = 1;
	char **argv;

	va_copy(count, *list);
	if (first)
		while (va_arg(count, char *))
			nr++;
	va_end(count);
	*ret_bytes = (nr + 1) * sizeof(*argv);
	argv = sys_map(*ret_bytes);
	if (!argv)
		return NULL;
	argv[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; first && i <= nr; i++)
		argv[i] = va_arg(*list, char *);
	return argv;
}

static int exec_list(const char *path, char **argv, size_t bytes, char *const env[], bool search)
{
	int ret, failure;

	if (!argv) {
		errno = ENOMEM;
		return -1;
	}
	ret = exec_path(path, argv, env, search);
	failure = errno;
	sys_unmap(argv, bytes);
	errno = failure;
	return ret;
}

HS_EXPORT int execl(const char *path, const char *arg, ...)
{
	va_list list;
	size_t bytes;
	char **argv;

	va_start(list, arg);
	argv = gather(arg, &list, &bytes);
	va_end(list);
	return exec_list(path, argv, bytes, environ, false);
}

HS_EXPORT int execlp(const char *file, const char *arg, ...)
{
	va_list list;
	size_t bytes;
	char **argv;

	va_start(list, arg);
	argv = gather(arg, &list, &bytes);
	va_end(list);
	return exec_list(file, argv, bytes, environ, true);
}

HS_EXPORT int execle(const char *path, const char *arg, ...)
{
	va_list list;
	size_t bytes;
	char **argv, **env;

	va_start(list, arg);
	argv = gather(arg, &list, &bytes);
	env = va_arg(list, char **);
	va_end(list);
	return exec_list(path, argv, bytes, env, false);
}

/* ---- children ---- */

static int spawn(enum real_other nr, pid_t *pid, const char *path,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const argv[], char *const env[])
{
	spawn_fn *next = (spawn_fn *)real_other(nr);
	struct traced_env t = env_for(path, nr == REAL_POSIX_SPAWNP, env, true);
	int saved = errno, ret;

	ret = next(pid, path, actions, attributes, argv, t.env ? t.env : env);
	drop(&t);
	errno = saved;
	return ret;
}

HS_EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
			  const posix_spawn_file_actions_t *actions,
			  const posix_spawnattr_t *restrict attributes,
			  char *const argv[restrict], char *const env[restrict])
{
	return spawn(REAL_POSIX_SPAWN, pid, path, actions, attributes, argv, env);
}

HS_EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
			   const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *restrict attributes,
			   char *const argv[restrict], char *const env[restrict])
{
	return spawn(REAL_POSIX_SPAWNP, pid, file, actions, attributes, argv, env);
}
