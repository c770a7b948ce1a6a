/* SPDX-License-Identifier: MIT */
/*
 * symbolizer.c - modules, their look-ups, and what was found so far.
 *
 * Offline only. A module costs nothing until it is asked for an address; then its files are opened
 * and each answer is kept. DWARF says what is inlined and where the lines are; the symbol table
 * names what DWARF does not know, or has no name of the linker's for.
 */
#include "symbolizer/symbolizer.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/cache.h"
#include "symbolizer/debugfile.h"
#include "symbolizer/debuginfo.h"
#include "symbolizer/elf.h"
#include "symbolizer/funcname.h"
#include "symbolizer/inflate.h"
#include "symbolizer/memory.h"
#include "symbolizer/strings.h"
#include "symbolizer/symtab.h"
#include "symbolizer/vtable.h"
#include "util/alloc.h"

#define UNITS_MAX ((size_t)160 << 20)   /* bytes of what is kept of units */
#define DEBUGDATA_MAX ((size_t)64 << 20) /* bytes that .gnu_debugdata may inflate to */

/* An answer: frames is NULL where the address is unknown. */
struct answer {
	uint64_t address;
	struct name_frame *frames;
	uint32_t nr_frames;
	bool used;
};

struct module {
	char *path;
	uint8_t *build_id;
	struct symbolizer_module wanted; /* with our copies of path and build id */
	bool opened;
	char *problem;
	struct elf_file own, debug;     /* kept for the names in them */
	struct elf_file mini;           /* what was in .gnu_debugdata */
	uint8_t *mini_bytes;
	struct symtab symbols;
	const char **symbol_names;      /* one a symbol; NULL until it is asked for */
	struct debuginfo *info;         /* NULL: there is no DWARF */
	struct function_names functions;
	struct answer *answers;         /* open hash table, its size a power of two */
	size_t nr_answers, alloc_answers;
	struct memory memory;
	struct vtables *vtables;        /* NULL: nobody asked for a class yet */
};

struct symbolizer {
	struct debug_dirs dirs;
	struct cache cache;
	struct strings strings;         /* of all frames */
	struct unit_cache units;
	struct module **modules;
	size_t nr_modules, alloc_modules;
};

struct symbolizer *symbolizer_new(const struct symbolizer_options *options)
{
	struct symbolizer *symbolizer = xcalloc(1, sizeof(*symbolizer));

	debug_dirs_init(&symbolizer->dirs, options);
	cache_init(&symbolizer->cache, NULL);
	symbolizer->units.max = UNITS_MAX;
	return symbolizer;
}

/* Keeps what was found, unless something was missing or given up. */
static void module_remember(const struct symbolizer *symbolizer, struct module *module)
{
	if (!module->problem && !(module->info && debuginfo_is_split(module->info)))
		memory_keep(&module->memory, &symbolizer->cache);
}

static void module_free(struct module *module)
{
	size_t i;

	for (i = 0; i < module->alloc_answers; i++)
		free(module->answers[i].frames);
	free(module->answers);
	memory_release(&module->memory);
	vtables_close(module->vtables);
	free(module->symbol_names);
	function_names_release(&module->functions);
	debuginfo_close(module->info);
	symtab_release(&module->symbols);
	elf_release(&module->own);
	elf_release(&module->debug);
	elf_release(&module->mini);
	free(module->mini_bytes);
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
	for (i = 0; i < symbolizer->nr_modules; i++) {
		module_remember(symbolizer, symbolizer->modules[i]);
		module_free(symbolizer->modules[i]);
	}
	cache_release(&symbolizer->cache);
	free(symbolizer->modules);
	strings_release(&symbolizer->strings);
	debug_dirs_release(&symbolizer->dirs);
	free(symbolizer);
}

static bool same_module(const struct symbolizer_module *a, const struct symbolizer_module *b)
{
	if (strcmp(a->path, b->path ? b->path : "") || a->build_id_len != b->build_id_len)
		return false;
	if (a->build_id_len)
		return !memcmp(a->build_id, b->build_id, a->build_id_len);
	return a->dev == b->dev && a->inode == b->inode && a->loaded_ns == b->loaded_ns;
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
	elf_init(&module->mini);
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

/* The symbols that a stripped file may carry along, compressed: .gnu_debugdata. */
static void add_mini(struct module *module)
{
	struct elf_section *section = elf_section_named(&module->own, ".gnu_debugdata");
	const uint8_t *data;
	size_t len;

	data = section ? elf_section_data(&module->own, section, &len) : NULL;
	if (data && inflate_xz(data, len, DEBUGDATA_MAX, &module->mini_bytes, &len) &&
	    !elf_open_memory(&module->mini, module->mini_bytes, len, NULL))
		symtab_add_full(&module->symbols, &module->mini);
}

/*
 * Opens the files; returns the one that has DWARF, or NULL. *ret_why: for free(), what there is to
 * say of a debug file that was found and is another's, or NULL.
 */
static struct elf_file *open_files(const struct symbolizer *symbolizer, struct module *module,
				   char **ret_why)
{
	const struct debug_dirs *dirs = &symbolizer->dirs;
	bool own, complete = false, dwarf = false;

	own = module_file_open(dirs, &module->wanted, &module->own, &module->problem);
	if (own) {
		complete = symtab_add_full(&module->symbols, &module->own);
		if (!complete)
			symtab_add_dynamic(&module->symbols, &module->own);
		dwarf = debuginfo_in(&module->own);
	}
	if (complete && dwarf)
		return &module->own;
	if (debug_file_open(dirs, &module->wanted, own ? &module->own : NULL, &module->debug,
			    ret_why)) {
		if (!complete)
			symtab_add_full(&module->symbols, &module->debug);
		if (!own) {
			free(module->problem);
			module->problem = NULL;
		}
		if (!dwarf && debuginfo_in(&module->debug))
			return &module->debug;
	} else if (own && !complete) {
		add_mini(module);
	}
	return dwarf ? &module->own : NULL;
}

/* Says for people that there are no names: why is for free(). */
static void no_names(struct module *module, char *why)
{
	module->problem = xasprintf("no names of functions: %s", why);
	free(why);
}

static char *no_symbols(const struct module *module, const char *misfit)
{
	if (misfit)
		return xasprintf("'%s' has no symbols, and no debug file that was found fits it: %s",
				 module->path, misfit);
	return xasprintf("'%s' has no symbols, and no debug file for it was found", module->path);
}

/* What is missing beside the names that there are; NULL: nothing that is known of. */
static char *less_names(const struct module *module, const char *misfit)
{
	const char *alt = module->info ? debuginfo_alt_problem(module->info) : NULL;

	if (alt)
		return xasprintf("some names in '%s' are missing, which its debug file shares with "
				 "others: %s", module->path, alt);
	if (misfit && !module->info)
		return xasprintf("'%s' is known by its own symbols only, since no debug file that "
				 "was found fits it: %s", module->path, misfit);
	return NULL;
}

static void module_open(struct symbolizer *symbolizer, struct module *module)
{
	struct elf_file *dwarf;
	char *misfit = NULL;

	module->opened = true;
	if (is_vdso(module)) {
		no_names(module, xasprintf("'%s' is the kernel's and has no file", module->path));
		return;
	}
	dwarf = open_files(symbolizer, module, &misfit);
	if (dwarf)
		module->info = debuginfo_open(dwarf, module->path, &symbolizer->dirs,
					      &symbolizer->units, &symbolizer->strings);
	if (!module->info || dwarf != &module->own)
		elf_close(&module->own);
	if (!module->info || dwarf != &module->debug)
		elf_close(&module->debug);
	symtab_finish(&module->symbols);
	module->symbol_names = xcalloc(module->symbols.nr_symbols + 1,
				       sizeof(*module->symbol_names));
	if (!module->symbols.nr_symbols && !module->info)
		no_names(module, module->problem ? module->problem : no_symbols(module, misfit));
	else if (!module->problem)
		module->problem = less_names(module, misfit);
	free(misfit);
}

/* What earlier runs found, and this one. */
static struct memory *memory_of(struct symbolizer *symbolizer, struct module *module)
{
	if (!module->memory.asked)
		memory_recall(&module->memory, &symbolizer->cache, &module->wanted,
			      &symbolizer->dirs);
	return &module->memory;
}

/* ---- look-ups --------------------------------------------------------------------------------- */

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

/* Takes the name of the symbol that has the address, if there is one. */
static bool name_by_symbol(struct symbolizer *symbolizer, struct module *module, uint64_t address,
			   struct name_frame *to)
{
	size_t symbol = symtab_find(&module->symbols, address);
	const char *raw;

	if (symbol == SYMTAB_NONE)
		return false;
	raw = module->symbols.symbols[symbol].name;
	if (!module->symbol_names[symbol])
		module->symbol_names[symbol] =
			strings_take(&symbolizer->strings, symbolizer_demangle(raw));
	to->function = module->symbol_names[symbol];
	to->raw = strcmp(raw, to->function) ? raw : NULL;
	return true;
}

/*
 * Fills a frame. The outermost one is a function of its own: where DWARF has no name of the
 * linker's for it (lambdas, functions of C), the symbol table's is the one people know.
 */
static void fill_frame(struct symbolizer *symbolizer, struct module *module, uint64_t address,
		       const struct debug_frame *from, struct name_frame *to)
{
	struct function_spellings names = function_names_find(
		&module->functions, module->info, from, &symbolizer->strings);

	to->function = names.linked;
	to->raw = names.raw;
	if (!to->function &&
	    (from->inlined || !name_by_symbol(symbolizer, module, address, to)))
		to->function = names.scoped;
	to->scope = from->rust ? names.scoped : NULL;
	to->file = from->path;
	to->line = from->line;
	to->column = from->column;
	to->inlined = from->inlined;
}

/* What look-ups did not find of the lines and inlined frames that there are, or NULL. */
static char *less_lines(const struct module *module)
{
	const char *split = debuginfo_lost_split(module->info);

	if (debuginfo_timed_out(module->info))
		return xasprintf("lines and inlined frames are missing: reading the debug "
				 "information of '%s' takes too long", module->path);
	return split ? xasprintf("inlined frames in '%s' are missing: no file '%s' that belongs to it",
				 module->path, split) : NULL;
}

static void resolve(struct symbolizer *symbolizer, struct module *module, struct answer *answer)
{
	const struct debug_frame *found = NULL;
	struct name_frame frame = { 0 };
	size_t nr = 0, i;

	if (module->info)
		nr = debuginfo_lookup(module->info, answer->address, &found);
	if (nr) {
		answer->frames = xcalloc(nr, sizeof(*answer->frames));
		for (i = 0; i < nr; i++)
			fill_frame(symbolizer, module, answer->address, &found[i],
				   &answer->frames[i]);
	} else if (name_by_symbol(symbolizer, module, answer->address, &frame)) {
		nr = 1;
		answer->frames = xmalloc(sizeof(frame));
		*answer->frames = frame;
	}
	answer->nr_frames = (uint32_t)nr;
	if (module->info && !module->problem)
		module->problem = less_lines(module);
}

size_t symbolizer_lookup(struct symbolizer *symbolizer, uint32_t id, uint64_t address,
			 const struct name_frame **ret_frames)
{
	struct answer *answer;
	struct module *module;
	size_t nr;

	if (id >= symbolizer->nr_modules)
		return 0;
	module = symbolizer->modules[id];
	if (memory_find(memory_of(symbolizer, module), address, &nr, ret_frames))
		return nr;
	if (2 * (module->nr_answers + 1) > module->alloc_answers)
		grow_answers(module);
	answer = find_answer(module, address);
	if (!answer->used) {
		answer->used = true;
		answer->address = address;
		module->nr_answers++;
		if (!module->opened)
			module_open(symbolizer, module);
		resolve(symbolizer, module, answer);
		memory_add(&module->memory, address, answer->frames, answer->nr_frames);
	}
	if (answer->nr_frames)
		*ret_frames = answer->frames;
	return answer->nr_frames;
}

const char *symbolizer_class(struct symbolizer *symbolizer, uint32_t id, uint64_t address)
{
	const struct name_frame *found;
	struct name_frame frame = { 0 };
	struct module *module;
	size_t nr;

	if (id >= symbolizer->nr_modules)
		return NULL;
	module = symbolizer->modules[id];
	/* a vtable is where no code is, so both kinds of answers can be kept side by side */
	if (memory_find(memory_of(symbolizer, module), address, &nr, &found))
		return nr ? found[0].function : NULL;
	if (!module->vtables)
		module->vtables = vtables_open(&symbolizer->dirs, &module->wanted);
	frame.function = strings_take(&symbolizer->strings,
				      vtables_find(module->vtables, address));
	memory_add(&module->memory, address, &frame, frame.function != NULL);
	return frame.function;
}

const char *symbolizer_problem(const struct symbolizer *symbolizer, uint32_t id)
{
	return id < symbolizer->nr_modules ? symbolizer->modules[id]->problem : NULL;
}
