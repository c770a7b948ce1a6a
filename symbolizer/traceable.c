/* SPDX-License-Identifier: MIT */
/*
 * traceable.c - whether the dynamic loader of a program would preload the tracer.
 *
 * Offline only. Judged as the kernel and the loader will judge: no loader, no preload; a loader
 * in secure mode (AT_SECURE) ignores it; another C library's loader loads another library.
 */
#include "symbolizer/symbolizer.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "symbolizer/elf.h"
#include "util/error.h"

#define SCRIPT_DEPTH_MAX 5              /* #! lines that lead to #! lines, as the kernel */
#define SCRIPT_LINE_MAX 255             /* bytes of a #! line, as the kernel */

/* Where the line for people goes, and the script that the program was met through. */
struct verdict {
	char *detail;
	size_t size;
	const char *script;             /* NULL: none */
};

static enum elf_trace say(const struct verdict *v, enum elf_trace result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static enum elf_trace say(const struct verdict *v, enum elf_trace result, const char *format, ...)
{
	va_list args;
	int n = 0;

	if (v->script)
		n = snprintf(v->detail, v->size, "'%s' is a script: ", v->script);
	if (n < 0 || (size_t)n >= v->size)
		return result;
	va_start(args, format);
	vsnprintf(v->detail + n, v->size - (size_t)n, format, args);
	va_end(args);
	return result;
}

static enum elf_trace say_errno(const struct verdict *v, const char *what, const char *path)
{
	return say(v, ELF_TRACE_UNREADABLE, "cannot %s '%s': %s", what, path, strerror(errno));
}

/* Name of a machine, or NULL. */
static const char *machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_AARCH64:
		return "aarch64";
	case EM_386:
		return "i386";
	case EM_ARM:
		return "arm";
	case EM_RISCV:
		return "riscv";
	case EM_PPC64:
		return "ppc64";
	case EM_S390:
		return "s390";
	default:
		return NULL;
	}
}

#if defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_X86_64
#endif

/*
 * File capabilities as the kernel reads them: a magic word whose lowest bit says "effective",
 * then pairs of permitted and inheritable sets.
 */
static bool has_capabilities(int fd)
{
	uint32_t words[16] = { 0 };
	ssize_t len = fgetxattr(fd, "security.capability", words, sizeof(words));

	return len >= 8 && (words[0] & 1 || words[1] || (len >= 16 && words[3]));
}

/*
 * Whether the kernel would set AT_SECURE: an effective id that differs from the real one after
 * exec, or capabilities gained by somebody who is not root. Root that runs a program which is
 * set-user-id to root gains nothing, so its loader is not in secure mode.
 */
static bool is_secure(int fd, const struct stat *st, const char **ret_what)
{
	uid_t euid = geteuid();
	gid_t egid = getegid();
	struct statvfs fs;
	bool nosuid = !fstatvfs(fd, &fs) && fs.f_flag & ST_NOSUID;

	if (!nosuid && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) {
		if (st->st_mode & S_ISUID)
			euid = st->st_uid;
		if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
			egid = st->st_gid;
	}
	if (euid != getuid())
		*ret_what = st->st_mode & S_ISUID ? "is set-user-id" :
						    "would run with another user id than the real one";
	else if (egid != getgid())
		*ret_what = st->st_mode & S_ISGID ? "is set-group-id" :
						    "would run with another group id than the real one";
	else if (!nosuid && getuid() && has_capabilities(fd))
		*ret_what = "has file capabilities";
	else
		return false;
	return true;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A name of glibc's loader: ld-linux-x86-64.so.2, ld-linux-aarch64.so.1, ld-2.31.so. */
static bool is_glibc_loader(const char *name)
{
	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5);
}

static enum elf_trace judge_loader(const struct verdict *v, const char *path, const char *loader)
{
	struct elf_file elf;
	char soname[256];
	bool glibc;

	if (!strncmp(base_name(loader), "ld-musl", 7))
		return say(v, ELF_TRACE_MUSL, "'%s' is linked with musl, not glibc (its loader is '%s')",
			   path, loader);
	if (elf_open(&elf, loader, NULL) < 0) {
		if (is_glibc_loader(base_name(loader)))
			return say(v, ELF_TRACE_UNREADABLE,
				   "'%s' needs the loader '%s', which cannot be opened", path, loader);
		return say(v, ELF_TRACE_MUSL, "'%s' needs the loader '%s', which is not glibc's",
			   path, loader);
	}
	/* The name of the path may be anything: a link, a copy. */
	glibc = elf_soname(&elf, soname, sizeof(soname)) ? is_glibc_loader(soname) :
							   is_glibc_loader(base_name(loader));
	elf_release(&elf);
	if (glibc)
		return ELF_TRACE_OK;
	return say(v, ELF_TRACE_MUSL, "'%s' needs the loader '%s', which is not glibc's", path,
		   loader);
}

/* A program without PT_INTERP: glibc's loader itself, run as a command, does preload. */
static enum elf_trace judge_static(const struct verdict *v, const char *path,
				   const struct elf_file *elf)
{
	char soname[256];

	if (elf->type == ET_DYN && elf_soname(elf, soname, sizeof(soname))) {
		if (is_glibc_loader(soname))
			return ELF_TRACE_OK;
		return say(v, ELF_TRACE_UNREADABLE, "'%s' is a library, not a program", path);
	}
	return say(v, ELF_TRACE_STATIC,
		   "'%s' is statically linked: nothing can be preloaded into it", path);
}

/*
 * The runtimes that replace malloc. As libraries they must be first, or start before any other
 * code calls malloc, and end the program where the tracer is before them; linked into the program
 * they have its calls, and the tracer none. There their symbols are not exported, and may be
 * stripped: then it is the hook that they ask for.
 */
static bool is_sanitizer(const char *name, enum elf_name what)
{
	static const char *const libraries[] = { "libasan.", "libtsan.", "liblsan.", "libhwasan.",
						 "libclang_rt.asan", "libclang_rt.tsan",
						 "libclang_rt.hwasan" };
	static const char *const symbols[] = { "__asan_init", "__tsan_init", "__lsan_init",
					       "__msan_init", "__hwasan_init" };
	size_t i;

	if (what == ELF_NAME_WANTED)
		return !strcmp(name, "__lsan_is_turned_off");
	for (i = 0; what == ELF_NAME_LIBRARY && i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (!strncmp(name, libraries[i], strlen(libraries[i])))
			return true;
	for (i = 0; what == ELF_NAME_DEFINED && i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!strcmp(name, symbols[i]))
			return true;
	return false;
}

static enum elf_trace judge_elf(const struct verdict *v, const char *path,
				struct elf_file *elf)
{
	const struct elf_segment *interp = NULL;
	char loader[PATH_MAX];
	const char *name = machine_name(elf->machine);
	size_t i;

	if (elf->machine != OWN_MACHINE)
		return say(v, ELF_TRACE_ARCH, "'%s' is for %s%s, this heapstory traces %s", path,
			   name ? name : "another machine", name ? " machines" : "",
			   machine_name(OWN_MACHINE));
	if (elf->type != ET_EXEC && elf->type != ET_DYN)
		return say(v, ELF_TRACE_UNREADABLE, "'%s' is an ELF file but no program", path);
	if (!elf->nr_segments)
		return say(v, ELF_TRACE_UNREADABLE, "'%s' is a damaged ELF file", path);
	for (i = 0; i < elf->nr_segments && !interp; i++)
		if (elf->segments[i].type == PT_INTERP)
			interp = &elf->segments[i];
	if (!interp)
		return judge_static(v, path, elf);
	if (interp->filesz < 2 || interp->filesz > sizeof(loader) ||
	    !elf_read(elf, interp->offset, loader, (size_t)interp->filesz) ||
	    loader[interp->filesz - 1])
		return say(v, ELF_TRACE_UNREADABLE, "'%s' is a damaged ELF file", path);
	if (elf_names_any(elf, is_sanitizer))
		return say(v, ELF_TRACE_SANITIZER,
			   "'%s' is built with a sanitizer, which replaces the malloc that could be "
			   "traced",
			   path);
	return judge_loader(v, path, loader);
}

/* Finds name as execvp() does. */
static bool search_path(const char *name, char *ret, size_t size)
{
	const char *path = getenv("PATH");
	struct stat st;

	if (strchr(name, '/'))
		return snprintf(ret, size, "%s", name) < (int)size;
	if (!path)
		path = "/bin:/usr/bin";
	for (;;) {
		size_t len = strcspn(path, ":");
		int n = snprintf(ret, size, "%.*s%s%s", (int)len, path, len ? "/" : "", name);

		if (n < (int)size && !access(ret, X_OK) && !stat(ret, &st) && S_ISREG(st.st_mode))
			return true;
		if (!path[len])
			return false;
		path += len + 1;
	}
}

/*
 * The program that `env ARGS` starts: the first word that is no option and no assignment. words
 * is changed. NULL: none.
 */
static char *env_program(char *words)
{
	char *state, *word = strtok_r(words, " \t", &state);

	for (; word; word = strtok_r(NULL, " \t", &state)) {
		if (!strcmp(word, "-u") || !strcmp(word, "-C") || !strcmp(word, "--unset") ||
		    !strcmp(word, "--chdir")) {
			if (!strtok_r(NULL, " \t", &state))
				return NULL;
		} else if (!strncmp(word, "-S", 2) && word[2] && word[2] != '-' &&
			   !strchr(word, '=')) {
			return word + 2;
		} else if (word[0] != '-' && !strchr(word, '=')) {
			return word;
		}
	}
	return NULL;
}

/*
 * Reads the #! line of fd into line. Returns its interpreter and sets *ret_args to the rest;
 * NULL: it has no such line.
 */
static char *script_interpreter(int fd, char line[SCRIPT_LINE_MAX + 1], char **ret_args)
{
	ssize_t len = pread(fd, line, SCRIPT_LINE_MAX, 0);
	char *interpreter, *end;

	if (len < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	interpreter = line + 2 + strspn(line + 2, " \t");
	end = interpreter + strcspn(interpreter, " \t");
	*ret_args = end + strspn(end, " \t");
	*end = '\0';
	return *interpreter ? interpreter : NULL;
}

static enum elf_trace judge(struct verdict *v, const char *path, unsigned int depth);

/* Judges what a #! line starts; where that is env, also what env starts. */
static enum elf_trace judge_script(struct verdict *v, const char *path, char *interpreter,
				   char *args, unsigned int depth)
{
	char found[PATH_MAX], *program;
	enum elf_trace result;

	if (depth >= SCRIPT_DEPTH_MAX)
		return say(v, ELF_TRACE_UNREADABLE, "its #! lines lead from script to script");
	if (!v->script)
		v->script = path;
	result = judge(v, interpreter, depth + 1);
	if (result != ELF_TRACE_OK || strcmp(base_name(interpreter), "env"))
		return result;
	program = env_program(args);
	if (!program)
		return result;
	if (!search_path(program, found, sizeof(found)))
		return say(v, ELF_TRACE_UNREADABLE, "its interpreter '%s' is not in PATH", program);
	return judge(v, found, depth + 1);
}

/* Judges the file behind fd, which is a regular one that we may run. */
static enum elf_trace judge_file(struct verdict *v, const char *path, int fd,
				 const struct stat *st, unsigned int depth)
{
	char line[SCRIPT_LINE_MAX + 1], magic[EI_NIDENT], *interpreter, *args;
	enum elf_trace result;
	struct elf_file elf;
	struct hs_error err;
	const char *what;

	interpreter = script_interpreter(fd, line, &args);
	if (interpreter)
		return judge_script(v, path, interpreter, args, depth);
	if (pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic) ||
	    memcmp(magic, ELFMAG, SELFMAG))
		return say(v, ELF_TRACE_UNREADABLE,
			   "'%s' is no program: neither ELF nor a script with a #! line", path);
	if (magic[EI_CLASS] != ELFCLASS64 || magic[EI_DATA] != ELFDATA2LSB)
		return say(v, ELF_TRACE_ARCH, "'%s' is a %s program, this heapstory traces %s", path,
			   magic[EI_CLASS] == ELFCLASS32 ? "32-bit" : "big-endian",
			   machine_name(OWN_MACHINE));
	if (elf_open(&elf, path, &err) < 0) /* the reason may be ours: too many open files */
		return err.code == HS_E_FORMAT ?
			       say(v, ELF_TRACE_UNREADABLE, "'%s' is a damaged ELF file", path) :
			       say(v, ELF_TRACE_UNREADABLE, "%s", err.text);
	result = judge_elf(v, path, &elf);
	elf_release(&elf);
	if (result == ELF_TRACE_OK && is_secure(fd, st, &what))
		return say(v, ELF_TRACE_SETID,
			   "'%s' %s, so its loader would ignore the tracer", path, what);
	if (result == ELF_TRACE_OK && v->script)
		return say(v, result, "it runs in '%s'", path);
	return result;
}

static enum elf_trace judge(struct verdict *v, const char *path, unsigned int depth)
{
	enum elf_trace result;
	struct stat st;
	int fd;

	if (stat(path, &st) < 0)
		return say_errno(v, "open", path);
	if (S_ISDIR(st.st_mode))
		return say(v, ELF_TRACE_UNREADABLE, "cannot run '%s': it is a directory", path);
	if (!S_ISREG(st.st_mode))
		return say(v, ELF_TRACE_UNREADABLE, "cannot run '%s': it is no regular file", path);
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return say_errno(v, "run", path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 && errno == EACCES)
		return say(v, ELF_TRACE_UNREADABLE,
			   "'%s' may be run but not read, so what it is cannot be seen", path);
	if (fd < 0)
		return say_errno(v, "open", path);
	result = judge_file(v, path, fd, &st, depth);
	close(fd);
	return result;
}

enum elf_trace elf_traceable(const char *path, char *ret_detail, size_t detail_size)
{
	struct verdict v = { .detail = ret_detail, .size = detail_size };

	ret_detail[0] = '\0';
	return judge(&v, path, 0);
}
