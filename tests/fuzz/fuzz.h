/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what a fuzz target gives to main.c: one parser, fed with one input.
 */
#ifndef HEAPSTORY_TESTS_FUZZ_H
#define HEAPSTORY_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Parses data[0..len), which may be anything. Must neither crash nor leak nor hang. */
void fuzz_one(const uint8_t *data, size_t len);

#endif
