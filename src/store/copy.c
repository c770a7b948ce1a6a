/* SPDX-License-Identifier: MIT */
/*
 * copy.c - reads pieces of a file by several threads at once; see copy.h.
 *
 * The pieces of a run are cut into slices, and each thread takes the next one that nobody has.
 */
#include "store/copy.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/alloc.h"

#define MAX_HELPERS 3
#define SLICE	    (UINT64_C(1) << 20)
#define ALONE	    (UINT64_C(2) << 20) /* bytes that are read sooner than helpers wake */

struct copier {
	int fd;
	int nr_helpers;
	pthread_t helpers[MAX_HELPERS];
	pthread_mutex_t lock;
	pthread_cond_t start, done;
	uint64_t run; /* number of the run; under lock, as is all down to quit */
	int busy; /* helpers that have not finished it */
	bool quit;
	const struct copy_piece *pieces;
	size_t nr_pieces;
	uint64_t next; /* slice to be taken, atomic */
	int error; /* errno of a failure, -1: end of file, 0: none; atomic */
};

static void read_stretch(struct copier *c, char *to, uint64_t off, uint64_t len)
{
	while (len) {
		ssize_t n = pread(c->fd, to, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			__atomic_store_n(&c->error, n ? errno : -1, __ATOMIC_RELAXED);
			return;
		}
		to += n;
		off += (uint64_t)n;
		len -= (uint64_t)n;
	}
}

static uint64_t nr_slices(const struct copy_piece *piece)
{
	return (piece->len + SLICE - 1) / SLICE;
}

/* Takes slices until none is left. */
static void work(struct copier *c)
{
	uint64_t nr, first;

	while (!__atomic_load_n(&c->error, __ATOMIC_RELAXED)) {
		const struct copy_piece *piece = c->pieces;
		uint64_t at;

		nr = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED);
		for (first = 0; piece < c->pieces + c->nr_pieces; piece++) {
			if (nr < first + nr_slices(piece))
				break;
			first += nr_slices(piece);
		}
		if (piece == c->pieces + c->nr_pieces)
			return;
		at = (nr - first) * SLICE;
		read_stretch(c, piece->to + at, piece->off + at,
			     piece->len - at < SLICE ? piece->len - at : SLICE);
	}
}

static void *help(void *arg)
{
	struct copier *c = arg;
	uint64_t seen = 0;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		while (c->run == seen && !c->quit)
			pthread_cond_wait(&c->start, &c->lock);
		if (c->quit)
			break;
		seen = c->run;
		pthread_mutex_unlock(&c->lock);
		work(c);
		pthread_mutex_lock(&c->lock);
		if (!--c->busy)
			pthread_cond_signal(&c->done);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Processors that this process may run on. */
static int nr_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}

struct copier *copier_new(int fd)
{
	struct copier *c = xcalloc(1, sizeof(*c));
	int want = nr_processors() - 1;
	sigset_t all, old;

	c->fd = fd;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->start, NULL);
	pthread_cond_init(&c->done, NULL);
	if (want > MAX_HELPERS)
		want = MAX_HELPERS;
	/* Signals are for the thread that knows what to do about them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (c->nr_helpers < want && !pthread_create(&c->helpers[c->nr_helpers], NULL, help, c))
		c->nr_helpers++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return c;
}

void copier_free(struct copier *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->quit = true;
	pthread_cond_broadcast(&c->start);
	pthread_mutex_unlock(&c->lock);
	for (int i = 0; i < c->nr_helpers; i++)
		pthread_join(c->helpers[i], NULL);
	pthread_cond_destroy(&c->start);
	pthread_cond_destroy(&c->done);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

int copier_run(struct copier *c, const struct copy_piece *pieces, size_t nr)
{
	uint64_t bytes = 0;
	bool alone;

	if (!nr)
		return 0;
	for (size_t i = 0; i < nr; i++)
		bytes += pieces[i].len;
	alone = !c->nr_helpers || bytes <= ALONE;
	c->pieces = pieces;
	c->nr_pieces = nr;
	c->error = 0;
	c->next = 0;
	if (!alone) {
		pthread_mutex_lock(&c->lock);
		c->run++;
		c->busy = c->nr_helpers;
		pthread_cond_broadcast(&c->start);
		pthread_mutex_unlock(&c->lock);
	}
	work(c);
	if (!alone) {
		pthread_mutex_lock(&c->lock);
		while (c->busy)
			pthread_cond_wait(&c->done, &c->lock);
		pthread_mutex_unlock(&c->lock);
	}
	errno = c->error > 0 ? c->error : 0;
	return c->error ? -1 : 0;
}
