/* SPDX-License-Identifier: MIT */
/*
 * debuginfod.h - files by build id from the servers in $DEBUGINFOD_URLS.
 *
 * Only for a user who asks: the servers learn which builds of which programs he runs. The library
 * is loaded then, and not before.
 */
#ifndef HEAPSTORY_SYMBOLIZER_DEBUGINFOD_H
#define HEAPSTORY_SYMBOLIZER_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debuginfod;

/* NULL, with one line for free() at *ret_problem, where there is no library or no server is named. */
struct debuginfod *debuginfod_new(char **ret_problem);
void debuginfod_free(struct debuginfod *client);

/*
 * Path of a copy of the file with the debug information, or of the program or library itself; for
 * free(). NULL if no server has it. A server that does not answer is not asked again.
 */
char *debuginfod_find(struct debuginfod *client, const uint8_t *build_id, size_t build_id_len,
		      bool executable);

#endif
