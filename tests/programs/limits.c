/* SPDX-License-Identifier: MIT */
/*
 * limits.c - a program that limits its own address space, by each function that can, or locks it
 * into memory, and goes on.
 *
 * HOW: setrlimit, setrlimit64, prlimit, prlimit64, pid: limits itself to 1 GiB, then keeps 100
 * blocks of 1 MB; odd: calls that fail or limit nobody; fork, vfork: a child does it; threads: while
 * four others keep 50000 blocks each; small: 64 MiB, then keeps 300000 small blocks, more than
 * can be recorded; lock: locks all of it while another thread keeps 50000 blocks; fill: no limit of its own, blocks of 1 MiB until there are no more.
 * What it prints is the same traced and untraced, but for fill, where it says how many there were.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define GIB (UINT64_C(1) << 30)

/* Keeps the compiler from leaving calls out. */
static void *volatile latest;

static bool got_block(size_t size)
{
	void *p = malloc(size);

	latest = p;
	return p;
}

static bool limit_to(const char *how, uint64_t bytes)
{
	struct rlimit plain = { bytes, bytes };
	struct rlimit64 wide = { bytes, bytes };

	if (!strcmp(how, "setrlimit64"))
		return !setrlimit64(RLIMIT_AS, &wide);
	if (!strcmp(how, "prlimit"))
		return !prlimit(0, RLIMIT_AS, &plain, NULL);
	if (!strcmp(how, "prlimit64"))
		return !prlimit64(0, RLIMIT_AS, &wide, NULL);
	if (!strcmp(how, "pid"))
		return !prlimit(getpid(), RLIMIT_AS, &plain, NULL);
	return !setrlimit(RLIMIT_AS, &plain);
}

static __attribute__((noinline)) void keep(size_t nr, size_t size)
{
	size_t got = 0;

	for (size_t i = 0; i < nr; i++)
		got += got_block(size);
	printf("%zu of %zu blocks of %zu bytes\n", got, nr, size);
	fflush(stdout);
}

static void tell_limit(void)
{
	struct rlimit now;

	getrlimit(RLIMIT_AS, &now);
	printf("limit %llu %llu\n", (unsigned long long)now.rlim_cur,
	       (unsigned long long)now.rlim_max);
	fflush(stdout);
}

static int limit_self(const char *how, uint64_t bytes)
{
	bool good = limit_to(how, bytes);

	tell_limit();
	keep(100, 1000000);
	return !good;
}

static int odd(void)
{
	struct rlimit wrong = { 2 * GIB, GIB }, all = { RLIM_INFINITY, RLIM_INFINITY }, old;
	void *volatile bad = (void *)8, *volatile none = NULL;

	errno = 0;
	printf("%d ", setrlimit(RLIMIT_AS, bad));
	printf("%d\n", errno);
	printf("%d ", setrlimit(RLIMIT_AS, none));
	printf("%d\n", errno);
	printf("%d ", setrlimit(RLIMIT_AS, &wrong));
	printf("%d\n", errno);
	errno = 0;
	printf("%d ", setrlimit((enum __rlimit_resource)1000, &all));
	printf("%d\n", errno);
	errno = 77;
	printf("%d ", prlimit(0, RLIMIT_AS, NULL, &old));
	printf("%d\n", errno);
	printf("%d ", setrlimit(RLIMIT_AS, &all));
	printf("%d\n", errno);
	tell_limit();
	keep(100, 1000000);
	return 0;
}

static int in_child(const char *self, bool vforked)
{
	struct rlimit limit = { GIB, GIB };
	pid_t pid = vforked ? vfork() : fork();
	int status;

	if (pid == 0) {
		if (vforked) {
			setrlimit(RLIMIT_AS, &limit);
			execl(self, self, "setrlimit", NULL);
			_exit(1);
		}
		_exit(limit_self("prlimit", GIB));
	}
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	tell_limit();
	keep(100, 1000000);
	return 0;
}

static pthread_barrier_t barrier;

static void *many(void *arg)
{
	size_t got = 0;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 50000; i++)
		got += got_block(24);
	*(size_t *)arg = got;
	return NULL;
}

static int with_threads(void)
{
	pthread_t threads[4];
	size_t got[4], sum = 0;
	bool good;

	pthread_barrier_init(&barrier, NULL, 5);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, many, &got[i]))
			return 1;
	pthread_barrier_wait(&barrier);
	good = limit_to("setrlimit", 4 * GIB);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		sum += got[i];
	}
	printf("%zu blocks\n", sum);
	return !good;
}

/* A line of /proc/self/status. */
static size_t status_kib(const char *name)
{
	FILE *status = fopen("/proc/self/status", "r");
	size_t len = strlen(name), value = 0;
	char line[200];

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, name, len))
			sscanf(line + len, "%zu", &value);
	if (status)
		fclose(status);
	return value;
}

static int lock(void)
{
	pthread_t thread;
	size_t got = 0;

	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, many, &got))
		return 1;
	pthread_barrier_wait(&barrier);
	errno = 77;
	printf("%d ", mlockall(MCL_CURRENT | MCL_FUTURE));
	printf("%d\n", errno);
	pthread_join(thread, NULL);
	printf("%zu blocks; more than 200 MiB locked: %d, in memory: %d\n", got,
	       status_kib("VmLck:") > 200 << 10, status_kib("VmRSS:") > 200 << 10);
	return 0;
}

static int lock_little(void)
{
	errno = 77;
	printf("%d ", mlockall(MCL_CURRENT));
	printf("%d\n", errno);
	keep(100, 24);
	return 0;
}

static int fill(void)
{
	size_t nr = 0;

	while (got_block(1 << 20))
		nr++;
	printf("%zu\n", nr);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "odd"))
		return odd();
	if (!strcmp(how, "fork") || !strcmp(how, "vfork"))
		return in_child(argv[0], how[0] == 'v');
	if (!strcmp(how, "threads"))
		return with_threads();
	if (!strcmp(how, "lock"))
		return lock();
	if (!strcmp(how, "few"))
		return lock_little();
	if (!strcmp(how, "fill"))
		return fill();
	if (!strcmp(how, "small")) {
		if (!limit_to("setrlimit", GIB / 16))
			return 1;
		keep(300000, 24);
		return 0;
	}
	return limit_self(how, GIB);
}
