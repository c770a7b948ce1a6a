/* SPDX-License-Identifier: MIT */
/*
 * memory.c - reads words of a running program's memory; see memory.h.
 *
 * Blocks lie close together, so the words are read page by page, from the first to the last one
 * that is wanted, many pages with one system call.
 */
#include "store/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "util/alloc.h"

#define NR_WINDOW 512u /* pages */
#define NR_SPANS  128u
#define PRESENT	  (UINT64_C(1) << 63) /* of an entry of pagemap */

bool memory_open(struct memory *m, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	*m = (struct memory){.pid = pid, .page_size = (uint64_t)sysconf(_SC_PAGESIZE)};
	m->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (m->pagemap < 0)
		return false;
	m->window = xmallocarray(NR_WINDOW, sizeof(*m->window));
	return true;
}

void memory_close(struct memory *m)
{
	close(m->pagemap);
	free(m->window);
}

static bool is_present(struct memory *m, uint64_t page)
{
	if (page < m->first_page || page - m->first_page >= m->nr_pages) {
		ssize_t n = pread(m->pagemap, m->window, NR_WINDOW * sizeof(*m->window),
				  (off_t)(page * sizeof(*m->window)));

		m->first_page = page;
		m->nr_pages = n > 0 ? (size_t)n / sizeof(*m->window) : 0;
		if (!m->nr_pages)
			return false;
	}
	return m->window[page - m->first_page] & PRESENT;
}

/* The wanted words of one page each. */
struct spans {
	struct iovec remote[NR_SPANS];
	struct iovec local[NR_SPANS];
	size_t first[NR_SPANS], end[NR_SPANS]; /* of the addresses */
	size_t nr;
	uint8_t *bytes; /* a page for each */
};

static void take_span(const struct spans *s, size_t span, const uint64_t *addresses, uint64_t *ret)
{
	uint64_t start = (uintptr_t)s->remote[span].iov_base;

	for (size_t i = s->first[span]; i < s->end[span]; i++) {
		if (!(addresses[i] & 7))
			memcpy(&ret[i],
			       (uint8_t *)s->local[span].iov_base + (addresses[i] - start), 8);
	}
}

/* Reads all spans; one that cannot be read is passed over. False if none ever will. */
static bool read_spans(struct memory *m, struct spans *s, const uint64_t *addresses, uint64_t *ret)
{
	size_t next = 0;

	while (next < s->nr) {
		ssize_t n = process_vm_readv(m->pid, s->local + next, s->nr - next,
					     s->remote + next, s->nr - next, 0);

		if (n < 0 && errno != EFAULT)
			return false;
		for (; next < s->nr && n >= (ssize_t)s->remote[next].iov_len; next++) {
			n -= (ssize_t)s->remote[next].iov_len;
			take_span(s, next, addresses, ret);
		}
		next += next < s->nr; /* what it stopped at */
	}
	s->nr = 0;
	return true;
}

/* Adds the words of the page at addresses[first]; returns the first address of another page. */
static size_t add_span(struct memory *m, struct spans *s, const uint64_t *addresses, size_t first,
		       size_t nr)
{
	uint64_t page = addresses[first] / m->page_size, start = 0, end = 0;
	size_t i = first;

	for (; i < nr && addresses[i] / m->page_size == page; i++) {
		if (addresses[i] & 7)
			continue;
		start = end ? start : addresses[i];
		end = addresses[i] + 8;
	}
	if (!end || !is_present(m, page))
		return i;
	s->remote[s->nr] = (struct iovec){(void *)(uintptr_t)start, end - start};
	s->local[s->nr] = (struct iovec){s->bytes + s->nr * m->page_size, end - start};
	s->first[s->nr] = first;
	s->end[s->nr++] = i;
	return i;
}

bool memory_read_words(struct memory *m, const uint64_t *addresses, size_t nr, uint64_t *ret)
{
	struct spans *s = xcalloc(1, sizeof(*s));
	bool good = true;

	s->bytes = xmallocarray(NR_SPANS, m->page_size);
	memset(ret, 0, nr * sizeof(*ret));
	for (size_t i = 0; good && i < nr;) {
		i = add_span(m, s, addresses, i, nr);
		if (s->nr == NR_SPANS || (i == nr && s->nr))
			good = read_spans(m, s, addresses, ret);
	}
	free(s->bytes);
	free(s);
	return good;
}
