/* SPDX-License-Identifier: MIT */
/*
 * pause.c - how long a snapshot holds a program up: keeps N live blocks of 48 bytes (argument, one
 * million), then allocates and frees all the time and notes the longest gap between two events.
 * "READY" is printed when the blocks are there; at each line of input it prints the longest gap
 * since the last one, in microseconds, and at the end of the input it ends.
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* 1: a line came; 0: nothing; -1: the end. */
static int asked(void)
{
	struct pollfd p = { .fd = 0, .events = POLLIN };
	char c;

	if (poll(&p, 1, 0) <= 0)
		return 0;
	do
		if (read(0, &c, 1) != 1)
			return -1;
	while (c != '\n');
	return 1;
}

int main(int argc, char **argv)
{
	size_t nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	void **kept = calloc(nr, sizeof(*kept));
	uint64_t longest = 0, last;
	int line = 0;

	if (!kept)
		return 1;
	for (size_t i = 0; i < nr; i++)
		kept[i] = malloc(48);
	printf("READY\n");
	fflush(stdout);
	last = now_ns();
	while (line >= 0) {
		for (size_t i = 0; i < 2000; i++) {
			size_t at = (i * 7919) % nr;
			uint64_t now;

			free(kept[at]);
			kept[at] = malloc(48);
			now = now_ns();
			if (now - last > longest)
				longest = now - last;
			last = now;
		}
		line = asked();
		if (line > 0) {
			printf("%llu\n", (unsigned long long)(longest / 1000));
			fflush(stdout);
			longest = 0;
		}
		last = now_ns();
	}
	return 0;
}
