/* SPDX-License-Identifier: MIT */
/*
 * escape.c - control characters as text; see escape.h.
 */
#include "util/escape.h"

#include <stddef.h>

#include "util/buffer.h"

/* Bytes of the control character that the text begins with; 0: it begins with none. */
static size_t control_len(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;

	if (u[0] < 0x20 || u[0] == 0x7f)
		return 1;
	return u[0] == 0xc2 && u[1] >= 0x80 && u[1] < 0xa0 ? 2 : 0;
}

bool has_controls(const char *s)
{
	for (; *s; s++) {
		if (control_len(s))
			return true;
	}
	return false;
}

char *escape_controls(const char *s)
{
	struct buffer b = {0};

	while (*s) {
		size_t len = control_len(s);

		if (!len)
			buffer_add_byte(&b, (uint8_t)*s++);
		else if (*s == '\n' || *s == '\t')
			buffer_add_string(&b, *s++ == '\n' ? "\\n" : "\\t");
		else
			for (; len; len--)
				buffer_addf(&b, "\\x%02x", (unsigned char)*s++);
	}
	return buffer_detach(&b);
}
