/* SPDX-License-Identifier: MIT */
/*
 * symbolizer.c - modules, their look-ups, and what was found so far.
 *
 * Offline only. A module costs nothing until it is asked for an address; then its file is read
 * once, and each answer is kept. All strings of one symbol are the same string.
 */
#include "symbolizer/symbolizer.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/debugfile.h"
#include "symbolizer/elf.h"
#include "symbolizer/symtab.h"
#include "util/alloc.h"

/* An answer: frames is NULL where the address is unknown. */
struct answer {
	uint64_t address;
	const struct symbolizer_frame *frames;
	uint32_t nr_frames;
	bool used;
};

struct module {
	char *path;
	uint8_t *build_id;
	struct symbolizer_module wanted; /* with our copies of path and build id */
	bool opened;
	char *problem;
	struct elf_file own, debug;     /* kept for the names in them; closed */
	struct symtab symbols;
	struct symbolizer_frame *frames; /* one a symbol; function is NULL until it is asked for */
	struct answer *answers;         /* open hash table, its size a power of two */
	size_t nr_answers, alloc_answers;
};

struct symbolizer {
	struct debug_dirs dirs;
	bool raw_names;
	struct module **modules;
	size_t nr_modules, alloc_modules;
};

struct symbolizer *symbolizer_new(const struct symbolizer_options *options)
{
	struct symbolizer *symbolizer = xcalloc(1, sizeof(*symbolizer));

	debug_dirs_init(&symbolizer->dirs, options);
	symbolizer->raw_names = options && options->raw_names;
	return symbolizer;
}

static void module_free(struct module *module)
{
	size_t i;

	for (i = 0; module->frames && i < module->symbols.nr_symbols; i++)
		free((char *)module->frames[i].function);
	free(module->frames);
	free(module->answers);
	symtab_release(&module->symbols);
	elf_release(&module->own);
	elf_release(&module->debug);
	free(module->problem);
	free(module->path);
	free(module->build_id);
	free(module);
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	size_t i;

	if (!symbolizer)
		return;
	for (i = 0; i < symbolizer->nr_modules; i++)
		module_free(symbolizer->modules[i]);
	free(symbolizer->modules);
	debug_dirs_release(&symbolizer->dirs);
	free(symbolizer);
}

static bool same_module(const struct symbolizer_module *a, const struct symbolizer_module *b)
{
	if (strcmp(a->path, b->path ? b->path : "") || a->build_id_len != b->build_id_len)
		return false;
	if (a->build_id_len)
		return !memcmp(a->build_id, b->build_id, a->build_id_len);
	return a->dev == b->dev && a->inode == b->inode;
}

uint32_t symbolizer_add(struct symbolizer *symbolizer, const struct symbolizer_module *wanted)
{
	struct module *module;
	size_t i;

	for (i = 0; i < symbolizer->nr_modules; i++)
		if (same_module(&symbolizer->modules[i]->wanted, wanted))
			return (uint32_t)i;
	module = xcalloc(1, sizeof(*module));
	module->wanted = *wanted;
	module->path = xstrdup(wanted->path ? wanted->path : "");
	module->build_id = xmalloc(wanted->build_id_len + 1);
	if (wanted->build_id_len)
		memcpy(module->build_id, wanted->build_id, wanted->build_id_len);
	module->wanted.path = module->path;
	module->wanted.build_id = module->build_id;
	elf_init(&module->own);
	elf_init(&module->debug);
	symtab_init(&module->symbols);
	symbolizer->modules = xgrow(symbolizer->modules, &symbolizer->alloc_modules,
				    symbolizer->nr_modules + 1, sizeof(*symbolizer->modules));
	symbolizer->modules[symbolizer->nr_modules] = module;
	return (uint32_t)symbolizer->nr_modules++;
}

/* The kernel's own page of code, which no file holds. */
static bool is_vdso(const struct module *module)
{
	return !strncmp(module->path, "linux-vdso", strlen("linux-vdso")) ||
		!strcmp(module->path, "[vdso]");
}

static void module_open(const struct symbolizer *symbolizer, struct module *module)
{
	bool own, complete = false;

	module->opened = true;
	if (is_vdso(module)) {
		module->problem = xasprintf("'%s' is the kernel's and has no file", module->path);
		return;
	}
	own = module_file_open(&symbolizer->dirs, &module->wanted, &module->own, &module->problem);
	if (own) {
		complete = symtab_add_full(&module->symbols, &module->own);
		if (!complete)
			symtab_add_dynamic(&module->symbols, &module->own);
	}
	if (!complete && debug_file_open(&symbolizer->dirs, &module->wanted,
					 own ? &module->own : NULL, &module->debug)) {
		symtab_add_full(&module->symbols, &module->debug);
		if (!own) {
			free(module->problem);
			module->problem = NULL;
		}
	}
	elf_close(&module->own);
	elf_close(&module->debug);
	symtab_finish(&module->symbols);
	module->frames = xcalloc(module->symbols.nr_symbols + 1, sizeof(*module->frames));
	if (!module->symbols.nr_symbols && !module->problem)
		module->problem = xasprintf("'%s' has no symbols, and no debug file for it was found",
					    module->path);
}

/* Where the answer for address is, or may be put. */
static struct answer *find_answer(const struct module *module, uint64_t address)
{
	size_t mask = module->alloc_answers - 1;
	size_t at = (size_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;

	while (module->answers[at].used && module->answers[at].address != address)
		at = (at + 1) & mask;
	return &module->answers[at];
}

static void grow_answers(struct module *module)
{
	struct answer *old = module->answers;
	size_t nr = module->alloc_answers, i;

	module->alloc_answers = nr ? nr * 2 : 64;
	module->answers = xcalloc(module->alloc_answers, sizeof(*module->answers));
	for (i = 0; i < nr; i++)
		if (old[i].used)
			*find_answer(module, old[i].address) = old[i];
	free(old);
}

static void resolve(const struct symbolizer *symbolizer, struct module *module,
		    struct answer *answer)
{
	struct symbolizer_frame *frame;
	const char *name;
	size_t symbol;

	symbol = symtab_find(&module->symbols, answer->address);
	if (symbol == SYMTAB_NONE)
		return;
	frame = &module->frames[symbol];
	if (!frame->function) {
		name = module->symbols.symbols[symbol].name;
		frame->function = symbolizer->raw_names ? xstrdup(name) : symbolizer_demangle(name);
	}
	answer->frames = frame;
	answer->nr_frames = 1;
}

size_t symbolizer_lookup(struct symbolizer *symbolizer, uint32_t id, uint64_t address,
			 const struct symbolizer_frame **ret_frames)
{
	struct answer *answer;
	struct module *module;

	if (id >= symbolizer->nr_modules)
		return 0;
	module = symbolizer->modules[id];
	if (!module->opened)
		module_open(symbolizer, module);
	if (2 * (module->nr_answers + 1) > module->alloc_answers)
		grow_answers(module);
	answer = find_answer(module, address);
	if (!answer->used) {
		answer->used = true;
		answer->address = address;
		module->nr_answers++;
		resolve(symbolizer, module, answer);
	}
	if (answer->nr_frames)
		*ret_frames = answer->frames;
	return answer->nr_frames;
}

const char *symbolizer_problem(const struct symbolizer *symbolizer, uint32_t id)
{
	return id < symbolizer->nr_modules ? symbolizer->modules[id]->problem : NULL;
}
