/* SPDX-License-Identifier: MIT */
/*
 * create.c - making the file of a new store: size, header, arrays' shapes.
 *
 * Runs in the launcher and in the traced program; no malloc, no stdio.
 */
#include "store/create.h"

#include "store/format.h"
#include "tracer/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#define MIN_CAP (UINT64_C(1) << 20)

/* Raises the soft limit of file sizes to at least size; 1 if it has to be put back. */
static int raise_limit(uint64_t size, uint64_t *ret_soft, uint64_t *ret_hard)
{
	if (sys_getrlimit(RLIMIT_FSIZE, ret_soft, ret_hard) || *ret_soft >= size)
		return 0;
	return sys_setrlimit(RLIMIT_FSIZE, *ret_hard, *ret_hard) == 0;
}

/* Sizes the file to *cap or the largest size that is allowed. ftruncate beyond the limit raises
 * SIGXFSZ, so the limit is looked at first. */
static long set_size(int fd, uint64_t *cap)
{
	uint64_t limit_soft, limit_hard;
	long err = -EFBIG;

	if (sys_getrlimit(RLIMIT_FSIZE, &limit_soft, &limit_hard) == 0)
		while (*cap > limit_soft)
			*cap /= 2;
	for (; *cap >= MIN_CAP; *cap /= 2) {
		err = sys_ftruncate(fd, *cap);
		if (err != -EFBIG && err != -EINVAL)
			break;
	}
	return *cap < MIN_CAP ? -EFBIG : err;
}

static long put(int fd, const void *data, size_t size, uint64_t off)
{
	long n = sys_pwrite(fd, data, size, off);

	return n < 0 ? n : (size_t)n == size ? 0 : -ENOSPC;
}

#define PUT_FIELD(fd, field, value)                                                                \
	put(fd, &(__typeof__(((struct hs_header *)0)->field)){ value },                            \
	    sizeof(((struct hs_header *)0)->field), offsetof(struct hs_header, field))

/* Their element sizes and shifts, the first two members of each. */
static long put_arrays(int fd)
{
	static const uint32_t shapes[HS_ARRAY_CELLS][2] = {
		[HS_ARRAY_RECORDS] = {sizeof(struct hs_record), HS_SHIFT_RECORDS},
		[HS_ARRAY_NODES] = {sizeof(struct hs_node), HS_SHIFT_NODES},
		[HS_ARRAY_STACKS] = {sizeof(struct hs_stack), HS_SHIFT_STACKS},
		[HS_ARRAY_LINEAGES] = {sizeof(struct hs_lineage), HS_SHIFT_LINEAGES},
		[HS_ARRAY_LONG_LINEAGES] = {sizeof(struct hs_long_lineage), HS_SHIFT_LONG_LINEAGES},
		[HS_ARRAY_MODULES] = {sizeof(struct hs_module), HS_SHIFT_MODULES},
		[HS_ARRAY_THREADS] = {sizeof(struct hs_thread), HS_SHIFT_THREADS},
		[HS_ARRAY_MAPPINGS] = {sizeof(struct hs_record), HS_SHIFT_MAPPINGS},
	};
	static const uint32_t cells[2] = {sizeof(struct hs_cell), HS_SHIFT_CELLS};
	long err = 0;

	for (uint32_t i = 0; i < HS_NR_ARRAYS && !err; i++)
		err = put(fd, i < HS_ARRAY_CELLS ? shapes[i] : cells, sizeof(cells),
			  offsetof(struct hs_header, arrays) + i * sizeof(struct hs_array));
	return err;
}

static long put_header(int fd, const struct store_options *options, uint64_t cap)
{
	uint64_t used = HS_DATA_OFF;
	size_t dir_len = options->dir ? strlen(options->dir) : 0;
	uint32_t arch =
#if defined(__aarch64__)
		HS_ARCH_AARCH64;
#else
		HS_ARCH_X86_64;
#endif
	uint32_t depth = options->depth ? options->depth : STORE_DEFAULT_DEPTH;
	long err = put_arrays(fd);

	if (dir_len) {
		err = err ? err : put(fd, options->dir, dir_len + 1, used);
		err = err ? err : PUT_FIELD(fd, dir_off, used);
		used = (used + dir_len + 1 + 4095) & ~UINT64_C(4095);
	}
	err = err ? err : PUT_FIELD(fd, version, HS_STORE_VERSION);
	err = err ? err : PUT_FIELD(fd, header_size, sizeof(struct hs_header));
	err = err ? err : PUT_FIELD(fd, arch, arch);
	err = err ? err : PUT_FIELD(fd, cap, cap);
	err = err ? err : PUT_FIELD(fd, used, used);
	err = err ? err : PUT_FIELD(fd, state, HS_STATE_NEW);
	err = err ? err : PUT_FIELD(fd, flags, options->flags);
	err = err ? err : PUT_FIELD(fd, depth, depth);
	err = err ? err : PUT_FIELD(fd, generation, options->generation);
	err = err ? err : put(fd, &options->mode, sizeof(options->mode),
			      HS_CONTROL_OFF + offsetof(struct hs_control, word));
	/* The magic comes last: a file that has it has all of the above. */
	return err ? err : put(fd, HS_STORE_MAGIC, 16, offsetof(struct hs_header, magic));
}

long store_create(const char *path, const struct store_options *options)
{
	uint64_t cap = options->cap ? options->cap : STORE_DEFAULT_CAP;
	long fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	uint64_t soft = 0, hard = 0;
	int raised;
	long err;

	if (fd < 0)
		return fd;
	raised = raise_limit(cap, &soft, &hard);
	err = set_size((int)fd, &cap);
	if (!err) /* a write beyond the limit is a signal too */
		err = put_header((int)fd, options, cap);
	if (raised)
		sys_setrlimit(RLIMIT_FSIZE, soft, hard);
	sys_close((int)fd);
	if (err)
		sys_unlink(path);
	return err;
}
