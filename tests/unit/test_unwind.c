/* SPDX-License-Identifier: MIT */
/*
 * test_unwind.c - rows made from unwind data, and the memo held against a walk without it.
 *
 * The trie and the modules are those of tests/unwind/standin.c, so no store is needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/format.h"
#include "tests/unwind/standin.c"
#include "tracer/rows.h"
#include "tracer/unwind.h"
#include "tracer/unwind_internal.h"

#define DEPTH 128

static struct unwind_thread *with_memo, *without_memo;
static uint32_t depth = DEPTH; /* that they are made for */

static void threads_new(uint32_t frames)
{
	free(with_memo);
	free(without_memo);
	depth = frames;
	with_memo = calloc(1, unwind_thread_size(depth));
	without_memo = calloc(1, unwind_thread_size(depth));
	if (!with_memo || !without_memo)
		abort();
	unwind_without_memo(without_memo);
}

/* ---- rows ---- */

#ifdef __x86_64__

/* .eh_frame_hdr and what follows it, as a linker would lay it out. */
struct image {
	uint8_t bytes[2048];
	size_t len, cie;
	uint32_t nr;
	struct rows_image spans;
};

static void put(struct image *m, const void *data, size_t len)
{
	memcpy(m->bytes + m->len, data, len);
	m->len += len;
}

static void put32(struct image *m, uint32_t v)
{
	put(m, &v, sizeof(v));
}

static void end_entry(struct image *m, size_t start)
{
	uint32_t len;

	while ((m->len - start) % 8)
		m->bytes[m->len++] = 0;
	len = (uint32_t)(m->len - start - 4);
	memcpy(m->bytes + start, &len, 4);
}

static void image_begin(struct image *m, const char *augmentation)
{
	static const uint8_t initial[] = {0x0c, 7, 8, 0x90, 1};
	static const uint8_t aligns[] = {1, 0x78, 16, 1, 0x1b};

	memset(m, 0, sizeof(*m));
	put(m, "\x01\x1b\x03\x3b", 4);
	m->len = 12 + 8 * 8; /* room for 8 functions */
	m->cie = m->len;
	put32(m, 0);
	put32(m, 0);
	put(m, "\x01", 1);
	put(m, augmentation, strlen(augmentation) + 1);
	put(m, aligns, sizeof(aligns));
	put(m, initial, sizeof(initial));
	end_entry(m, m->cie);
}

/* Function n lies at 0x1000 * (n + 1) from the header and is 0x100 long. */
static void image_add(struct image *m, const void *program, size_t len)
{
	size_t start = m->len;
	uint32_t code = 0x1000 * (m->nr + 1), entry = (uint32_t)start;

	put32(m, 0);
	put32(m, (uint32_t)(m->len - m->cie));
	put32(m, code - (uint32_t)m->len);
	put32(m, 0x100);
	put(m, "", 1);
	put(m, program, len);
	end_entry(m, start);
	memcpy(m->bytes + 12 + m->nr * 8, &code, 4);
	memcpy(m->bytes + 16 + m->nr * 8, &entry, 4);
	m->nr++;
	memcpy(m->bytes + 8, &m->nr, 4);
}

static row_t row_at(struct image *m, uint32_t offset)
{
	m->spans.eh_frame_hdr = (uintptr_t)m->bytes;
	m->spans.nr_spans = 1;
	m->spans.spans[0].start = (uintptr_t)m->bytes;
	m->spans.spans[0].end = (uintptr_t)m->bytes + m->len;
	return rows_parse(&m->spans, (uintptr_t)m->bytes + offset);
}

static void check_row(row_t row, enum row_type type, intptr_t cfa_offset, uintptr_t fp)
{
	assert_int_equal(row_type(row), type);
	assert_int_equal(row_cfa_offset(row), cfa_offset);
	assert_int_equal(row_fp(row), fp);
}

static void rows_of_functions(void **state)
{
	/* push rbp; mov rbp, rsp; …; leave (remembered state behind it) */
	static const uint8_t framed[] = {0x41, 0x0e, 16,   0x86, 2, 0x43, 0x0d, 6,
					 0x50, 0x0a, 0x0c, 7,	 8, 0x41, 0x0b};
	/* sub rsp, 0x1000 */
	static const uint8_t large[] = {0x44, 0x0e, 0x88, 0x20};
	/* a realigned frame: CFA = *(rbp - 8), rbp saved at rbp */
	static const uint8_t realigned[] = {0x45, 0x0f, 3, 0x76, 0x78, 6, 0x10, 6, 2, 0x76, 0};
	/* PLT: sp + 8 + ((pc & 15) >= 11) * 8 */
	static const uint8_t plt[] = {0x0f, 11,	  0x77, 8,    0x80, 0,	 0x3f,
				      0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
	static const uint8_t outermost[] = {7, 16};
	/* CFA in rbx */
	static const uint8_t odd[] = {0x0d, 3};
	struct image m;

	(void)state;
	image_begin(&m, "zR");
	image_add(&m, framed, sizeof(framed));
	image_add(&m, large, sizeof(large));
	image_add(&m, realigned, sizeof(realigned));
	image_add(&m, plt, sizeof(plt));
	image_add(&m, outermost, sizeof(outermost));
	image_add(&m, odd, sizeof(odd));
	check_row(row_at(&m, 0x1000), ROW_SP, 8, 0);
	check_row(row_at(&m, 0x1001), ROW_SP, 16, 2);
	check_row(row_at(&m, 0x1004), ROW_FP, 16, 2);
	check_row(row_at(&m, 0x1014), ROW_SP, 8, 2);
	check_row(row_at(&m, 0x1015), ROW_FP, 16, 2);
	check_row(row_at(&m, 0x20ff), ROW_SP, 0x1008, 0);
	check_row(row_at(&m, 0x3005), ROW_DEREF, -8, 256);
	/* which of the two depends on the address itself */
	for (uint32_t i = 0; i < 16; i++)
		check_row(row_at(&m, 0x4000 + i), ROW_SP,
			  (((uintptr_t)m.bytes + i) & 15) >= 11 ? 16 : 8, 0);
	assert_int_equal(row_at(&m, 0x5000), ROW_END);
	assert_int_equal(row_at(&m, 0x6000), ROW_BAD);
	/* in no function; but a return to the start of one is the end */
	assert_int_equal(row_at(&m, 0x1100), ROW_NONE);
	assert_int_equal(row_at(&m, 0x0ffe), ROW_NONE);
	assert_int_equal(row_at(&m, 0x1fff), ROW_END);
	assert_int_equal(row_at(&m, 0x7000), ROW_NONE);
}

static void rows_of_signal_return(void **state)
{
	static const uint8_t program[] = {0x0f, 4, 0x77, 0xa0, 1, 6};
	struct image m;

	(void)state;
	image_begin(&m, "zRS");
	image_add(&m, program, sizeof(program));
	assert_int_equal(row_at(&m, 0x1001), ROW_SIGNAL);
}

static void rows_of_damaged_data(void **state)
{
	static const uint8_t unknown[] = {0x3c};
	static const uint8_t restores[] = {0x0b};
	static const uint8_t remembers[] = {0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a};
	static const uint8_t cut[] = {0x0f, 200, 0x77};
	struct image m;

	(void)state;
	image_begin(&m, "zR");
	image_add(&m, unknown, sizeof(unknown));
	image_add(&m, restores, sizeof(restores));
	image_add(&m, remembers, sizeof(remembers));
	image_add(&m, cut, sizeof(cut));
	for (uint32_t i = 1; i <= 4; i++)
		assert_int_equal(row_at(&m, 0x1000 * i + 9), ROW_BAD);
	/* each byte in turn is another: any row will do */
	for (size_t i = 0; i < m.len; i++) {
		m.bytes[i] ^= 0xff;
		for (uint32_t k = 1; k <= 4; k++)
			assert_int_not_equal(row_at(&m, 0x1000 * k), 0);
		m.bytes[i] ^= 0xff;
	}
	memset(m.bytes, 0xff, sizeof(m.bytes));
	assert_int_equal(row_at(&m, 0x1000), ROW_BAD);
}

#endif

/* ---- stacks ---- */

static uint32_t nodes[2], flags[2];

static __attribute__((noinline)) void hook(void)
{
	struct unwind_regs regs;

	UNWIND_HERE(&regs);
	nodes[0] = unwind_capture(with_memo, depth, &regs, &flags[0]);
	nodes[1] = unwind_capture(without_memo, depth, &regs, &flags[1]);
}

static volatile int sink;
static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static void go_down(int levels, int events);

static __attribute__((noinline)) void level_large(int levels, int events)
{
	volatile char block[300];

	block[levels % 300] = 1;
	go_down(levels, events);
	sink += block[levels % 300];
}

static __attribute__((noinline)) void level_small(int levels, int events)
{
	go_down(levels, events);
	sink++;
}

static __attribute__((noinline)) void level_realigned(int levels, int events)
{
	volatile char block[64] __attribute__((aligned(64)));

	block[levels % 64] = 1;
	go_down(levels, events);
	sink += block[levels % 64];
}

static __attribute__((noinline)) void level_alloca(int levels, int events)
{
	volatile char *p = __builtin_alloca(random_below(200) + 8);

	p[0] = 1;
	go_down(levels, events);
	sink += p[0];
}

static void event(void)
{
	hook();
	assert_int_not_equal(nodes[0], 0);
	assert_int_equal(nodes[0], nodes[1]);
	assert_int_equal(flags[0], flags[1]);
}

/* At each level some events and some ways further down. */
static __attribute__((noinline)) void go_down(int levels, int events)
{
	static void (*const ways[])(int, int) = {level_large, level_small, level_realigned,
						 level_alloca};

	for (int i = 0; i < events; i++) {
		if (random_below(3) == 0)
			event();
		if (levels && random_below(3))
			ways[random_below(4)](levels - 1, events);
	}
}

static void memo_finds_what_a_walk_finds(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++)
		go_down(2 + i % 9, 3);
	for (int i = 0; i < 200; i++)
		go_down(60, 1);
}

static __attribute__((noinline)) void recurse(int n)
{
	if (n)
		recurse(n - 1);
	if (n % 1000 == 0 || n < 300)
		event();
	sink++;
}

static void deep_stacks_keep_the_inner_frames(void **state)
{
	uint64_t pcs[DEPTH + 2];

	(void)state;
	recurse(20000);
	recurse(100);
	recurse(150);
	/* the innermost of 150 */
	hook();
	assert_int_equal(flags[0], 0);
	threads_new(3);
	recurse(10);
	hook();
	assert_int_equal(standin_frames(nodes[0], pcs, DEPTH + 2), 4);
	assert_int_equal(pcs[3], HS_PC_CUT_DEPTH);
	assert_int_equal(flags[0], UNWIND_CUT_DEPTH);
	threads_new(DEPTH);
}

static void no_room_in_the_trie(void **state)
{
	(void)state;
	standin_fail_after(0);
	level_small(0, 0);
	for (int i = 0; i < 3; i++) {
		hook(); /* a call that was never made before */
		assert_int_equal(nodes[0], 0);
		assert_int_equal(nodes[1], 0);
	}
	standin_fail_after(UINT32_MAX);
	event();
}

static void forgotten_rows_are_made_anew(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		unwind_forget();
		go_down(4, 2);
		stack_memory_changed(0, UINTPTR_MAX);
		go_down(4, 2);
	}
}

static int setup(void **state)
{
	(void)state;
	standin_start();
	unwind_start();
	unwind_load();
	threads_new(DEPTH);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(with_memo);
	free(without_memo);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef __x86_64__
		cmocka_unit_test(rows_of_functions),
		cmocka_unit_test(rows_of_signal_return),
		cmocka_unit_test(rows_of_damaged_data),
#endif
		cmocka_unit_test(memo_finds_what_a_walk_finds),
		cmocka_unit_test(deep_stacks_keep_the_inner_frames),
		cmocka_unit_test(no_room_in_the_trie),
		cmocka_unit_test(forgotten_rows_are_made_anew),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
