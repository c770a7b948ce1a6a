/* SPDX-License-Identifier: MIT */
/*
 * place.h - how a store or a snapshot file is found by what people call it, and the registry of
 * traced processes. Offline side; where a store is made is where.h.
 */
#ifndef HEAPSTORY_STORE_PLACE_H
#define HEAPSTORY_STORE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hs_error;

/* A running traced process as the registry knows it. */
struct registry_entry {
	pid_t pid;
	uint64_t start_ticks;
	char store[4096];
	char comm[16];
	char exe[4096];
};

/* The registry's folder: $XDG_RUNTIME_DIR/heapstory or /tmp/heapstory-UID; made 0700 if need be. */
int registry_path(char *ret, size_t size, struct hs_error *err);

/*
 * Running traced processes of this user (all users' for root is not looked for); entries of
 * processes that are gone are removed from the folder on the way. Caller frees *ret.
 * Entries are symbolic links named PID.STARTTICKS that point to the store.
 */
int registry_list(struct registry_entry **ret, size_t *ret_nr, struct hs_error *err);

/*
 * Turns a TARGET (pid, name, snapshot file, store, folder with store.live) into the path of a
 * snapshot file or store that snapshot_open() takes. A name that fits several running processes
 * is -HS_E_AMBIGUOUS and the text lists them.
 */
int target_find(const char *target, char *ret_path, size_t size, struct hs_error *err);

#endif
