/* SPDX-License-Identifier: MIT */
/*
 * say.h - what the tracer has to say: a ring of lines in the store, printed by the offline tool.
 */
#ifndef HEAPSTORY_TRACER_SAY_H
#define HEAPSTORY_TRACER_SAY_H

/* Puts a line into the ring: text, then detail if not NULL. Cut at HS_MESSAGE_LEN. Any thread. */
void say(const char *text, const char *detail);

#endif
