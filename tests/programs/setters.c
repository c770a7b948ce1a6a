/* SPDX-License-Identifier: MIT */
/*
 * setters.c KIND - 1000 values that are replaced, again and again: none of them grows.
 *
 * A new block is made and filled, then the old one is freed, a million times. KIND says what the
 * values are: words (random letters), same (all of one letter), prefix (100 bytes that all share),
 * zeroes, powers (sizes are powers of two, nothing is written), numbers (of ever more digits).
 */
#include "mark.h"

#include <stdint.h>

#define VALUES 1000
#define TIMES 1000000

static char *values[VALUES];
static uint64_t state = 88172645463325252u;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

NOINLINE static void replace(char *value)
{
	char **place = &values[rnd() % VALUES];

	free(*place);
	*place = value;
}

NOINLINE static void set(const char *text)
{
	replace(strdup(text));
}

NOINLINE static void set_text(size_t shared, int random)
{
	char text[400];
	size_t len = shared + 1 + rnd() % 200;

	memset(text, 'x', len);
	for (size_t i = shared; random && i < len; i++)
		text[i] = (char)('a' + rnd() % 26);
	text[len] = 0;
	set(text);
}

NOINLINE static void set_number(int i)
{
	char text[40];

	snprintf(text, sizeof(text), "value:%d", i);
	set(text);
}

int main(int argc, char **argv)
{
	const char *kind = argc == 2 ? argv[1] : "";

	for (int i = 0; i < TIMES; i++) {
		if (!strcmp(kind, "words"))
			set_text(0, 1);
		else if (!strcmp(kind, "same"))
			set_text(0, 0);
		else if (!strcmp(kind, "prefix"))
			set_text(100, 1);
		else if (!strcmp(kind, "zeroes"))
			replace(calloc(1, 16 + rnd() % 400));
		else if (!strcmp(kind, "powers"))
			replace(malloc((size_t)16 << rnd() % 8));
		else if (!strcmp(kind, "numbers"))
			set_number(i);
		else
			return 2;
	}
	return 0;
}
