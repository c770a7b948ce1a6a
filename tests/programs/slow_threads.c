/* SPDX-License-Identifier: MIT */
/*
 * slow_threads.c - a leak that several threads have in common, each at its own pace.
 *
 * Four threads, named worker-0 to worker-3, do 4000 jobs each from mark to mark. Thread n loses a
 * block of 56 bytes in every (n + 1) * 100th: 40, 20, 13 and 10, all in lose(). Scratch memory of
 * each job is freed by the next thread. In turn, one after the other, they put 250 lines of 40 bytes
 * each into one report, which realloc doubles: 40000 bytes at MARK 2, 80000 at MARK 3. At MARK 3
 * worker-3 is called late-3.
 *
 * TRUTH grow 1 2 at=lose blocks=83 bytes=4648
 * TRUTH rate 2 3 count=16000 at=lose blocks=0.005 bytes=0.3
 * TRUTH flat 1 3 at=scratch
 * TRUTH grow 1 2 at=report_line blocks=1 bytes=65536
 * TRUTH grow 2 3 at=report_line blocks=0 bytes=65536
 * TRUTH lineage 3 at=report_line size=131072 born=64 grows=11 ratio=2 inferred=False birth=report_line first=1..2 latest=2..3
 * TRUTH only 1 3
 * TRUTH exit code=0
 */
#include "mark.h"

#include <pthread.h>

#define WORKERS 4
#define JOBS	4000
#define LINES	250
#define LINE	40

static pthread_barrier_t start, end;
static pthread_t threads[WORKERS];
static void *lost[WORKERS][2 * JOBS / 100], *given[WORKERS];
static char *report;
static size_t report_used, report_room;

NOINLINE void *lose(void)
{
	return malloc(56);
}

NOINLINE void *scratch(int job)
{
	return malloc((size_t)(100 + job % 900));
}

NOINLINE void report_line(int worker)
{
	if (report_used + LINE > report_room) {
		report_room = report_room ? 2 * report_room : 64;
		report = realloc(report, report_room);
		if (!report)
			_exit(1);
	}
	memset(report + report_used, '0' + worker, LINE);
	report_used += LINE;
}

/* The threads one after the other. */
static void in_turn(int worker)
{
	for (int i = 0; i < WORKERS; i++) {
		for (int line = 0; i == worker && line < LINES; line++)
			report_line(worker);
		pthread_barrier_wait(&end);
	}
}

static void *work(void *arg)
{
	int worker = (int)(size_t)arg, nr_lost = 0;

	for (int round = 0; round < 2; round++) {
		pthread_barrier_wait(&start);
		for (int job = 1; job <= JOBS; job++) {
			void *mine = scratch(job), *other;

			other = __atomic_exchange_n(&given[(worker + 1) % WORKERS], mine,
						    __ATOMIC_ACQ_REL);
			free(other);
			if (job % ((worker + 1) * 100) == 0)
				lost[worker][nr_lost++] = lose();
		}
		pthread_barrier_wait(&end);
		if (!worker) {
			for (int i = 0; i < WORKERS; i++) {
				free(given[i]);
				given[i] = NULL;
			}
		}
		in_turn(worker);
		if (round && worker == 3)
			pthread_setname_np(pthread_self(), "late-3");
	}
	pthread_barrier_wait(&start);
	return NULL;
}

int main(void)
{
	pthread_barrier_init(&start, NULL, WORKERS + 1);
	pthread_barrier_init(&end, NULL, WORKERS + 1);
	for (int i = 0; i < WORKERS; i++) {
		char name[16];

		pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
		snprintf(name, sizeof(name), "worker-%d", i);
		pthread_setname_np(threads[i], name);
	}
	for (int n = 1; n <= 2; n++) {
		mark(n);
		pthread_barrier_wait(&start);
		for (int i = 0; i <= WORKERS; i++)
			pthread_barrier_wait(&end);
		say("OPS", WORKERS * JOBS);
	}
	mark(3);
	pthread_barrier_wait(&start);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
