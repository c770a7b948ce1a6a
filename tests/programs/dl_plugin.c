/* SPDX-License-Identifier: MIT */
/*
 * dl_plugin.c - the library that allocated is gone when one looks.
 *
 * plug_a is loaded, keeps 300 blocks in plug_a_keep and is unloaded. plug_b is
 * loaded after it, usually at the same address, and keeps 100 blocks. The blocks
 * of plug_a must be named by plug_a's symbols, not by whatever lies there now.
 * The program prints "SAMEBASE 1" when plug_b came to lie where plug_a was.
 * Blocks that dlopen itself keeps are the loader's, not the program's.
 *
 * TRUTH grow 1 2 at=plug_a_keep blocks=300 bytes=12000
 * TRUTH grow 2 3 at=plug_b_keep blocks=100 bytes=5600
 * TRUTH flat 2 3 at=plug_a_keep
 * TRUTH only 1 3 except=dlopen
 * TRUTH module 1 3 name=plug_a.so blocks=300 bytes=12000
 * TRUTH module 1 3 name=plug_b.so blocks=100 bytes=5600
 * TRUTH exit code=0
 */
#include "mark.h"
#include <dlfcn.h>

NOINLINE void *load(const char *name)
{
	void *lib = dlopen(name, RTLD_NOW);
	if (!lib)
		_exit(1);
	return lib;
}

NOINLINE void *run(void *lib, const char *function, int n)
{
	void (*f)(int) = (void (*)(int))dlsym(lib, function);
	Dl_info where;
	if (!f || !dladdr((void *)f, &where))
		_exit(2);
	f(n);
	return where.dli_fbase;
}

int main(void)
{
	dlclose(load("plug_a.so")); /* the loader's own tables are set up from here on */
	mark(1);
	void *lib = load("plug_a.so");
	size_t base_a = (size_t)run(lib, "plug_a_keep", 300);
	if (dlclose(lib))
		return 3;
	mark(2);
	lib = load("plug_b.so");
	size_t base_b = (size_t)run(lib, "plug_b_keep", 100);
	say("SAMEBASE", base_a == base_b);
	mark(3);
	return 0;
}
