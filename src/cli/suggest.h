/* SPDX-License-Identifier: MIT */
/*
 * suggest.h - what somebody may have meant by a command or an option that there is not.
 */
#ifndef HEAPSTORY_CLI_SUGGEST_H
#define HEAPSTORY_CLI_SUGGEST_H

/* Says that there is no such command, and which one is near; EXIT_TROUBLE. */
int say_no_command(const char *name);

/*
 * One line that a command (NULL: heapstory itself) has no such option, and which one is near; for
 * free(). A value may be behind it: "--evry=5s".
 */
char *no_option(const char *command, const char *word);
/* Says it; EXIT_TROUBLE. */
int say_no_option(const char *command, const char *option);

#endif
