/* SPDX-License-Identifier: MIT */
/*
 * debuginfod.c - files from debuginfod servers, by libdebuginfod; see debuginfod.h.
 */
#include "symbolizer/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/alloc.h"

#define LIBRARY "libdebuginfod.so.1"
/* The library's own is 90 s, for each file: a report would seem to hang. */
#define TIMEOUT_S "15"

typedef void *(*begin_fn)(void);
typedef void (*end_fn)(void *client);
typedef int (*find_fn)(void *client, const unsigned char *build_id, int len, char **ret_path);

struct debuginfod {
	void *library, *client;
	end_fn end;
	find_fn find_debuginfo, find_executable;
	bool silent; /* it did not answer in time, or at all */
};

static bool load(struct debuginfod *d)
{
	begin_fn begin;

	d->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!d->library)
		return false;
	begin = (begin_fn)dlsym(d->library, "debuginfod_begin");
	d->end = (end_fn)dlsym(d->library, "debuginfod_end");
	d->find_debuginfo = (find_fn)dlsym(d->library, "debuginfod_find_debuginfo");
	d->find_executable = (find_fn)dlsym(d->library, "debuginfod_find_executable");
	if (!begin || !d->end || !d->find_debuginfo || !d->find_executable)
		return false;
	setenv("DEBUGINFOD_TIMEOUT", TIMEOUT_S, 0);
	d->client = begin();
	return d->client != NULL;
}

struct debuginfod *debuginfod_new(char **ret_problem)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct debuginfod *d;

	if (!urls || !*urls) {
		*ret_problem = xstrdup("--debuginfod needs the servers' addresses in "
				       "$DEBUGINFOD_URLS");
		return NULL;
	}
	d = xcalloc(1, sizeof(*d));
	if (load(d))
		return d;
	*ret_problem = xasprintf("--debuginfod needs the library '%s', which cannot be loaded",
				 LIBRARY);
	debuginfod_free(d);
	return NULL;
}

void debuginfod_free(struct debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	/* the library stays: it and those below it may have left handlers behind */
	free(d);
}

char *debuginfod_find(struct debuginfod *d, const uint8_t *build_id, size_t len, bool executable)
{
	find_fn find = executable ? d->find_executable : d->find_debuginfo;
	char *path = NULL;
	int fd;

	if (d->silent || !len || len > INT_MAX)
		return NULL;
	fd = find(d->client, build_id, (int)len, &path);
	if (fd >= 0) {
		close(fd);
		return path;
	}
	d->silent = fd != -ENOENT;
	return NULL;
}
