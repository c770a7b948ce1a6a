/* SPDX-License-Identifier: MIT */
/*
 * process.c - what /proc says of processes and threads; see process.h.
 */
#include "store/process.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/proc_maps.h"

/* Reads a small file whole, with a 0 behind it; bytes read, or -1. */
static ssize_t read_small(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

bool process_stat_read(pid_t pid, pid_t tid, struct process_stat *ret)
{
	char path[64], buf[1024], *open_paren, *close_paren, *p;
	size_t len;

	if (pid <= 0 || tid < 0)
		return false;
	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	else
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (read_small(path, buf, sizeof(buf)) <= 0)
		return false;
	/* The name may hold spaces and parentheses: it ends at the last one. */
	open_paren = strchr(buf, '(');
	close_paren = strrchr(buf, ')');
	if (!open_paren || !close_paren || close_paren[1] != ' ')
		return false;
	*ret = (struct process_stat){.state = close_paren[2]};
	len = (size_t)(close_paren - open_paren - 1);
	if (len >= sizeof(ret->comm))
		len = sizeof(ret->comm) - 1;
	memcpy(ret->comm, open_paren + 1, len);
	p = close_paren + 2;
	for (int field = 3; *p; field++) {
		if (field == 20)
			ret->nr_threads = (uint32_t)strtoul(p, NULL, 10);
		if (field == 22) {
			ret->start_ticks = strtoull(p, NULL, 10);
			return true;
		}
		p += strcspn(p, " ");
		p += *p == ' ';
	}
	return false;
}

bool process_runs(pid_t pid, uint64_t start_ticks)
{
	struct process_stat st;

	if (!process_stat_read(pid, 0, &st) || st.start_ticks != start_ticks)
		return false;
	/* A main thread that has ended is a zombie too, while others run on. */
	if (st.state == 'Z')
		return st.nr_threads > 1;
	return st.state != 'X' && st.state != 'x';
}

static bool halted_state(char state)
{
	return state == 'T' || state == 't' || state == 'Z' || state == 'X' || state == 'x';
}

bool process_thread_halted(pid_t pid, pid_t tid)
{
	struct process_stat st;

	return !process_stat_read(pid, tid, &st) || halted_state(st.state);
}

bool process_halted(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	bool halted = true;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return true;
	while (halted && (entry = readdir(dir))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			halted = process_thread_halted(pid, (pid_t)atoi(entry->d_name));
	}
	closedir(dir);
	return halted;
}

bool process_maps_file(pid_t pid, int fd)
{
	struct proc_maps maps;
	struct proc_map map;
	bool found = false;
	struct stat st;

	if (fstat(fd, &st) || !proc_maps_open(&maps, pid))
		return false;
	/* overlayfs and btrfs show another device there: then the name has to do */
	while (!found && proc_maps_next(&maps, &map))
		found = map.inode == st.st_ino &&
			(map.dev == st.st_dev || strstr(map.path, "store"));
	proc_maps_close(&maps);
	return found;
}

bool process_boot_id(uint8_t ret[static 16])
{
	char buf[64];
	unsigned int nibbles = 0;

	if (read_small("/proc/sys/kernel/random/boot_id", buf, sizeof(buf)) <= 0)
		return false;
	for (const char *p = buf; *p && nibbles < 32; p++) {
		unsigned int value;

		if (!isxdigit((unsigned char)*p))
			continue;
		value = isdigit((unsigned char)*p) ? (unsigned int)(*p - '0')
						   : (unsigned int)(tolower(*p) - 'a' + 10);
		if (nibbles % 2)
			ret[nibbles / 2] = (uint8_t)(ret[nibbles / 2] | value);
		else
			ret[nibbles / 2] = (uint8_t)(value << 4);
		nibbles++;
	}
	return nibbles == 32;
}

bool process_exe(pid_t pid, char *ret, size_t size)
{
	static const char deleted[] = " (deleted)";
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, ret, size - 1);
	if (n <= 0)
		return false;
	ret[n] = '\0';
	if ((size_t)n > sizeof(deleted) - 1 && !strcmp(ret + n - (sizeof(deleted) - 1), deleted))
		ret[n - (ssize_t)(sizeof(deleted) - 1)] = '\0';
	return true;
}
