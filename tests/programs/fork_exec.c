/* SPDX-License-Identifier: MIT */
/*
 * fork_exec.c - what a child allocates is not the parent's.
 *
 * 20 children: each keeps 100 blocks, then half of them exec another program and
 * half end with _exit. The parent keeps 5 blocks between the marks. The children
 * get the parent's files, memory and environment: they must neither write into
 * the parent's output nor show up in its snapshots.
 *
 * TRUTH live 1 at=parent_keep blocks=10 bytes=640
 * TRUTH grow 1 2 at=parent_keep blocks=5 bytes=320
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#include "mark.h"
#include <sys/wait.h>

NOINLINE void *parent_keep(void)
{
	return malloc(64);
}

NOINLINE void child_keep(void)
{
	for (int i = 0; i < 100; i++) {
		void *p = malloc(64);
		sink = p;
	}
}

NOINLINE void one_child(int i)
{
	pid_t pid = fork();
	if (pid < 0)
		_exit(1);
	if (pid == 0) {
		child_keep();
		if (i % 2 == 0)
			execl("/bin/true", "true", (char *)NULL);
		_exit(0);
	}
	int status;
	if (waitpid(pid, &status, 0) != pid || status != 0)
		_exit(2);
}

int main(void)
{
	for (int i = 0; i < 10; i++)
		sink = parent_keep();
	mark(1);
	for (int i = 0; i < 20; i++) {
		one_child(i);
		if (i % 4 == 0)
			sink = parent_keep();
	}
	mark(2);
	return 0;
}
