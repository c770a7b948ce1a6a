/* SPDX-License-Identifier: MIT */
/*
 * fuzz_store.c - a store in which anything may be anything. The input is a list of changes to a
 * small sound store: where, how many bytes, which. What is accepted has to be a sound snapshot.
 */
#include "tests/fuzz/fuzz.h"

#include "analysis/snapshot_internal.h"
#include "tests/unit/fake_store.h"
#include "util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CAP (UINT64_C(1) << 20)

static struct {
	uint8_t *image; /* the sound store */
	uint64_t used;
	int fd; /* where the changed one goes, 0: not made yet */
	uint8_t *map;
	char path[64];
} base;

static void make_base(void)
{
	struct fake_store *f;
	struct hs_thread *t;

	snprintf(base.path, sizeof(base.path), "/tmp/fuzz_store.%d", (int)getpid());
	f = fake_store_new(base.path, CAP);
	fake_small(f);
	for (uint32_t i = 0; i < 10; i++)
		fake_resize(f, fake_block(f, 0x100000 + i * 4096, i * 10, 1, 1, i), 100 * i, 2,
			    i + 1);
	for (uint32_t i = 0; i < 40; i++)
		fake_resize(f, 3, 1000 + i, 1, i);
	t = fake_slot(f, 2);
	t->in = 1;
	t->op = HS_OP_RESIZE;
	t->inflight = *fake_record(f, 5);
	t->inflight_nr = 5;
	fake_record(f, 5)->word = 0;
	fake_slot(f, 1)->pending[0] = 6;
	base.used = f->header->used;
	base.image = malloc(base.used);
	base.fd = memfd_create("fuzz_store", MFD_CLOEXEC);
	if (!base.image || base.fd <= 0 || ftruncate(base.fd, (off_t)CAP))
		abort();
	memcpy(base.image, f->base, base.used);
	base.map = mmap(NULL, CAP, PROT_READ | PROT_WRITE, MAP_SHARED, base.fd, 0);
	if (base.map == MAP_FAILED)
		abort();
	fake_store_free(f, true);
	snprintf(base.path, sizeof(base.path), "/proc/self/fd/%d", base.fd);
}

/*
 * Each change: 3 bytes where, 1 how many (1 to 8), then these. The top bit of "where" keeps to the
 * header; half of what is behind it would never matter otherwise.
 */
static void apply(const uint8_t *data, size_t len)
{
	memcpy(base.map, base.image, base.used);
	for (int i = 0; i < 32 && len >= 12; i++, data += 12, len -= 12) {
		uint64_t at = data[0] | (uint64_t)data[1] << 8 | (uint64_t)(data[2] & 0x7f) << 16;
		size_t n = 1 + data[3] % 8;

		if (data[2] & 0x80)
			at %= sizeof(struct hs_header) - 8;
		else
			at = HS_DATA_OFF + at % (base.used - HS_DATA_OFF - 8);
		memcpy(base.map + at, data + 4, n);
	}
}

void fuzz_one(const uint8_t *data, size_t len)
{
	struct snap_findings *findings;
	struct store_image image;
	struct snap_problem problem;
	struct snapshot *s;
	struct hs_error err;

	if (!base.fd)
		make_base();
	apply(data, len);
	/* It must not be taken for the store of a running process and frozen. */
	((struct hs_header *)(void *)base.map)->boot_id[0] ^= 0xff;
	if (store_image_read(base.path, &image, &err))
		return;
	findings = calloc(1, sizeof(*findings));
	if (!findings)
		abort();
	if (!snapshot_from_image(&image, &s, findings, &err)) {
		if (!snapshot_valid(s, &problem)) {
			fprintf(stderr, "accepted, but %s\n", problem.text);
			abort();
		}
		snapshot_free(s);
	}
	free(findings);
	store_image_release(&image);
}
