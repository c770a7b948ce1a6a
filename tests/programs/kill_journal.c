/* SPDX-License-Identifier: MIT */
/*
 * kill_journal.c - four threads that write down what they own, to be killed at any moment.
 *
 *	kill_journal FILE HOW
 *
 * HOW: insert (malloc and free of a steady set), resize (realloc of a steady set), grow (malloc
 * only, so that the tables of a tracer have to grow). Every size leaves the number of its thread
 * when divided by four, so that a block tells whose it is.
 *
 * The journal is the shared mapping of FILE (struct journal below, read by tests/tools/kill.py):
 * per thread one entry a block, and the one operation that is under way. Order of writing: the
 * operation, its `active`; the real call; the entry; `active` = 0. So whatever moment the process
 * dies at, what it owns is the entries, give or take the active operation of each thread.
 */
#include "mark.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#define THREADS 4
#define ENTRIES (1 << 14)

struct entry {
	uint64_t address, size; /* size + 1; 0: none */
};

struct owner {
	uint64_t active, index, new_size; /* active: 1 malloc, 2 free, 3 realloc */
	uint64_t nr_entries;
	uint64_t ops;
	uint64_t pad[3];
	struct entry entries[ENTRIES];
};

struct journal {
	uint64_t pid;
	uint64_t pad[7];
	struct owner owners[THREADS];
};

static struct journal *journal;
static const char *how;

#define STORE(where, value) __atomic_store_n(&(where), value, __ATOMIC_RELEASE)

static unsigned next_random(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void begin(struct owner *o, uint64_t what, uint64_t index, uint64_t new_size)
{
	STORE(o->index, index);
	STORE(o->new_size, new_size);
	STORE(o->active, what);
}

static void end(struct owner *o, uint64_t index, void *p, uint64_t size1)
{
	STORE(o->entries[index].size, 0);
	STORE(o->entries[index].address, (uint64_t)(uintptr_t)p);
	STORE(o->entries[index].size, size1);
	STORE(o->active, 0);
	STORE(o->ops, o->ops + 1);
}

static NOINLINE void journal_insert(struct owner *o, uint64_t index, uint64_t size)
{
	begin(o, 1, index, size);
	end(o, index, malloc(size), size + 1);
}

static NOINLINE void journal_remove(struct owner *o, uint64_t index)
{
	begin(o, 2, index, 0);
	free((void *)(uintptr_t)o->entries[index].address);
	end(o, index, NULL, 0);
}

static NOINLINE void journal_resize(struct owner *o, uint64_t index, uint64_t size)
{
	begin(o, 3, index, size);
	end(o, index, realloc((void *)(uintptr_t)o->entries[index].address, size), size + 1);
}

static void *work(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg, state = me * 7919 + (unsigned)journal->pid;
	struct owner *o = &journal->owners[me];
	uint64_t limit = strcmp(how, "grow") ? 500 : ENTRIES;

	for (;;) {
		uint64_t size = next_random(&state) % 200 * 4 + me;
		uint64_t index = next_random(&state) % limit;

		if (!strcmp(how, "grow")) {
			if (o->nr_entries == limit)
				pause();
			index = o->nr_entries;
			STORE(o->nr_entries, index + 1);
			journal_insert(o, index, size % 64 * 4 + me);
			continue;
		}
		STORE(o->nr_entries, limit);
		if (!o->entries[index].size)
			journal_insert(o, index, size);
		else if (!strcmp(how, "resize"))
			journal_resize(o, index, size + 4);
		else
			journal_remove(o, index);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	pthread_t t;

	if (fd < 0 || ftruncate(fd, sizeof(*journal)))
		return 2;
	journal = mmap(NULL, sizeof(*journal), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (journal == MAP_FAILED)
		return 2;
	how = argv[2];
	STORE(journal->pid, (uint64_t)getpid());
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, work, (void *)i))
			return 2;
	say("MARK", 1);
	pause();
	return 0;
}
