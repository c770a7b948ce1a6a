/* SPDX-License-Identifier: MIT */
/*
 * ends.c - every way to die.
 *
 * The argument says how: return (default), exit, _exit, quick_exit, abort, segv,
 * kill, lastthread. Before it dies the program keeps 1000 blocks; what was taken
 * up to MARK 2 must be readable whichever way it ended.
 *
 * TRUTH [*] grow 1 2 at=doomed_keep blocks=1000 bytes=32000
 * TRUTH [*] only 1 2
 * TRUTH exit code=0
 * TRUTH [exit] exit code=3
 * TRUTH [_exit] exit code=4
 * TRUTH [quick_exit] exit code=5
 * TRUTH [abort] exit signal=6
 * TRUTH [segv] exit signal=11
 * TRUTH [kill] exit signal=9
 * TRUTH [lastthread] exit code=0
 */
#include "mark.h"
#include <pthread.h>
#include <signal.h>

NOINLINE void doomed_keep(void)
{
	void *p = malloc(32);
	sink = p;
}

static void *outlive(void *unused)
{
	usleep(20000);
	return unused;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";
	mark(1);
	for (int i = 0; i < 1000; i++)
		doomed_keep();
	mark(2);
	if (!strcmp(way, "exit"))
		exit(3);
	if (!strcmp(way, "_exit"))
		_exit(4);
	if (!strcmp(way, "quick_exit"))
		quick_exit(5);
	if (!strcmp(way, "abort"))
		abort();
	if (!strcmp(way, "segv"))
		*(volatile int *)8 = 1;
	if (!strcmp(way, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(way, "lastthread")) { /* main ends first, the process with its last thread */
		pthread_t t;
		if (pthread_create(&t, NULL, outlive, NULL))
			return 1;
		pthread_exit(NULL);
	}
	return 0;
}
