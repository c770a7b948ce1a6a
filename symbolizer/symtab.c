/* SPDX-License-Identifier: MIT */
/*
 * symtab.c - which function of a symbol table covers an address.
 *
 * Offline only. The table is sorted once and laid out flat, so that a look-up is one binary
 * search even where symbols overlap or nest.
 */
#include "symbolizer/symtab.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/elf.h"
#include "util/alloc.h"

/* Where the symbols and their names stand, from one table of one file. */
struct source {
	struct elf_file *elf;
	const uint8_t *symbols;
	size_t count;
	const char *names;
	size_t names_len;
	const uint8_t *numbers;         /* SHT_SYMTAB_SHNDX: sections' numbers above 0xff00 */
	size_t nr_numbers;
	bool dynamic;
};

void symtab_init(struct symtab *table)
{
	memset(table, 0, sizeof(*table));
}

void symtab_release(struct symtab *table)
{
	free(table->symbols);
	free(table->ranges);
	free(table->labels);
	symtab_init(table);
}

static void add_symbol(struct symtab *table, const struct symbol *symbol)
{
	table->symbols = xgrow(table->symbols, &table->alloc_symbols, table->nr_symbols + 1,
			       sizeof(*table->symbols));
	table->symbols[table->nr_symbols++] = *symbol;
}

static void add_range(struct symbol_range **ranges, size_t *nr, size_t *alloc,
		      struct symbol_range range)
{
	if (range.start >= range.end)
		return;
	*ranges = xgrow(*ranges, alloc, *nr + 1, sizeof(**ranges));
	(*ranges)[(*nr)++] = range;
}

/* End of the executable section or segment that holds the symbol; 0: there is none. */
static uint64_t code_end(const struct source *source, size_t nr, const Elf64_Sym *sym)
{
	const struct elf_file *elf = source->elf;
	uint32_t section = sym->st_shndx;
	size_t i;

	if (section == SHN_UNDEF)
		return 0;
	if (section == SHN_XINDEX && nr < source->nr_numbers)
		memcpy(&section, source->numbers + nr * 4, 4);
	else if (section >= SHN_LORESERVE)
		return 0;
	if (elf->nr_sections) {
		const struct elf_section *s;

		if (section >= elf->nr_sections)
			return 0;
		s = &elf->sections[section];
		if (!(s->flags & SHF_EXECINSTR) || sym->st_value < s->addr ||
		    sym->st_value - s->addr >= s->size || s->size > UINT64_MAX - s->addr)
			return 0;
		return s->addr + s->size;
	}
	for (i = 0; i < elf->nr_segments; i++) {
		const struct elf_segment *s = &elf->segments[i];

		if (s->type == PT_LOAD && s->flags & PF_X && sym->st_value >= s->vaddr &&
		    sym->st_value - s->vaddr < s->memsz && s->memsz <= UINT64_MAX - s->vaddr)
			return s->vaddr + s->memsz;
	}
	return 0;
}

/* Marks for the assembler's own use on aarch64 and its kin: $x, $d, $x.12. */
static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] >= 'a' && name[1] <= 'z' && (!name[2] || name[2] == '.');
}

/*
 * Local after exported ones, data-like marks after functions; then `strdup` before `__strdup`
 * (both stand in libc at one address), and strong before weak.
 */
static uint32_t rank_of(const char *name, unsigned int bind, unsigned int type)
{
	size_t underscores = strspn(name, "_");
	uint32_t rank = 0;

	if (underscores == 1 && (name[1] == 'Z' || name[1] == 'R'))
		underscores = 0;
	if (underscores > 15)
		underscores = 15;
	if (bind == STB_LOCAL)
		rank |= 1u << 8;
	if (type == STT_NOTYPE)
		rank |= 1u << 7;
	rank |= (uint32_t)underscores << 1;
	if (bind == STB_WEAK)
		rank |= 1;
	return rank;
}

/* Adds a symbol if it is a function; returns true if it is a local one. */
static bool take_symbol(struct symtab *table, const struct source *source, size_t nr)
{
	struct symbol symbol = { 0 };
	unsigned int type, bind;
	Elf64_Sym sym;
	uint64_t end;

	memcpy(&sym, source->symbols + nr * sizeof(sym), sizeof(sym));
	type = ELF64_ST_TYPE(sym.st_info);
	bind = ELF64_ST_BIND(sym.st_info);
	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    sym.st_name >= source->names_len)
		return false;
	symbol.name = source->names + sym.st_name;
	if (!symbol.name[0] || is_mapping_symbol(symbol.name))
		return false;
	end = code_end(source, nr, &sym);
	if (!end)
		return false;
	/* A table of exported names does not know what stands between two of them. */
	symbol.label = !sym.st_size;
	if (symbol.label && (source->dynamic || symbol.name[0] == '.'))
		return false; /* or a tool's mark: .annobin_main.end, .L12 */
	symbol.start = sym.st_value;
	symbol.end = end;
	if (sym.st_size && sym.st_size < end - symbol.start)
		symbol.end = symbol.start + sym.st_size;
	symbol.rank = rank_of(symbol.name, bind, type);
	add_symbol(table, &symbol);
	return bind == STB_LOCAL && type == STT_FUNC;
}

static bool take_all(struct symtab *table, const struct source *source)
{
	bool locals = false;
	size_t i;

	for (i = 0; i < source->count; i++)
		locals |= take_symbol(table, source, i);
	return locals;
}

/* Fills source from a section of symbols; false where there are none. */
static bool source_of_section(struct source *source, struct elf_file *elf, uint32_t type)
{
	struct elf_section *section = elf_section_of_type(elf, type);
	struct elf_section *names;
	size_t len, i;

	memset(source, 0, sizeof(*source));
	source->elf = elf;
	source->dynamic = type == SHT_DYNSYM;
	if (!section || section->link >= elf->nr_sections)
		return false;
	names = &elf->sections[section->link];
	source->symbols = elf_section_data(elf, section, &len);
	source->count = len / sizeof(Elf64_Sym);
	if (!source->symbols || names->type != SHT_STRTAB)
		return false;
	source->names = (const char *)elf_section_data(elf, names, &source->names_len);
	if (!source->names)
		return false;
	for (i = 0; i < elf->nr_sections; i++) {
		struct elf_section *s = &elf->sections[i];

		if (s->type != SHT_SYMTAB_SHNDX || &elf->sections[0] + s->link != section)
			continue;
		source->numbers = elf_section_data(elf, s, &len);
		source->nr_numbers = source->numbers ? len / 4 : 0;
		break;
	}
	return true;
}

/* Done with the symbols of a section: only their names are needed from here on. */
static void drop_symbols(struct elf_file *elf, uint32_t type)
{
	struct elf_section *section = elf_section_of_type(elf, type);

	if (!section)
		return;
	free(section->data);
	section->data = NULL;
}

bool symtab_add_full(struct symtab *table, struct elf_file *elf)
{
	size_t first = table->nr_symbols, i;
	struct source source;
	bool complete;

	if (!source_of_section(&source, elf, SHT_SYMTAB))
		return false;
	complete = take_all(table, &source);
	drop_symbols(elf, SHT_SYMTAB);
	if (complete)
		return true;
	/* Stripped of its local functions: labels would reach over them. */
	for (i = first; i < table->nr_symbols; )
		if (table->symbols[i].label)
			table->symbols[i] = table->symbols[--table->nr_symbols];
		else
			i++;
	return false;
}

static void add_by_segment(struct symtab *table, struct elf_file *elf)
{
	struct source source = { .elf = elf, .dynamic = true };
	uint64_t symbols, symbols_len, names, names_len, count;
	struct elf_dynamic dynamic;
	uint8_t *copy = NULL;

	if (!elf_dynamic(elf, &dynamic) || elf->names ||
	    !elf_offset_of(elf, dynamic.symtab, &symbols, &symbols_len) ||
	    !elf_offset_of(elf, dynamic.strtab, &names, &names_len))
		return;
	count = elf_dynamic_count(elf, &dynamic);
	if (count > symbols_len / sizeof(Elf64_Sym))
		count = symbols_len / sizeof(Elf64_Sym);
	if (names_len > dynamic.strsz)
		names_len = dynamic.strsz;
	copy = xmalloc((size_t)count * sizeof(Elf64_Sym) + 1);
	/* elf->names is free: there are no sections that it could name. */
	elf->names = xmalloc((size_t)names_len + 1);
	elf->names[names_len] = 0;
	if (elf_read(elf, symbols, copy, (size_t)count * sizeof(Elf64_Sym)) &&
	    elf_read(elf, names, elf->names, (size_t)names_len)) {
		source.symbols = copy;
		source.count = (size_t)count;
		source.names = (const char *)elf->names;
		source.names_len = (size_t)names_len;
		take_all(table, &source);
	}
	free(copy);
}

void symtab_add_dynamic(struct symtab *table, struct elf_file *elf)
{
	struct source source;

	if (!elf->nr_sections) {
		add_by_segment(table, elf);
	} else if (source_of_section(&source, elf, SHT_DYNSYM)) {
		take_all(table, &source);
		drop_symbols(elf, SHT_DYNSYM);
	}
}

static int by_start_best_last(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	size_t x_len, y_len;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	x_len = strlen(x->name);
	y_len = strlen(y->name);
	if (x_len != y_len)
		return x_len > y_len ? -1 : 1;
	return -strcmp(x->name, y->name);
}

/*
 * Walks over the starts with a stack of the symbols that may still cover the place reached: the
 * top is the one that started last. A symbol that ended is popped only when it comes to the top.
 */
static void lay_ranges(struct symtab *table)
{
	size_t *stack = xmallocarray(table->nr_symbols + 1, sizeof(*stack));
	size_t depth = 0, i;
	uint64_t at = 0;

	for (i = 0; i <= table->nr_symbols; i++) {
		bool last = i == table->nr_symbols;
		uint64_t next = last ? UINT64_MAX : table->symbols[i].start;

		while (depth && at < next) {
			const struct symbol *top = &table->symbols[stack[depth - 1]];
			uint64_t end = top->end < next ? top->end : next;

			if (end > at) {
				add_range(&table->ranges, &table->nr_ranges, &table->alloc_ranges,
					  (struct symbol_range){ at, end, stack[depth - 1] });
				at = end;
			}
			if (top->end <= at)
				depth--;
		}
		if (last || table->symbols[i].label)
			continue;
		at = next;
		stack[depth++] = i;
	}
	free(stack);
}

static size_t find_range(const struct symbol_range *ranges, size_t nr, uint64_t address)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < nr && ranges[low].start <= address ? ranges[low].symbol : SYMTAB_NONE;
}

/* Labels outside of all sized symbols, each up to the next symbol of any kind. */
static void lay_labels(struct symtab *table)
{
	size_t i;

	for (i = 0; i < table->nr_symbols; i++) {
		const struct symbol *symbol = &table->symbols[i];
		bool last = i + 1 == table->nr_symbols;
		uint64_t end = symbol->end;

		if (!symbol->label)
			continue;
		if (!last && table->symbols[i + 1].start < end)
			end = table->symbols[i + 1].start; /* an alias that is better: empty */
		if (find_range(table->ranges, table->nr_ranges, symbol->start) == SYMTAB_NONE)
			add_range(&table->labels, &table->nr_labels, &table->alloc_labels,
				  (struct symbol_range){ symbol->start, end, i });
	}
}

void symtab_finish(struct symtab *table)
{
	if (table->nr_symbols > 1)
		qsort(table->symbols, table->nr_symbols, sizeof(*table->symbols),
		      by_start_best_last);
	lay_ranges(table);
	lay_labels(table);
}

size_t symtab_find(const struct symtab *table, uint64_t address)
{
	size_t found = find_range(table->ranges, table->nr_ranges, address);

	return found != SYMTAB_NONE ? found : find_range(table->labels, table->nr_labels, address);
}
