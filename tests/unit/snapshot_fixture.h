/* SPDX-License-Identifier: MIT */
/*
 * snapshot_fixture.h - what the tests of stores and of snapshot files share.
 */
#ifndef HEAPSTORY_TESTS_SNAPSHOT_FIXTURE_H
#define HEAPSTORY_TESTS_SNAPSHOT_FIXTURE_H

#include "analysis/snapshot_internal.h"
#include "tests/unit/fake_store.h"

/* Of a store, and of two snapshot files; in the folder of the test. */
extern char store_path[64], file_path[64], other_path[64];

/* Makes the folder (folder.h); folder_remove() is its counterpart. */
int make_paths(void **state);

/* Each fails the test if something is not in order. Caller: snapshot_free(). */
struct snapshot *open_good(const char *path);
void assert_valid(const struct snapshot *s);
/* Of the store, which stays the caller's. */
struct snapshot *snap_of(struct fake_store *f);
/* All that a snapshot file keeps of them is the same. */
void assert_same(const struct snapshot *a, const struct snapshot *b);

#endif
