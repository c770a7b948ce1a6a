/* SPDX-License-Identifier: MIT */
/*
 * vforks.c - many children by vfork and each form of exec; none must cost the parent memory.
 *
 * usage: vforks N
 *
 * N children by each form, after a few that may. Prints "GREW", the bytes by which the parent's
 * address space is larger then, and ends with 0 if each child has ended with the status of true.
 * At last a child whose exec fails once before it goes well, one that forks itself, and its child.
 */
#include "mark.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

static char *const argv_true[] = { "true", "one", "two", NULL };
static int bad;

NOINLINE static void exec_as(int form)
{
	switch (form) {
	case 0:
		execl("/bin/true", "true", "one", "two", NULL);
		break;
	case 1:
		execlp("true", "true", NULL);
		break;
	case 2:
		execle("/bin/true", "true", "one", NULL, environ);
		break;
	case 3:
		execve("/bin/true", argv_true, environ);
		break;
	case 4:
		execvp("true", argv_true);
		break;
	case 5:
		execl("/nothing/here", "true", NULL);
		execv("/bin/true", argv_true);
		break;
	}
	_exit(9);
}

NOINLINE static void child(int form)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0)
		exec_as(form);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		bad = 1;
}

static long address_space(void)
{
	char text[64];
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return atol(text) * getpagesize();
}

/* Only the fork in the vfork child is not by the traced process itself. */
NOINLINE static void vforked_forks(void)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		int inner = fork(); /* on the parent's stack and memory */

		if (inner == 0)
			_exit(0);
		_exit(inner < 0 || waitpid(inner, NULL, 0) != inner);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		bad = 1;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 10;
	long before;

	sink = malloc(1);
	for (int form = 0; form < 6; form++)
		child(form);
	before = address_space();
	for (int i = 0; i < nr; i++)
		for (int form = 0; form < 6; form++)
			child(form);
	say("GREW", address_space() - before);
	vforked_forks();
	sink = malloc(2);
	return bad;
}
