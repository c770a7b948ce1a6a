/* SPDX-License-Identifier: MIT */
/*
 * standin.c - modules and a trie of stacks without a store, for tests of the unwinder alone.
 *
 * Thread-safe as far as the tests need it: lock-free look-ups, one lock for adding.
 */
#include "standin.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "tracer/intern.h"
#include "tracer/module.h"

#define NR_NODES (1u << 22)
#define NR_WORDS (1u << 23)

struct node {
	uint64_t pc;
	uint32_t parent;
	uint32_t pad;
};

static struct {
	struct node *nodes;
	uint32_t *words; /* open addressing: numbers of nodes */
	uint32_t nr;
	uint32_t lock;
} trie;

static uint32_t fail_after = UINT32_MAX;

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void standin_start(void)
{
	trie.words = map(sizeof(*trie.words) * NR_WORDS);
	trie.nodes = map(sizeof(*trie.nodes) * NR_NODES);
	trie.nr = 1;
}

void standin_fail_after(uint32_t nr)
{
	fail_after = nr;
}

static uint32_t trie_find(uint64_t hash, uint32_t parent, uint64_t pc, uint32_t *ret_place)
{
	for (uint32_t i = (uint32_t)hash;; i++) {
		uint32_t nr = __atomic_load_n(&trie.words[i % NR_WORDS], __ATOMIC_ACQUIRE);

		*ret_place = i % NR_WORDS;
		if (!nr)
			return 0;
		if (trie.nodes[nr].pc == pc && trie.nodes[nr].parent == parent)
			return nr;
	}
}

uint32_t intern_node(uint32_t parent, uint64_t pc)
{
	uint64_t hash = (pc ^ (uint64_t)parent << 40) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
	uint32_t place, nr = trie_find(hash, parent, pc, &place);

	if (nr)
		return nr;
	if (fail_after != UINT32_MAX) {
		if (fail_after == 0)
			return 0;
		fail_after--;
	}
	while (__atomic_exchange_n(&trie.lock, 1, __ATOMIC_ACQUIRE))
		;
	nr = trie_find(hash, parent, pc, &place);
	if (!nr && trie.nr < NR_NODES) {
		nr = trie.nr++;
		trie.nodes[nr].pc = pc;
		trie.nodes[nr].parent = parent;
		__atomic_store_n(&trie.words[place], nr, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&trie.lock, 0, __ATOMIC_RELEASE);
	return nr;
}

uint32_t standin_nr_nodes(void)
{
	return trie.nr;
}

uint32_t standin_frames(uint32_t node, uint64_t *ret_pcs, uint32_t max)
{
	uint32_t n = 0;

	for (; node && n < max; node = trie.nodes[node].parent)
		ret_pcs[n++] = trie.nodes[node].pc;
	return n;
}

bool module_find(uintptr_t pc, struct module_unwind *ret)
{
	struct dl_find_object o;
	const Elf64_Phdr *phdr;
	uintptr_t nr, low = UINTPTR_MAX, high = 0, bias;
	bool executable = false;

	if (_dl_find_object((void *)pc, &o))
		return false;
	bias = o.dlfo_link_map->l_addr;
	if (*o.dlfo_link_map->l_name) {
		const Elf64_Ehdr *ehdr = o.dlfo_map_start;

		phdr = (const void *)((uintptr_t)ehdr + ehdr->e_phoff);
		nr = ehdr->e_phnum;
	} else {
		/* the program, which may be mapped with holes */
		phdr = (const void *)getauxval(AT_PHDR);
		nr = getauxval(AT_PHNUM);
	}
	for (uintptr_t i = 0; i < nr; i++) {
		uintptr_t start = bias + phdr[i].p_vaddr, end = start + phdr[i].p_memsz;

		if (phdr[i].p_type != PT_LOAD)
			continue;
		low = start < low ? start : low;
		high = end > high ? end : high;
		executable |= phdr[i].p_flags & PF_X && pc >= start && pc < end;
	}
	if (!executable)
		return false;
	ret->module = 1;
	ret->start = low & ~(uintptr_t)4095;
	ret->end = high;
	ret->eh_frame_hdr = (uintptr_t)o.dlfo_eh_frame;
	return true;
}
