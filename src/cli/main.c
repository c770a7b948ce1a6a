/* SPDX-License-Identifier: MIT */
/*
 * main.c - the table of commands, the help made of it, and the check of standard output.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/suggest.h"
#include "util/error.h"
#include "util/escape.h"

#define HEAPSTORY_VERSION "0.1.0"

static const struct command *const commands[] = {
	&cmd_run,	&cmd_env,   &cmd_supervise, &cmd_list,	  &cmd_mode, &cmd_snap,
	&cmd_diff,	&cmd_trend, &cmd_largest,   &cmd_history, &cmd_heap, &cmd_export,
	&cmd_symbolize, &cmd_info,  &cmd_check,	    &cmd_help,
};
#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

int say(const char *format, ...)
{
	char *text, *clean;
	va_list args;

	progress_stop();
	fflush(stdout);
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	clean = escape_controls(text);
	fprintf(stderr, "heapstory: %s\n", clean);
	free(clean);
	free(text);
	return EXIT_TROUBLE;
}

int say_error(const struct hs_error *err)
{
	return say("%s", err->text);
}

const struct command *command_at(size_t nr)
{
	return nr < NR_COMMANDS ? commands[nr] : NULL;
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

static void list_commands(void)
{
	puts("usage: heapstory COMMAND ...\n\n"
	     "Tells what a program's heap is made of, what grew in it, and how.\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("\nTARGET is a pid, a program's name, a snapshot file, or the store of a process\n"
	     "that is gone. 'heapstory COMMAND --help' tells more, 'heapstory help COMMAND'\n"
	     "all.\n\n"
	     "example:\n"
	     "  heapstory run -o out -- ./server\n"
	     "  heapstory snap server\n"
	     "  heapstory diff out/0001.hs out/exit.hs");
}

void command_help(const struct command *c)
{
	if (!c) {
		list_commands();
		return;
	}
	printf("usage: heapstory %s %s\n\n%s\n", c->name, c->usage, c->summary);
	if (c->options[0])
		printf("\noptions:\n%s", c->options);
	printf("\nexample:\n");
	for (const char *line = c->example; *line;) {
		size_t len = strcspn(line, "\n");

		printf("  %.*s\n", (int)len, line);
		line += len + (line[len] == '\n');
	}
}

/* Whether --help among the arguments is meant for us. */
static bool wants_help(const struct command *c, int argc, char **argv)
{
	int last = c->takes_command && argc > 2 ? 2 : argc;

	for (int i = 1; i < last && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	}
	return false;
}

/* What could not be written must not pass for a report. */
static int finish(int status)
{
	int error;

	progress_stop();
	errno = 0;
	error = fflush(stdout) || ferror(stdout) ? (errno ? errno : EIO) : 0;
	/* a standard output that is closed is no trouble for who has nothing to say */
	if (fclose(stdout) && !error && errno != EBADF)
		error = errno;
	if (!error)
		return status;
	fprintf(stderr, "heapstory: cannot write to standard output: %s\n", strerror(error));
	return EXIT_TROUBLE;
}

int main(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		say("a command is missing; 'heapstory --help' lists them");
		return EXIT_TROUBLE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		list_commands();
		return finish(EXIT_DONE);
	}
	if (!strcmp(argv[1], "--version")) {
		puts("heapstory " HEAPSTORY_VERSION);
		return finish(EXIT_DONE);
	}
	c = command_find(argv[1]);
	if (!c) {
		if (argv[1][0] == '-')
			return say_no_option(NULL, argv[1]);
		return say_no_command(argv[1]);
	}
	if (wants_help(c, argc - 1, argv + 1)) {
		command_help(c);
		return finish(EXIT_DONE);
	}
	return finish(c->run(argc - 1, argv + 1));
}
