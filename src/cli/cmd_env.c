/* SPDX-License-Identifier: MIT */
/*
 * cmd_env.c - `heapstory env`: the environment that traces a program started by something else.
 */
#include "cli/command.h"
#include "cli/launch.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The lines go through a shell's word splitting, or through EnvironmentFile= of systemd, or
 * --env-file of docker: no quoting is understood by all of these, so none may be needed.
 */
static bool is_plain(const char *value)
{
	return !value[strcspn(value, " \t\r\n\"'\\$`*?[]{}~#;&|<>()")];
}

static int print(char **variables)
{
	for (size_t i = 0; variables[i]; i++)
		if (!is_plain(variables[i]))
			return say("cannot print '%s': a character in it would need quotes, "
				   "which not every reader of these lines takes",
				   variables[i]);
	for (size_t i = 0; variables[i]; i++)
		puts(variables[i]);
	return EXIT_DONE;
}

/* Whether the program that will be started can be traced; it is not started here. */
static int check_program(const char *name)
{
	char program[PATH_MAX], why[1024];
	int error = launch_find_program(name, program);

	if (error)
		return say("cannot run '%s': %s", name, strerror(error));
	return launch_traceable(program, why, sizeof(why)) ? EXIT_DONE : say("%s", why);
}

static int run(int argc, char **argv)
{
	struct launch_options options;
	static struct launch l;
	struct hs_error err;
	int first = launch_options_parse(&options, LAUNCH_ENV, argc, argv, &err), status;
	char **variables;

	if (first < 0)
		return say_error(&err);
	if (first < argc && check_program(argv[first]))
		return EXIT_TROUBLE;
	if (launch_init(&l, &options, &err) || launch_make_dir(&l, NULL, &err))
		return say_error(&err);
	variables = launch_variables(&l);
	status = print(variables);
	if (status)
		launch_undo(&l);
	for (size_t i = 0; variables[i]; i++)
		free(variables[i]);
	free(variables);
	return status;
}

const struct command cmd_env = {
	.name = "env",
	.summary = "print the environment that traces what something else starts",
	.usage = "[-o DIR] [options] [[--] CMD]",
	.options = "  -o DIR              output folder, made if need be; holds a link to the "
		   "store\n"
		   "  --mode MODE         live (every live block), or off: dormant until\n"
		   "                      'heapstory mode'\n"
		   "  --depth N           frames a stack may have (128)\n"
		   "  --follow-children   traces children too, each in DIR/child.PID\n"
		   "  --store DIR         folder of the stores\n"
		   "  CMD                 is not started, but looked at: one line if it\n"
		   "                      cannot be traced\n",
	.example = "env $(heapstory env -o /var/tmp/out) ./server &\n"
		   "heapstory env > /run/server.env    # EnvironmentFile=/run/server.env\n",
	.run = run,
	.takes_command = true,
};
