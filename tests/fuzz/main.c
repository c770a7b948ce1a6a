/* SPDX-License-Identifier: MIT */
/*
 * main.c - drives a fuzz target without a fuzzing engine: replays a corpus, then changes it.
 *
 *	TARGET [-s SECONDS] [-r SEED] [-k FILE] INPUT...
 *
 * Each INPUT is replayed as it is. With -s, inputs are then changed at random (bits, bytes,
 * interesting numbers, cuts, copies of one piece over another) for so long. The input at hand is
 * always in FILE (a shared mapping, so it is there after a crash).
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_INPUT (1u << 20)

struct input {
	uint8_t *data;
	size_t len;
};

static uint64_t state = 1;

static uint32_t random_below(uint64_t n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return n ? (uint32_t)((state >> 33) % n) : 0;
}

static int read_input(const char *path, struct input *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;

	ret->data = NULL;
	if (fd >= 0 && fstat(fd, &st) == 0) {
		ret->len = st.st_size > MAX_INPUT ? MAX_INPUT : (size_t)st.st_size;
		ret->data = malloc(ret->len + 1);
		if (ret->data)
			n = read(fd, ret->data, ret->len);
	}
	if (n < 0)
		fprintf(stderr, "cannot read '%s': %s\n", path, strerror(errno));
	else
		ret->len = (size_t)n;
	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

/* One change of data[0..len), which has room for MAX_INPUT bytes. Returns the new length. */
static size_t change(uint8_t *data, size_t len)
{
	static const uint64_t numbers[] = {0,
					   1,
					   0x7f,
					   0x80,
					   0xff,
					   0xffff,
					   0x7fffffff,
					   0x80000000,
					   0xffffffff,
					   UINT64_C(1) << 40,
					   UINT64_C(1) << 63,
					   UINT64_MAX};
	size_t at = random_below(len), n = 1 + random_below(16);
	uint64_t number = numbers[random_below(sizeof(numbers) / sizeof(*numbers))];

	if (len == 0)
		return 0;
	switch (random_below(7)) {
	case 0:
		data[at] ^= (uint8_t)(1u << random_below(8));
		break;
	case 1:
		data[at] = (uint8_t)random_below(256);
		break;
	case 2:
		memcpy(data + at, &number, len - at < 8 ? len - at : 8);
		break;
	case 3:
		memcpy(data + at, &number, len - at < 4 ? len - at : 4);
		break;
	case 4:
		return random_below(20) ? len : at;
	case 5:
		n = len - at < n ? len - at : n;
		memmove(data + at, data + random_below(len - n + 1), n);
		break;
	default:
		if (len + n > MAX_INPUT)
			break;
		memmove(data + at + n, data + at, len - at);
		return len + n;
	}
	return len;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint8_t *kept_input(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	void *p = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, MAX_INPUT) == 0)
		p = mmap(NULL, MAX_INPUT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		fprintf(stderr, "cannot map '%s': %s\n", path, strerror(errno));
		exit(2);
	}
	close(fd);
	return p;
}

int main(int argc, char **argv)
{
	double seconds = 0, end;
	unsigned long runs = 0;
	struct input *inputs;
	uint8_t *data = NULL;
	int option, nr = 0;

	while ((option = getopt(argc, argv, "s:r:k:")) != -1) {
		if (option == 's')
			seconds = atof(optarg);
		else if (option == 'r')
			state = strtoull(optarg, NULL, 10);
		else if (option == 'k')
			data = kept_input(optarg);
		else
			return 2;
	}
	if (!data)
		data = malloc(MAX_INPUT);
	inputs = calloc((size_t)(argc - optind) + 1, sizeof(*inputs));
	for (int i = optind; inputs && i < argc; i++) {
		if (read_input(argv[i], &inputs[nr]))
			return 2;
		fuzz_one(inputs[nr].data, inputs[nr].len);
		nr++;
	}
	for (end = now() + seconds; nr && now() < end; runs++) {
		struct input *in = &inputs[random_below((uint64_t)nr)];
		size_t len = in->len;
		uint8_t *copy;

		memcpy(data, in->data, len);
		for (uint32_t n = 1 + random_below(8); n; n--)
			len = change(data, len);
		/* exactly as large as it claims, so that a sanitizer sees a read past its end */
		copy = malloc(len ? len : 1);
		memcpy(copy, data, len);
		fuzz_one(copy, len);
		free(copy);
	}
	printf("%d inputs replayed, %lu changed ones\n", nr, runs);
	for (int i = 0; i < nr; i++)
		free(inputs[i].data);
	free(inputs);
	return 0;
}
