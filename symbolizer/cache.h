/* SPDX-License-Identifier: MIT */
/*
 * cache.h - what the symbolizer found, kept on disk from run to run.
 *
 * One file for each build and each way of getting at its names, in $XDG_CACHE_HOME/heapstory, else
 * ~/.cache/heapstory: a folder of the user's own, mode 0700. A cache only saves time, so nothing
 * here fails aloud: what is missing, foreign, damaged or another version is as if it were not
 * there, and what cannot be written is not written. Any number of processes may use it at once.
 */
#ifndef HEAPSTORY_SYMBOLIZER_CACHE_H
#define HEAPSTORY_SYMBOLIZER_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizer/mapping.h"
#include "util/name_map.h"

struct name_table;

struct cache_limits {
	uint64_t folder_bytes; /* of all files; the ones used longest ago go first */
	uint64_t file_bytes;   /* of one: what does not fit starts afresh */
};

struct cache {
	int folder; /* -1: there is none, and nothing is kept */
	struct cache_limits limits;
};

/* What the names of a module depend on besides the address. */
struct cache_key {
	const uint8_t *build_id;
	size_t build_id_len; /* 0: nothing is kept, as nothing tells the file from others */
	const void *source;  /* bytes that tell the files used, and how, from others */
	size_t source_len;
};

/* Finds or makes the folder; limits may be NULL. cache_release() takes it back. */
void cache_init(struct cache *cache, const struct cache_limits *limits);
void cache_release(struct cache *cache);

/* What is known under a key. All zero: nothing. */
struct cached_names {
	struct mapping file;
	struct name_map map; /* in it */
};

/* Maps what is known under this key, as far as one file has it. cached_names_release() ends that. */
void cache_load(const struct cache *cache, const struct cache_key *key, struct cached_names *ret);
void cached_names_release(struct cached_names *names);

/* Adds a table's places, of module 0, to what is known under this key. What others added meanwhile stays. */
void cache_save(const struct cache *cache, const struct cache_key *key, struct name_table *table);

#endif
