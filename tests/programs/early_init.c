/* SPDX-License-Identifier: MIT */
/*
 * early_init.c - malloc before anybody's constructor.
 *
 * The program's .preinit_array runs before the constructors of all libraries,
 * those of a preloaded one included. A library (libearly) and the program also
 * allocate in constructors. All these blocks live on and must be in the table.
 *
 * TRUTH live 1 at=early_preinit blocks=10 bytes=880
 * TRUTH live 1 at=early_library blocks=10 bytes=890
 * TRUTH live 1 at=early_constructor blocks=10 bytes=900
 * TRUTH grow 1 2 at=early_preinit blocks=-10 bytes=-880
 * TRUTH only 1 2
 * TRUTH exit code=0
 */
#include "mark.h"

void *preinit_blocks[10], *constructor_blocks[10];
extern void *library_blocks[10];

NOINLINE void early_preinit(void)
{
	for (int i = 0; i < 10; i++)
		preinit_blocks[i] = malloc(88);
}

static void preinit(int argc, char **argv, char **env)
{
	(void)argc, (void)argv, (void)env;
	early_preinit();
}
__attribute__((section(".preinit_array"), used)) static void (*const hook)(int, char **,
									   char **) = preinit;

__attribute__((constructor(101))) NOINLINE void early_constructor(void)
{
	for (int i = 0; i < 10; i++)
		constructor_blocks[i] = calloc(1, 90);
}

int main(void)
{
	if (!library_blocks[9] || !preinit_blocks[9])
		return 1;
	mark(1);
	for (int i = 0; i < 10; i++)
		free(preinit_blocks[i]);
	mark(2);
	return 0;
}
