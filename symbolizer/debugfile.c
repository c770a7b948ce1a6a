/* SPDX-License-Identifier: MIT */
/*
 * debugfile.c - where the file of a module is, and the file with its debug information.
 *
 * Offline only. The names come from a program that may be anything, so each candidate is opened
 * and judged; the order of candidates only decides how soon the right one is met.
 */
#include "symbolizer/debugfile.h"

#include <elf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "symbolizer/debuginfod.h"
#include "symbolizer/elf.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/proc_maps.h"

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"
#define UNSURE_NS	 UINT64_C(20000000)

static void add_dir(struct debug_dirs *dirs, const char *dir, size_t len)
{
	size_t i;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	if (!len)
		return;
	for (i = 0; i < dirs->nr; i++)
		if (strlen(dirs->dirs[i]) == len && !memcmp(dirs->dirs[i], dir, len))
			return;
	dirs->dirs = xgrow(dirs->dirs, &dirs->alloc, dirs->nr + 1, sizeof(*dirs->dirs));
	dirs->dirs[dirs->nr++] = xstrndup(dir, len);
}

void debug_dirs_init(struct debug_dirs *dirs, const struct symbolizer_options *options)
{
	const char *path = getenv("HEAPSTORY_DEBUG_PATH");
	char *problem = NULL;
	size_t i;

	memset(dirs, 0, sizeof(*dirs));
	for (i = 0; options && i < options->nr_debug_dirs; i++)
		add_dir(dirs, options->debug_dirs[i], strlen(options->debug_dirs[i]));
	dirs->files = xcalloc((options ? options->nr_files : 0) + 1, sizeof(*dirs->files));
	for (i = 0; options && i < options->nr_files; i++)
		dirs->files[dirs->nr_files++] = xstrdup(options->files[i]);
	while (path && *path) {
		size_t len = strcspn(path, ":");

		add_dir(dirs, path, len);
		path += len + (path[len] == ':');
	}
	add_dir(dirs, SYSTEM_DEBUG_DIR, strlen(SYSTEM_DEBUG_DIR));
	if (options && options->debuginfod) {
		dirs->server = debuginfod_new(&problem);
		free(problem);
	}
}

void debug_dirs_release(struct debug_dirs *dirs)
{
	size_t i;

	for (i = 0; i < dirs->nr; i++)
		free(dirs->dirs[i]);
	free(dirs->dirs);
	for (i = 0; i < dirs->nr_files; i++)
		free(dirs->files[i]);
	free(dirs->files);
	debuginfod_free(dirs->server);
	memset(dirs, 0, sizeof(*dirs));
}

char *symbolizer_debuginfod_problem(void)
{
	char *problem = NULL;

	debuginfod_free(debuginfod_new(&problem));
	return problem;
}

const char *build_id_text(const uint8_t *id, size_t len, char *buf, size_t size)
{
	size_t i;

	buf[0] = '\0';
	for (i = 0; i < len && 2 * i + 3 <= size; i++)
		snprintf(buf + 2 * i, size - 2 * i, "%02x", id[i]);
	return buf;
}

static bool has_build_id(const struct elf_file *elf, const uint8_t *id, size_t len)
{
	return elf->build_id_len == len && !memcmp(elf->build_id, id, len);
}

static bool is_inode(const struct elf_file *elf, const struct symbolizer_module *module)
{
	return elf->inode == module->inode && (!module->dev || elf->dev == module->dev);
}

/*
 * Whether what was changed at that time is as it was when the module was loaded, which is told late
 * by up to a tick, and the clock of a file system is late by as much. Where the inode is known, what
 * was built and run at once is to have names; where it is not, it may be another file.
 */
static bool is_older(uint64_t changed_ns, const struct symbolizer_module *module)
{
	return !module->loaded_ns ||
	       changed_ns + (module->inode ? 0 : UNSURE_NS) <= module->loaded_ns;
}

/* Whether no link on the module's path was made after it was loaded: it may lead elsewhere since. */
static bool leads_there(const struct elf_file *elf, const struct symbolizer_module *module)
{
	size_t at = strlen(elf->path) - strlen(module->path);
	char path[PATH_MAX];
	struct stat st;

	while (module->loaded_ns && elf->path[at]) {
		at += strspn(elf->path + at, "/");
		at += strcspn(elf->path + at, "/");
		if (snprintf(path, sizeof(path), "%.*s", (int)at, elf->path) >= (int)sizeof(path) ||
		    lstat(path, &st) ||
		    (S_ISLNK(st.st_mode) && !is_older(timespec_ns(&st.st_ctim), module)))
			return false;
	}
	return true;
}

/* Says of the first file that does not fit why not, unless ret_why is NULL; takes why. */
static void not_this(char **ret_why, char *why)
{
	if (!ret_why || *ret_why)
		free(why);
	else
		*ret_why = why;
}

/* "'PATH' has the build id HAVE, not BEFORE WANT BEHIND": elf has another than id. Caller frees. */
static char *other_build_id(const char *path, const struct elf_file *elf, const uint8_t *id,
			    size_t len, const char *before, const char *behind)
{
	char have[2 * ELF_BUILD_ID_MAX + 1], want[2 * ELF_BUILD_ID_MAX + 1];

	build_id_text(id, len, want, sizeof(want));
	build_id_text(elf->build_id, elf->build_id_len, have, sizeof(have));
	return xasprintf("'%s' has %s%s, not %s%s%s", path,
			 elf->build_id_len ? "the build id " : "no build id", have, before, want,
			 behind);
}

/* Whether elf is the module's file; why not, as not_this() has it. */
static bool judge_own(const struct symbolizer_module *module, const struct elf_file *elf,
		      char **ret_why)
{
	const char *path = module->path;
	char *why;

	if (module->build_id_len) {
		if (has_build_id(elf, module->build_id, module->build_id_len))
			return true;
		why = other_build_id(path, elf, module->build_id, module->build_id_len,
				     "the build id ", " that was loaded");
	} else if (module->inode && !is_inode(elf, module)) {
		why = xasprintf("'%s' is another file than the one that was loaded", path);
	} else if (!is_older(elf->changed_ns, module) || (!module->inode && !leads_there(elf, module))) {
		why = xasprintf("'%s' has no known build id and was changed after it was loaded",
				path);
	} else {
		return true;
	}
	not_this(ret_why, why);
	return false;
}

static bool try_own(const struct symbolizer_module *module, const char *path,
		    struct elf_file *ret, char **ret_why)
{
	if (elf_open(ret, path, NULL) < 0)
		return false;
	if (judge_own(module, ret, ret_why))
		return true;
	elf_release(ret);
	return false;
}

/* Whether a file found by its name has the build id; why not, as not_this() has it. */
static bool judge_build_id(const struct elf_file *elf, const uint8_t *id, size_t len,
			   char **ret_why)
{
	if (has_build_id(elf, id, len))
		return true;
	not_this(ret_why, other_build_id(elf->path, elf, id, len, "", ""));
	return false;
}

static bool try_build_id(const struct symbolizer_module *module, const char *dir,
			 const char *suffix, struct elf_file *ret, char **ret_why)
{
	char text[2 * ELF_BUILD_ID_MAX + 1], path[PATH_MAX];

	if (module->build_id_len < 2 || module->build_id_len > ELF_BUILD_ID_MAX)
		return false;
	build_id_text(module->build_id, module->build_id_len, text, sizeof(text));
	if (snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s%s", dir, text, text + 2,
		     suffix) >= (int)sizeof(path) || elf_open(ret, path, NULL) < 0)
		return false;
	if (judge_build_id(ret, module->build_id, module->build_id_len, ret_why))
		return true;
	elf_release(ret);
	return false;
}

/* From a server, if the user wants that. */
static bool try_server(const struct debug_dirs *dirs, const struct symbolizer_module *module,
		       bool executable, struct elf_file *ret)
{
	char *path = NULL;
	bool found;

	if (dirs->server)
		path = debuginfod_find(dirs->server, module->build_id, module->build_id_len,
				       executable);
	found = path && elf_open(ret, path, NULL) >= 0;
	free(path);
	if (!found || has_build_id(ret, module->build_id, module->build_id_len))
		return found;
	elf_release(ret);
	return false;
}

/* Where the process itself sees the module's file: it may live in a container. */
static bool path_in_process(const struct symbolizer_module *module, char *ret, size_t size)
{
	const char *path = module->path ? module->path : "";

	return *path && snprintf(ret, size, "/proc/%u/%s%s", module->pid,
				 *path == '/' ? "root" : "cwd/", path) < (int)size;
}

/* A file that is known by its identity, whatever its name. */
static bool try_identity(const struct symbolizer_module *module, const char *path,
			 struct elf_file *ret)
{
	if (elf_open(ret, path, NULL) < 0)
		return false;
	if (module->build_id_len ? has_build_id(ret, module->build_id, module->build_id_len) :
				   is_inode(ret, module) && is_older(ret->changed_ns, module))
		return true;
	elf_release(ret);
	return false;
}

/* The kernel's link to the file that is mapped at the module's place. */
static bool map_file_path(const struct symbolizer_module *module, char *ret, size_t size)
{
	struct proc_maps maps;
	struct proc_map map;
	bool found = false;

	if (!module->mapped || !proc_maps_open(&maps, (pid_t)module->pid))
		return false;
	while (!found && proc_maps_next(&maps, &map))
		found = module->mapped >= map.start && module->mapped < map.end;
	proc_maps_close(&maps);
	if (found)
		snprintf(ret, size, "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, module->pid,
			 map.start, map.end);
	return found;
}

/* At its path, or, where that was deleted or replaced, through the process that has it mapped. */
static bool try_process(const struct symbolizer_module *module, struct elf_file *ret,
			char **ret_why)
{
	char path[PATH_MAX];

	if (!module->pid)
		return false;
	if (path_in_process(module, path, sizeof(path)) && try_own(module, path, ret, ret_why))
		return true;
	if (!module->build_id_len && !module->inode)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/exe", module->pid);
	return try_identity(module, path, ret) ||
	       (map_file_path(module, path, sizeof(path)) && try_identity(module, path, ret));
}

bool symbolizer_file_lost(const struct symbolizer_module *module)
{
	struct elf_file file;

	if ((!module->build_id_len && !module->inode) || !module->path || !*module->path)
		return false;
	elf_init(&file);
	if (module->path[0] != '/' || !try_identity(module, module->path, &file))
		return true;
	elf_release(&file);
	return false;
}

bool module_file_open(const struct debug_dirs *dirs, const struct symbolizer_module *module,
		      struct elf_file *ret, char **ret_problem)
{
	char text[2 * ELF_BUILD_ID_MAX + 1];
	const char *path = module->path ? module->path : "";
	char *why = NULL;
	size_t i;

	if (try_process(module, ret, &why))
		goto found;
	/* A relative path was the program's; here only an identity can tell whether it fits. */
	if ((path[0] == '/' || module->build_id_len || module->inode) && try_own(module, path, ret, &why))
		goto found;
	for (i = 0; i < dirs->nr_files && (module->build_id_len || module->inode); i++)
		if (try_identity(module, dirs->files[i], ret))
			goto found;
	for (i = 0; i < dirs->nr; i++)
		if (try_build_id(module, dirs->dirs[i], "", ret, &why))
			goto found;
	if (try_server(dirs, module, true, ret))
		goto found;
	if (!why && module->build_id_len)
		why = xasprintf("no file with build id %s for '%s'",
				build_id_text(module->build_id, module->build_id_len, text,
					      sizeof(text)), path);
	else if (!why)
		why = xasprintf("no readable ELF file '%s'", path);
	*ret_problem = why;
	return false;
found:
	free(why);
	*ret_problem = module->build_id_len || module->inode ? NULL :
		xasprintf("'%s' has no known build id; the file of that name is taken for it", path);
	return true;
}

/* Hands on why nothing was found, if that is so and wanted; returns found. */
static bool give_why(bool found, char *why, char **ret_why)
{
	if (ret_why)
		*ret_why = found ? NULL : why;
	if (found || !ret_why)
		free(why);
	return found;
}

/* The reflected CRC-32 (polynomial 0xedb88320) that .gnu_debuglink holds. */
static bool file_crc(const struct elf_file *elf, uint32_t *ret)
{
	static uint32_t table[256];
	uint8_t buf[65536];
	uint32_t crc = UINT32_MAX;
	uint64_t at;
	size_t i, len;

	if (!table[1])
		for (i = 0; i < 256; i++) {
			uint32_t c = (uint32_t)i;
			int bit;

			for (bit = 0; bit < 8; bit++)
				c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
			table[i] = c;
		}
	for (at = 0; at < elf->size; at += len) {
		len = elf->size - at < sizeof(buf) ? (size_t)(elf->size - at) : sizeof(buf);
		if (!elf_read(elf, at, buf, len))
			return false;
		for (i = 0; i < len; i++)
			crc = table[(crc ^ buf[i]) & 0xff] ^ crc >> 8;
	}
	*ret = ~crc;
	return true;
}

struct debuglink {
	const char *name;
	uint32_t crc;
};

static bool read_debuglink(struct elf_file *own, struct debuglink *ret)
{
	struct elf_section *section = elf_section_named(own, ".gnu_debuglink");
	const uint8_t *data;
	size_t len, at;

	data = section ? elf_section_data(own, section, &len) : NULL;
	if (!data)
		return false;
	at = (strnlen((const char *)data, len) + 4) & ~(size_t)3;
	/* A name only: no part of it may lead out of the folders that are searched. */
	if (len < 4 || at > len - 4 || !data[0] || strchr((const char *)data, '/'))
		return false;
	ret->name = (const char *)data;
	memcpy(&ret->crc, data + at, 4);
	return true;
}

/* Whether the file that a link names is the one: by build id where both have one, else by checksum. */
static bool judge_link(const struct symbolizer_module *module, const struct elf_file *own,
		       const struct debuglink *link, const struct elf_file *elf, char **ret_why)
{
	uint32_t crc;

	if (module->build_id_len && elf->build_id_len)
		return judge_build_id(elf, module->build_id, module->build_id_len, ret_why);
	if (own->build_id_len && elf->build_id_len)
		return judge_build_id(elf, own->build_id, own->build_id_len, ret_why);
	if (!file_crc(elf, &crc))
		return false;
	if (crc != link->crc)
		not_this(ret_why, xasprintf("'%s' has the checksum %08" PRIx32 ", not %08" PRIx32,
					    elf->path, crc, link->crc));
	return crc == link->crc;
}

static bool try_link(const struct symbolizer_module *module, const struct elf_file *own,
		     const struct debuglink *link, const char *folder, struct elf_file *ret,
		     char **ret_why)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, link->name) >= (int)sizeof(path) ||
	    elf_open(ret, path, NULL) < 0)
		return false;
	if (ret->inode == own->inode && ret->dev == own->dev) {
		elf_release(ret);
		return false;
	}
	if (judge_link(module, own, link, ret, ret_why))
		return true;
	elf_release(ret);
	return false;
}

/* In folder (below root), in its .debug, and in the same folder below each debug folder. */
static bool try_link_around(const struct debug_dirs *dirs, const struct symbolizer_module *module,
			    const struct elf_file *own, const struct debuglink *link,
			    const char *root, const char *folder, struct elf_file *ret,
			    char **ret_why)
{
	struct buffer path = { 0 };
	bool found;
	size_t i;

	buffer_addf(&path, "%s%s", root, folder);
	found = try_link(module, own, link, buffer_string(&path), ret, ret_why);
	buffer_add_string(&path, "/.debug");
	found = found || try_link(module, own, link, buffer_string(&path), ret, ret_why);
	for (i = 0; i < dirs->nr && !found; i++) {
		buffer_clear(&path);
		buffer_addf(&path, "%s%s", dirs->dirs[i], folder);
		found = try_link(module, own, link, buffer_string(&path), ret, ret_why) ||
			try_link(module, own, link, dirs->dirs[i], ret, ret_why);
	}
	buffer_clear(&path);
	return found;
}

/* Folder of a path: "/usr/lib" of "/usr/lib/x.so". */
static void cut_name(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
}

static bool find_debug_file(const struct debug_dirs *dirs, const struct symbolizer_module *module,
			    struct elf_file *own, struct elf_file *ret, char **ret_why)
{
	char folder[PATH_MAX], real[PATH_MAX], root[64] = "";
	struct debuglink link;
	size_t i;

	for (i = 0; i < dirs->nr; i++)
		if (try_build_id(module, dirs->dirs[i], ".debug", ret, ret_why))
			return true;
	if (!own || !read_debuglink(own, &link) || !module->path || module->path[0] != '/' ||
	    strlen(module->path) >= sizeof(folder))
		return false;
	strcpy(folder, module->path);
	cut_name(folder);
	if (module->pid) {
		snprintf(root, sizeof(root), "/proc/%u/root", module->pid);
		if (try_link_around(dirs, module, own, &link, root, folder, ret, ret_why))
			return true;
	}
	if (try_link_around(dirs, module, own, &link, "", folder, ret, ret_why))
		return true;
	/* A library is often loaded by a link that stands in another folder than the file. */
	if (!realpath(module->path, real))
		return false;
	cut_name(real);
	return strcmp(real, folder) &&
	       try_link_around(dirs, module, own, &link, "", real, ret, ret_why);
}

bool debug_file_open(const struct debug_dirs *dirs, const struct symbolizer_module *module,
		     struct elf_file *own, struct elf_file *ret, char **ret_why)
{
	char *why = NULL;
	bool found = find_debug_file(dirs, module, own, ret, &why) ||
		     try_server(dirs, module, false, ret);

	return give_why(found, why, ret_why);
}

/* A name of a file, a 0, and the build id of the file. */
static bool read_altlink(struct elf_file *debug, const char **ret_name,
			 struct symbolizer_module *ret_wanted)
{
	struct elf_section *section = elf_section_named(debug, ".gnu_debugaltlink");
	const uint8_t *data;
	size_t len, name_len;

	data = section ? elf_section_data(debug, section, &len) : NULL;
	if (!data)
		return false;
	name_len = strnlen((const char *)data, len);
	if (!name_len || name_len + 1 >= len || len - name_len - 1 > ELF_BUILD_ID_MAX)
		return false;
	*ret_name = (const char *)data;
	*ret_wanted = (struct symbolizer_module){
		.build_id = data + name_len + 1,
		.build_id_len = len - name_len - 1,
	};
	return true;
}

static bool try_alt(const struct symbolizer_module *wanted, const char *folder, const char *name,
		    struct elf_file *ret, char **ret_why)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s", folder, name) >= (int)sizeof(path) ||
	    elf_open(ret, path, NULL) < 0)
		return false;
	if (judge_build_id(ret, wanted->build_id, wanted->build_id_len, ret_why))
		return true;
	elf_release(ret);
	return false;
}

static bool find_alt_file(const struct debug_dirs *dirs, const struct symbolizer_module *wanted,
			  const char *name, const struct elf_file *debug, struct elf_file *ret,
			  char **ret_why)
{
	char folder[PATH_MAX];
	const char *base;
	size_t i;

	if (name[0] == '/' && try_alt(wanted, "", name, ret, ret_why))
		return true;
	if (name[0] != '/' && debug->path && strlen(debug->path) < sizeof(folder)) {
		/* Its own place, not that of a link to it, is what the name starts from. */
		if (!realpath(debug->path, folder))
			strcpy(folder, debug->path);
		cut_name(folder);
		strncat(folder, "/", sizeof(folder) - strlen(folder) - 1);
		if (try_alt(wanted, folder, name, ret, ret_why))
			return true;
	}
	base = strrchr(name, '/');
	base = base ? base + 1 : name;
	for (i = 0; i < dirs->nr; i++) {
		snprintf(folder, sizeof(folder), "%s/.dwz/", dirs->dirs[i]);
		if (try_alt(wanted, folder, base, ret, ret_why) ||
		    try_build_id(wanted, dirs->dirs[i], ".debug", ret, ret_why))
			return true;
	}
	return try_server(dirs, wanted, false, ret);
}

bool alt_file_open(const struct debug_dirs *dirs, struct elf_file *debug, struct elf_file *ret,
		   char **ret_why)
{
	struct symbolizer_module wanted;
	char *why = NULL;
	const char *name;
	bool found;

	if (!read_altlink(debug, &name, &wanted))
		return give_why(false, NULL, ret_why);
	found = find_alt_file(dirs, &wanted, name, debug, ret, &why);
	if (!found && !why)
		why = xasprintf("there is no '%s'", name);
	return give_why(found, why, ret_why);
}
