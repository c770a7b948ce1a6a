/* SPDX-License-Identifier: MIT */
/*
 * upgrade_self.c - the program is replaced on disk while it runs, and so is its library.
 *
 * It copies itself and plug_a.so to the current folder and runs the copy, which loads the copied
 * library, keeps 3 blocks of each, and after MARK 1 puts /bin/true in the place of both files, as
 * a package upgrade does. Then 150 more blocks stay in after_upgrade and 300 in plug_a_keep. Names
 * have to come from the files that run.
 *
 * TRUTH grow 1 2 at=after_upgrade blocks=150 bytes=7800
 * TRUTH grow 1 2 at=plug_a_keep blocks=300 bytes=12000
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#include "mark.h"
#include <dlfcn.h>
#include <fcntl.h>

static char library[512];

NOINLINE static void copy(const char *from, const char *to)
{
	static char data[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ssize_t n;

	if (in < 0 || out < 0)
		_exit(1);
	while ((n = read(in, data, sizeof(data))) > 0)
		if (write(out, data, (size_t)n) != n)
			_exit(2);
	close(in);
	close(out);
}

NOINLINE static void after_upgrade(void)
{
	char *p = malloc(52);

	memset(p, 'u', 52);
	sink = p;
}

static void start_copy(const char *program)
{
	char name[64], from[512];
	const char *slash = strrchr(program, '/');

	snprintf(name, sizeof(name), "./upgrade_self.%d", getpid());
	copy("/proc/self/exe", name);
	snprintf(from, sizeof(from), "%.*s/plug_a.so", slash ? (int)(slash - program) : 1,
		 slash ? program : ".");
	snprintf(library, sizeof(library), "%s.so", name);
	copy(from, library);
	execl(name, "upgrade_self", name, (char *)NULL);
}

int main(int argc, char **argv)
{
	void (*keep)(int);
	void *plugin;

	if (argc < 2) {
		start_copy(argv[0]);
		return 3;
	}
	snprintf(library, sizeof(library), "%s.so", argv[1]);
	plugin = dlopen(library, RTLD_NOW);
	if (!plugin)
		return 4;
	keep = (void (*)(int))dlsym(plugin, "plug_a_keep");
	for (int i = 0; i < 3; i++)
		after_upgrade();
	keep(3);
	mark(1);
	if (unlink(argv[1]) || unlink(library))
		return 5;
	copy("/bin/true", argv[1]);
	copy("/bin/true", library);
	for (int i = 0; i < 150; i++)
		after_upgrade();
	keep(300);
	mark(2);
	unlink(argv[1]);
	unlink(library);
	return 0;
}
