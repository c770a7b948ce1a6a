/* SPDX-License-Identifier: MIT */
/*
 * libc_inner.c - blocks that the C library allocates for the program.
 *
 * The call to the allocator is inside libc (strdup, asprintf, getdelim,
 * open_memstream, fopen); the growth belongs to the program's function that
 * called it. The sizes of FILE and of its buffers are libc's own.
 *
 * TRUTH grow 1 2 at=save_name blocks=200 bytes=6600
 * TRUTH grow 1 2 at=save_text blocks=100
 * TRUTH grow 1 2 at=read_lines blocks=50 bytes=6000
 * TRUTH grow 1 2 at=open_files blocks=8
 * TRUTH flat 1 2 at=open_and_close
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#include "mark.h"

char *names[200], *texts[100], *lines[50];
FILE *files[8];

NOINLINE void save_name(int i)
{
	names[i] = strdup("this name is 32 characters long.");
}

NOINLINE void save_text(int i)
{
	if (asprintf(&texts[i], "text %d of a hundred", i) < 0)
		_exit(1);
}

NOINLINE void read_lines(int i)
{ /* getdelim starts with 120 bytes */
	char text[] = "one line\n";
	FILE *f = fmemopen(text, sizeof text - 1, "r");
	size_t n = 0;
	if (getdelim(&lines[i], &n, '\n', f) < 0) /* getline() is inlined from its header */
		_exit(1);
	fclose(f);
}

NOINLINE void open_files(int i)
{
	files[i] = fopen("/dev/null", "w");
}

NOINLINE void open_and_close(void)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	fputs("gone at once", f);
	fclose(f);
	free(text);
}

int main(void)
{
	read_lines(0);
	free(lines[0]);
	mark(1);
	for (int i = 0; i < 200; i++)
		save_name(i);
	for (int i = 0; i < 100; i++)
		save_text(i);
	for (int i = 0; i < 50; i++)
		read_lines(i);
	for (int i = 0; i < 8; i++)
		open_files(i);
	for (int i = 0; i < 500; i++)
		open_and_close();
	mark(2);
	return 0;
}
