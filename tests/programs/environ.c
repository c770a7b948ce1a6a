/* SPDX-License-Identifier: MIT */
/*
 * environ.c - prints what it finds in its environment: the array, and the memory that
 * /proc/PID/environ shows, without the zeros at its end.
 *
 * Every byte that is not printable is printed as an octal escape, so that a gap is seen.
 * With an argument it executes itself once more, without it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

extern char **environ;

static void print(const char *what, const char *text, size_t len)
{
	printf("%s ", what);
	for (size_t i = 0; i < len; i++)
		printf(text[i] > ' ' && text[i] < 127 ? "%c" : "\\%03o", (unsigned char)text[i]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	static char text[1 << 20];
	int fd = open("/proc/self/environ", O_RDONLY);
	ssize_t n, len = 0;

	while ((n = read(fd, text + len, sizeof(text) - (size_t)len)) > 0)
		len += n;
	close(fd);
	while (len && !text[len - 1])
		len--;
	for (char **at = environ; *at; at++) {
		size_t size = 0;

		while ((*at)[size])
			size++;
		print("environ", *at, size);
	}
	print("memory", text, (size_t)len);
	fflush(stdout);
	if (argc > 1)
		execl("/proc/self/exe", argv[0], (char *)NULL);
	return 0;
}
