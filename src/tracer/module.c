/* SPDX-License-Identifier: MIT */
/*
 * module.c - which program or library a code address lies in, and when it goes away.
 *
 * Runs in the traced program with `in` set. What is known of each module lies in `known`, an
 * array that only grows and is read without a lock: entries are filled before `nr` counts them.
 * A module that was unloaded keeps its entry (dead); the same file loaded at the same place again
 * is the same module and gets its number back, so a program that loads and unloads for weeks
 * needs no more than its first round.
 */
#include "tracer/module.h"

#include "store/format.h"
#include "store/writer.h"
#include "tracer/say.h"
#include "tracer/sys.h"
#include "tracer/unwind.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#define FIRST_CHUNK 64u
#define NR_CHUNKS 10u /* 64 + 128 + … : more than MODULE_MAX */
#define ENDING_MAX 16u

struct known {
	uintptr_t start, end;
	const struct link_map *link_map;
	uintptr_t eh_frame_hdr;
	uint32_t module;
	uint32_t nr_segments;
	struct hs_segment segments[HS_NR_SEGMENTS];
};

uint8_t module_dead[MODULE_MAX];

static struct {
	struct known *chunks[NR_CHUNKS];
	uint32_t nr;
	uint32_t lock;
	uint32_t suspect;               /* not 0: look whether all are still there */
	uint32_t nr_ending;
	uintptr_t ending[ENDING_MAX];   /* start addresses of modules whose end was announced */
	const char *exe;
	const struct link_map *main;    /* the program; its mapping, all segments and holes */
	uintptr_t main_start, main_end;
} modules;

/*
 * As _dl_find_object(). Where the kernel mapped the program's segments with holes between them
 * (node), that function knows each segment as a mapping of its own; here they are one.
 */
static int find_object(uintptr_t pc, struct dl_find_object *ret)
{
	int missing = _dl_find_object((void *)pc, ret);

	if (!missing && ret->dlfo_link_map == modules.main) {
		ret->dlfo_map_start = (void *)modules.main_start;
		ret->dlfo_map_end = (void *)modules.main_end;
	}
	return missing;
}

static struct known *known_at(uint32_t i)
{
	uint32_t k = 31u - (uint32_t)__builtin_clz(i / FIRST_CHUNK + 1);

	return &modules.chunks[k][i - ((1u << k) - 1) * FIRST_CHUNK];
}

static bool in_segments(const struct known *m, uintptr_t pc)
{
	for (uint32_t i = 0; i < m->nr_segments; i++)
		if (pc >= m->segments[i].start && pc < m->segments[i].end)
			return true;
	return false;
}

static struct known *find_known(const struct dl_find_object *o)
{
	uint32_t nr = __atomic_load_n(&modules.nr, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < nr; i++) {
		struct known *m = known_at(i);

		if (__atomic_load_n(&m->end, __ATOMIC_ACQUIRE) &&
		    m->start == (uintptr_t)o->dlfo_map_start && m->link_map == o->dlfo_link_map &&
		    m->eh_frame_hdr == (uintptr_t)o->dlfo_eh_frame && module_alive(m->module))
			return m;
	}
	return NULL;
}

/* ---- adding ---- */

/* Copies the build id out of the notes at [at, end). */
static void read_notes(struct hs_module *m, const char *at, const char *end)
{
	while (end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const void *)at;
		size_t name = (n->n_namesz + 3u) & ~3u, desc = (n->n_descsz + 3u) & ~3u;

		at += sizeof(*n);
		if (name > (size_t)(end - at) || desc > (size_t)(end - at) - name)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && !memcmp(at, "GNU", 4) &&
		    n->n_descsz <= HS_BUILD_ID_LEN) {
			memcpy(m->build_id, at + name, n->n_descsz);
			m->build_id_len = n->n_descsz;
			return;
		}
		at += name + desc;
	}
}

static void read_header(struct hs_module *m, const struct dl_find_object *o)
{
	const char *base = o->dlfo_map_start;
	const ElfW(Ehdr) *e = (const void *)base;
	const ElfW(Phdr) *ph;

	if (memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_phentsize != sizeof(*ph) ||
	    e->e_phoff + (uint64_t)e->e_phnum * sizeof(*ph) > 4096)
		return;
	ph = (const void *)(base + e->e_phoff);
	for (unsigned i = 0; i < e->e_phnum; i++) {
		uintptr_t start = m->load_bias + ph[i].p_vaddr, end = start + ph[i].p_memsz;

		if (start < m->start || end > m->end || end < start)
			continue;
		if (ph[i].p_type == PT_NOTE && !m->build_id_len)
			read_notes(m, (const char *)start, (const char *)end);
		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X &&
		    m->nr_segments < HS_NR_SEGMENTS)
			m->segments[m->nr_segments++] = (struct hs_segment){
				.start = start,
				.end = end,
				.offset = ph[i].p_offset,
			};
	}
}

static const char *name_of(const struct link_map *l, uint32_t *ret_flags)
{
	const char *name = l->l_name;

	if (!name || !*name) {
		*ret_flags |= HS_MODULE_MAIN;
		return modules.exe ? modules.exe : "";
	}
	if (!strncmp(name, "linux-vdso", 10) || !strncmp(name, "linux-gate", 10))
		*ret_flags |= HS_MODULE_VDSO;
	return name;
}

/*
 * The program's own file is told by the kernel, whatever has become of its path. A library's path
 * may lead to another file by now, and without a build id nothing tells it from that.
 */
static void read_identity(struct hs_module *m)
{
	struct sys_stat st;

	if (m->build_id_len || !(m->flags & HS_MODULE_MAIN) || sys_stat("/proc/self/exe", 0, &st))
		return;
	m->dev = st.dev;
	m->inode = st.inode;
}

/* The module as it was known before it was unloaded, if it is the same file at the same place. */
static uint32_t find_earlier(const struct hs_module *m, const char *name)
{
	uint64_t nr = store.header->arrays[HS_ARRAY_MODULES].count;

	for (uint64_t i = 1; i < nr && i < MODULE_MAX; i++) {
		struct hs_module *old = store_place(HS_ARRAY_MODULES, i);

		if (module_dead[i] && m->build_id_len && old->load_bias == m->load_bias &&
		    old->build_id_len == m->build_id_len && old->end == m->end &&
		    !memcmp(old->build_id, m->build_id, m->build_id_len) && old->path_off &&
		    !strcmp(store.base + old->path_off, name)) {
			old->unloaded = 0;
			module_dead[i] = 0;
			return (uint32_t)i;
		}
	}
	return 0;
}

/* Writes the module to the store; its number, 0 if there is no room. */
static uint32_t store_module(const struct hs_module *m, const char *name)
{
	uint32_t earlier = find_earlier(m, name);
	uint64_t nr;
	struct hs_module *to;

	if (earlier)
		return earlier;
	nr = store_take(HS_ARRAY_MODULES, 1);
	if (!nr || nr >= MODULE_MAX)
		return 0;
	to = store_place(HS_ARRAY_MODULES, nr);
	*to = *m;
	to->path_off = *name ? store_string(name, strlen(name)) : 0;
	return (uint32_t)nr;
}

static struct known *next_known(void)
{
	uint32_t i = modules.nr, k = 31u - (uint32_t)__builtin_clz(i / FIRST_CHUNK + 1);

	if (k >= NR_CHUNKS)
		return NULL;
	if (!modules.chunks[k])
		modules.chunks[k] = sys_map(sizeof(struct known) * (FIRST_CHUNK << k));
	return modules.chunks[k] ? known_at(i) : NULL;
}

/* With the lock. */
static struct known *add(const struct dl_find_object *o)
{
	struct known *k = find_known(o), *dead = NULL;
	struct hs_module m = {
		.load_bias = o->dlfo_link_map->l_addr,
		.start = (uintptr_t)o->dlfo_map_start,
		.end = (uintptr_t)o->dlfo_map_end,
		.loaded = (uint32_t)(store_now_ms() / HS_TICK_MS),
		.eh_frame_hdr = (uintptr_t)o->dlfo_eh_frame,
		.link_map = (uintptr_t)o->dlfo_link_map,
	};
	const char *name;

	if (k)
		return k;
	name = name_of(o->dlfo_link_map, &m.flags);
	read_header(&m, o);
	read_identity(&m);
	if (strstr(name, "libheapstory.so"))
		m.flags |= HS_MODULE_TRACER;
	for (uint32_t i = 0; i < modules.nr && !dead; i++)
		if (known_at(i)->end == 0)
			dead = known_at(i);
	k = dead ? dead : next_known();
	if (!k)
		return NULL;
	k->module = store_module(&m, name);
	k->start = m.start;
	k->link_map = o->dlfo_link_map;
	k->eh_frame_hdr = m.eh_frame_hdr;
	k->nr_segments = m.nr_segments;
	memcpy(k->segments, m.segments, sizeof(k->segments));
	__atomic_store_n(&k->end, m.end, __ATOMIC_RELEASE);
	if (!dead)
		__atomic_store_n(&modules.nr, modules.nr + 1, __ATOMIC_RELEASE);
	return k;
}

bool module_find(uintptr_t pc, struct module_unwind *ret)
{
	struct dl_find_object o;
	struct known *m;

	if (find_object(pc, &o))
		return false;
	m = find_known(&o);
	if (!m) {
		uint64_t mask;
		bool locked = store_lock(&modules.lock, &mask);

		m = locked ? add(&o) : NULL;
		store_unlock(&modules.lock, locked, mask);
	}
	if (!m || !in_segments(m, pc))
		return false;
	ret->module = m->module;
	ret->start = m->start;
	ret->end = m->end;
	ret->eh_frame_hdr = m->eh_frame_hdr;
	return true;
}

/* ---- going away ---- */

static bool still_there(const struct known *m)
{
	struct dl_find_object o;

	return find_object(m->start, &o) == 0 &&
	       (uintptr_t)o.dlfo_map_start == m->start && o.dlfo_link_map == m->link_map &&
	       (uintptr_t)o.dlfo_eh_frame == m->eh_frame_hdr;
}

static void seal(struct known *m)
{
	uint32_t now = (uint32_t)(store_now_ms() / HS_TICK_MS);

	if (m->module) {
		struct hs_module *s = store_place(HS_ARRAY_MODULES, m->module);

		s->unloaded = now ? now : 1;
		__atomic_store_n(&module_dead[m->module], 1, __ATOMIC_RELEASE);
	}
	m->start = 0;
	m->link_map = NULL;
	m->nr_segments = 0;
	__atomic_store_n(&m->end, 0, __ATOMIC_RELEASE);
}

static void forget_ending(uintptr_t start)
{
	for (uint32_t i = 0; i < modules.nr_ending; i++)
		if (modules.ending[i] == start)
			modules.ending[i--] = modules.ending[--modules.nr_ending];
}

static __attribute__((noinline)) void poll_slow(void)
{
	uint64_t mask;
	bool locked = store_lock(&modules.lock, &mask), sealed = false;

	__atomic_store_n(&modules.suspect, 0, __ATOMIC_RELAXED);
	for (uint32_t i = 0; locked && i < modules.nr; i++) {
		struct known *m = known_at(i);
		uintptr_t start = m->start;

		if (!m->end || still_there(m))
			continue;
		seal(m);
		forget_ending(start);
		sealed = true;
	}
	store_unlock(&modules.lock, locked, mask);
	if (sealed)
		unwind_forget();
}

/* True if one of the modules whose end was announced is gone. */
static __attribute__((noinline)) bool ended(void)
{
	uint32_t nr = __atomic_load_n(&modules.nr_ending, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < nr && i < ENDING_MAX; i++) {
		struct dl_find_object o;
		uintptr_t start = modules.ending[i];

		if (start && (find_object(start, &o) ||
			      (uintptr_t)o.dlfo_map_start != start))
			return true;
	}
	return false;
}

void module_poll(void)
{
	if (__builtin_expect(__atomic_load_n(&modules.suspect, __ATOMIC_RELAXED) != 0, 0) ||
	    (__builtin_expect(__atomic_load_n(&modules.nr_ending, __ATOMIC_RELAXED) != 0, 0) &&
	     ended()))
		poll_slow();
}

void module_suspect(void)
{
	__atomic_store_n(&modules.suspect, 1, __ATOMIC_RELEASE);
}

void module_ending(uintptr_t address)
{
	struct dl_find_object o;
	uint64_t mask;
	bool locked;

	if (find_object(address, &o))
		return;
	locked = store_lock(&modules.lock, &mask);
	if (locked) {
		forget_ending((uintptr_t)o.dlfo_map_start);
		if (modules.nr_ending < ENDING_MAX)
			modules.ending[modules.nr_ending++] = (uintptr_t)o.dlfo_map_start;
	}
	store_unlock(&modules.lock, locked, mask);
}

void module_fork_child(void)
{
	modules.lock = 0; /* another thread may have had it */
}

/* The program's link map and mapping, by the program headers that the kernel passed. */
static void find_main(void)
{
	const ElfW(Phdr) *ph = (const void *)getauxval(AT_PHDR);
	unsigned long nr = ph ? getauxval(AT_PHNUM) : 0;
	uintptr_t low = UINTPTR_MAX, high = 0;
	struct dl_find_object o;

	for (unsigned long i = 0; i < nr; i++) {
		if (ph[i].p_type != PT_LOAD)
			continue;
		if (ph[i].p_vaddr < low)
			low = ph[i].p_vaddr;
		if (ph[i].p_vaddr + ph[i].p_memsz > high)
			high = ph[i].p_vaddr + ph[i].p_memsz;
	}
	if (high <= low || _dl_find_object((void *)(getauxval(AT_ENTRY)), &o))
		return;
	modules.main = o.dlfo_link_map;
	modules.main_start = (o.dlfo_link_map->l_addr + low) & ~(uintptr_t)4095;
	modules.main_end = o.dlfo_link_map->l_addr + high;
}

void module_start(const char *exe)
{
	find_main();
	modules.exe = exe;
}
