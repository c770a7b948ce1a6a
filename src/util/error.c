/* SPDX-License-Identifier: MIT */
/*
 * error.c - fills struct hs_error; see error.h.
 */
#include "util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int hs_error_set(struct hs_error *err, enum hs_error_code code, const char *format, ...)
{
	char text[sizeof(err->text)];
	va_list args;

	if (!err)
		return -(int)code;
	/* By way of a copy: an argument may be err's own text. */
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	err->code = code;
	memcpy(err->text, text, strlen(text) + 1);
	return -(int)code;
}

int hs_error_system(struct hs_error *err, const char *what, const char *name)
{
	int saved = errno;

	hs_error_set(err, HS_E_SYSTEM, "cannot %s '%s': %s%s", what, name, strerror(saved),
		     saved == EFBIG ? " (see 'ulimit -f')" : "");
	errno = saved;
	return -HS_E_SYSTEM;
}
