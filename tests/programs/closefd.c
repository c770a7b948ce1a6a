/* SPDX-License-Identifier: MIT */
/*
 * closefd.c - a daemon closes every descriptor that it does not know.
 *
 * After MARK 1 all descriptors from 3 up are closed, those of a tracer included;
 * the program's own log then gets one of these numbers. The program writes 1000
 * lines to its log, keeps 100 blocks, and checks that the log has exactly what
 * it wrote: a tracer that still writes to its old number ruins it (exit 1).
 *
 * TRUTH grow 1 2 at=daemon_keep blocks=100 bytes=12800
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#include "mark.h"
#include <fcntl.h>

NOINLINE void daemon_keep(int i)
{
	char *p = malloc(128);
	memset(p, i, 128);
	sink = p;
}

NOINLINE int same_as_written(int log)
{
	char line[16], want[16];
	if (lseek(log, 0, SEEK_SET))
		return 0;
	for (int i = 0; i < 1000; i++) {
		snprintf(want, sizeof want, "line %09d\n", i);
		if (read(log, line, 15) != 15 || memcmp(line, want, 15))
			return 0;
	}
	return read(log, line, 1) == 0;
}

int main(void)
{
	char name[] = "/tmp/closefd.XXXXXX", line[16];
	daemon_keep(0);
	mark(1);
	if (close_range(3, ~0U, 0))
		return 2;
	int log = mkstemp(name);
	if (log < 0 || unlink(name))
		return 3;
	for (int i = 0; i < 1000; i++) {
		snprintf(line, sizeof line, "line %09d\n", i);
		if (write(log, line, 15) != 15)
			return 4;
		if (i % 10 == 0)
			daemon_keep(i);
	}
	mark(2);
	if (!same_as_written(log))
		return 1;
	mark(3);
	return same_as_written(log) ? 0 : 1;
}
