/* SPDX-License-Identifier: MIT */
/*
 * ignore.h - the file of --ignore: growth that is known and accepted, each kind with its reason.
 *
 *      # a comment
 *      function cache_*        # filled by the first requests; cache.max bounds it
 *      module   libgallium*    # the driver's shaders
 *
 * A line is a kind, a glob, and behind a # that stands by itself the reason, which must be there.
 * function: the name of any frame of the stack, whole or without arguments, generics and return
 * type. module: file name or path of the module that the site is in.
 */
#ifndef HEAPSTORY_ANALYSIS_IGNORE_H
#define HEAPSTORY_ANALYSIS_IGNORE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct hs_error;
struct names;

enum ignore_kind {
	IGNORE_FUNCTION,
	IGNORE_MODULE,
};

struct ignore_rule {
	enum ignore_kind kind;
	char *glob, *reason;
	unsigned int line; /* of the file, from 1 */
};

struct ignore {
	char *path;
	struct ignore_rule *rules;
	size_t nr_rules;
};

/* Reads rules to the end of a stream; name stands for it in messages. As ignore_load(). */
int ignore_read(FILE *f, const char *name, struct ignore *ret, struct hs_error *err);
/* 0, or -HS_E_SYSTEM, -HS_E_USAGE (the text names the line). On success ignore_release(). */
int ignore_load(const char *path, struct ignore *ret, struct hs_error *err);
/* Harmless on one that is all zero. */
void ignore_release(struct ignore *ignore);

#define IGNORE_NONE UINT32_MAX

/* The first rule that a stack falls under, or IGNORE_NONE. */
uint32_t ignore_rule_of(const struct ignore *ignore, struct names *names, uint32_t stack);

#endif
