/* SPDX-License-Identifier: MIT */
/*
 * callers.cpp - three buffers that grow for ever, each through several callers that call the
 * allocator themselves, as a macro or an inlined push_back() makes them.
 *
 * After the argument's number of rounds, a mark after each; 300 numbers of 8 bytes a round for each:
 *   list   realloc by 64 numbers, in list_read, list_write, list_timer and list_close
 *   ring   realloc to twice the size, in ring_read, ring_write and ring_timer
 *   queue  std::vector, in queue_mouse, queue_key and queue_frame
 * Each growth prints "STEP <buffer> <function> BYTES", each mark is after "ROOM <buffer> BYTES". With
 * 28 rounds ring and queue grow in the last one.
 */
#include "mark.h"

#include <vector>

static long *list, *ring;
static size_t list_used, list_room, ring_used, ring_room;
static std::vector<long> queue;

#define PUSH_LIST(value)                                                                           \
	do {                                                                                       \
		if (list_used == list_room) {                                                      \
			list_room += 64;                                                           \
			list = (long *)realloc(list, list_room * sizeof(long));                    \
			step("list", __func__, list_room);                                         \
		}                                                                                  \
		list[list_used++] = value;                                                         \
	} while (0)

#define PUSH_RING(value)                                                                           \
	do {                                                                                       \
		if (ring_used == ring_room) {                                                      \
			ring_room = ring_room ? 2 * ring_room : 1;                                 \
			ring = (long *)realloc(ring, ring_room * sizeof(long));                    \
			step("ring", __func__, ring_room);                                         \
		}                                                                                  \
		ring[ring_used++] = value;                                                         \
	} while (0)

#define PUSH_QUEUE(value)                                                                          \
	do {                                                                                       \
		size_t room = queue.capacity();                                                    \
                                                                                                   \
		queue.push_back(value);                                                            \
		if (queue.capacity() != room)                                                      \
			step("queue", __func__, queue.capacity());                                 \
	} while (0)

/* The first one is the birth. */
static void step(const char *buffer, const char *function, size_t room)
{
	char word[64];

	snprintf(word, sizeof(word), "STEP %s %s", buffer, function);
	say(word, (long)(room * sizeof(long)));
}

#define CALLER(push, name)                                                                         \
	NOINLINE void name(int count)                                                              \
	{                                                                                          \
		for (int i = 0; i < count; i++)                                                    \
			push(1000003L * i + __LINE__);                                             \
	}

CALLER(PUSH_LIST, list_read)
CALLER(PUSH_LIST, list_write)
CALLER(PUSH_LIST, list_timer)
CALLER(PUSH_LIST, list_close)
CALLER(PUSH_RING, ring_read)
CALLER(PUSH_RING, ring_write)
CALLER(PUSH_RING, ring_timer)
CALLER(PUSH_QUEUE, queue_mouse)
CALLER(PUSH_QUEUE, queue_key)
CALLER(PUSH_QUEUE, queue_frame)

static void (*const list_callers[])(int) = {list_read, list_write, list_timer, list_close};
static void (*const ring_callers[])(int) = {ring_read, ring_write, ring_timer};
static void (*const queue_callers[])(int) = {queue_mouse, queue_key, queue_frame};

static unsigned int random_below(unsigned int n)
{
	static unsigned int x = 7;

	x = x * 1664525u + 1013904223u;
	return (x >> 16) % n;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 28;

	for (int round = 1; round <= rounds; round++) {
		for (int i = 0; i < 6; i++) {
			list_callers[random_below(4)](50);
			ring_callers[random_below(3)](50);
			queue_callers[random_below(3)](50);
		}
		say("ROOM list", (long)(list_room * sizeof(long)));
		say("ROOM ring", (long)(ring_room * sizeof(long)));
		say("ROOM queue", (long)(queue.capacity() * sizeof(long)));
		usleep(30000);
		mark(round);
	}
	_exit(0);
}
