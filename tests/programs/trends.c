/* SPDX-License-Identifier: MIT */
/*
 * trends.c - every shape of growth in one process, a mark after each period.
 *
 * After the argument's number of periods, of 60 ms each or so:
 *   load_table   1000 blocks of 64 bytes at the start, never touched again
 *   leak_handle  25 blocks of 24 bytes a period are lost
 *   fill_cache   up to 400 entries of 128 bytes, 40 a period, then each period 40 are replaced
 *   keep_recent  a ring of 50 blocks of 200 bytes, all replaced in each period
 *   append_log   8000 bytes a period at the end of a buffer that doubles
 *   append_list  the same to a buffer that grows by an eighth
 *   jitter       between 1 and 40 blocks of 500 bytes, at random
 *   shrink_pool  2000 blocks of 32 bytes at the start, 20 go in each period
 *   map_pages    64 KiB a period by mmap, lost
 * Before each mark it prints LEAKED and LOGGED, bytes of the third and fifth so far.
 */
#include "mark.h"

#include <stdint.h>
#include <sys/mman.h>

struct buffer {
	char *bytes;
	size_t used, room;
};

static void *table[1000], *cache[400], *recent[50], *noise[40], *pool[2000], **handles;
static int nr_handles, nr_cached, next_cached, nr_pool;
static struct buffer log_buffer, list_buffer;

NOINLINE void load_table(void)
{
	for (int i = 0; i < 1000; i++)
		table[i] = malloc(64);
}

NOINLINE void *leak_handle(void)
{
	return malloc(24);
}

NOINLINE void fill_cache(void)
{
	for (int i = 0; i < 40; i++) {
		if (nr_cached == 400)
			free(cache[next_cached]);
		else
			nr_cached++;
		cache[next_cached] = malloc(128);
		next_cached = (next_cached + 1) % 400;
	}
}

NOINLINE void keep_recent(void)
{
	for (int i = 0; i < 50; i++) {
		free(recent[i]);
		recent[i] = malloc(200);
	}
}

NOINLINE void append_log(void)
{
	for (int i = 0; i < 1000; i++, log_buffer.used += 8) {
		if (log_buffer.used + 8 > log_buffer.room) {
			log_buffer.room = log_buffer.room ? 2 * log_buffer.room : 64;
			log_buffer.bytes = realloc(log_buffer.bytes, log_buffer.room);
		}
		log_buffer.bytes[log_buffer.used] = 1;
	}
}

NOINLINE void append_list(void)
{
	for (int i = 0; i < 1000; i++, list_buffer.used += 8) {
		if (list_buffer.used + 8 > list_buffer.room) {
			list_buffer.room += list_buffer.room / 8 + 64;
			list_buffer.bytes = realloc(list_buffer.bytes, list_buffer.room);
		}
		list_buffer.bytes[list_buffer.used] = 1;
	}
}

NOINLINE void jitter(void)
{
	static uint32_t x = 12345;
	int want;

	x = x * 1664525 + 1013904223;
	want = 1 + (int)(x >> 16) % 40;
	for (int i = 0; i < 40; i++) {
		if (i < want && !noise[i])
			noise[i] = malloc(500);
		if (i >= want) {
			free(noise[i]);
			noise[i] = NULL;
		}
	}
}

NOINLINE void load_pool(void)
{
	for (; nr_pool < 2000; nr_pool++)
		pool[nr_pool] = malloc(32);
}

NOINLINE void map_pages(void)
{
	sink = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void period(void)
{
	for (int i = 0; i < 25; i++)
		handles[nr_handles++] = leak_handle();
	fill_cache();
	keep_recent();
	append_log();
	append_list();
	jitter();
	map_pages();
	for (int i = 0; i < 20 && nr_pool; i++)
		free(pool[--nr_pool]);
	usleep(60000);
}

int main(int argc, char **argv)
{
	int periods = argc > 1 ? atoi(argv[1]) : 24;

	handles = calloc((size_t)periods * 25, sizeof(*handles));
	load_table();
	load_pool();
	for (int n = 1; n <= periods; n++) {
		period();
		say("LEAKED", 24 * nr_handles);
		say("LOGGED", (long)log_buffer.used);
		mark(n);
	}
	return 0;
}
