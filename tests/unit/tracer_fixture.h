/* SPDX-License-Identifier: MIT */
/*
 * tracer_fixture.h - the tracer as a library, recording this process into a store of the test's own.
 *
 * A preloaded library starts by itself (lifecycle.c); a test starts it once, and no hook calls it.
 */
#ifndef HEAPSTORY_TESTS_TRACER_FIXTURE_H
#define HEAPSTORY_TESTS_TRACER_FIXTURE_H

/* The store's path, in the folder of the test (folder.h). */
extern char tracer_store_path[64];

/* Set-up of a group of tests; folder_remove() is its counterpart. */
int tracer_set_up(void **state);

#endif
