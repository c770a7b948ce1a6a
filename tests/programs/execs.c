/* SPDX-License-Identifier: MIT */
/*
 * execs.c - a thread that nearly all the time tries an exec, which fails after a long search of
 * PATH. It keeps 10 blocks; from MARK 1 to 2 the process is as alive as any other.
 */
#include "mark.h"

#include <pthread.h>

#define NR_FOLDERS 20000

static char path[NR_FOLDERS * 3];
static volatile int stop;

NOINLINE static void keep(void)
{
	for (int i = 0; i < 10; i++)
		sink = malloc(100);
}

static void *try(void *arg)
{
	char *const argv[] = { "nothing", NULL };

	while (!stop)
		execvp("nothing-of-that-name", argv);
	return arg;
}

int main(void)
{
	pthread_t t;

	for (int i = 0; i < NR_FOLDERS; i++)
		memcpy(path + i * 3, "/n:", 3);
	path[sizeof(path) - 1] = '\0';
	setenv("PATH", path, 1);
	keep();
	pthread_create(&t, NULL, try, NULL);
	mark(1);
	stop = 1;
	pthread_join(t, NULL);
	mark(2);
	return 0;
}
