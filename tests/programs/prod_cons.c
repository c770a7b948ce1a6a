/* SPDX-License-Identifier: MIT */
/*
 * prod_cons.c - allocated by one thread, freed by another.
 *
 * 50000 messages of 96 bytes go through a queue; the consumer stops when 37 are
 * left. A block freed by the consumer can be handed out again at once, so the
 * order of the free and of the next malloc of that address matters.
 *
 * TRUTH grow 1 2 at=make_message blocks=37 bytes=3552
 * TRUTH flat 1 2 at=make_reply
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#include "mark.h"
#include <pthread.h>

#define TOTAL 50000
#define LEFT  37
void *queue[64];
int head, tail;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;

NOINLINE void *make_message(int i)
{
	void *p = malloc(96);
	memset(p, i, 96);
	return p;
}

NOINLINE void make_reply(void *message)
{
	char *r = malloc(96);
	memcpy(r, message, 96);
	free(message);
	sink = r;
	free(r);
}

static void *producer(void *n)
{
	for (int i = 0; i < (int)(long)n; i++) {
		void *p = make_message(i);
		pthread_mutex_lock(&m);
		while (tail - head == 64)
			pthread_cond_wait(&c, &m);
		queue[tail++ % 64] = p;
		pthread_cond_broadcast(&c);
		pthread_mutex_unlock(&m);
	}
	return NULL;
}

static void *consumer(void *n)
{
	for (int i = 0; i < (int)(long)n; i++) {
		pthread_mutex_lock(&m);
		while (tail == head)
			pthread_cond_wait(&c, &m);
		void *p = queue[head++ % 64];
		pthread_cond_broadcast(&c);
		pthread_mutex_unlock(&m);
		make_reply(p);
	}
	return NULL;
}

static void run(long made, long taken)
{
	pthread_t a, b;
	if (pthread_create(&a, NULL, producer, (void *)made))
		_exit(1);
	if (pthread_create(&b, NULL, consumer, (void *)taken))
		_exit(1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

int main(void)
{
	run(100, 100); /* libc keeps two thread stacks from here on */
	mark(1);
	run(TOTAL, TOTAL - LEFT);
	mark(2);
	return 0;
}
