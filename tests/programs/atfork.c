/* SPDX-License-Identifier: MIT */
/*
 * atfork.c - forks with handlers that allocate, that hold a lock a new thread waits for with its
 * first allocation to come, and that wait for the end of a thread.
 *
 * Each child frees what the parent allocated and ends with 0; says how long all took: "quick", or
 * the milliseconds.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NR_FORKS 3
#define TOO_LONG_MS 2000 /* a fork that waits for itself takes more than a second */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t workers[NR_FORKS];
static void *volatile kept;
static int nr_prepared;

static void use(size_t size)
{
	void *volatile block = malloc(size); /* volatile: the compiler must not leave it out */

	free(block);
}

static void *work(void *arg)
{
	pthread_mutex_lock(&lock);
	use(100);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *work_alone(void *arg)
{
	use(50);
	return arg;
}

static void prepare(void)
{
	pthread_t joined;

	use(10);
	pthread_create(&joined, NULL, work_alone, NULL);
	pthread_join(joined, NULL);
	pthread_mutex_lock(&lock);
	pthread_create(&workers[nr_prepared++], NULL, work, NULL);
	use(20);
}

static void after(void)
{
	use(30);
	pthread_mutex_unlock(&lock);
	use(40);
}

static int fork_once(void)
{
	int status;
	pid_t pid;

	kept = malloc(1000);
	pid = fork();
	if (pid == 0) {
		free(kept);
		_exit(0);
	}
	free(kept);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(void)
{
	struct timespec start, end;
	int ok = 1;
	long ms;

	pthread_atfork(prepare, after, after);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < NR_FORKS; i++) {
		ok &= fork_once();
		pthread_join(workers[i], NULL);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	ms = (end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000;
	if (ms < TOO_LONG_MS)
		puts(ok ? "quick" : "failed");
	else
		printf("%ld ms\n", ms);
	return !ok;
}
