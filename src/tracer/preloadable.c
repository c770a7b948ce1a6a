/* SPDX-License-Identifier: MIT */
/*
 * preloadable.c - whether a program can have our library preloaded.
 *
 * Runs in the traced program in an exec hook, perhaps in a vfork child, whose memory is the
 * parent's: nothing is kept.
 */
#include "tracer/preloadable.h"

#include "tracer/paths.h"
#include "tracer/sys.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#define HEAD 256u /* what the kernel looks at for #! */
#define MAX_SCRIPTS 5

/* Buffers of one look; in memory of our own, because the host's stack may be small. */
struct look {
	char path[ENVIRONMENT_PATH];
	char head[HEAD];
	char loader[HEAD];
};

static bool our_machine(const ElfW(Ehdr) *e)
{
	return !memcmp(e->e_ident, ELFMAG, SELFMAG) &&
	       e->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
#if defined(__aarch64__)
	       e->e_machine == EM_AARCH64;
#else
	       e->e_machine == EM_X86_64;
#endif
}

/* The loader it asks for is glibc's: ld-linux-x86-64.so.2, ld-linux-aarch64.so.1. */
static bool has_our_loader(int fd, const ElfW(Ehdr) *e, struct look *l)
{
	for (unsigned i = 0; i < e->e_phnum; i++) {
		ElfW(Phdr) ph;
		long n;

		if (sys_pread(fd, &ph, sizeof(ph), e->e_phoff + i * sizeof(ph)) != sizeof(ph))
			return false;
		if (ph.p_type != PT_INTERP)
			continue;
		n = sys_pread(fd, l->loader, sizeof(l->loader) - 1, ph.p_offset);
		l->loader[n > 0 ? n : 0] = '\0';
		return strstr(l->loader, "/ld-linux") != NULL;
	}
	return false;
}

/* Replaces l->path by the interpreter of the script whose head is in l. */
static bool to_interpreter(struct look *l)
{
	char *at = l->head + 2;
	size_t len;

	at += strspn(at, " \t");
	len = strcspn(at, " \t\n");
	if (!len || len >= HEAD)
		return false;
	memcpy(l->path, at, len);
	l->path[len] = '\0';
	return true;
}

static bool look_at(struct look *l)
{
	for (int i = 0; i < MAX_SCRIPTS; i++) {
		long fd = sys_open(l->path, O_RDONLY, 0), n;
		bool fits = false;

		if (fd < 0)
			return false;
		memset(l->head, 0, sizeof(l->head));
		n = sys_pread((int)fd, l->head, sizeof(l->head) - 1, 0);
		if (n >= (long)sizeof(ElfW(Ehdr)) && our_machine((const void *)l->head))
			fits = has_our_loader((int)fd, (const void *)l->head, l);
		sys_close((int)fd);
		if (n < 3 || l->head[0] != '#' || l->head[1] != '!')
			return fits;
		if (!to_interpreter(l))
			return false;
	}
	return false;
}

static const char *search_path(void)
{
	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, "PATH=", 5))
			return *e + 5;
	return "/bin:/usr/bin";
}

/* The first executable regular file of that name, as execvp finds it. */
static bool find(struct look *l, const char *file)
{
	const char *at = search_path();
	struct sys_stat st;

	for (;; at++) {
		size_t len = strcspn(at, ":");
		struct path path;

		path_start(&path, l->path, sizeof(l->path), "");
		if (len && len < sizeof(l->path)) {
			memcpy(l->path, at, len);
			l->path[len] = '\0';
			path.len = len;
		} else {
			path_add(&path, ".");
		}
		path_add(&path, "/");
		path_add(&path, file);
		if (path_fits(&path) && sys_stat(l->path, 0, &st) == 0 &&
		    (st.mode & 0170000) == 0100000 && st.mode & 0111)
			return true;
		at += len;
		if (!*at)
			return false;
	}
}

bool preloadable(const char *path, bool search)
{
	struct look *l = sys_map(sizeof(*l));
	bool good = false;

	if (!l || !path)
		return false;
	if (search && !strchr(path, '/')) {
		good = find(l, path);
	} else if (strlen(path) < sizeof(l->path)) {
		memcpy(l->path, path, strlen(path) + 1);
		good = true;
	}
	good = good && look_at(l);
	sys_unmap(l, sizeof(*l));
	return good;
}
