/* SPDX-License-Identifier: MIT */
/*
 * cache.c - what the symbolizer found, kept on disk; see cache.h.
 *
 * A file is a header and a map of names (name_map.h), which is used where it lies:
 *
 *      0   magic[16]
 *      16  u64 checksum: XXH3, 64 bits, of all that follows it
 *      24  key[16]: XXH3, 128 bits, of version, build id and source
 *      40  the map
 *
 * It is written aside and renamed, so a reader sees a whole one or none. Of two processes that
 * write one file at once the later keeps its own; the other's names are found again another time.
 */
#include "symbolizer/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "util/alloc.h"
#include "util/buffer.h"
#include "util/cursor.h"
#include "util/name_table.h"

#define CACHE_VERSION 5u /* change it with the format, and whenever the same file gives other names */
#define CACHE_MAGIC   "\x89HSNAMES\r\n\x1a\n\0\0\0"
#define HEADER_BYTES  40u
#define SUFFIX	      ".names"
#define ASIDE_SUFFIX  ".tmp"
#define NAME_LEN      128u
#define HOUR	      3600
#define DAY	      (24 * HOUR)

static const struct cache_limits default_limits = {UINT64_C(256) << 20, UINT64_C(32) << 20};

/* ---- the folder -------------------------------------------------------------------------- */

/* Whether nobody else can put something there. */
static bool is_ours(int fd, mode_t type, struct stat *ret)
{
	return !fstat(fd, ret) && (ret->st_mode & S_IFMT) == type && ret->st_uid == geteuid() &&
	       !(ret->st_mode & (S_IWGRP | S_IWOTH));
}

/* Opens a folder, made if need be, in one that is ours: not in the home of whom sudo came from. */
static int open_folder(int parent, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	struct stat st;
	int fd;

	if (!is_ours(parent, S_IFDIR, &st))
		return -1;
	fd = openat(parent, name, flags | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT && (!mkdirat(parent, name, 0700) || errno == EEXIST))
		fd = openat(parent, name, flags | O_NOFOLLOW);
	if (fd >= 0 && !is_ours(fd, S_IFDIR, &st)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* $XDG_CACHE_HOME, else ~/.cache, which may be links of the user's; -1 where there is neither. */
static int open_base(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int parent, fd;

	if (base && base[0] == '/') {
		mkdir(base, 0700);
		return open(base, flags);
	}
	if (!home || home[0] != '/')
		return -1;
	parent = open(home, flags);
	if (parent < 0)
		return -1;
	fd = openat(parent, ".cache", flags);
	if (fd < 0 && errno == ENOENT)
		fd = open_folder(parent, ".cache");
	close(parent);
	return fd;
}

void cache_init(struct cache *cache, const struct cache_limits *limits)
{
	int base = open_base();

	cache->limits = limits ? *limits : default_limits;
	cache->folder = base < 0 ? -1 : open_folder(base, "heapstory");
	if (base >= 0)
		close(base);
}

void cache_release(struct cache *cache)
{
	if (cache->folder >= 0)
		close(cache->folder);
	cache->folder = -1;
}

/* ---- keys -------------------------------------------------------------------------------- */

static XXH128_canonical_t key_hash(const struct cache_key *key)
{
	struct buffer b = {NULL, 0, 0};
	XXH128_canonical_t hash;

	buffer_add_u32(&b, CACHE_VERSION);
	buffer_add_counted(&b, key->build_id, key->build_id_len);
	buffer_add_counted(&b, key->source, key->source_len);
	XXH128_canonicalFromHash(&hash, XXH3_128bits(b.data, b.len));
	buffer_clear(&b);
	return hash;
}

/* The start of the build id, for people, and the key. */
static const char *file_name(const struct cache_key *key, const XXH128_canonical_t *hash,
			     char ret[static NAME_LEN])
{
	size_t len = key->build_id_len < 20 ? key->build_id_len : 20, at = 0;

	for (size_t i = 0; i < len; i++)
		at += (size_t)sprintf(ret + at, "%02x", key->build_id[i]);
	ret[at++] = '-';
	for (size_t i = 0; i < sizeof(hash->digest); i++)
		at += (size_t)sprintf(ret + at, "%02x", hash->digest[i]);
	strcpy(ret + at, SUFFIX);
	return ret;
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Keeps the file from being the one used longest ago; at most one write a day. */
static void note_use(int fd, const struct stat *st)
{
	if (time(NULL) - st->st_mtime > DAY)
		futimens(fd, NULL);
}

/* Whether these bytes are a whole file of ours under the key, and the map of names in it. */
static bool parse(const uint8_t *data, size_t len, const XXH128_canonical_t *hash,
		  struct name_map *ret)
{
	struct cursor c = cursor_of(data, len);
	const uint8_t *magic = cursor_bytes(&c, 16);
	uint64_t checksum = cursor_u64(&c);
	const uint8_t *key = cursor_bytes(&c, sizeof(*hash));

	return !c.bad && !memcmp(magic, CACHE_MAGIC, 16) && !memcmp(key, hash, sizeof(*hash)) &&
	       checksum == XXH3_64bits(data + 24, len - 24) &&
	       name_map_open(ret, data + HEADER_BYTES, len - HEADER_BYTES);
}

void cache_load(const struct cache *cache, const struct cache_key *key, struct cached_names *ret)
{
	XXH128_canonical_t hash;
	char name[NAME_LEN];
	struct stat st;
	int fd;

	memset(ret, 0, sizeof(*ret));
	if (cache->folder < 0 || !key->build_id_len)
		return;
	hash = key_hash(key);
	fd = openat(cache->folder, file_name(key, &hash, name),
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (is_ours(fd, S_IFREG, &st) && st.st_size > HEADER_BYTES &&
	    (uint64_t)st.st_size <= cache->limits.file_bytes &&
	    mapping_open(&ret->file, fd, 0, (size_t)st.st_size)) {
		if (!parse(ret->file.data, ret->file.len, &hash, &ret->map))
			cached_names_release(ret);
		note_use(fd, &st);
	}
	close(fd);
}

void cached_names_release(struct cached_names *names)
{
	mapping_close(&names->file);
	memset(names, 0, sizeof(*names));
}

/* ---- the limit --------------------------------------------------------------------------- */

struct cached_file {
	char *name;
	uint64_t bytes;
	struct timespec used;
};

static int by_use(const void *a, const void *b)
{
	const struct cached_file *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	if (x->used.tv_nsec != y->used.tv_nsec)
		return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t len = strlen(name), n = strlen(suffix);

	return len > n && !strcmp(name + len - n, suffix);
}

/* Lists our files; of those aside that a killed process left, removes the ones that are old. */
static size_t list_files(int folder, struct cached_file **ret, uint64_t *ret_bytes)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	size_t nr = 0, alloc = 0;
	struct dirent *entry;

	*ret = NULL;
	*ret_bytes = 0;
	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		struct stat st;
		bool aside = ends_with(entry->d_name, ASIDE_SUFFIX);

		if ((!aside && !ends_with(entry->d_name, SUFFIX)) ||
		    fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (aside) {
			if (time(NULL) - st.st_mtime > HOUR)
				unlinkat(folder, entry->d_name, 0);
			continue;
		}
		*ret = xgrow(*ret, &alloc, nr + 1, sizeof(**ret));
		(*ret)[nr++] = (struct cached_file){xstrdup(entry->d_name), (uint64_t)st.st_size,
						    st.st_mtim};
		*ret_bytes += (uint64_t)st.st_size;
	}
	if (dir)
		closedir(dir);
	return nr;
}

/*
 * Where there is too much, leaves three quarters, so that not each run has to tidy up; and in any
 * case the file `newest`, which the clock of the file system may not know to be newer.
 */
static void tidy_up(const struct cache *cache, const char *newest)
{
	uint64_t max = cache->limits.folder_bytes, bytes;
	struct cached_file *files;
	size_t nr = list_files(cache->folder, &files, &bytes);

	if (bytes > max) {
		qsort(files, nr, sizeof(*files), by_use);
		for (size_t i = 0; i < nr && bytes > max / 4 * 3; i++) {
			if (!strcmp(files[i].name, newest))
				continue;
			unlinkat(cache->folder, files[i].name, 0);
			bytes -= files[i].bytes;
		}
	}
	for (size_t i = 0; i < nr; i++)
		free(files[i].name);
	free(files);
}

/* ---- writing ----------------------------------------------------------------------------- */

/* The bytes of a file; false: more than a file may have. */
static bool encode(struct name_table *table, const XXH128_canonical_t *hash, uint64_t max,
		   struct buffer *b)
{
	struct buffer map = {NULL, 0, 0};
	XXH64_hash_t checksum;
	bool fits;

	fits = name_map_encode(table, &map) && HEADER_BYTES + map.len <= max;
	if (fits) {
		buffer_add(b, CACHE_MAGIC, 16);
		buffer_add_u64(b, 0);
		buffer_add(b, hash, sizeof(*hash));
		buffer_add(b, map.data, map.len);
		checksum = XXH3_64bits(b->data + 24, b->len - 24);
		for (int i = 0; i < 8; i++)
			b->data[16 + i] = (uint8_t)(checksum >> (8 * i));
	}
	buffer_clear(&map);
	return fits;
}

static bool write_all(int fd, const struct buffer *b)
{
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = write(fd, b->data + done, b->len - done);

		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static void write_file(int folder, const char *name, const struct buffer *b)
{
	static unsigned int nr_written;
	char aside[NAME_LEN + 48];
	bool done;
	int fd;

	snprintf(aside, sizeof(aside), "%s.%d.%u" ASIDE_SUFFIX, name, (int)getpid(), nr_written++);
	fd = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	done = write_all(fd, b);
	if (close(fd) || !done || renameat(folder, aside, folder, name))
		unlinkat(folder, aside, 0);
}

void cache_save(const struct cache *cache, const struct cache_key *key, struct name_table *table)
{
	const uint64_t max = cache->limits.file_bytes;
	struct name_table all = {0};
	struct buffer b = {NULL, 0, 0};
	struct cached_names known;
	XXH128_canonical_t hash;
	char name[NAME_LEN];

	if (cache->folder < 0 || !key->build_id_len || !table->nr_places)
		return;
	hash = key_hash(key);
	cache_load(cache, key, &known);
	name_map_add_to(&known.map, &all);
	if (known.map.nr_places)
		name_table_add_all(&all, table);
	if (encode(known.map.nr_places ? &all : table, &hash, max, &b) ||
	    encode(table, &hash, max, &b)) {
		write_file(cache->folder, file_name(key, &hash, name), &b);
		tidy_up(cache, name);
	}
	buffer_clear(&b);
	name_table_release(&all);
	cached_names_release(&known);
}
