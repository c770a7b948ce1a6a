/* SPDX-License-Identifier: MIT */
/*
 * namespaces.c - processes and threads whose ids in a pid namespace of their own are the same.
 *
 * usage: namespaces two | forks
 *
 * two    two children make a pid namespace each, in which process 1 keeps 10 blocks in its first
 *        thread and 5 in another, at the same time. Prints the ids of these threads outside, as
 *        /proc tells them. Ends with 77 where no namespace can be had.
 * forks  keeps 7 blocks; a child keeps 3 more.
 */
#include "mark.h"
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

NOINLINE static void keep(int nr)
{
	for (int i = 0; i < nr; i++)
		sink = malloc(40);
}

static void *in_thread(void *arg)
{
	char text[64];
	ssize_t n = readlink("/proc/thread-self", text, sizeof(text) - 1);

	(void)arg;
	keep(5);
	text[n > 0 ? n : 0] = 0;
	dprintf(1, "%s\n", strrchr(text, '/') ? strrchr(text, '/') + 1 : "none");
	return NULL;
}

static int inner(int met[2])
{
	pthread_t thread;
	char byte = 0;

	keep(10);
	if (getpid() != 1 || pthread_create(&thread, NULL, in_thread, NULL))
		return 1;
	pthread_join(thread, NULL);
	/* Not to end before the other is there as well. */
	if (write(met[1], &byte, 1) != 1)
		return 1;
	close(met[1]);
	while (read(met[0], &byte, 1) > 0)
		;
	return 0;
}

static int outer(int met[2])
{
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		return 77;
	pid = fork();
	if (pid == 0)
		_exit(inner(met));
	close(met[1]);
	return pid < 0 || waitpid(pid, &status, 0) != pid ? 1 : WEXITSTATUS(status);
}

static int two(void)
{
	int met[2], status, worst = 0;

	if (pipe(met))
		return 1;
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(outer(met));
		if (pid < 0)
			return 1;
	}
	close(met[1]);
	while (wait(&status) > 0)
		if (WEXITSTATUS(status) > worst)
			worst = WEXITSTATUS(status);
	return worst;
}

static int forks(void)
{
	int status;
	pid_t pid;

	keep(7);
	pid = fork();
	if (pid == 0) {
		keep(3);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(int argc, char **argv)
{
	return argc > 1 && !strcmp(argv[1], "two") ? two() : forks();
}
