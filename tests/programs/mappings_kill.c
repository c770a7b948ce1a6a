/* SPDX-License-Identifier: MIT */
/*
 * mappings_kill.c - four threads map, grow and unmap memory until the process kills itself.
 *
 * usage: mappings_kill JOURNAL STEPS
 *
 * Each thread notes in the file JOURNAL, which it shares with the test, how many mappings and pages
 * it has: after each call, so that the table may differ by what each thread was in the middle of.
 * After so many steps of all threads comes SIGKILL. With STEPS 0 the process forks instead, and the
 * child unmaps half of what it got from its parent and maps twice as much.
 */
#include "mark.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define NR_THREADS 4
#define NR_SLOTS   16
#define UNIT	   65536UL

static struct journal {
	int64_t count, units;
} *journal;
static long steps;

static char *map(size_t units)
{
	char *p = mmap(NULL, units * UNIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		_exit(1);
	return p;
}

static void *churn(void *arg)
{
	struct journal *own = arg;
	unsigned int random = (unsigned int)(own - journal) + 1;
	struct {
		char *at;
		size_t units;
	} slots[NR_SLOTS] = { { NULL, 0 } };

	for (;;) {
		unsigned int i = (random = random * 1664525 + 1013904223) >> 16 & (NR_SLOTS - 1);

		if (!slots[i].at) {
			slots[i].units = 1 + (random >> 28);
			slots[i].at = map(slots[i].units);
			own->count++;
			own->units += (int64_t)slots[i].units;
		} else if (random & 1u << 27) {
			munmap(slots[i].at, slots[i].units * UNIT);
			own->count--;
			own->units -= (int64_t)slots[i].units;
			slots[i].at = NULL;
		} else {
			slots[i].at = mremap(slots[i].at, slots[i].units * UNIT,
					     (slots[i].units + 1) * UNIT, MREMAP_MAYMOVE);
			if (slots[i].at == MAP_FAILED)
				_exit(1);
			slots[i].units++;
			own->units++;
		}
		__atomic_fetch_add(&steps, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void child(char *p)
{
	munmap(p, 8 * UNIT);
	sink = map(32);
}

static int forks(void)
{
	char *p = map(16);
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return 1;
	if (pid == 0)
		child(p);
	else if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	return 0;
}

int main(int argc, char **argv)
{
	long limit = argc > 2 ? atol(argv[2]) : 0;
	pthread_t thread;
	int fd;

	if (!limit)
		return forks();
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, 4096))
		return 1;
	journal = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (journal == MAP_FAILED)
		return 1;
	for (int i = 0; i < NR_THREADS; i++)
		if (pthread_create(&thread, NULL, churn, &journal[i]))
			return 1;
	while (__atomic_load_n(&steps, __ATOMIC_RELAXED) < limit)
		usleep(100);
	kill(getpid(), SIGKILL);
	return 1;
}
