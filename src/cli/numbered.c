/* SPDX-License-Identifier: MIT */
/*
 * numbered.c - snapshots by number in an output folder; see numbered.h.
 */
#include "cli/numbered.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/snapshot.h"
#include "util/alloc.h"
#include "util/error.h"

char *numbered_name(uint32_t number, char ret[static NUMBERED_NAME_LEN])
{
	snprintf(ret, NUMBERED_NAME_LEN, "%04" PRIu32 ".hs", number);
	return ret;
}

uint32_t numbered_number(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits >= 4 && digits <= 9 && !strcmp(name + digits, ".hs")
		       ? (uint32_t)strtoul(name, NULL, 10)
		       : 0;
}

/* The highest number in a folder; 0: there is none, or the folder cannot be read. */
static uint32_t highest_number(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	uint32_t highest = 0;

	while (dir && (entry = readdir(dir)) != NULL) {
		uint32_t number = numbered_number(entry->d_name);

		highest = number > highest ? number : highest;
	}
	if (dir)
		closedir(dir);
	return highest;
}

/* Gives a file its name unless that is taken. 0, or -1 with errno. */
static int rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (link(from, to))
		return -1;
	return unlink(from);
}

int numbered_write(const struct snapshot *snapshot, const char *dir, const char *label,
		   uint32_t from, uint32_t *ret_number, struct hs_error *err)
{
	char *aside = xasprintf("%s/.snap.%d.tmp", dir, (int)getpid()), *path = NULL;
	char name[NUMBERED_NAME_LEN];
	uint32_t number = from ? from : highest_number(dir) + 1;
	int status = snapshot_write(snapshot, aside, label, err);

	if (status && err) {
		const char *why = strrchr(err->text, ':');

		/* the name of the file aside means nothing to anybody */
		hs_error_set(err, err->code, "cannot write a snapshot to '%s'%s", dir,
			     why ? why : "");
	}
	while (!status) {
		path = xasprintf("%s/%s", dir, numbered_name(number, name));
		if (!rename_new(aside, path)) {
			*ret_number = number;
			break;
		}
		if (errno != EEXIST || number == UINT32_MAX) {
			status = hs_error_system(err, "write", path);
			unlink(aside);
		}
		free(path);
		path = NULL;
		number++;
	}
	free(path);
	free(aside);
	return status;
}
