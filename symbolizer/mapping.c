/* SPDX-License-Identifier: MIT */
/*
 * mapping.c - parts of files mapped for reading, which may shrink meanwhile; see mapping.h.
 *
 * Offline only. A debug file may be larger than the memory, so it is mapped, never copied; but
 * whoever builds the program again truncates it under us. What is read from a mapping may change
 * from one read to the next: readers take each value once and check what they took.
 */
#include "symbolizer/mapping.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/alloc.h"

/* A range in which a SIGBUS is ours. Entries are reused and never freed: the handler walks them. */
struct guard {
	atomic_uintptr_t start, end;    /* end 0: unused */
	struct guard *next;
};

static struct {
	_Atomic(struct guard *) guards;
	pthread_once_t once;
	struct sigaction before;        /* what SIGBUS did before us */
} state = { .once = PTHREAD_ONCE_INIT };

/* Puts zeros in place of the rest of a mapping whose file became shorter. */
static void on_sigbus(int signal, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	struct guard *g;

	(void)context;
	for (g = atomic_load(&state.guards); g; g = g->next) {
		uintptr_t end = atomic_load(&g->end);
		uintptr_t page = at & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);

		if (at < atomic_load(&g->start) || at >= end)
			continue;
		if (mmap((void *)page, end - page, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
			return;
	}
	/* Not ours: the access is repeated, and ends as it would have without us. */
	sigaction(signal, &state.before, NULL);
}

static void catch_sigbus(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &state.before);
}

static struct guard *guard_range(uintptr_t start, uintptr_t end)
{
	struct guard *g, *head;

	pthread_once(&state.once, catch_sigbus);
	for (g = atomic_load(&state.guards); g; g = g->next) {
		uintptr_t unused = 0;

		if (atomic_compare_exchange_strong(&g->end, &unused, 1)) {
			atomic_store(&g->start, start);
			atomic_store(&g->end, end);
			return g;
		}
	}
	g = xcalloc(1, sizeof(*g));
	atomic_store(&g->start, start);
	atomic_store(&g->end, end);
	head = atomic_load(&state.guards);
	do
		g->next = head;
	while (!atomic_compare_exchange_weak(&state.guards, &head, g));
	return g;
}

bool mapping_open(struct mapping *map, int fd, uint64_t offset, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t before = (size_t)(offset & (page - 1)), whole;
	uint8_t *base;

	memset(map, 0, sizeof(*map));
	if (!len || len > SIZE_MAX / 2)
		return false;
	whole = (before + len + page - 1) & ~(page - 1);
	base = mmap(NULL, whole + page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		    0);
	if (base == MAP_FAILED)
		return false;
	if (mmap(base, whole, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd,
		 (off_t)(offset - before)) == MAP_FAILED) {
		munmap(base, whole + page);
		return false;
	}
	map->base = base;
	map->base_len = whole + page;
	map->data = base + before;
	map->len = len;
	map->guard = guard_range((uintptr_t)base, (uintptr_t)base + whole);
	return true;
}

void mapping_close(struct mapping *map)
{
	if (map->base) {
		struct guard *g = map->guard;

		atomic_store(&g->end, 0);
		munmap(map->base, map->base_len);
	}
	memset(map, 0, sizeof(*map));
}

int mapping_temporary(void)
{
	const char *dirs[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	size_t i;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		int fd = dirs[i] && dirs[i][0] ?
			open(dirs[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

		if (fd >= 0)
			return fd;
	}
	return memfd_create("heapstory", MFD_CLOEXEC);
}
