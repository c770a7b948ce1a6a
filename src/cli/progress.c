/* SPDX-License-Identifier: MIT */
/*
 * progress.c - a sign of life on a terminal; see progress.h.
 *
 * A thread of its own counts the seconds, so that nothing in the work has to know of it. It takes
 * no signals and is never waited for longer than one write to the terminal.
 */
#include "cli/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	pthread_cond_t stopping;
	bool started, stop, shown;
	pthread_t thread;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .stopping = PTHREAD_COND_INITIALIZER};

static void show(unsigned int seconds)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "\rheapstory: reading, %u s", seconds);

	if (write(STDERR_FILENO, text, (size_t)len) == len)
		progress.shown = true;
}

static void *count_seconds(void *context)
{
	struct timespec until;

	(void)context;
	clock_gettime(CLOCK_REALTIME, &until);
	pthread_mutex_lock(&progress.lock);
	for (unsigned int seconds = 1; !progress.stop; seconds++) {
		until.tv_sec++;
		while (!progress.stop &&
		       !pthread_cond_timedwait(&progress.stopping, &progress.lock, &until))
			;
		if (!progress.stop)
			show(seconds);
	}
	pthread_mutex_unlock(&progress.lock);
	return NULL;
}

void progress_start(void)
{
	sigset_t all, old;

	if (progress.started || !isatty(STDERR_FILENO))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	progress.started = !pthread_create(&progress.thread, NULL, count_seconds, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void progress_stop(void)
{
	if (!progress.started)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.stop = true;
	pthread_cond_signal(&progress.stopping);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.thread, NULL);
	if (progress.shown && write(STDERR_FILENO, "\r\033[K", 4) < 0)
		progress.shown = false;
	progress.started = progress.stop = progress.shown = false;
}
