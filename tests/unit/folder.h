/* SPDX-License-Identifier: MIT */
/*
 * folder.h - a folder of its own for a test program, below /tmp.
 */
#ifndef HEAPSTORY_TESTS_FOLDER_H
#define HEAPSTORY_TESTS_FOLDER_H

/* Set-up and tear-down of a group of tests, or called by theirs: 0, or -1. Removes all in it, too. */
int folder_make(void **state);
int folder_remove(void **state);

/* The folder itself. */
const char *folder(void);
/* Path of a file in it; good for the next 63 calls. */
const char *in_folder(const char *name);
/* Runs shell commands in it; the test fails if one of them does. */
void run(const char *commands);

#endif
