/* SPDX-License-Identifier: MIT */
/*
 * busy_program.h - a program that runs while its store is read: a child whose threads follow the
 * tracer's side of the freeze protocol for ever. What does not work fails the test.
 */
#ifndef HEAPSTORY_TESTS_BUSY_PROGRAM_H
#define HEAPSTORY_TESTS_BUSY_PROGRAM_H

#include <sys/types.h>

#include "tests/unit/fake_store.h"

#define BUSY_THREADS 4u

/* A store for one such program; flags: enum hs_store_flags. Caller: fake_store_free(). */
struct fake_store *busy_store_new(const char *path, uint32_t flags);
/* Starts the program; its pid when all threads work. */
pid_t busy_start(struct fake_store *f);
/* Kills a child and waits for it. */
void busy_end(pid_t pid);
/* A tear-down: a test that failed has left its program, whose threads would take the others' time. */
int busy_end_left(void **state);
/* The threads get something done now. */
void assert_goes_on(struct fake_store *f);

/* What a thread does about an event: enters, waits while frozen; says what it changes; leaves. */
void busy_enter(struct fake_store *f, struct hs_thread *t);
void busy_begin(struct hs_thread *t, enum hs_op op, uint32_t stack, uint32_t stack_from);
void busy_leave(struct hs_thread *t);

void pause_ms(unsigned int ms);

#endif
