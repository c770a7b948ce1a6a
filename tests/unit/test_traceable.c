/* SPDX-License-Identifier: MIT */
/*
 * test_traceable.c - programs that the tracer can be preloaded into, and those that it cannot.
 *
 * What needs another user runs in a child that gave up being root; without root these are skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "symbolizer/symbolizer.h"
#include "tests/unit/folder.h"

#define NOBODY 65534

static void write_script(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(in_folder(name), 0755), 0);
}

static int set_up(void **state)
{
	if (folder_make(state) || chmod(folder(), 0755))
		return -1;
	run("echo 'int main(void) { return 0; }' > m.c; gcc -o dynamic m.c;"
	    "gcc -no-pie -o nopie m.c; gcc -static -o static m.c; gcc -static-pie -o staticpie m.c;"
	    "gcc -shared -fPIC -o library.so m.c; chmod 755 library.so; gcc -c -o object.o m.c;"
	    "chmod 755 object.o; echo text > text; chmod 755 text; : > empty; chmod 755 empty");
	return 0;
}

/* What is wrong with the verdict, or NULL. */
static const char *check(const char *path, enum elf_trace expected, const char *detail)
{
	static char wrong[1200];
	char got[512] = "unset";
	enum elf_trace verdict = elf_traceable(path, got, sizeof(got));

	if (verdict == expected && (detail ? !!strstr(got, detail) : !got[0]))
		return NULL;
	snprintf(wrong, sizeof(wrong), "'%s' is %d, '%s'; expected %d, '%s'", path, (int)verdict, got,
		 (int)expected, detail ? detail : "");
	return wrong;
}

static void expect(const char *path, enum elf_trace expected, const char *detail)
{
	const char *wrong = check(path, expected, detail);

	if (wrong)
		fail_msg("%s", wrong);
}

/* The same as a user who is not root; no_new_privs: one who can gain nothing by exec. */
static void expect_as_nobody(const char *path, enum elf_trace expected, const char *detail,
			     bool no_new_privs)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		const char *wrong = "cannot become nobody";

		if (!setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
		    !setresuid(NOBODY, NOBODY, NOBODY) &&
		    (!no_new_privs || !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))
			wrong = check(path, expected, detail);
		if (wrong)
			fprintf(stderr, "%s\n", wrong);
		_exit(!!wrong);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_dynamic(void **state)
{
	(void)state;
	expect(in_folder("dynamic"), ELF_TRACE_OK, NULL);
	expect(in_folder("nopie"), ELF_TRACE_OK, NULL);
	expect("/bin/sh", ELF_TRACE_OK, NULL);
}

/* Refused with the runtime as a library and linked in; one without a malloc of its own is not. */
static void test_sanitizer(void **state)
{
	(void)state;
	run("gcc -fsanitize=address -o asan m.c; gcc -fsanitize=thread -o tsan m.c;"
	    "gcc -fsanitize=address -static-libasan -rdynamic -o inside m.c;"
	    "gcc -fsanitize=undefined -o ubsan m.c");
	expect(in_folder("asan"), ELF_TRACE_SANITIZER, "is built with a sanitizer");
	expect(in_folder("tsan"), ELF_TRACE_SANITIZER, "is built with a sanitizer");
	expect(in_folder("inside"), ELF_TRACE_SANITIZER, "is built with a sanitizer");
	expect(in_folder("ubsan"), ELF_TRACE_OK, NULL);
}

static void test_static(void **state)
{
	(void)state;
	expect(in_folder("static"), ELF_TRACE_STATIC, "is statically linked");
	expect(in_folder("staticpie"), ELF_TRACE_STATIC, "is statically linked");
}

/* glibc's loader run as a command preloads, though it looks like a static program. */
static void test_loader(void **state)
{
	char path[512];
	FILE *in;

	(void)state;
	in = popen("readelf -lW /bin/sh | sed -n 's/.*interpreter: \\(.*\\)\\]/\\1/p'", "r");
	assert_non_null(in);
	assert_non_null(fgets(path, sizeof(path), in));
	pclose(in);
	path[strcspn(path, "\n")] = '\0';
	expect(path, ELF_TRACE_OK, NULL);
}

static void test_other_loader(void **state)
{
	(void)state;
	run("gcc -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 -o musl m.c;"
	    "gcc -Wl,--dynamic-linker=/system/bin/linker64 -o bionic m.c;"
	    "gcc -Wl,--dynamic-linker=\"$PWD/library.so\" -o odd m.c;"
	    "gcc -Wl,--dynamic-linker=/nonexistent/ld-linux-x86-64.so.2 -o gone m.c;"
	    "cp \"$(readelf -lW /bin/sh | sed -n 's/.*interpreter: \\(.*\\)\\]/\\1/p')\" renamed;"
	    "gcc -Wl,--dynamic-linker=\"$PWD/renamed\" -o copied m.c");
	expect(in_folder("musl"), ELF_TRACE_MUSL, "is linked with musl");
	expect(in_folder("bionic"), ELF_TRACE_MUSL, "which is not glibc's");
	expect(in_folder("odd"), ELF_TRACE_MUSL, "which is not glibc's");
	expect(in_folder("gone"), ELF_TRACE_UNREADABLE, "which cannot be opened");
	expect(in_folder("copied"), ELF_TRACE_OK, NULL);
}

static void change_byte(const char *name, long at, int byte)
{
	FILE *file = fopen(in_folder(name), "r+b");

	assert_non_null(file);
	fseek(file, at, SEEK_SET);
	fputc(byte, file);
	fclose(file);
}

static void test_other_machine(void **state)
{
	(void)state;
	run("for f in m32 mbig mips cut; do cp dynamic $f; done; head -c 40 dynamic > cut");
	change_byte("m32", EI_CLASS, ELFCLASS32);
	change_byte("mbig", EI_DATA, ELFDATA2MSB);
	change_byte("mips", offsetof(Elf64_Ehdr, e_machine), EM_MIPS);
	expect(in_folder("m32"), ELF_TRACE_ARCH, "is a 32-bit program");
	expect(in_folder("mbig"), ELF_TRACE_ARCH, "is a big-endian program");
	expect(in_folder("mips"), ELF_TRACE_ARCH, "is for another machine");
	expect(in_folder("cut"), ELF_TRACE_UNREADABLE, "is a damaged ELF file");
}

static void test_no_program(void **state)
{
	(void)state;
	expect(in_folder("none"), ELF_TRACE_UNREADABLE, "No such file or directory");
	expect(folder(), ELF_TRACE_UNREADABLE, "it is a directory");
	expect("/dev/null", ELF_TRACE_UNREADABLE, "it is no regular file");
	expect(in_folder("m.c"), ELF_TRACE_UNREADABLE, "Permission denied");
	expect(in_folder("text"), ELF_TRACE_UNREADABLE, "neither ELF nor a script");
	expect(in_folder("empty"), ELF_TRACE_UNREADABLE, "neither ELF nor a script");
	expect(in_folder("object.o"), ELF_TRACE_UNREADABLE, "is an ELF file but no program");
}

static void test_scripts(void **state)
{
	char text[512];

	(void)state;
	write_script("plain", "#!/bin/sh\nexit 0\n");
	write_script("spaces", "#! /bin/sh -e\n");
	write_script("env", "#!/usr/bin/env sh\n");
	write_script("env-split", "#!/usr/bin/env -S A=1 sh -e\n");
	write_script("env-none", "#!/usr/bin/env heapstory-no-such-program\n");
	write_script("lost", "#!/nonexistent/sh\n");
	expect(in_folder("plain"), ELF_TRACE_OK, "it runs in '/bin/sh'");
	expect(in_folder("spaces"), ELF_TRACE_OK, "it runs in '/bin/sh'");
	expect(in_folder("env"), ELF_TRACE_OK, "bin/sh'");
	expect(in_folder("env-split"), ELF_TRACE_OK, "bin/sh'");
	expect(in_folder("env-none"), ELF_TRACE_UNREADABLE,
	       "its interpreter 'heapstory-no-such-program' is not in PATH");
	expect(in_folder("lost"), ELF_TRACE_UNREADABLE, "cannot open '/nonexistent/sh'");
	snprintf(text, sizeof(text), "#!%s\n", in_folder("static"));
	write_script("of-static", text);
	expect(in_folder("of-static"), ELF_TRACE_STATIC, "/of-static' is a script: '");
	snprintf(text, sizeof(text), "#!%s\n", in_folder("of-static"));
	write_script("of-script", text);
	expect(in_folder("of-script"), ELF_TRACE_STATIC, "/of-script' is a script: '");
	snprintf(text, sizeof(text), "#!%s\n", in_folder("endless"));
	write_script("endless", text);
	expect(in_folder("endless"), ELF_TRACE_UNREADABLE, "from script to script");
}

/* False: no root, or a file system that does not know of it. */
static bool can_set_ids(void)
{
	struct statvfs fs;

	return !getuid() && !statvfs(folder(), &fs) && !(fs.f_flag & ST_NOSUID);
}

static void test_set_ids(void **state)
{
	(void)state;
	if (!can_set_ids())
		skip();
	run("for f in suid sgid sother nogroup; do cp dynamic $f; done; chmod 4755 suid;"
	    "chgrp 1 sgid nogroup; chmod 2755 sgid; chown 1 sother; chmod 4755 sother;"
	    "chmod 2745 nogroup");
	/* Root gains nothing from a program of root's, but is another user in another's. */
	expect(in_folder("suid"), ELF_TRACE_OK, NULL);
	expect(in_folder("sgid"), ELF_TRACE_SETID, "is set-group-id");
	expect(in_folder("sother"), ELF_TRACE_SETID, "is set-user-id");
	expect_as_nobody(in_folder("dynamic"), ELF_TRACE_OK, NULL, false);
	expect_as_nobody(in_folder("suid"), ELF_TRACE_SETID, "is set-user-id", false);
	expect_as_nobody(in_folder("sgid"), ELF_TRACE_SETID, "is set-group-id", false);
	expect_as_nobody(in_folder("suid"), ELF_TRACE_OK, NULL, true);
	/* Without the group's x the bit means something else. */
	expect(in_folder("nogroup"), ELF_TRACE_OK, NULL);
	/* A script's own bits count for nothing. */
	write_script("suid-script", "#!/bin/sh\n");
	assert_int_equal(chmod(in_folder("suid-script"), 04755), 0);
	expect_as_nobody(in_folder("suid-script"), ELF_TRACE_OK, "it runs in", false);
}

static void test_capabilities(void **state)
{
	/* version 2, effective; cap_net_raw permitted */
	static const uint32_t caps[5] = { 0x02000001, 1u << 13, 0, 0, 0 };

	(void)state;
	if (!can_set_ids())
		skip();
	run("cp dynamic caps");
	if (setxattr(in_folder("caps"), "security.capability", caps, sizeof(caps), 0))
		skip();
	expect(in_folder("caps"), ELF_TRACE_OK, NULL);
	expect_as_nobody(in_folder("caps"), ELF_TRACE_SETID, "has file capabilities", false);
}

static void test_unreadable(void **state)
{
	(void)state;
	if (getuid())
		skip();
	run("cp dynamic secret; chmod 111 secret; cp dynamic private; chmod 700 private");
	expect(in_folder("secret"), ELF_TRACE_OK, NULL);
	expect_as_nobody(in_folder("secret"), ELF_TRACE_UNREADABLE, "may be run but not read", false);
	expect_as_nobody(in_folder("private"), ELF_TRACE_UNREADABLE, "Permission denied", false);
}

static void test_short_detail(void **state)
{
	char detail[8];

	(void)state;
	assert_int_equal(elf_traceable(in_folder("static"), detail, sizeof(detail)), ELF_TRACE_STATIC);
	assert_int_equal(strlen(detail), sizeof(detail) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dynamic),
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_sanitizer),
		cmocka_unit_test(test_loader),
		cmocka_unit_test(test_other_loader),
		cmocka_unit_test(test_other_machine),
		cmocka_unit_test(test_no_program),
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_set_ids),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_short_detail),
	};

	return cmocka_run_group_tests(tests, set_up, folder_remove);
}
