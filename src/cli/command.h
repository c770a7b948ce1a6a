/* SPDX-License-Identifier: MIT */
/*
 * command.h - what main.c knows of a command: each cmd_<name>.c ends in one of these.
 */
#ifndef HEAPSTORY_CLI_COMMAND_H
#define HEAPSTORY_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct hs_error;

/* Exit statuses of the tool's own; `run` returns the program's. */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_FINDINGS = 1, /* only where --exit-code or a --fail-* option asked for a verdict */
	EXIT_TROUBLE = 2, /* usage or trouble, said in one line on standard error */
};

struct command {
	const char *name;
	const char *summary; /* one line, lower case, no full stop: the list of commands */
	const char *usage; /* what follows "heapstory NAME ": "TARGET [-o FILE]" */
	const char *options; /* lines for --help: "  -o FILE          where to\n", "" for none */
	const char *example; /* lines for --help, without indentation: "heapstory snap 4242\n" */
	/*
	 * Does it. argv[0] is the command's name, options follow; returns the exit status. main.c
	 * has dealt with --help and checks afterwards that standard output could be written.
	 */
	int (*run)(int argc, char **argv);
	/* Arguments after the first operand belong to another program: --help there is not ours. */
	bool takes_command;
};

/* "heapstory: TEXT\n" on standard error; returns EXIT_TROUBLE, for `return say(…)`. */
int say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says err->text; returns EXIT_TROUBLE. */
int say_error(const struct hs_error *err);

/* Prints the help of a command, or the list of all for NULL, to standard output. */
void command_help(const struct command *command);

/* By name, or NULL. */
const struct command *command_find(const char *name);

/* The nr-th of all, in the order of the help; NULL behind the last. */
const struct command *command_at(size_t nr);

extern const struct command cmd_run, cmd_env, cmd_supervise, cmd_mode;
extern const struct command cmd_list, cmd_snap, cmd_heap, cmd_largest, cmd_history, cmd_diff;
extern const struct command cmd_trend, cmd_export, cmd_check, cmd_info, cmd_symbolize, cmd_help;

#endif
