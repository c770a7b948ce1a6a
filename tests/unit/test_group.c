/* SPDX-License-Identifier: MIT */
/*
 * test_group.c - groups of blocks add up, filters, zones, and the site rule by names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/filter.h"
#include "analysis/function_path.h"
#include "analysis/heap.h"
#include "analysis/lineage.h"
#include "analysis/runtime.h"
#include "tests/unit/fake_heap.h"
#include "util/alloc.h"

static const struct filter no_filter;

/* ---- names ------------------------------------------------------------------------------- */

/* Looked up at the byte before a return address; but not what a signal interrupted, nor its end. */
static void test_addresses_of_names(void **state)
{
	struct snap_module modules[] = {{.path = NULL}, {.load_bias = 0x1000}};
	struct snap_node nodes[] = {
		{.pc = 0},
		{.pc = 0x5100, .parent = 0, .module = 1}, /* main */
		{.pc = 0x5200, .parent = 1, .module = 1, .signal = true},
		{.pc = 0x5300, .parent = 2, .module = 1}, /* ends the handler */
		{.pc = 0x5400, .parent = 3, .module = 1}, /* the handler */
	};
	struct snapshot s = {.modules = modules, .nr_modules = 2, .nodes = nodes, .nr_nodes = 5};

	(void)state;
	assert_int_equal(names_address(&s, &nodes[1]), 0x40ff);
	assert_int_equal(names_address(&s, &nodes[2]), 0x4200);
	assert_int_equal(names_address(&s, &nodes[3]), 0x4300);
	assert_int_equal(names_address(&s, &nodes[4]), 0x43ff);
}

static void test_runtime_functions(void **state)
{
	static const char *const runtime[] = {
		"malloc",
		"__libc_malloc",
		"operator new(unsigned long)",
		("<<alloc::boxed::Box<str> as core::convert::From<&str>>::from as "
		 "core::ops::function::FnOnce<(&str,)>>::call_once"),
		"operator new[](unsigned long)",
		"operator delete(void*, unsigned long)",
		"calloc@@GLIBC_2.2.5",
		"realloc.part.0",
		"std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int*, int&&)",
		"void std::vector<a::B>::emplace_back<a::B>(a::B&&)",
		"__gnu_cxx::new_allocator<int>::allocate",
		"alloc::raw_vec::RawVec<T,A>::grow_one",
		"<alloc::vec::Vec<T> as core::clone::Clone>::clone",
		"__rustc::__rust_alloc",
		"__rust_alloc",
		"__rdl_alloc",
		"core::ops::function::FnOnce::call_once",
		"hashbrown::raw::RawTable<T,A>::reserve_rehash::h0123456789abcdef",
		"<T as core::convert::Into<U>>::into",
		"__cxa_allocate_exception",
		"_PyObject_Malloc",
		"PyMem_RawMalloc",
		"g_malloc0",
		"heapstory_note",
		"std::ostream& std::operator<< <char>(std::ostream&, char)",
	};
	static const char *const program[] = {
		"main",
		"cache_insert",
		"app::alloc::grow",
		"<app::Thing as core::clone::Clone>::clone",
		"mallocator",
		"xmalloc",
		"my::operator_new",
		"Foo::operator new(unsigned long)",
		"alloc",
		"core",
		"std",
		"stdx::vector::push",
		"app::main::{{closure}}",
		"freelist_get",
		"int app::f<std::string>(std::string const&)",
		"app::operator<<(std::ostream&, app::T const&)",
		"malloc_wrapper",
		"g_list_append",
		"$weird",
		"?",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++) {
		if (!runtime_function(runtime[i]))
			fail_msg("%s counts as the program's", runtime[i]);
	}
	for (size_t i = 0; i < sizeof(program) / sizeof(program[0]); i++) {
		if (runtime_function(program[i]))
			fail_msg("%s counts as the runtime's", program[i]);
	}
}

static void test_wrappers(void **state)
{
	static const char *const wrappers[] = {
		"xmalloc",	      "zmalloc_usable",
		"zrealloc",	      "xrealloc.constprop.0",
		"sqlite3MallocZero",  "CRYPTO_zalloc",
		"os::malloc(unsigned long, MEMFLAGS, NativeCallStack const&)",
		"ggc_internal_alloc(unsigned long, void (*)(void*), unsigned long, unsigned long)",
	};
	static const char *const others[] = {
		"main",	       "malloc_wrapper", "use_malloc",	  "os::init()",
		"my::xmalloc", "zone_malloc",	 "mos::malloc()", "CRYPTO_THREAD_lock_new",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++) {
		if (!runtime_wrapper(wrappers[i]))
			fail_msg("%s is no wrapper", wrappers[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (runtime_wrapper(others[i]))
			fail_msg("%s is a wrapper", others[i]);
	}
}

static void test_runtime_modules(void **state)
{
	static const char *const runtime[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"libc-2.31.so",
		"/lib64/ld-linux-x86-64.so.2",
		"/usr/lib/libstdc++.so.6.0.30",
		"libgcc_s.so.1",
		"libm.so.6",
		"linux-vdso.so.1",
		"[vdso]",
		"libstd-0123456789abcdef.so",
		"libjemalloc.so.2",
		"libtcmalloc_minimal.so.4",
		"libmimalloc.so.2.0",
		"/x/libheapstory.so",
		"ld-musl-x86_64.so.1",
		"libunwind-x86_64.so.8",
	};
	static const char *const program[] = {
		"/usr/bin/app",
		"libcurl.so.4",
		"libmine.so",
		"libcrypto.so.3",
		"libgallium-22.so",
		"libstdx.so",
		"/opt/libc/app",
		"libdlx.so",
		"",
		"ld",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++) {
		if (!runtime_module(runtime[i]))
			fail_msg("%s counts as the program's", runtime[i]);
	}
	for (size_t i = 0; i < sizeof(program) / sizeof(program[0]); i++) {
		if (runtime_module(program[i]))
			fail_msg("%s counts as the runtime's", program[i]);
	}
}

static void test_runtime_files(void **state)
{
	static const char *const runtime[] = {
		"/usr/include/c++/12/bits/stl_vector.h",
		"/usr/include/x86_64-linux-gnu/bits/stdio.h",
		"/usr/include/c++/12/ext/new_allocator.h",
		"/opt/gcc-13/include/c++/13.2.0/vector",
		"/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/alloc/src/vec/mod.rs",
		("/root/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/ops/"
		 "function.rs"),
	};
	static const char *const program[] = {
		"/usr/include/boost/container/vector.hpp",
		"/home/me/app/include/app/bits.h",
		"/home/me/c++/main.cpp",
		"/home/me/bits/main.c",
		"src/rustc/main.rs",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++) {
		if (!runtime_file(runtime[i]))
			fail_msg("%s counts as the program's", runtime[i]);
	}
	for (size_t i = 0; i < sizeof(program) / sizeof(program[0]); i++) {
		if (runtime_file(program[i]))
			fail_msg("%s counts as the runtime's", program[i]);
	}
}

static void test_short_names(void **state)
{
	static const char *const names[][2] = {
		{"main", "main"},
		{"void a::B<T>::f<U>(int) const", "a::B::f"},
		{"<a::B as std::C>::f", "a::B::std::C::f"},
		{"app::run::{{closure}}::h0123456789abcdef", "app::run"},
		{"operator new(unsigned long)", "operator new"},
		{"a::B::operator()(int)", "a::B"},
		{"foo.isra.0", "foo"},
		{"foo.cold", "foo"},
		{"foo.constprop.12", "foo"},
		{"std::map<int, std::pair<a, b> >::operator[](int const&)", "std::map"},
		{"a::(anonymous namespace)::f(int)", "a::f"},
		{"<[T] as alloc::borrow::ToOwned>::to_owned", "alloc::borrow::ToOwned::to_owned"},
		{"_start", "_start"},
		{"(((", "?"},
		{"", "?"},
		{"<", "?"},
		{">>>", "?"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *s = function_short(names[i][0]);

		if (strcmp(names[i][1], "?"))
			assert_string_equal(s, names[i][1]);
		free(s);
	}
}

/* ---- groups ------------------------------------------------------------------------------ */

static void assert_adds_up(const struct heap *h, const struct snapshot *s)
{
	uint64_t count = 0, bytes = 0, usable = 0;

	for (size_t i = 0; i < h->nr_rows; i++) {
		const struct heap_row *row = &h->rows[i];

		assert_true(row->count > 0);
		assert_true(row->nr_stacks <= row->count);
		assert_false(i && row->bytes > h->rows[i - 1].bytes);
		count += row->count;
		bytes += row->bytes;
		usable += row->usable;
	}
	assert_int_equal(count, s->nr_blocks);
	assert_int_equal(bytes, s->live_bytes);
	assert_int_equal(h->count, count);
	assert_int_equal(h->bytes, bytes);
	assert_int_equal(h->usable, usable);
}

static void each_heap(void (*check)(struct names *names, struct fake_heap *heap))
{
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct fake_heap heap;
		struct snapshot *s;
		struct names *names;

		fake_heap_init(&heap, seed);
		for (uint64_t i = 0; i < 10 * seed; i++)
			fake_heap_event(&heap);
		s = fake_heap_snapshot(&heap, (uint32_t)seed);
		names = names_new(s, fake_heap_lookup, NULL);
		check(names, &heap);
		names_free(names);
		snapshot_free(s);
		fake_heap_release(&heap);
	}
}

static void check_sums(struct names *names, struct fake_heap *heap)
{
	(void)heap;
	for (int by = GROUP_SITE; by <= GROUP_SIZE; by++) {
		for (int split = 0; split < 4; split++) {
			struct group_options options = {(enum group_by)by, split & 1,
							(split & 2) && by != GROUP_THREAD, 100000};
			struct heap h;

			heap_build(&h, names, &no_filter, &options, SORT_BYTES);
			assert_adds_up(&h, names_snapshot(names));
			heap_release(&h);
		}
	}
}

static void test_rows_add_up(void **state)
{
	(void)state;
	each_heap(check_sums);
}

static uint64_t plain_sum(const struct fake_heap *heap, const char *module)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < heap->nr; i++)
		sum += strcmp(fake_heap_module(heap->blocks[i].stack), module)
			       ? 0
			       : heap->blocks[i].size;
	return sum;
}

static void check_zones(struct names *names, struct fake_heap *heap)
{
	struct group_options options = {GROUP_SITE, false, true, 0};
	struct heap_zone *zones;
	struct heap h;
	size_t nr, row = 0;

	heap_build(&h, names, &no_filter, &options, SORT_DEFAULT);
	nr = heap_order_by_zone(&h, &zones);
	for (size_t i = 0; i < nr; i++) {
		uint64_t count = 0, bytes = 0;

		assert_int_equal(zones[i].bytes,
				 plain_sum(heap, *zones[i].name ? zones[i].name : "(no stack)"));
		for (; row < h.nr_rows &&
		       !strcmp(grouping_get(h.grouping, h.rows[row].group)->zone, zones[i].name);
		     row++) {
			count += h.rows[row].count;
			bytes += h.rows[row].bytes;
		}
		assert_int_equal(zones[i].count, count);
		assert_int_equal(zones[i].bytes, bytes);
		assert_false(i && zones[i].bytes > zones[i - 1].bytes);
	}
	assert_int_equal(row, h.nr_rows);
	free(zones);
	heap_release(&h);
}

static void test_zones(void **state)
{
	(void)state;
	each_heap(check_zones);
}

static uint64_t filtered(struct names *names, const struct filter *filter)
{
	struct group_options options = {GROUP_STACK, false, false, names_snapshot(names)->taken_ms};
	struct heap h;
	uint64_t bytes;

	heap_build(&h, names, filter, &options, SORT_DEFAULT);
	bytes = h.bytes;
	heap_release(&h);
	return bytes;
}

static void check_filters(struct names *names, struct fake_heap *heap)
{
	uint64_t thread = 0, large = 0, old = 0, young = 0, through = 0;
	struct filter f = {.module = "libdriver*"};

	for (size_t i = 0; i < heap->nr; i++) {
		const struct fake_block *b = &heap->blocks[i];

		thread += b->thread == 2 ? b->size : 0;
		large += b->size >= 100 ? b->size : 0;
		old += heap->now_ms - b->birth_ms >= 3000 ? b->size : 0;
		young += heap->now_ms - b->birth_ms <= 3000 ? b->size : 0;
		through += b->stack && b->stack % 3 == 1 ? b->size : 0;
	}
	assert_int_equal(filtered(names, &f), plain_sum(heap, "libdriver.so.1"));
	f = (struct filter){.module = "/usr/bin/app"};
	assert_int_equal(filtered(names, &f), plain_sum(heap, "app"));
	f = (struct filter){.zone = "app"};
	assert_int_equal(filtered(names, &f), plain_sum(heap, "app"));
	f = (struct filter){.thread = "worker2"};
	assert_int_equal(filtered(names, &f), thread);
	f.thread = "4002";
	assert_int_equal(filtered(names, &f), thread);
	f = (struct filter){.min_size = 100};
	assert_int_equal(filtered(names, &f), large);
	f = (struct filter){.has_older = true, .older_ms = 3000};
	assert_int_equal(filtered(names, &f), old);
	f = (struct filter){.has_younger = true, .younger_ms = 3000};
	assert_int_equal(filtered(names, &f), young);
	f = (struct filter){.has_function = true};
	assert_int_equal(regcomp(&f.function, "^g1$", REG_EXTENDED | REG_NOSUB), 0);
	assert_int_equal(filtered(names, &f), through);
	regfree(&f.function);
}

static void test_filters(void **state)
{
	(void)state;
	each_heap(check_filters);
}

/* ---- lineage ----------------------------------------------------------------------------- */

/* A lineage with these sizes, the first of them at birth; gap: steps left out behind the second. */
static void shape_by(names_lookup lookup, struct lineage_shape *shape, const uint64_t *sizes,
		     uint32_t nr, uint64_t gap, const uint32_t *stacks)
{
	struct snap_lineage l = {.born_size = sizes[0],
				 .nr_steps = nr - 1 + gap,
				 .nr_kept = nr - 1,
				 .nr_first = gap ? 2 : nr - 1};
	struct fake_heap heap;
	struct snapshot *s;
	struct names *names;

	fake_heap_init(&heap, 1);
	s = fake_heap_snapshot(&heap, 0);
	free(s->steps);
	s->steps = xcalloc(nr, sizeof(*s->steps));
	for (uint32_t i = 1; i < nr; i++)
		s->steps[i - 1] = (struct snap_step){sizes[i], i, stacks ? stacks[i] : 3};
	names = names_new(s, lookup, NULL);
	lineage_shape_init(shape, &l, names);
	names_free(names);
	snapshot_free(s);
	fake_heap_release(&heap);
}

static void shape_of(struct lineage_shape *shape, const uint64_t *sizes, uint32_t nr, uint64_t gap,
		     const uint32_t *stacks)
{
	shape_by(fake_heap_lookup, shape, sizes, nr, gap, stacks);
}

static void test_shape_of_growth(void **state)
{
	static const uint64_t doubles[] = {64, 128, 256, 512, 1024};
	static const uint64_t steady[] = {100, 200, 300, 400, 500};
	static const uint64_t gapped[] = {64, 128, 256, 65536, 131072};
	static const uint64_t once[] = {64, 96};
	static const uint64_t from_nothing[] = {0, 10, 20};
	struct lineage_shape shape;

	(void)state;
	shape_of(&shape, doubles, 5, 0, NULL);
	assert_true(shape.factor == 2 && shape.increment == 0);
	lineage_shape_release(&shape);
	shape_of(&shape, steady, 5, 0, NULL);
	assert_int_equal(shape.increment, 100);
	lineage_shape_release(&shape);
	shape_of(&shape, gapped, 5, 7, NULL);
	assert_true(shape.factor == 2 && shape.increment == 0);
	lineage_shape_release(&shape);
	shape_of(&shape, once, 2, 0, NULL);
	assert_true(shape.factor == 1.5 && shape.increment == 0);
	lineage_shape_release(&shape);
	shape_of(&shape, from_nothing, 3, 0, NULL);
	assert_true(shape.factor == 2);
	lineage_shape_release(&shape);
}

static void test_growers(void **state)
{
	static const uint64_t sizes[] = {1, 2, 4, 8};
	static const uint32_t same[] = {0, 4, 4, 4}, callers[] = {0, 3, 4, 4},
			      sites[] = {0, 3, 7, 7};
	struct lineage_shape shape;

	(void)state;
	shape_of(&shape, sizes, 4, 0, same);
	assert_int_equal(shape.nr_growers, 1);
	assert_string_equal(shape.growers[0].function, "f1");
	assert_int_equal(shape.growers[0].count, 3);
	lineage_shape_release(&shape);
	shape_of(&shape, sizes, 4, 0, callers);
	assert_int_equal(shape.nr_growers, 2);
	assert_string_equal(shape.growers[0].function, "g1");
	assert_int_equal(shape.growers[0].count, 2);
	assert_string_equal(shape.growers[1].function, "g0");
	lineage_shape_release(&shape);
	shape_of(&shape, sizes, 4, 0, sites);
	assert_string_equal(shape.growers[0].function, "f2");
	lineage_shape_release(&shape);
}

/* All of f0, f1, f2 are functions that get memory for others. */
static size_t wrapper_lookup(void *context, const struct snapshot *s, uint32_t module,
			     uint64_t address, const struct name_frame **ret)
{
	static const char *const names[] = {"xmalloc", "zrealloc", "my_calloc"};
	static struct name_frame frame;
	size_t nr = fake_heap_lookup(context, s, module, address, ret);

	if (nr != 1 || (*ret)->function[0] != 'f')
		return nr;
	frame = **ret;
	frame.function = names[(*ret)->function[1] - '0'];
	*ret = &frame;
	return 1;
}

static void test_growers_behind_wrappers(void **state)
{
	static const uint64_t sizes[] = {1, 2, 4, 8};
	static const uint32_t same[] = {0, 4, 4, 4}, sites[] = {0, 3, 7, 7};
	struct lineage_shape shape;

	(void)state;
	shape_by(wrapper_lookup, &shape, sizes, 4, 0, same);
	assert_int_equal(shape.nr_growers, 1);
	assert_string_equal(shape.growers[0].function, "g1");
	lineage_shape_release(&shape);
	shape_by(wrapper_lookup, &shape, sizes, 4, 0, sites);
	assert_int_equal(shape.nr_growers, 2);
	assert_string_equal(shape.growers[0].function, "g1");
	assert_int_equal(shape.growers[0].count, 2);
	assert_string_equal(shape.growers[1].function, "g0");
	lineage_shape_release(&shape);
}

/* leaf() at one line, called from f1 at three addresses: by itself, and inlined into two callers. */
static size_t leaf_lookup(void *context, const struct snapshot *s, uint32_t module,
			  uint64_t address, const struct name_frame **ret)
{
	static struct name_frame frames[2] = {{.function = "leaf", .file = "leaf.c", .line = 10}};
	uint64_t site = address - 0x2100;

	if (site > 16)
		return fake_heap_lookup(context, s, module, address, ret);
	frames[0].inlined = site >= 8;
	frames[1] = (struct name_frame){.function = site < 16 ? "one" : "two"};
	*ret = frames;
	return frames[0].inlined ? 2 : 1;
}

static size_t rows_by(struct names *names, enum group_by by)
{
	struct group_options options = {by, false, false, 0};
	struct heap h;
	size_t nr;

	heap_build(&h, names, &no_filter, &options, SORT_DEFAULT);
	nr = h.nr_rows;
	heap_release(&h);
	return nr;
}

static void test_site_is_a_place_in_the_source(void **state)
{
	struct fake_heap heap;
	struct snapshot *s;
	struct names *names;

	(void)state;
	fake_heap_init(&heap, 1);
	for (uint32_t stack = 3; stack < 6; stack++)
		fake_heap_add(&heap, 64, stack, 1);
	s = fake_heap_snapshot(&heap, 0);
	names = names_new(s, leaf_lookup, NULL);
	assert_int_equal(rows_by(names, GROUP_SITE), 1);
	assert_int_equal(rows_by(names, GROUP_FUNCTION), 1);
	assert_int_equal(rows_by(names, GROUP_FILE), 1);
	assert_int_equal(rows_by(names, GROUP_STACK), 3);
	names_free(names);
	snapshot_free(s);
	fake_heap_release(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses_of_names),
		cmocka_unit_test(test_runtime_functions),
		cmocka_unit_test(test_wrappers),
		cmocka_unit_test(test_runtime_modules),
		cmocka_unit_test(test_runtime_files),
		cmocka_unit_test(test_short_names),
		cmocka_unit_test(test_rows_add_up),
		cmocka_unit_test(test_zones),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_shape_of_growth),
		cmocka_unit_test(test_growers),
		cmocka_unit_test(test_growers_behind_wrappers),
		cmocka_unit_test(test_site_is_a_place_in_the_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
