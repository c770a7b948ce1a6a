/* SPDX-License-Identifier: MIT */
/*
 * perfmap.c - names of code made at run time; see perfmap.h.
 *
 * The file may have a million lines where a few hundred addresses are asked for, so it is not kept:
 * each line is held against the queries as it passes, and overwrites what an earlier one said.
 */
#include "symbolizer/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/clock.h"

#define MAX_LINE    65536u
#define PIECE_BYTES 65536u
/* A map may get its last lines after the last event that the store shows, and clocks are coarse. */
#define SLACK_NS (UINT64_C(2) * 1000000000)

/* ---- lines ------------------------------------------------------------------------------- */

void perfmap_init(struct perfmap *map, struct perfmap_query *queries, size_t nr)
{
	*map = (struct perfmap){queries, nr, xcalloc(1, sizeof(*map->line)), false};
}

void perfmap_release(struct perfmap *map)
{
	buffer_clear(map->line);
	free(map->line);
	map->line = NULL;
}

/* The first query at or above the address. */
static size_t first_query(const struct perfmap *map, uint64_t address)
{
	size_t low = 0, high = map->nr_queries;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->queries[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A hexadecimal number and the blank behind it. */
static bool take_number(const char **text, uint64_t *ret)
{
	size_t digits = strspn(*text, "0123456789abcdefABCDEF");

	if (!digits || digits > 16 || (*text)[digits] != ' ')
		return false;
	*ret = strtoull(*text, NULL, 16);
	*text += digits + 1;
	return true;
}

static void take_line(struct perfmap *map, const char *line)
{
	uint64_t start, size;

	/* some write the numbers with 0x */
	if (!strncmp(line, "0x", 2))
		line += 2;
	if (!take_number(&line, &start))
		return;
	if (!strncmp(line, "0x", 2))
		line += 2;
	if (!take_number(&line, &size) || !*line)
		return;
	for (size_t i = first_query(map, start);
	     i < map->nr_queries && map->queries[i].address - start < size; i++) {
		free(map->queries[i].name);
		map->queries[i].name = xstrdup(line);
	}
}

void perfmap_feed(struct perfmap *map, const char *bytes, size_t len)
{
	while (len) {
		const char *end = memchr(bytes, '\n', len);
		size_t part = end ? (size_t)(end - bytes) : len;

		map->too_long = map->too_long || part > MAX_LINE - map->line->len;
		if (!map->too_long)
			buffer_add(map->line, bytes, part);
		if (end) {
			if (!map->too_long && map->line->len &&
			    !memchr(map->line->data, 0, map->line->len))
				take_line(map, buffer_string(map->line));
			map->line->len = 0;
			map->too_long = false;
			part++;
		}
		bytes += part;
		len -= part;
	}
}

/* ---- the file ---------------------------------------------------------------------------- */

/* The number that a living process knows itself by: the last one of NSpid. */
static uint32_t own_pid(uint32_t pid)
{
	char path[64], line[512];
	uint32_t ret = pid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');

		if (strncmp(line, "NSpid:", 6) || !last)
			continue;
		ret = (uint32_t)strtoul(last, NULL, 10);
		break;
	}
	if (file)
		fclose(file);
	return ret ? ret : pid;
}

/* /tmp is anybody's, and process numbers come again. */
static bool is_of_process(int fd, const struct perfmap_process *p, uint64_t *ret_bytes)
{
	struct stat st;
	uint64_t changed_ns;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != p->uid)
		return false;
	changed_ns = timespec_ns(&st.st_mtim);
	*ret_bytes = (uint64_t)st.st_size;
	return changed_ns + SLACK_NS >= p->start_ns &&
	       (p->alive || changed_ns <= p->end_ns + SLACK_NS);
}

static int open_map(const char *path, const struct perfmap_process *process, uint64_t *ret_bytes)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0 && is_of_process(fd, process, ret_bytes))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int find_map(const struct perfmap_process *process, uint64_t *ret_bytes)
{
	char path[PATH_MAX];
	int fd = -1;

	if (process->alive) {
		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root/tmp/perf-%" PRIu32 ".map",
			 process->pid, own_pid(process->pid));
		fd = open_map(path, process, ret_bytes);
	}
	if (fd < 0) {
		snprintf(path, sizeof(path), "/tmp/perf-%" PRIu32 ".map", process->pid);
		fd = open_map(path, process, ret_bytes);
	}
	return fd;
}

bool perfmap_read(const struct perfmap_process *process, struct perfmap_query *queries, size_t nr)
{
	struct perfmap map;
	uint64_t left;
	char *piece;
	int fd = find_map(process, &left);

	if (fd < 0)
		return false;
	piece = xmalloc(PIECE_BYTES);
	perfmap_init(&map, queries, nr);
	while (left) {
		ssize_t n = read(fd, piece, left < PIECE_BYTES ? left : PIECE_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		perfmap_feed(&map, piece, (size_t)n);
		left -= (uint64_t)n;
	}
	perfmap_release(&map);
	free(piece);
	close(fd);
	return true;
}
