/* SPDX-License-Identifier: MIT */
/*
 * pool.h - numbers of free records: a list per thread, and a shared list of batches.
 *
 * A thread that frees what others make hands its surplus on in batches, so no list grows without
 * bound. Free records are linked through their `serial` (next in the batch) and `stack` (next
 * batch); their commit word is 0.
 */
#ifndef HEAPSTORY_TRACER_POOL_H
#define HEAPSTORY_TRACER_POOL_H

#include <stdint.h>

#include "tracer/thread.h"

/* A free record's number, 0 if there is no room (recording was stopped). */
uint32_t pool_take(struct thread *t);

/* Gives a record back that has been taken out of the table. */
void pool_give(struct thread *t, uint32_t nr);

#endif
