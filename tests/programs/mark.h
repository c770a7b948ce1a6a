/* SPDX-License-Identifier: MIT */
/*
 * mark.h - marks of the test programs.
 *
 * mark(n) prints the line "MARK n" and waits for one line of input: that is the moment to take a
 * snapshot. The end of the input counts as a line, so `program < /dev/null` runs through. Nothing
 * here allocates.
 */
#ifndef MARK_H
#define MARK_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define UNUSED	 __attribute__((unused))

/* What is stored here is not optimised away. */
static void *volatile sink UNUSED;

/* One line "WORD N". */
static void UNUSED say(const char *word, long n)
{
	char line[80];
	int len = snprintf(line, sizeof(line), "%s %ld\n", word, n);

	if (write(1, line, (size_t)len) != len)
		_exit(99);
}

static void UNUSED mark(int n)
{
	char c;

	say("MARK", n);
	while (read(0, &c, 1) == 1 && c != '\n')
		;
}
#endif
