/* SPDX-License-Identifier: MIT */
/*
 * cmd_help.c - heapstory help: the manual page of a command, or its help where man has none.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/suggest.h"

/* Path of the page in the source tree, for a program that was not installed. */
static bool page_beside_us(const char *name, char *ret, size_t size)
{
	char exe[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	if (len < 0)
		return false;
	exe[len] = 0;
	for (int up = 0; up < 2; up++) {
		slash = strrchr(exe, '/');
		if (!slash)
			return false;
		*slash = 0;
	}
	if ((size_t)snprintf(ret, size, "%s/docs/%s.1", exe, name) >= size)
		return false;
	return !access(ret, R_OK);
}

/* What man writes, to our standard output, whose errors main.c looks for; man does not. */
static void copy_out(int from)
{
	char buffer[4096];
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0)
			fwrite(buffer, 1, (size_t)n, stdout);
	}
	close(from);
}

/* Runs man; true if it showed the page. A terminal is man's own, for its pager. */
static bool show_page(const char *page)
{
	int status, ends[2] = {-1, -1};
	pid_t pid;

	fflush(stdout);
	if (!isatty(STDOUT_FILENO) && pipe2(ends, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid) {
		if (ends[1] >= 0)
			dup2(ends[1], STDOUT_FILENO);
		if (!freopen("/dev/null", "w", stderr))
			_exit(127);
		execlp("man", "man", page, (char *)NULL);
		_exit(127);
	}
	if (ends[1] >= 0)
		close(ends[1]);
	if (ends[0] >= 0)
		copy_out(ends[0]);
	if (pid < 0)
		return false;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static int run(int argc, char **argv)
{
	const struct command *command;
	char page[PATH_MAX], name[64];

	if (argc > 2)
		return say("'%s' is one argument too many; 'heapstory help COMMAND' takes one",
			   argv[2]);
	command = argc > 1 ? command_find(argv[1]) : NULL;
	if (argc > 1 && !command)
		return say_no_command(argv[1]);
	if (command && command != &cmd_help)
		snprintf(name, sizeof(name), "heapstory-%s", command->name);
	else
		snprintf(name, sizeof(name), "heapstory");
	if (!page_beside_us(name, page, sizeof(page)))
		snprintf(page, sizeof(page), "%s", name);
	if (!show_page(page))
		command_help(command);
	return EXIT_DONE;
}

const struct command cmd_help = {
	.name = "help",
	.summary = "the manual page of a command",
	.usage = "[COMMAND]",
	.options = "",
	.example = "heapstory help diff\n",
	.run = run,
};
