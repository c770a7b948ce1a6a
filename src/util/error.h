/* SPDX-License-Identifier: MIT */
/*
 * error.h - how library code of the offline tool says what went wrong; only src/cli prints it.
 */
#ifndef HEAPSTORY_UTIL_ERROR_H
#define HEAPSTORY_UTIL_ERROR_H

enum hs_error_code {
	HS_E_SYSTEM = 1,   /* a system call failed; the text has its message */
	HS_E_FORMAT,       /* a file is not what it should be: foreign, damaged, truncated */
	HS_E_VERSION,      /* made by a version that this one does not read */
	HS_E_USAGE,        /* the user asked for something that makes no sense */
	HS_E_NOT_FOUND,    /* no such target, address, pattern */
	HS_E_AMBIGUOUS,    /* more than one target fits */
	HS_E_STATE,        /* the program or store is in a state that does not allow it */
};

/* One line, lower case, no full stop, subjects in single quotes; empty: no error. */
struct hs_error {
	enum hs_error_code code;
	char text[1024];
};

/* Fills err (which may be NULL) and returns -code, so that callers can `return hs_error_set(…)`. */
int hs_error_set(struct hs_error *err, enum hs_error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for a failed system call: "cannot WHAT 'NAME': strerror(errno)". */
int hs_error_system(struct hs_error *err, const char *what, const char *name);

#endif
