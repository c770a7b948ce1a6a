/* SPDX-License-Identifier: MIT */
/*
 * test_symbolizer.c - the right file for a module, its debug file, and names as people write them.
 *
 * Compiles, splits and strips a small library in a folder of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolizer/elf.h"
#include "symbolizer/symbolizer.h"
#include "symbolizer/symtab.h"
#include "tests/unit/folder.h"
#include "util/name_table.h"

/*
 * full.so has all symbols, m.so is the same stripped, m.so.debug what was stripped; other.so is
 * another build of it; plain.so has no build id.
 */
static int set_up(void **state)
{
	if (folder_make(state))
		return -1;
	run("printf 'static __attribute__((noinline)) int hidden(int n) { return n * VALUE; }\\n"
	    "int shown(int n) { return hidden(n) + 1; }\\n' > m.c;"
	    "flags='-g -O1 -shared -fPIC -Wl,--build-id=sha1';"
	    "gcc $flags -DVALUE=3 -o full.so m.c; gcc $flags -DVALUE=77 -o other.so m.c;"
	    "gcc -g -O1 -shared -fPIC -Wl,--build-id=none -DVALUE=3 -o plain.so m.c;"
	    "objcopy --only-keep-debug full.so m.so.debug;"
	    "objcopy --strip-all --add-gnu-debuglink=m.so.debug full.so m.so;"
	    "objcopy --only-keep-debug plain.so plain.so.debug;"
	    "objcopy --strip-all --add-gnu-debuglink=plain.so.debug plain.so plainm.so;"
	    "mkdir away empty; cp m.so.debug away/saved.debug; mv plain.so.debug away/; rm m.so.debug");
	return 0;
}

/* Address of a function by the symbols of a file. */
static uint64_t address_in(const char *file, const char *function)
{
	struct symtab table;
	struct elf_file elf;
	uint64_t address = 0;
	size_t i;

	assert_int_equal(elf_open(&elf, file, NULL), 0);
	symtab_init(&table);
	symtab_add_full(&table, &elf);
	for (i = 0; i < table.nr_symbols; i++)
		if (!strcmp(table.symbols[i].name, function))
			address = table.symbols[i].start;
	symtab_release(&table);
	elf_release(&elf);
	assert_int_not_equal(address, 0);
	return address;
}

struct query {
	const char *path;       /* in the folder, unless absolute */
	const char *id_of;      /* file whose build id is wanted; NULL: none known */
	const char *debug_dir;  /* NULL: none */
	uint64_t dev, inode, loaded_ns;
	uint32_t pid;
	const char *address_of; /* file that gives the addresses; NULL: full.so */
};

/* What is found for `function`: its name, "??", or ends the test where another name is given. */
static void ask(const struct query *q, const char *function, const char *expected,
		const char *problem)
{
	const char *dirs[] = { q->debug_dir };
	struct symbolizer_options options = { .debug_dirs = dirs, .nr_debug_dirs = !!q->debug_dir };
	struct symbolizer *symbolizer = symbolizer_new(&options);
	struct symbolizer_module module = { .dev = q->dev, .inode = q->inode, .pid = q->pid,
					    .loaded_ns = q->loaded_ns };
	const struct name_frame *frames = NULL;
	const char *from = in_folder(q->address_of ? q->address_of : "full.so");
	uint64_t address = address_in(from, function);
	struct elf_file elf;
	uint32_t id;
	size_t n;

	module.path = q->path[0] == '/' || q->path[0] == '.' ? q->path : in_folder(q->path);
	elf_init(&elf);
	if (q->id_of) {
		assert_int_equal(elf_open(&elf, in_folder(q->id_of), NULL), 0);
		module.build_id = elf.build_id;
		module.build_id_len = elf.build_id_len;
	}
	id = symbolizer_add(symbolizer, &module);
	assert_int_equal(symbolizer_add(symbolizer, &module), id);
	elf_release(&elf);
	assert_null(symbolizer_problem(symbolizer, id));
	n = symbolizer_lookup(symbolizer, id, address, &frames);
	assert_string_equal(n ? frames[0].function : "??", expected);
	if (n) {
		const struct name_frame *again = NULL;

		/* A file that knows its local functions here has DWARF too. */
		if (!strcmp(function, "hidden")) {
			assert_non_null(frames[0].file);
			assert_string_equal(strrchr(frames[0].file, '/'), "/m.c");
			assert_int_equal(frames[0].line, 1);
		}
		assert_int_equal(symbolizer_lookup(symbolizer, id, address, &again), n);
		assert_int_equal(symbolizer_lookup(symbolizer, id, address + 1, &again), n);
		assert_ptr_equal(frames[0].function, again[0].function);
	}
	if (!problem)
		assert_null(symbolizer_problem(symbolizer, id));
	else if (!symbolizer_problem(symbolizer, id) ||
		 !strstr(symbolizer_problem(symbolizer, id), problem))
		fail_msg("problem is '%s', expected '%s'", symbolizer_problem(symbolizer, id), problem);
	symbolizer_free(symbolizer);
}

static void test_own_symbols(void **state)
{
	(void)state;
	ask(&(struct query){ .path = "full.so", .id_of = "full.so" }, "hidden", "hidden", NULL);
	ask(&(struct query){ .path = "full.so", .id_of = "full.so" }, "shown", "shown", NULL);
	ask(&(struct query){ .path = "m.so", .id_of = "full.so" }, "shown", "shown", NULL);
	ask(&(struct query){ .path = "m.so", .id_of = "full.so" }, "hidden", "??", NULL);
}

static void test_other_build_id(void **state)
{
	(void)state;
	ask(&(struct query){ .path = "other.so", .id_of = "full.so" }, "hidden", "??",
	    "not the build id");
	ask(&(struct query){ .path = "plain.so", .id_of = "full.so" }, "hidden", "??",
	    "has no build id, not the build id");
	ask(&(struct query){ .path = "gone.so", .id_of = "full.so" }, "hidden", "??",
	    "no file with build id ");
	/* And the debug file beside it is not taken for the other's. */
	run("cp away/saved.debug m.so.debug; cp other.so keep.so;"
	    "objcopy --strip-all --add-gnu-debuglink=m.so.debug other.so othm.so");
	ask(&(struct query){ .path = "othm.so", .id_of = "other.so", .address_of = "other.so" },
	    "hidden", "??", "m.so.debug' has the build id ");
	run("rm m.so.debug");
}

static void test_debug_link(void **state)
{
	const struct query q = { .path = "m.so", .id_of = "full.so" };

	(void)state;
	run("cp away/saved.debug m.so.debug");
	ask(&q, "hidden", "hidden", NULL);
	run("mkdir .debug; mv m.so.debug .debug/");
	ask(&q, "hidden", "hidden", NULL);
	run("rm -r .debug; mkdir -p \"roots$PWD\"; cp away/saved.debug \"roots$PWD/m.so.debug\"");
	ask(&q, "hidden", "??", NULL);
	ask(&(struct query){ .path = "m.so", .id_of = "full.so", .debug_dir = in_folder("roots") },
	    "hidden", "hidden", NULL);
	/* The library behind a link from elsewhere. */
	run("cp away/saved.debug m.so.debug; mkdir -p links; ln -sf ../m.so links/m.so.1");
	ask(&(struct query){ .path = "links/m.so.1", .id_of = "full.so" }, "hidden", "hidden", NULL);
	/* Damaged: names from what is left, or none. */
	run("head -c 700 away/saved.debug > m.so.debug");
	ask(&q, "hidden", "??", NULL);
	ask(&q, "shown", "shown", NULL);
	run("rm -r m.so.debug roots");
}

static void test_debug_link_checksum(void **state)
{
	struct stat st;
	struct query q = { .path = "plainm.so", .address_of = "plain.so" };

	(void)state;
	assert_int_equal(stat(in_folder("plainm.so"), &st), 0);
	q.dev = st.st_dev;
	q.inode = st.st_ino;
	ask(&q, "hidden", "??", NULL);
	run("cp away/plain.so.debug .");
	ask(&q, "hidden", "hidden", NULL);
	run("printf x >> plain.so.debug");
	ask(&q, "hidden", "??", "/plain.so.debug' has the checksum ");
	ask(&q, "shown", "shown", "no debug file that was found fits it");
	run("rm plain.so.debug");
}

static void test_debug_by_build_id(void **state)
{
	const struct query q = { .path = "m.so", .id_of = "full.so", .debug_dir = in_folder("ids") };
	const struct query gone = { .path = "gone.so", .id_of = "full.so",
				    .debug_dir = in_folder("ids") };

	(void)state;
	ask(&q, "hidden", "??", NULL);
	run("id=$(readelf -n full.so | sed -n 's/.*Build ID: //p'); rest=${id#??};"
	    "dir=ids/.build-id/${id%$rest}; mkdir -p $dir; cp away/saved.debug $dir/$rest.debug");
	ask(&q, "hidden", "hidden", NULL);
	ask(&gone, "hidden", "hidden", NULL);
	/* The environment's folders are searched too. */
	setenv("HEAPSTORY_DEBUG_PATH", in_folder("ids"), 1);
	ask(&(struct query){ .path = "gone.so", .id_of = "full.so" }, "hidden", "hidden", NULL);
	setenv("HEAPSTORY_DEBUG_PATH", "/nonexistent:", 1);
	ask(&(struct query){ .path = "gone.so", .id_of = "full.so" }, "hidden", "??", "no file with");
	unsetenv("HEAPSTORY_DEBUG_PATH");
	/* What stands there under a wrong name is not believed. */
	run("objcopy --only-keep-debug other.so wrong.debug;"
	    "for f in ids/.build-id/*/*.debug; do cp wrong.debug $f; done");
	ask(&q, "hidden", "??", ".debug' has the build id ");
	ask(&gone, "shown", "??", "no file with build id");
	run("rm -r ids");
}

static void test_no_build_id(void **state)
{
	struct query q = { .path = "plain.so", .address_of = "plain.so" };
	struct stat st;

	(void)state;
	ask(&q, "hidden", "hidden", "has no known build id");
	assert_int_equal(stat(in_folder("plain.so"), &st), 0);
	q.inode = st.st_ino;
	q.dev = st.st_dev;
	ask(&q, "hidden", "hidden", NULL);
	q.dev = 0;
	ask(&q, "hidden", "hidden", NULL);
	q.inode++;
	ask(&q, "hidden", "??", "another file than the one that was loaded");
	q.inode = 0;
	q.loaded_ns = 1;
	ask(&q, "hidden", "??", "changed after it was loaded");
	q.path = "none.so";
	ask(&q, "hidden", "??", "no readable ELF file");
	q = (struct query){ .path = "./plain.so", .address_of = "plain.so" };
	ask(&q, "hidden", "??", "no readable ELF file");
}

/* The inode alone is not believed: it may be another file's by now, or be written anew. */
static void test_changed_since_loaded(void **state)
{
	struct query q = { .path = "later.so", .address_of = "plain.so" };
	struct timespec changed;
	struct stat st;

	(void)state;
	run("cp plain.so later.so");
	assert_int_equal(stat(in_folder("later.so"), &st), 0);
	q.inode = st.st_ino;
	q.dev = st.st_dev;
	changed = st.st_ctim;
	q.loaded_ns = (uint64_t)changed.tv_sec * 1000000000 + (uint64_t)changed.tv_nsec;
	ask(&q, "hidden", "hidden", NULL);
	/* with the times that it had before, as cp -p and rsync write */
	run("sleep 0.05; cp -p later.so before; cp -p before later.so; touch -d '2001-01-01' later.so");
	ask(&q, "hidden", "??", "was changed after it was loaded");
	q.inode = q.dev = 0;
	ask(&q, "hidden", "??", "was changed after it was loaded");
	/* which file it was is not known: of that name, and older, or a link to such a one */
	run("ln -s later.so link.so; cat plain.so > later.so");
	assert_int_equal(stat(in_folder("later.so"), &st), 0);
	q.loaded_ns = (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
	ask(&q, "hidden", "??", "was changed after it was loaded"); /* or not: clocks are no finer */
	q.loaded_ns += 20000000;
	ask(&q, "hidden", "hidden", "has no known build id");
	q.path = "link.so";
	ask(&q, "hidden", "hidden", "has no known build id");
	run("sleep 0.05; ln -sf plain.so other_link.so; mv other_link.so link.so");
	ask(&q, "hidden", "??", "was changed after it was loaded");
	run("rm later.so before link.so");
}

static void test_not_elf(void **state)
{
	(void)state;
	run("mkfifo pipe.so; echo text > text.so");
	ask(&(struct query){ .path = "pipe.so", .id_of = "full.so" }, "hidden", "??", "no file with");
	ask(&(struct query){ .path = "text.so" }, "hidden", "??", "no readable ELF file");
	ask(&(struct query){ .path = "empty" }, "hidden", "??", "no readable ELF file");
}

static void test_vdso(void **state)
{
	struct symbolizer *symbolizer = symbolizer_new(NULL);
	struct symbolizer_module module = { .path = "linux-vdso.so.1" };
	const struct name_frame *frames;
	uint32_t id = symbolizer_add(symbolizer, &module);

	(void)state;
	assert_int_equal(symbolizer_lookup(symbolizer, id, 0x1000, &frames), 0);
	assert_non_null(strstr(symbolizer_problem(symbolizer, id), "has no file"));
	assert_int_equal(symbolizer_lookup(symbolizer, id + 1, 0x1000, &frames), 0);
	assert_null(symbolizer_problem(symbolizer, id + 1));
	symbolizer_free(symbolizer);
}

static void test_process_root(void **state)
{
	const struct query q = { .path = "m.so", .id_of = "full.so", .pid = (uint32_t)getpid() };

	(void)state;
	run("cp away/saved.debug m.so.debug");
	ask(&q, "hidden", "hidden", NULL);
	run("rm m.so.debug");
}

/* libc without its section headers: .dynsym by way of the dynamic segment. */
static void test_no_section_headers(void **state)
{
	struct elf_file elf;
	struct symtab table;
	uint8_t *bytes;
	Dl_info info;
	size_t found, i;
	FILE *file;
	long len;

	(void)state;
	assert_int_not_equal(dladdr((void *)(uintptr_t)fopen, &info), 0);
	file = fopen(info.dli_fname, "rb");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	len = ftell(file);
	rewind(file);
	bytes = malloc((size_t)len);
	assert_int_equal(fread(bytes, 1, (size_t)len, file), len);
	fclose(file);
	memset(bytes + offsetof(Elf64_Ehdr, e_shoff), 0, 8);
	memset(bytes + offsetof(Elf64_Ehdr, e_shnum), 0, 4);
	assert_int_equal(elf_open_memory(&elf, bytes, (size_t)len, NULL), 0);
	assert_int_equal(elf.nr_sections, 0);
	assert_int_not_equal(elf.build_id_len, 0);
	symtab_init(&table);
	symtab_add_dynamic(&table, &elf);
	symtab_finish(&table);
	assert_true(table.nr_symbols > 1000);
	found = symtab_find(&table, (uint64_t)((uintptr_t)fopen - (uintptr_t)info.dli_fbase));
	assert_int_not_equal(found, SYMTAB_NONE);
	assert_string_equal(table.symbols[found].name, "fopen");
	symtab_release(&table);
	elf_release(&elf);
	for (i = 1; i < 200; i++)       /* cut short, nothing may be read behind the end */
		if (!elf_open_memory(&elf, bytes, (size_t)len / 200 * i, NULL)) {
			symtab_add_dynamic(&table, &elf);
			symtab_finish(&table);
			symtab_release(&table);
			elf_release(&elf);
		}
	free(bytes);
}

static void test_demangle(void **state)
{
	static const char *const names[][2] = {
		{ "main", "main" },
		{ "", "" },
		{ "memcpy@@GLIBC_2.14", "memcpy" },
		{ "memcpy@GLIBC_2.2.5", "memcpy" },
		{ "parse.constprop.0", "parse" },
		{ "parse.part.0.isra.12.cold", "parse" },
		{ "parse.cold.3", "parse" },
		{ "parse.llvm.1234567", "parse" },
		{ "version.1", "version.1" },
		{ "a.b", "a.b" },
		{ ".cold", ".cold" },
		{ "_ZN3foo3barEi", "foo::bar(int)" },
		{ "_ZN3foo3barEi.cold", "foo::bar(int)" },
		{ "_Z3addIiET_S0_S0_", "int add<int>(int, int)" },
		{ "_Znwm", "operator new(unsigned long)" },
		{ "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm",
		  "std::string::_M_append(char const*, unsigned long)" },
		{ "_ZNSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE9push_"
		  "backEOS5_",
		  "std::vector<std::string, std::allocator<std::string> >::push_back(std::string&&)" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
		{ "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt"
		  "17h0123456789abcdefE.llvm.99",
		  "<alloc::string::String as core::fmt::Display>::fmt" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_Z5wordsi.resume", "words(int)" },
		{ "_Z5extrai.__part.11", "extra(int)" },
		{ "__shapes_MOD_area", "shapes::area" },
		{ "__shapes.round_MOD_area.constprop.0", "shapes::round::area" },
		{ "__MOD_", "__MOD_" },
		{ "shapes_MOD_area", "shapes_MOD_area" },
		{ "_Z", "_Z" },
		{ "_ZN", "_ZN" },
		{ "_Rust", "_Rust" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *got = symbolizer_demangle(names[i][0]);

		assert_string_equal(got, names[i][1]);
		free(got);
	}
}

/* Names that stand for more text than there is memory stay as they are. */
static void test_demangle_bombs(void **state)
{
	static char name[100000];
	size_t len, i;
	char *got;

	(void)state;
	/* f(A<..>, A<S,S>, ...): each type doubles the one before it */
	strcpy(name, "_Z1f1AIiiE");
	for (i = 0; i < 30; i++) {
		static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

		len = strlen(name);
		snprintf(name + len, sizeof(name) - len, "S_IS%c_S%c_E", digits[i], digits[i]);
	}
	got = symbolizer_demangle(name);
	assert_string_equal(got, name);
	free(got);
	memset(name, 'P', sizeof(name) - 1);
	memcpy(name, "_Z1f", 4);
	got = symbolizer_demangle(name);
	assert_string_equal(got, name);
	free(got);
	name[60000] = '\0';
	got = symbolizer_demangle(name);
	free(got);
}

static void test_raw_names(void **state)
{
	struct symbolizer *symbolizer = symbolizer_new(NULL);
	struct symbolizer_module module = { .path = in_folder("raw.so") };
	const struct name_frame *frames;
	uint32_t id;

	(void)state;
	run("echo 'int twice(int n) { return 2 * n; }' > raw.cpp;"
	    "gcc -x c++ -O1 -shared -fPIC -o raw.so raw.cpp");
	id = symbolizer_add(symbolizer, &module);
	assert_int_equal(symbolizer_lookup(symbolizer, id, address_in(module.path, "_Z5twicei"),
					   &frames), 1);
	assert_string_equal(frames[0].function, "twice(int)");
	assert_string_equal(frames[0].raw, "_Z5twicei");
	symbolizer_free(symbolizer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_symbols),
		cmocka_unit_test(test_other_build_id),
		cmocka_unit_test(test_debug_link),
		cmocka_unit_test(test_debug_link_checksum),
		cmocka_unit_test(test_debug_by_build_id),
		cmocka_unit_test(test_no_build_id),
		cmocka_unit_test(test_changed_since_loaded),
		cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_process_root),
		cmocka_unit_test(test_no_section_headers),
		cmocka_unit_test(test_demangle),
		cmocka_unit_test(test_demangle_bombs),
		cmocka_unit_test(test_raw_names),
	};

	unsetenv("HEAPSTORY_DEBUG_PATH");
	return cmocka_run_group_tests(tests, set_up, folder_remove);
}
