/* SPDX-License-Identifier: MIT */
/*
 * exec.c - hooks of exec and posix_spawn: who stays traced.
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
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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
	struct thread *keeper; /* whose memory it is; NULL: nobody's */
	bool counted; /* as a child that is not traced, for nobody is there to do so afterwards */
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

/*
 * Memory for a vfork child, which is the parent's too: if the exec goes well nobody is there to
 * give it back. So it stays with the thread, which is held up until then, for its next child.
 * False: a signal handler of this child has interrupted the use of it, or the thread has no struct.
 */
static bool take_kept(struct traced_env *t)
{
	struct thread *self = tracer_self ? tracer_self : thread_first();
	uint32_t pid = (uint32_t)sys_getpid();

	if (self->special & (THREAD_ORPHAN | THREAD_BUSY) || self->kept.user == pid)
		return false;
	if (self->kept.bytes < t->bytes) {
		if (self->kept.bytes)
			sys_unmap(self->kept.at, self->kept.bytes);
		self->kept.at = sys_map(t->bytes);
		self->kept.bytes = self->kept.at ? t->bytes : 0;
	}
	self->kept.user = pid;
	t->keeper = self;
	t->env = self->kept.at;
	return true;
}

static struct traced_env make_env(char *const env[], const struct lifecycle_env *l, bool vforked)
{
	struct traced_env t = { NULL, 0, NULL, false };
	size_t nr = 0, text;

	while (env && env[nr])
		nr++;
	text = strlen(l->library) + strlen(preload_of(env)) + strlen(l->dir) + strlen(l->place) +
	       strlen(l->registry) + strlen(l->options) + 256;
	t.bytes = (nr + NR_VARIABLES + 1) * sizeof(char *) + text;
	if (!vforked || !take_kept(&t))
		t.env = sys_map(t.bytes);
	if (t.env)
		fill(&t, env, nr, l);
	return t;
}

/* What the new image is to get; spawned: by posix_spawn, whose child is never this process. */
static struct traced_env env_for(const char *path, bool search, char *const env[], bool spawned)
{
	struct traced_env none = { NULL, 0, NULL, false };
	struct lifecycle_env l;
	bool own;

	if (!tracer_gate->control)
		return none;
	own = !spawned && lifecycle_is_own_process();
	if (lifecycle_env(own, &l) && preloadable(path, search))
		return make_env(env, &l, !own && !spawned);
	none.counted = !own;
	if (none.counted)
		store_lost(HS_LOST_CHILD);
	return none;
}

/* After the call, which may have failed: then there is no child. */
static void drop(struct traced_env *t, bool failed)
{
	if (t->counted && failed)
		store_not_lost(HS_LOST_CHILD);
	if (t->keeper)
		t->keeper->kept.user = 0;
	else if (t->env)
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
	drop(&t, true);
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
	struct traced_env t = { NULL, 0, NULL, false };
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
	drop(&t, true);
	errno = failure;
	return ret;
}

HS_EXPORT int execveat(int fd, const char *path, char *const argv[], char *const env[], int flags)
{
	execveat_fn *next = (execveat_fn *)real_other(REAL_EXECVEAT);
	struct traced_env t = { NULL, 0, NULL, false };
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
	drop(&t, true);
	errno = failure;
	return ret;
}

/* ---- the forms with a list of arguments ---- */

/* Arguments up to the NULL. */
static size_t count_list(const char *first, va_list *list)
{
	size_t nr = first != NULL;

	while (first && va_arg(*list, char *))
		nr++;
	return nr;
}

/* nr arguments and the NULL. */
static void fill_list(char **argv, const char *first, va_list *list, size_t nr)
{
	argv[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; first && i <= nr; i++)
		argv[i] = va_arg(*list, char *);
}

/*
 * What follows `first` as an array, on the stack as libc has it too; `list` stands behind the NULL
 * afterwards.
 */
#define LIST_TO_ARRAY(argv, first, list)                                           \
	do {                                                                       \
		size_t nr;                                                         \
                                                                                   \
		va_start(list, first);                                             \
		nr = count_list(first, &(list));                                   \
		va_end(list);                                                      \
		(argv) = __builtin_alloca((nr + 1) * sizeof(*(argv)));             \
		va_start(list, first);                                             \
		fill_list(argv, first, &(list), nr);                               \
	} while (0)

HS_EXPORT int execl(const char *path, const char *arg, ...)
{
	va_list list;
	char **argv;

	LIST_TO_ARRAY(argv, arg, list);
	va_end(list);
	return exec_path(path, argv, environ, false);
}

HS_EXPORT int execlp(const char *file, const char *arg, ...)
{
	va_list list;
	char **argv;

	LIST_TO_ARRAY(argv, arg, list);
	va_end(list);
	return exec_path(file, argv, environ, true);
}

HS_EXPORT int execle(const char *path, const char *arg, ...)
{
	va_list list;
	char **argv, **env;

	LIST_TO_ARRAY(argv, arg, list);
	env = va_arg(list, char **);
	va_end(list);
	return exec_path(path, argv, env, false);
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
	drop(&t, ret != 0);
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

/*
 * The C library makes the children of these by itself, with the program's environment, which is not
 * ours to change. They are not followed, but counted.
 */
static void made_inside(bool made)
{
	if (made && tracer_gate->control)
		store_lost(HS_LOST_CHILD);
}

HS_EXPORT int system(const char *command)
{
	int (*next)(const char *) = (int (*)(const char *))real_other(REAL_SYSTEM);
	int ret = next ? next(command) : -1;

	made_inside(command && ret != -1);
	return ret;
}

HS_EXPORT FILE *popen(const char *command, const char *mode)
{
	FILE *(*next)(const char *, const char *) =
		(FILE * (*)(const char *, const char *)) real_other(REAL_POPEN);
	FILE *ret = next ? next(command, mode) : NULL;

	made_inside(ret != NULL);
	return ret;
}
