/* SPDX-License-Identifier: MIT */
/*
 * suggest.c - what somebody may have meant; see suggest.h. Options are those that --help shows.
 */
#include "cli/suggest.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/nearest.h"
#include "cli/command.h"
#include "util/alloc.h"

/* ", the nearest is 'NAME'", or "". */
static char *nearest_clause(const struct nearest *nearest, const char *wanted)
{
	const char *meant = nearest_meant(nearest, wanted);

	return meant ? xasprintf(", the nearest is '%s'", meant) : xstrdup("");
}

int say_no_command(const char *name)
{
	struct nearest nearest = {.names = {NULL}};
	char *clause;

	for (size_t i = 0; command_at(i); i++)
		nearest_add(&nearest, name, command_at(i)->name);
	clause = nearest_clause(&nearest, name);
	say("no command '%s'%s; 'heapstory --help' lists them", name, clause);
	free(clause);
	nearest_release(&nearest);
	return EXIT_TROUBLE;
}

/* Options stand at the beginnings of lines of the help: "  -n N|all   rows", "  --json   ...". */
static void add_options(struct nearest *nearest, const char *wanted, const char *help)
{
	const char *line = help;

	while (*line) {
		if (!strncmp(line, "  -", 3)) {
			char *option = xstrndup(line + 2, strcspn(line + 2, " =[\n"));

			nearest_add(nearest, wanted, option);
			free(option);
		}
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
}

char *no_option(const char *command, const char *word)
{
	const struct command *c = command ? command_find(command) : NULL;
	struct nearest nearest = {.names = {NULL}};
	char *option = xstrndup(word, strcspn(word, "=")), *clause, *text;

	add_options(&nearest, option, c ? c->options : "  --version\n");
	nearest_add(&nearest, option, "--help");
	clause = nearest_clause(&nearest, option);
	if (c)
		text = xasprintf("unknown option '%s'%s; 'heapstory %s --help' lists those that "
				 "there are",
				 option, clause, command);
	else
		text = xasprintf("unknown option '%s'%s; 'heapstory --help' lists the commands",
				 option, clause);
	free(clause);
	free(option);
	nearest_release(&nearest);
	return text;
}

int say_no_option(const char *command, const char *option)
{
	char *text = no_option(command, option);

	say("%s", text);
	free(text);
	return EXIT_TROUBLE;
}
