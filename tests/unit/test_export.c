/* SPDX-License-Identifier: MIT */
/*
 * test_export.c - what is exported holds the bytes that there are, and every number in a pprof
 * file refers to something.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analysis/filter.h"
#include "analysis/heap.h"
#include "reports/export.h"
#include "reports/profile.pb-c.h"
#include "tests/unit/fake_heap.h"
#include "util/alloc.h"
#include "util/buffer.h"

#define MAX_UNPACKED (1u << 20)

/* A random heap, and its stacks as samples: every other one negative, as in a difference. */
struct made {
	struct fake_heap heap;
	struct snapshot *snapshot;
	struct names *names;
	struct export_profile profile;
	int64_t count, bytes;
};

static size_t odd_lookup(void *context, const struct snapshot *s, uint32_t module, uint64_t address,
			 const struct name_frame **ret)
{
	static struct name_frame frames[2] = {
		{.function = "a;b\n\xff", .file = "a.h", .line = 7, .column = 3, .inlined = true}};

	if (address / 0x10 % 3)
		return fake_heap_lookup(context, s, module, address, ret);
	frames[1] = (struct name_frame){.function = "outer; one"};
	*ret = frames;
	return 2;
}

static void make(struct made *m, uint64_t seed)
{
	static const struct filter none;
	struct group_options by = {GROUP_STACK, false, false, 0};
	struct heap heap;

	memset(m, 0, sizeof(*m));
	fake_heap_init(&m->heap, seed);
	for (uint64_t i = 0; i < 8 * seed; i++)
		fake_heap_event(&m->heap);
	m->snapshot = fake_heap_snapshot(&m->heap, 1);
	m->names = names_new(m->snapshot, odd_lookup, NULL);
	heap_build(&heap, m->names, &none, &by, SORT_DEFAULT);
	m->profile.samples = xcalloc(heap.nr_rows + 1, sizeof(*m->profile.samples));
	m->profile.all_frames = seed % 2;
	for (size_t i = 0; i < heap.nr_rows; i++) {
		int64_t sign = i % 2 ? -1 : 1;

		m->profile.samples[m->profile.nr_samples++] =
			(struct export_sample){m->names, heap.rows[i].stack,
					       sign * (int64_t)heap.rows[i].count,
					       sign * (int64_t)heap.rows[i].bytes};
		m->count += sign * (int64_t)heap.rows[i].count;
		m->bytes += sign * (int64_t)heap.rows[i].bytes;
	}
	heap_release(&heap);
}

static void release(struct made *m)
{
	free(m->profile.samples);
	names_free(m->names);
	snapshot_free(m->snapshot);
	fake_heap_release(&m->heap);
}

/* A name has a byte that is none. */
static void assert_utf8(const char *text)
{
	json_t *string = json_string(text);

	assert_non_null(string);
	json_decref(string);
}

static void test_folded(void **state)
{
	unsigned int nr_odd = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct buffer b = {0};
		char *text, *line, *save = NULL, *before = NULL;
		int64_t bytes = 0;
		struct made m;

		make(&m, seed);
		export_folded(&m.profile, &b);
		text = buffer_detach(&b);
		for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			char *value = strrchr(line, ' ');

			assert_non_null(value);
			*value = 0;
			assert_int_not_equal(strtoll(value + 1, NULL, 10), 0);
			bytes += strtoll(value + 1, NULL, 10);
			/* sorted, each once; nothing but names between the ';' */
			assert_true(!before || strcmp(before, line) < 0);
			assert_null(strstr(line, ";;"));
			assert_null(strstr(line, "a;b"));
			nr_odd += strstr(line, "outer: one;a:b") != NULL;
			assert_utf8(line);
			if (!m.profile.all_frames)
				assert_null(strstr(line, "malloc"));
			before = line;
		}
		assert_int_equal(bytes, m.bytes);
		free(text);
		release(&m);
	}
	assert_true(nr_odd > 100);
}

static Heapstory__Pprof__Profile *unpack(const struct buffer *b)
{
	static uint8_t raw[MAX_UNPACKED];
	z_stream z = {.next_in = b->data,
		      .avail_in = (uInt)b->len,
		      .next_out = raw,
		      .avail_out = sizeof(raw)};
	Heapstory__Pprof__Profile *p;

	assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	p = heapstory__pprof__profile__unpack(NULL, sizeof(raw) - z.avail_out, raw);
	assert_non_null(p);
	return p;
}

static void check_location(const Heapstory__Pprof__Profile *p, const Heapstory__Pprof__Location *l)
{
	assert_true(l->mapping_id <= p->n_mapping);
	assert_true(l->n_line > 0);
	for (size_t i = 0; i < l->n_line; i++) {
		uint64_t id = l->line[i]->function_id;

		assert_true(id && id <= p->n_function);
		assert_int_equal(p->function[id - 1]->id, id);
		assert_in_range(p->function[id - 1]->name, 1, p->n_string_table - 1);
		assert_in_range(p->function[id - 1]->filename, 0, p->n_string_table - 1);
	}
}

static void test_pprof(void **state)
{
	static const char *const comments[] = {"one", "two"};

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		Heapstory__Pprof__Profile *p;
		struct buffer b = {0};
		int64_t count = 0, bytes = 0;
		struct made m;

		make(&m, seed);
		m.profile.comments = comments;
		m.profile.nr_comments = 2;
		assert_int_equal(export_pprof(&m.profile, &b, NULL), 0);
		p = unpack(&b);
		assert_string_equal(p->string_table[0], "");
		for (size_t i = 0; i < p->n_string_table; i++)
			assert_utf8(p->string_table[i]);
		assert_string_equal(p->string_table[p->comment[1]], "two");
		assert_string_equal(p->string_table[p->sample_type[1]->type], "inuse_space");
		assert_int_equal(p->n_sample, m.profile.nr_samples);
		for (size_t i = 0; i < p->n_sample; i++) {
			assert_int_equal(p->sample[i]->n_value, 2);
			count += p->sample[i]->value[0];
			bytes += p->sample[i]->value[1];
			assert_true(p->sample[i]->n_location_id > 0);
			for (size_t k = 0; k < p->sample[i]->n_location_id; k++) {
				uint64_t id = p->sample[i]->location_id[k];

				assert_true(id && id <= p->n_location);
				assert_int_equal(p->location[id - 1]->id, id);
				check_location(p, p->location[id - 1]);
			}
		}
		assert_int_equal(count, m.count);
		assert_int_equal(bytes, m.bytes);
		heapstory__pprof__profile__free_unpacked(p, NULL);
		buffer_clear(&b);
		release(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_pprof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
