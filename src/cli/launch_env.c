/* SPDX-License-Identifier: MIT */
/*
 * launch_env.c - which program is meant, whether it can be traced, and the environment that does
 * it.
 */
#include "cli/launch.h"

#include "store/format.h"
#include "symbolizer/symbolizer.h"
#include "util/alloc.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PRELOAD	      "LD_PRELOAD="
#define MAX_VARIABLES 8

/* The library, then what was preloaded before; ld.so takes spaces for colons, so do we. */
static char *preload_value(const char *library)
{
	const char *old = getenv("LD_PRELOAD");
	char *text =
		old ? xasprintf(PRELOAD "%s:%s", library, old) : xasprintf(PRELOAD "%s", library);

	for (char *p = text; *p; p++)
		if (*p == ' ')
			*p = ':';
	return text;
}

static const char *mode_name(uint32_t mode)
{
	return mode == HS_MODE_OFF ? "off" : "live";
}

char **launch_variables(const struct launch *l)
{
	char **vars = xcalloc(MAX_VARIABLES, sizeof(*vars));
	size_t n = 0;

	vars[n++] = preload_value(l->library);
	if (l->store[0])
		vars[n++] = xasprintf(HS_ENV_STORE "=%s", l->store);
	if (l->dir[0])
		vars[n++] = xasprintf(HS_ENV_DIR "=%s", l->dir);
	vars[n++] = xasprintf(HS_ENV_PLACE "=%s", l->where.folder);
	if (l->registry[0])
		vars[n++] = xasprintf(HS_ENV_REGISTRY "=%s", l->registry);
	vars[n++] = xasprintf(HS_ENV_OPTIONS "=mode=%s,depth=%u%s%s", mode_name(l->options->mode),
			      l->options->depth, l->options->follow ? ",follow=1" : "",
			      l->store[0] ? ",supervised=1" : "");
	return vars;
}

char **launch_environment(const struct launch *l)
{
	char **vars = launch_variables(l), **env;
	size_t nr_old = 0, n = 0;

	while (environ && environ[nr_old])
		nr_old++;
	env = xcalloc(nr_old + MAX_VARIABLES + 1, sizeof(*env));
	for (size_t i = 0; i < nr_old; i++)
		/* those of a tracer that this tool itself runs under are not for the program */
		if (strncmp(environ[i], HS_ENV_PREFIX, strlen(HS_ENV_PREFIX)))
			env[n++] = environ[i];
	for (size_t i = 0; vars[i]; i++)
		env[n++] = vars[i];
	free(vars);
	return env;
}

/* 0 if the file can be executed by us, else errno. */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? errno : 0;
}

int launch_find_program(const char *name, char ret[PATH_MAX])
{
	const char *path = getenv("PATH"), *end;
	char standard[256];
	int trouble = ENOENT;

	if (strchr(name, '/') || !*name) {
		if (strlen(name) >= PATH_MAX)
			return ENAMETOOLONG;
		strcpy(ret, name);
		return *name ? executable(name) : ENOENT;
	}
	if (!path) {
		confstr(_CS_PATH, standard, sizeof(standard));
		path = standard;
	}
	for (;; path = end + 1) {
		int len, one;

		end = strchrnul(path, ':');
		len = end > path ? (int)(end - path) : 1; /* an empty word is the current folder */
		if (snprintf(ret, PATH_MAX, "%.*s/%s", len, end > path ? path : ".", name) <
		    PATH_MAX) {
			one = executable(ret);
			if (!one)
				return 0;
			if (one == EACCES)
				trouble = EACCES;
		}
		if (!*end)
			return trouble;
	}
}

/* execvp(3) gives a text file without "#!" to the shell. */
static bool is_bare_script(const char *path)
{
	char start[4] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, start, sizeof(start));

	if (fd >= 0)
		close(fd);
	return n >= 0 && memcmp(start, "\177ELF", 4) && memcmp(start, "#!", 2);
}

bool launch_traceable(const char *path, char *ret_why, size_t size)
{
	enum elf_trace verdict;

	if (is_bare_script(path))
		path = "/bin/sh";
	verdict = elf_traceable(path, ret_why, size);
	return verdict == ELF_TRACE_OK;
}
