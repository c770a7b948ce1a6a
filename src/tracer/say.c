/* SPDX-License-Identifier: MIT */
/*
 * say.c - what the tracer has to say: a ring of lines in the store.
 *
 * Runs on any thread of the traced program. Two writers that meet in one place of a ring that
 * went round may mix their texts; a line's time is stored last, so a reader sees whole lines
 * otherwise.
 */
#include "tracer/say.h"

#include "store/format.h"
#include "store/writer.h"

#include <stddef.h>

static size_t append(char *to, size_t at, size_t size, const char *text)
{
	while (text && *text && at + 1 < size)
		to[at++] = *text++;
	to[at] = '\0';
	return at;
}

void say(const char *text, const char *detail)
{
	uint64_t nr = __atomic_fetch_add(&store.messages->count, 1, __ATOMIC_RELAXED);
	struct hs_message *m = &store.messages->ring[nr % HS_NR_MESSAGES];
	size_t at;

	__atomic_store_n(&m->ms, 0, __ATOMIC_RELEASE);
	at = append(m->text, 0, sizeof(m->text), text);
	if (detail)
		append(m->text, append(m->text, at, sizeof(m->text), ": "), sizeof(m->text), detail);
	__atomic_store_n(&m->ms, store_now_ms() | 1, __ATOMIC_RELEASE);
}
