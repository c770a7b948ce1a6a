/* SPDX-License-Identifier: MIT */
/*
 * histories.c - buffers that are made, resized, copied, replaced and handed on by chance, each with
 * its true history.
 *
 *	histories [SEED [STEPS]]
 *
 * Four threads do STEPS things each. At MARK 1 there is a line for each live buffer: "BUFFER
 * 0xADDRESS SIZE BORN_SIZE GROWN SHRUNK COPIED LEAST MOST", where GROWN and SHRUNK count calls of
 * realloc, COPIED the times that it went on in a larger block, and LEAST and MOST are its sizes.
 */
#include "mark.h"

#include <pthread.h>
#include <stdint.h>

#define NR_THREADS 4
#define NR_BUFFERS 600 /* a thread's */
#define NR_SHARED  200 /* from hand to hand */

struct buffer {
	uint8_t *at;
	size_t size, born, least, most;
	unsigned int grown, shrunk, copied;
};

struct worker {
	uint64_t random;
	unsigned long steps;
	struct buffer buffers[NR_BUFFERS];
};

static struct worker workers[NR_THREADS];
static struct buffer shared[NR_SHARED];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* xorshift64: Marsaglia, "Xorshift RNGs" (2003) */
static uint64_t next(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random >> 16;
}

/* As many small ones as large ones, of each magnitude. */
static size_t some_size(struct worker *w)
{
	uint64_t bits = next(w) % 200 ? 3 + next(w) % 12 : 18;

	return (size_t)(1 + next(w) % (UINT64_C(1) << bits));
}

/* ---- sites: sixteen stacks for each ---- */

static NOINLINE uint8_t *make_here(size_t size, unsigned int depth)
{
	uint8_t *at = depth ? make_here(size, depth - 1) : malloc(size);

	sink = at;
	return at;
}

static NOINLINE uint8_t *make_zeroed(size_t size, unsigned int depth)
{
	uint8_t *at = depth ? make_zeroed(size, depth - 1) : calloc(1, size);

	sink = at;
	return at;
}

static NOINLINE uint8_t *make_resized(uint8_t *old, size_t size, unsigned int depth)
{
	uint8_t *at = depth ? make_resized(old, size, depth - 1) : realloc(old, size);

	sink = at;
	return at;
}

static uint8_t *make(struct worker *w, size_t size)
{
	unsigned int depth = next(w) % 16;

	return next(w) % 2 ? make_here(size, depth) : make_zeroed(size, depth);
}

/* ---- what is done ---- */

static void fill(struct worker *w, struct buffer *b)
{
	size_t i;

	for (i = 0; i + 8 <= b->size; i += 8) {
		uint64_t word = next(w);

		memcpy(b->at + i, &word, 8);
	}
}

static void begin(struct worker *w, struct buffer *b)
{
	size_t size = some_size(w);

	*b = (struct buffer){ make(w, size), size, size, size, size, 0, 0, 0 };
	fill(w, b);
}

static void now_of(struct buffer *b, size_t size)
{
	b->size = size;
	b->least = size < b->least ? size : b->least;
	b->most = size > b->most ? size : b->most;
}

static void resize(struct worker *w, struct buffer *b)
{
	size_t size = next(w) % 3 ? b->size + b->size / 2 + 1 : some_size(w);

	if (size > (1u << 20))
		size = 16;
	b->grown += size > b->size;
	b->shrunk += size < b->size;
	b->at = make_resized(b->at, size, next(w) % 16);
	now_of(b, size);
}

static void copy(struct worker *w, struct buffer *b)
{
	size_t size = b->size * 2 + next(w) % 2;
	uint8_t *old = b->at;

	if (size > (1u << 20))
		return;
	b->at = make(w, size);
	memcpy(b->at, old, b->size);
	free(old);
	b->copied++;
	now_of(b, size);
}

static void replace(struct worker *w, struct buffer *b)
{
	uint8_t *old = b->at;

	begin(w, b);
	free(old);
}

static void hand_on(struct worker *w, struct buffer *b)
{
	struct buffer *other = &shared[next(w) % NR_SHARED], kept = *b;

	pthread_mutex_lock(&lock);
	*b = *other;
	*other = kept;
	pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned long i;

	for (i = 0; i < w->steps; i++) {
		struct buffer *b = &w->buffers[next(w) % NR_BUFFERS];
		unsigned int what = next(w) % 16;

		if (!b->at) {
			begin(w, b);
		} else if (what < 3) {
			free(b->at);
			*b = (struct buffer){ 0 };
		} else if (what < 7) {
			resize(w, b);
		} else if (what < 11) {
			copy(w, b);
		} else if (what < 14) {
			replace(w, b);
		} else {
			hand_on(w, b);
		}
	}
	return NULL;
}

static void tell(const struct buffer *b, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (b[i].at)
			printf("BUFFER %p %zu %zu %u %u %u %zu %zu\n", (void *)b[i].at, b[i].size, b[i].born,
			       b[i].grown, b[i].shrunk, b[i].copied, b[i].least, b[i].most);
}

int main(int argc, char **argv)
{
	static char out[65536];
	pthread_t threads[NR_THREADS];
	unsigned int i;

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	for (i = 0; i < NR_THREADS; i++) {
		workers[i].random = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1) * 0x9E3779B97F4A7C15 + i + 1;
		workers[i].steps = argc > 2 ? strtoul(argv[2], NULL, 10) : 200000;
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			return 1;
	}
	for (i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
		tell(workers[i].buffers, NR_BUFFERS);
	}
	tell(shared, NR_SHARED);
	fflush(stdout);
	mark(1);
	return 0;
}
