/* SPDX-License-Identifier: MIT */
/*
 * symtab.h - which function of a symbol table covers an address.
 *
 * A symbol covers [value, value + size). Of symbols that overlap the one that starts last has the
 * address; of those with one start the one that people write. Where no symbol with a size covers
 * it, a symbol without size does up to the next symbol, if its table is a complete one.
 */
#ifndef HEAPSTORY_SYMBOLIZER_SYMTAB_H
#define HEAPSTORY_SYMBOLIZER_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct symbol {
	uint64_t start, end;    /* a label (no size): end is that of its section */
	const char *name;       /* in the file's string table; not empty */
	uint32_t rank;          /* of aliases at one start the lowest is best */
	bool label;
};

struct symbol_range {
	uint64_t start, end;
	size_t symbol;
};

struct symtab {
	struct symbol *symbols;         /* by start, the best of one start last */
	size_t nr_symbols, alloc_symbols;
	struct symbol_range *ranges;    /* of symbols with a size: disjoint, ascending */
	size_t nr_ranges, alloc_ranges;
	struct symbol_range *labels;    /* of symbols without one: disjoint, ascending */
	size_t nr_labels, alloc_labels;
};

#define SYMTAB_NONE ((size_t)-1)

void symtab_init(struct symtab *table);
void symtab_release(struct symtab *table);

/*
 * Adds the functions of a file's .symtab. The names stay in elf, which has to live as long as the
 * table. Returns true if the table seems to be complete: it has local functions too.
 */
bool symtab_add_full(struct symtab *table, struct elf_file *elf);

/* The same for .dynsym, found by the section headers or, without them, by PT_DYNAMIC. */
void symtab_add_dynamic(struct symtab *table, struct elf_file *elf);

/* Call once after the last symbol was added, before symtab_find(). */
void symtab_finish(struct symtab *table);

/* Number in symbols[] of the symbol that has the address, or SYMTAB_NONE. */
size_t symtab_find(const struct symtab *table, uint64_t address);

#endif
