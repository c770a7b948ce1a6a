/* SPDX-License-Identifier: MIT */
/*
 * vtable.c - which class a vtable belongs to; see vtable.h.
 *
 * The file is all that is read: pointers in it that the loader fills in are looked up in the
 * relocations. Nothing in it is believed: a name counts only if it is a mangled type.
 */
#include "symbolizer/vtable.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/debugfile.h"
#include "symbolizer/elf.h"
#include "symbolizer/symbolizer.h"
#include "util/alloc.h"

#define VTABLE	    "_ZTV"
#define TYPE_INFO   "_ZTI"
#define CLASS_TYPES "_ZTVN10__cxxabiv1" /* vtables of the classes of type information */
#define SHOWN	    "vtable for "
#define MAX_NAME    16384u

struct vtable_symbol {
	uint64_t start, end;
	char *name;
};

/* A pointer that the loader fills in. */
struct pointer {
	uint64_t at, value;
	uint32_t symbol;  /* 0: none */
	uint32_t section; /* of the relocation, whose link leads to the symbols */
};

struct vtables {
	struct elf_file own; /* fd -1: not found */
	bool has_own;
	struct vtable_symbol *symbols; /* by start; may overlap where they are aliases */
	size_t nr_symbols, alloc_symbols;
	bool pointers_read;
	struct pointer *pointers; /* by place */
	size_t nr_pointers, alloc_pointers;
};

/* ---- symbols ----------------------------------------------------------------------------- */

/* The strings that a section of symbols uses; NULL where there are none. */
static const char *strings_of(struct elf_file *elf, const struct elf_section *symbols,
			      size_t *ret_len)
{
	if (symbols->link >= elf->nr_sections || elf->sections[symbols->link].type != SHT_STRTAB)
		return NULL;
	return (const char *)elf_section_data(elf, &elf->sections[symbols->link], ret_len);
}

static void add_symbols(struct vtables *v, struct elf_file *elf, uint32_t type)
{
	struct elf_section *section = elf_section_of_type(elf, type);
	const uint8_t *data;
	const char *strings;
	size_t len, strings_len;

	data = section ? elf_section_data(elf, section, &len) : NULL;
	strings = data ? strings_of(elf, section, &strings_len) : NULL;
	for (size_t i = 0; strings && i < len / sizeof(Elf64_Sym); i++) {
		Elf64_Sym sym;

		memcpy(&sym, data + i * sizeof(sym), sizeof(sym));
		if (ELF64_ST_TYPE(sym.st_info) != STT_OBJECT || sym.st_shndx == SHN_UNDEF ||
		    sym.st_name >= strings_len || strncmp(strings + sym.st_name, VTABLE, 4) ||
		    sym.st_size > UINT64_MAX - sym.st_value)
			continue;
		v->symbols = xgrow(v->symbols, &v->alloc_symbols, v->nr_symbols + 1,
				   sizeof(*v->symbols));
		v->symbols[v->nr_symbols++] =
			(struct vtable_symbol){sym.st_value, sym.st_value + sym.st_size,
					       xstrdup(strings + sym.st_name)};
	}
}

static int by_start(const void *a, const void *b)
{
	const struct vtable_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct vtables *vtables_new(struct elf_file *own, struct elf_file *debug)
{
	struct vtables *v = xcalloc(1, sizeof(*v));

	elf_init(&v->own);
	if (own) {
		v->own = *own;
		v->has_own = true;
		elf_init(own);
		add_symbols(v, &v->own, SHT_DYNSYM);
		add_symbols(v, &v->own, SHT_SYMTAB);
	}
	if (debug)
		add_symbols(v, debug, SHT_SYMTAB);
	if (v->nr_symbols)
		qsort(v->symbols, v->nr_symbols, sizeof(*v->symbols), by_start);
	return v;
}

struct vtables *vtables_open(const struct debug_dirs *dirs, const struct symbolizer_module *module)
{
	bool has_own, has_debug = false;
	struct elf_file own, debug;
	struct vtables *v;
	char *problem = NULL;

	elf_init(&own);
	elf_init(&debug);
	has_own = module_file_open(dirs, module, &own, &problem);
	free(problem);
	if (!has_own || !elf_section_of_type(&own, SHT_SYMTAB))
		has_debug = debug_file_open(dirs, module, has_own ? &own : NULL, &debug, NULL);
	v = vtables_new(has_own ? &own : NULL, has_debug ? &debug : NULL);
	elf_release(&debug);
	return v;
}

void vtables_close(struct vtables *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->nr_symbols; i++)
		free(v->symbols[i].name);
	free(v->symbols);
	free(v->pointers);
	elf_release(&v->own);
	free(v);
}

/* The last symbol that starts at or below the address, if it reaches so far. */
static const char *symbol_at(const struct vtables *v, uint64_t address, uint64_t *ret_start)
{
	size_t low = 0, high = v->nr_symbols;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (v->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= v->symbols[low - 1].end)
		return NULL;
	*ret_start = v->symbols[low - 1].start;
	return v->symbols[low - 1].name;
}

/* ---- pointers in the file ------------------------------------------------------------------ */

static bool is_pointer(const struct elf_file *elf, uint64_t type, bool *ret_relative)
{
	*ret_relative = elf->machine == EM_AARCH64 ? type == R_AARCH64_RELATIVE :
						     type == R_X86_64_RELATIVE;
	return *ret_relative ||
	       (elf->machine == EM_AARCH64 ? type == R_AARCH64_ABS64 : type == R_X86_64_64);
}

static bool read_symbol(struct elf_file *elf, uint32_t section, uint32_t nr, Elf64_Sym *ret)
{
	uint32_t link = elf->sections[section].link;
	const uint8_t *data;
	size_t len;

	if (link >= elf->nr_sections || elf->sections[link].type != SHT_DYNSYM)
		return false;
	data = elf_section_data(elf, &elf->sections[link], &len);
	if (!data || nr >= len / sizeof(*ret))
		return false;
	memcpy(ret, data + nr * sizeof(*ret), sizeof(*ret));
	return true;
}

static void add_pointers(struct vtables *v, uint32_t section)
{
	const uint8_t *data;
	size_t len;

	data = elf_section_data(&v->own, &v->own.sections[section], &len);
	for (size_t i = 0; data && i < len / sizeof(Elf64_Rela); i++) {
		struct pointer p = {.section = section};
		bool relative;
		Elf64_Sym sym;
		Elf64_Rela r;

		memcpy(&r, data + i * sizeof(r), sizeof(r));
		if (!is_pointer(&v->own, ELF64_R_TYPE(r.r_info), &relative))
			continue;
		p.at = r.r_offset;
		p.value = (uint64_t)r.r_addend;
		if (!relative) {
			p.symbol = (uint32_t)ELF64_R_SYM(r.r_info);
			if (!read_symbol(&v->own, section, p.symbol, &sym))
				continue;
			p.value += sym.st_value;
		}
		v->pointers = xgrow(v->pointers, &v->alloc_pointers, v->nr_pointers + 1,
				    sizeof(*v->pointers));
		v->pointers[v->nr_pointers++] = p;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct pointer *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static void read_pointers(struct vtables *v)
{
	v->pointers_read = true;
	for (uint32_t i = 0; i < v->own.nr_sections; i++) {
		if (v->own.sections[i].type == SHT_RELA && v->own.sections[i].flags & SHF_ALLOC)
			add_pointers(v, i);
	}
	if (v->nr_pointers)
		qsort(v->pointers, v->nr_pointers, sizeof(*v->pointers), by_place);
}

static bool read_word(const struct vtables *v, uint64_t address, uint64_t *ret)
{
	uint64_t offset, len;

	return elf_offset_of(&v->own, address, &offset, &len) && len >= sizeof(*ret) &&
	       elf_read(&v->own, offset, ret, sizeof(*ret));
}

static const char *pointer_symbol(struct vtables *v, const struct pointer *p)
{
	const struct elf_section *section = &v->own.sections[p->section];
	const char *strings;
	Elf64_Sym sym;
	size_t len;

	if (!p->symbol || !read_symbol(&v->own, p->section, p->symbol, &sym))
		return NULL;
	strings = strings_of(&v->own, &v->own.sections[section->link], &len);
	return strings && sym.st_name < len ? strings + sym.st_name : NULL;
}

/* What the pointer at an address will be, and the symbol it is relative to (NULL: none). */
static bool read_pointer(struct vtables *v, uint64_t address, uint64_t *ret, const char **ret_symbol)
{
	const struct pointer key = {.at = address}, *p = NULL;

	if (!v->pointers_read)
		read_pointers(v);
	if (v->nr_pointers)
		p = bsearch(&key, v->pointers, v->nr_pointers, sizeof(*p), by_place);
	*ret_symbol = p ? pointer_symbol(v, p) : NULL;
	if (!p)
		return read_word(v, address, ret);
	*ret = p->value;
	return true;
}

/* ---- type information ---------------------------------------------------------------------- */

/* A string of the file: the mangled name of a type, as "_ZTV..." would have it; or NULL. */
static char *read_type_name(const struct vtables *v, uint64_t address)
{
	char name[MAX_NAME + 1], *start = name;
	uint64_t offset, len;

	if (!elf_offset_of(&v->own, address, &offset, &len))
		return NULL;
	len = len < MAX_NAME ? len : MAX_NAME;
	if (!elf_read(&v->own, offset, name, (size_t)len))
		return NULL;
	name[len] = 0;
	if (strlen(name) == len)
		return NULL;
	/* the name of a type that only this module knows has a mark */
	start += *start == '*';
	return *start ? xasprintf(VTABLE "%s", start) : NULL;
}

/* From the vtable to its type information and the name in it. */
static char *name_by_type(struct vtables *v, uint64_t address)
{
	uint64_t info, kind, name;
	const char *symbol;

	if (!read_pointer(v, address - 8, &info, &symbol) || (!info && !symbol))
		return NULL;
	if (symbol && !strncmp(symbol, TYPE_INFO, 4))
		return xasprintf(VTABLE "%s", symbol + 4);
	if (!read_pointer(v, info, &kind, &symbol) ||
	    (symbol && strncmp(symbol, CLASS_TYPES, strlen(CLASS_TYPES))) ||
	    !read_pointer(v, info + 8, &name, &symbol))
		return NULL;
	return read_type_name(v, name);
}

char *vtables_find(struct vtables *v, uint64_t address)
{
	uint64_t start = 0, to_top;
	const char *symbol = symbol_at(v, address, &start);
	char *name, *shown, *ret = NULL;
	bool known = v->has_own && read_word(v, address - 16, &to_top);

	if (address < 16 || (symbol && address - start < 16) || (known && to_top) ||
	    (!symbol && !known))
		return NULL;
	name = symbol ? xstrdup(symbol) : name_by_type(v, address);
	if (!name)
		return NULL;
	shown = symbolizer_demangle(name);
	if (!strncmp(shown, SHOWN, strlen(SHOWN)))
		ret = xstrdup(shown + strlen(SHOWN));
	free(shown);
	free(name);
	return ret;
}
