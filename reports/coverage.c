/* SPDX-License-Identifier: MIT */
/*
 * coverage.c - which process and moment a report is about, and what was and what was not seen.
 *
 * A report that could not look somewhere says so here and never prints a zero for it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff.h"
#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "reports/report.h"
#include "reports/rows.h"
#include "util/alloc.h"
#include "util/units.h"

static void set(json_t *object, const char *name, json_t *value)
{
	json_object_set_new_nocheck(object, name, value);
}

static void set_int(json_t *object, const char *name, uint64_t value)
{
	set(object, name, json_integer((json_int_t)value));
}

json_t *rows_target(const struct snapshot *s)
{
	static const char *const sources[] = {
		[SNAPSHOT_FILE] = "snapshot",
		[SNAPSHOT_LIVE_STORE] = "running",
		[SNAPSHOT_DEAD_STORE] = "store of a process that is gone",
	};
	json_t *o = json_object();
	char comm[sizeof(s->comm) + 1] = "";

	memcpy(comm, s->comm, sizeof(s->comm));
	set_int(o, "pid", s->pid);
	set(o, "name", report_string(comm));
	set(o, "exe", s->exe && *s->exe ? report_string(s->exe) : json_null());
	set(o, "source", json_string(sources[s->source]));
	set(o, "path", report_string(s->path));
	set(o, "label", report_string(s->label));
	set(o, "number", s->number ? json_integer((json_int_t)s->number) : json_null());
	set_int(o, "generation", s->generation);
	set(o, "taken_s", json_real(rows_seconds(s, s->taken_ms)));
	set(o, "wall",
	    s->start_real_ns ? report_wall(s->start_real_ns + s->taken_ms * 1000000) : json_null());
	return o;
}

/* ---- notes ------------------------------------------------------------------------------- */

void rows_add_note(json_t *coverage, const char *format, ...)
{
	json_t *notes = json_object_get(coverage, "notes");
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	json_array_append_new(notes, report_string(text));
	free(text);
}

static const char *plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

static void note_completeness(json_t *o, const struct snapshot *s)
{
	const struct snap_coverage *c = &s->coverage;
	static const char *const reasons[] = {
		[HS_STOP_NONE] = "no reason is given",
		[HS_STOP_CAP] = "the store reached its cap",
		[HS_STOP_NO_SPACE] = "the file system or memory limit refused pages for the store",
		[HS_STOP_FAULT] = "the tracer met a state that cannot be",
	};

	if (s->state == HS_STATE_STOPPED)
		rows_add_note(o, "recording stopped at +%.1f s: %s", rows_seconds(s, c->stopped_ms),
			      reasons[c->stop_reason <= HS_STOP_FAULT ? c->stop_reason : 0]);
	if (s->state == HS_STATE_EXECED)
		rows_add_note(o, "the process went on as another program, which has another store "
				 "if it could be traced");
	if (c->mode == HS_MODE_OFF)
		rows_add_note(o, "recording is off");
	if (c->mode == HS_MODE_DRAIN)
		rows_add_note(o, "recording is off: only frees and reallocs of known blocks are "
				 "followed");
	if (!c->consistent)
		rows_add_note(o,
			      "inconsistent: the program went on while this was copied; %" PRIu64
			      " block%s in doubt",
			      c->in_doubt, plural(c->in_doubt));
	else if (c->in_doubt)
		rows_add_note(o,
			      "%" PRIu64 " thread%s in the middle of a change: as many blocks are "
			      "in "
			      "doubt",
			      c->in_doubt, c->in_doubt == 1 ? " was" : "s were");
	if (c->dropped_blocks)
		rows_add_note(o, "%" PRIu64 " block%s left out: lost frees or damaged records",
			      c->dropped_blocks, plural(c->dropped_blocks));
	if (c->lost[HS_LOST_OVERRUN])
		rows_add_note(o,
			      "%" PRIu64 " time%s a thread did not wait for a snapshot any longer",
			      c->lost[HS_LOST_OVERRUN], plural(c->lost[HS_LOST_OVERRUN]));
}

static void note_program(json_t *o, const struct snapshot *s)
{
	uint32_t flags = s->coverage.flags;
	uint64_t children = s->coverage.lost[HS_LOST_CHILD];

	if (flags & HS_STORE_PYMALLOC)
		rows_add_note(o, "small Python objects are in pymalloc's arenas and not seen one "
				 "by one; "
				 "start it with PYTHONMALLOC=malloc");
	if (flags & HS_STORE_OWN_MALLOC)
		rows_add_note(o, "the program defines malloc itself: those calls are not seen");
	if (children && flags & HS_STORE_FOLLOW)
		rows_add_note(o, "%" PRIu64 " %s not be traced: made by system() or popen(), of "
				 "programs that can't be, or without room for a store",
			      children, children == 1 ? "child could" : "children could");
	else if (children)
		rows_add_note(o, "%" PRIu64 " %s not traced; --follow-children traces %s", children,
			      children == 1 ? "child was" : "children were",
			      children == 1 ? "it" : "them");
	if (flags & HS_STORE_CHILD)
		rows_add_note(o, "a followed child: it began with the blocks of its parent");
}

static void note_stacks(json_t *o, const struct snapshot *s)
{
	uint64_t depth = 0, caller = 0;

	if (s->coverage.flags & HS_STORE_NO_UNWINDER)
		rows_add_note(o, "libunwind is not in use: stacks through unusual frames are "
				 "cut");
	for (size_t i = 1; i < s->nr_stacks; i++) {
		uint32_t node = s->stacks[i].node;

		if (!s->stacks[i].live_count)
			continue;
		while (node && s->nodes[node].parent)
			node = s->nodes[node].parent;
		depth += s->nodes[node].pc == HS_PC_CUT_DEPTH;
		caller += s->nodes[node].pc == HS_PC_CUT_UNWIND;
	}
	if (depth)
		rows_add_note(o, "%" PRIu64 " stack%s cut at the depth limit of %" PRIu32 " frame%s",
			      depth, plural(depth), s->depth, plural(s->depth));
	if (caller)
		rows_add_note(o, "%" PRIu64 " stack%s cut where the caller was not found", caller,
			      plural(caller));
}

/*
 * Where the store is matters while its program runs and it grows: in memory it counts against the
 * program's limit, on disk it costs write-back. What became of it later is no business of a snapshot.
 */
static void note_store(json_t *o, const struct snapshot *s)
{
	const char *slash = s->path ? strrchr(s->path, '/') : NULL;

	if (s->source == SNAPSHOT_LIVE_STORE && s->coverage.flags & HS_STORE_ON_TMPFS)
		rows_add_note(o, "the store is in memory (tmpfs)");
	else if (s->source == SNAPSHOT_LIVE_STORE && slash)
		rows_add_note(o, "the store is on disk, in '%.*s'", (int)(slash - s->path),
			      s->path);
	for (size_t i = 0; i < s->nr_messages; i++)
		rows_add_note(o, "tracer: %s", s->messages[i]);
}

/* ---- coverage ---------------------------------------------------------------------------- */

static const char *mode_name(uint32_t mode)
{
	static const char *const names[] = {
		[HS_MODE_OFF] = "off",	 [HS_MODE_LIVE] = "live", [HS_MODE_SAMPLE] = "sample",
		[HS_MODE_FULL] = "full", [HS_MODE_DRAIN] = "off",
	};

	return mode <= HS_MODE_DRAIN ? names[mode] : "unknown";
}

/* Events that left no trace; what was recorded without its stack is counted elsewhere. */
static uint64_t events_lost(const struct snap_coverage *c)
{
	return c->lost[HS_LOST_NESTED] + c->lost[HS_LOST_STOPPED] + c->lost[HS_LOST_ADDRESS] +
	       c->lost[HS_LOST_STALE];
}

/*
 * Of a store that stopped, and whose program is gone, the last sign may be the stop itself: how
 * long the program went on is not known, so no share is.
 */
static json_t *share_of_life(const struct snapshot *s)
{
	const struct snap_coverage *c = &s->coverage;

	if (s->state == HS_STATE_STOPPED && s->taken_ms <= c->stopped_ms)
		return json_null();
	return json_real(c->share_of_life);
}

json_t *rows_coverage(const struct snapshot *s)
{
	const struct snap_coverage *c = &s->coverage;
	bool stopped = s->state == HS_STATE_STOPPED;
	json_t *o = json_object();

	set(o, "mode", json_string(stopped ? "stopped" : mode_name(c->mode)));
	set(o, "since_s", json_real(rows_seconds(s, stopped ? c->stopped_ms : c->since_ms)));
	set(o, "share_of_life", share_of_life(s));
	set_int(o, "blocks_without_stack", c->blocks_without_stack);
	set_int(o, "events_lost", events_lost(c));
	set_int(o, "unknown_frees", c->lost[HS_LOST_UNKNOWN_FREE]);
	set(o, "unexplained_bytes", json_null());
	set(o, "consistent", json_boolean(c->consistent));
	set_int(o, "in_doubt", c->in_doubt);
	set(o, "notes", json_array());
	note_completeness(o, s);
	note_program(o, s);
	note_stacks(o, s);
	note_store(o, s);
	return o;
}

json_t *rows_coverage_unknown(void)
{
	static const char *const members[] = {
		"mode",	       "since_s",	"share_of_life",     "blocks_without_stack",
		"events_lost", "unknown_frees", "unexplained_bytes", "consistent",
		"in_doubt",
	};
	json_t *o = json_object();

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		set(o, members[i], json_null());
	set(o, "notes", json_array());
	return o;
}

/* Notes of one side that the other has not, word for word. */
static void merge_notes(json_t *to, const json_t *from, const char *side)
{
	json_t *mine = json_object_get(to, "notes"), *note;
	const json_t *others = json_object_get(from, "notes");
	size_t i, k, nr = json_array_size(mine);

	json_array_foreach(others, i, note)
	{
		for (k = 0; k < nr && !json_equal(json_array_get(mine, k), note); k++)
			;
		if (k == nr)
			rows_add_note(to, "%s: %s", side, json_string_value(note));
	}
}

json_t *rows_coverage_of_two(const struct snapshot *before, const struct snapshot *after)
{
	json_t *o = rows_coverage(after), *b = rows_coverage(before);
	uint64_t off_ms = diff_unrecorded_ms(before, after);
	char text[UNITS_LEN];
	double since = json_real_value(json_object_get(b, "since_s"));
	json_t *mine = json_object_get(o, "share_of_life");
	json_t *others = json_object_get(b, "share_of_life");

	if (since > json_real_value(json_object_get(o, "since_s")))
		set(o, "since_s", json_real(since));
	if (json_is_null(others) ||
	    (!json_is_null(mine) && json_real_value(others) < json_real_value(mine)))
		set(o, "share_of_life", json_incref(others));
	if (!before->coverage.consistent)
		set(o, "consistent", json_false());
	merge_notes(o, b, "before");
	if (off_ms)
		rows_add_note(o,
			      "recording was off for %s between the two: what was born then is not "
			      "seen",
			      units_format_duration_ms(off_ms, text));
	json_decref(b);
	return o;
}
