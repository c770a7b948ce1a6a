/* SPDX-License-Identifier: MIT */
/*
 * churn.c - four threads that allocate, resize and free until the input ends.
 *
 *	churn [BLOCKS]		blocks that each thread owns (default 2000)
 *
 * Each thread has slots of its own and fills, resizes or empties one at random; now and then it
 * hands a block to the next thread, which frees it. At the end it prints "OPS n".
 */
#include "mark.h"
#include <pthread.h>

#define THREADS 4

static int stop;
static unsigned nr_slots = 2000;
static void *handed[THREADS];
static unsigned long ops[THREADS];

static unsigned next_random(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static NOINLINE void *churn_new(size_t size)
{
	char *p = malloc(size);

	p[0] = 'c';
	return p;
}

static NOINLINE void *churn_resize(void *p, size_t size)
{
	return realloc(p, size);
}

static NOINLINE void churn_drop(void *p)
{
	free(p);
}

static NOINLINE void one_step(unsigned me, void **slot, unsigned random)
{
	size_t size = 1 + random % 777;

	if (!*slot)
		*slot = churn_new(size);
	else if (random % 3 == 0)
		*slot = churn_resize(*slot, size);
	else if (random % 3 == 1)
		*slot = __atomic_exchange_n(&handed[(me + 1) % THREADS], *slot, __ATOMIC_ACQ_REL);
	else {
		churn_drop(*slot);
		*slot = NULL;
	}
}

static void *work(void *arg)
{
	unsigned me = (unsigned)(size_t)arg, state = me * 7919 + 1;
	void **slots = calloc(nr_slots, sizeof(*slots));

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		unsigned random = next_random(&state);

		one_step(me, &slots[random % nr_slots], next_random(&state));
		ops[me]++;
	}
	for (unsigned i = 0; i < nr_slots; i++)
		free(slots[i]);
	free(slots);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	if (argc > 1)
		nr_slots = (unsigned)atoi(argv[1]);
	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, work, (void *)i))
			return 2;
	mark(1);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < THREADS; i++)
		free(handed[i]);
	say("OPS", (long)(ops[0] + ops[1] + ops[2] + ops[3]));
	return 0;
}
