/* SPDX-License-Identifier: MIT */
/*
 * rows.c - the cache of rows, which are made when first asked for.
 *
 * Runs on any thread of the traced program, perhaps in a signal handler. Takes no lock, calls
 * nothing that does.
 *
 * A row made before rows_forget() must not be found after it. Filling: read the generation, make
 * the row, store the entry, fence, read the generation again and take the entry out if it moved.
 * Forgetting: move the generation, fence, clear. Whichever store to an entry comes last, either
 * it is the clearing one or the filler sees the new generation.
 */
#include "tracer/rows.h"

#include <elf.h>
#include <stddef.h>

#include "tracer/module.h"
#include "tracer/sys.h"

#define CACHE_SIZE (sizeof(uint64_t) << ROW_INDEX_BITS)

struct rows_cache rows_cache;

bool rows_image(const struct module_unwind *module, struct rows_image *ret_image)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)module->start;
	const Elf64_Phdr *phdr;
	uintptr_t bias;

	/* The first page of a module's first segment: header, and right after it the segments. */
	if (module->end - module->start < 4096 ||
	    __builtin_memcmp(ehdr->e_ident, ELFMAG, SELFMAG) ||
	    ehdr->e_ident[EI_CLASS] != ELFCLASS64 || ehdr->e_phentsize != sizeof(*phdr) ||
	    ehdr->e_phoff > 4096 || ehdr->e_phoff % 8 ||
	    ehdr->e_phoff + ehdr->e_phnum * sizeof(*phdr) > 4096)
		return false;
	phdr = (const Elf64_Phdr *)(module->start + ehdr->e_phoff);
	ret_image->eh_frame_hdr = module->eh_frame_hdr;
	ret_image->nr_spans = 0;
	bias = module->start;
	for (uint32_t i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type == PT_LOAD) {
			bias = module->start - (phdr[i].p_vaddr & ~(uintptr_t)4095);
			break;
		}
	}
	for (uint32_t i = 0; i < ehdr->e_phnum && ret_image->nr_spans < ROWS_NR_SPANS; i++) {
		uintptr_t start = bias + phdr[i].p_vaddr;
		uintptr_t end = start + phdr[i].p_filesz;

		if (phdr[i].p_type != PT_LOAD || !(phdr[i].p_flags & PF_R) || end <= start ||
		    start < module->start || end > module->end)
			continue;
		ret_image->spans[ret_image->nr_spans].start = start;
		ret_image->spans[ret_image->nr_spans].end = end;
		ret_image->nr_spans++;
	}
	return ret_image->nr_spans > 0;
}

/* ---- the cache --------------------------------------------------------------------------- */

void rows_start(void)
{
	rows_cache.entries = sys_map(CACHE_SIZE);
}

static void cache_fill(uintptr_t key, row_t row, uint32_t generation)
{
	uint64_t mix = ((key >> ROW_KEY_SHIFT) * ROW_KEY_FACTOR) & ROW_KEY_MASK;
	uint64_t *entry;

	if (!rows_cache.entries || key >> (ROW_KEY_BITS + ROW_KEY_SHIFT))
		return;
	if (__atomic_load_n(&rows_cache.generation, __ATOMIC_ACQUIRE) != generation)
		return;
	entry = &rows_cache.entries[mix >> (64 - ROW_BITS)];
	__atomic_store_n(entry, (mix & ROW_TAG_MASK) << ROW_BITS | row, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&rows_cache.generation, __ATOMIC_RELAXED) != generation)
		__atomic_store_n(entry, 0, __ATOMIC_RELAXED);
}

__attribute__((noinline)) row_t rows_miss(uintptr_t key)
{
	uint32_t generation = __atomic_load_n(&rows_cache.generation, __ATOMIC_ACQUIRE);
	struct module_unwind module;
	struct rows_image image;
	row_t row;

	/* Code of no module may be another's tomorrow, and nobody tells: not kept. */
	if (!module_find(key, &module))
		return ROW_NONE;
	if (!module.eh_frame_hdr || !rows_image(&module, &image))
		row = ROW_NONE;
	else
		row = rows_parse(&image, key);
	cache_fill(key, row, generation);
	return row;
}

void rows_forget(void)
{
	__atomic_add_fetch(&rows_cache.generation, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (rows_cache.entries)
		sys_discard(rows_cache.entries, CACHE_SIZE);
}
