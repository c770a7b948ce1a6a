/* SPDX-License-Identifier: MIT */
/*
 * folder.c - see folder.h.
 */
#include "tests/unit/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[32];

int folder_make(void **state)
{
	(void)state;
	strcpy(path, "/tmp/heapstory-unit.XXXXXX");
	return mkdtemp(path) ? 0 : -1;
}

static int remove_one(const char *name, const struct stat *s, int type, struct FTW *ftw)
{
	(void)s, (void)type, (void)ftw;
	return remove(name);
}

int folder_remove(void **state)
{
	(void)state;
	return nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *folder(void)
{
	return path;
}

const char *in_folder(const char *name)
{
	static char paths[64][256];
	static unsigned int next;

	next = (next + 1) % 64;
	snprintf(paths[next], sizeof(paths[next]), "%s/%s", path, name);
	return paths[next];
}

void run(const char *commands)
{
	char line[2048];
	int len = snprintf(line, sizeof(line), "set -e; cd '%s'; %s", path, commands);

	assert_true(len > 0 && (size_t)len < sizeof(line));
	assert_int_equal(system(line), 0);
}
