/* SPDX-License-Identifier: MIT */
/*
 * progress.h - a sign of life on a terminal while a report takes longer than a second.
 */
#ifndef HEAPSTORY_CLI_PROGRESS_H
#define HEAPSTORY_CLI_PROGRESS_H

/* Begins to count, once; shows nothing unless standard error is a terminal. */
void progress_start(void);

/* Takes the line away; before anything else is printed. Harmless where none was started. */
void progress_stop(void);

#endif
