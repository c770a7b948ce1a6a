/* SPDX-License-Identifier: MIT */
/*
 * perfmap.h - names of code that a program made at run time, from its perf map file.
 *
 * A line of it is "START SIZE NAME", the numbers in hexadecimal; lines are only ever added, and
 * none is withdrawn when its code goes. So the latest line that covers an address has it, and of
 * the file only as much may be read as there was at the moment that is asked about.
 */
#ifndef HEAPSTORY_SYMBOLIZER_PERFMAP_H
#define HEAPSTORY_SYMBOLIZER_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

struct perfmap_query {
	uint64_t address;
	char *name; /* the answer, for free(); NULL: no line covers the address */
};

/* A file that is read piece by piece; the queries are by address, ascending, and the caller's. */
struct perfmap {
	struct perfmap_query *queries;
	size_t nr_queries;
	struct buffer *line; /* begun and not yet ended */
	bool too_long; /* and no line of ours: it is left out */
};

void perfmap_init(struct perfmap *map, struct perfmap_query *queries, size_t nr);
/* The next bytes of the file. A line counts from its end on: one that is half written does not. */
void perfmap_feed(struct perfmap *map, const char *bytes, size_t len);
void perfmap_release(struct perfmap *map);

/* Whose file it is; times are CLOCK_REALTIME, ns. */
struct perfmap_process {
	uint32_t pid, uid;
	bool alive;
	uint64_t start_ns; /* of the process */
	uint64_t end_ns; /* when it was last seen; not looked at while it is alive */
};

/*
 * Finds the file of a process, /tmp/perf-PID.map as the process itself sees it, and answers the
 * queries from what there is of it now. False if there is none, or one that another process under
 * the same number left or somebody else wrote.
 */
bool perfmap_read(const struct perfmap_process *process, struct perfmap_query *queries, size_t nr);

#endif
