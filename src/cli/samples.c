/* SPDX-License-Identifier: MIT */
/*
 * samples.c - the moments that a trend is over; see samples.h.
 */
#include "cli/samples.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/names.h"
#include "analysis/snapshot.h"
#include "analysis/thin.h"
#include "analysis/trend.h"
#include "store/place.h"
#include "store/reader.h"
#include "util/alloc.h"
#include "util/error.h"

#define NO_LOG	  SIZE_MAX
#define EXIT_NAME "exit.hs"

static void sample_release(struct sample *s)
{
	free(s->name);
	free(s->path);
	snapshot_free(s->snapshot);
}

void samples_release(struct samples *s)
{
	for (size_t i = 0; i < s->nr; i++)
		sample_release(&s->samples[i]);
	for (size_t i = 0; i < s->nr_logs; i++)
		timeline_log_release(&s->logs[i]);
	free(s->samples);
	free(s->logs);
	free(s->problem);
	memset(s, 0, sizeof(*s));
}

static struct sample *sample_add(struct samples *s)
{
	struct sample *sample;

	s->samples = xgrow(s->samples, &s->alloc, s->nr + 1, sizeof(*s->samples));
	sample = &s->samples[s->nr++];
	memset(sample, 0, sizeof(*sample));
	sample->log = NO_LOG;
	sample->recorded_ms = UNKNOWN_MS;
	return sample;
}

/* ---- finding ----------------------------------------------------------------------------- */

static int add_snapshot(struct samples *s, const char *path, bool of_folder, struct hs_error *err)
{
	struct snapshot *snapshot;
	struct sample *sample;
	bool is_store = false;
	int ret = store_is_store(path, &is_store, err);

	if (!ret)
		ret = is_store ? snapshot_open(path, &snapshot, err)
			       : snapshot_open_head(path, &snapshot, err);
	if (ret)
		return ret;
	sample = sample_add(s);
	memcpy(sample->image, snapshot->image, sizeof(sample->image));
	sample->at_ms = snapshot->start_after_ms + snapshot->taken_ms;
	sample->wall_ms = snapshot->start_real_ns / 1000000 + snapshot->taken_ms;
	sample->recorded_ms = snapshot_recorded_ms(snapshot);
	sample->path = xstrdup(path);
	sample->name = xstrdup(path_basename(path));
	sample->at_exit = of_folder && !strcmp(sample->name, EXIT_NAME);
	if (!is_store) {
		snapshot_free(snapshot);
		return 0;
	}
	kind_choose(snapshot, s->kind);
	sample->snapshot = snapshot;
	return 0;
}

/* Milliseconds of "2026-11-30T06:21:00.123Z"; 0 if it is none. */
static uint64_t wall_ms(const char *text)
{
	struct tm tm;
	const char *rest;
	unsigned int ms = 0;

	memset(&tm, 0, sizeof(tm));
	rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!rest || sscanf(rest, ".%3uZ", &ms) != 1)
		return 0;
	return (uint64_t)timegm(&tm) * 1000 + ms;
}

static void add_timeline(struct samples *s, const char *path)
{
	struct timeline_log log;
	struct hs_error err;

	if (timeline_log_read(path, &log, &err)) {
		free(s->problem);
		s->problem = xstrdup(err.text);
		return;
	}
	s->logs = xgrow(s->logs, &s->alloc_logs, s->nr_logs + 1, sizeof(*s->logs));
	s->logs[s->nr_logs++] = log;
	for (size_t i = 0; i < log.nr_sections; i++) {
		const struct timeline_log_section *section = &log.sections[i];

		for (size_t k = 0; k < section->nr_lines; k++) {
			const struct timeline_moment *m = &section->lines[k].moment;
			struct sample *sample = sample_add(s);

			memcpy(sample->image, section->image.id, sizeof(sample->image));
			sample->at_ms = m->at_ms;
			sample->wall_ms = wall_ms(m->wall);
			sample->name = xstrdup(m->name);
			sample->at_exit = !strcmp(m->name, EXIT_NAME);
			sample->log = s->nr_logs - 1;
			sample->section = i;
			sample->line = k;
		}
	}
}

static int is_snapshot_name(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 3 && entry->d_name[0] != '.' && !strcmp(entry->d_name + len - 3, ".hs");
}

static int add_folder(struct samples *s, const char *folder, bool need_blocks, struct hs_error *err)
{
	struct dirent **names = NULL;
	int nr = scandir(folder, &names, is_snapshot_name, alphasort), ret = 0;
	char *path;

	if (nr < 0)
		return hs_error_system(err, "read", folder);
	for (int i = 0; i < nr; i++) {
		path = xasprintf("%s/%s", folder, names[i]->d_name);
		if (!ret)
			ret = add_snapshot(s, path, true, err);
		free(path);
		free(names[i]);
	}
	free(names);
	path = xasprintf("%s/timeline", folder);
	if (!ret && !need_blocks && !access(path, F_OK))
		add_timeline(s, path);
	free(path);
	return ret;
}

static int add_operand(struct samples *s, const char *operand, bool need_blocks,
		       struct hs_error *err)
{
	char path[PATH_MAX];
	struct stat st;
	int ret;

	if (!stat(operand, &st) && S_ISDIR(st.st_mode))
		return add_folder(s, operand, need_blocks, err);
	ret = target_find(operand, path, sizeof(path), err);
	return ret ? ret : add_snapshot(s, path, false, err);
}

/* ---- choosing ---------------------------------------------------------------------------- */

/* Images together, each by time; of one moment the timeline's line first. */
static int by_image(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;
	int order = memcmp(x->image, y->image, sizeof(x->image));

	if (order)
		return order;
	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	return (x->log == NO_LOG) - (y->log == NO_LOG);
}

/* Makes one of two that tell of the same moment. */
static void merge(struct sample *to, struct sample *from)
{
	if (!to->path) {
		to->path = from->path;
		from->path = NULL;
	}
	if (!to->snapshot) {
		to->snapshot = from->snapshot;
		from->snapshot = NULL;
	}
	if (to->recorded_ms == UNKNOWN_MS)
		to->recorded_ms = from->recorded_ms;
	to->at_exit = to->at_exit && from->at_exit;
	sample_release(from);
}

static void merge_same(struct samples *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++) {
		struct sample *last = nr ? &s->samples[nr - 1] : NULL;

		if (last && last->at_ms == s->samples[i].at_ms &&
		    !memcmp(last->image, s->samples[i].image, sizeof(last->image)))
			merge(last, &s->samples[i]);
		else
			s->samples[nr++] = s->samples[i];
	}
	s->nr = nr;
}

/* Keeps [from, to) only. */
static void keep_range(struct samples *s, size_t from, size_t to)
{
	for (size_t i = 0; i < s->nr; i++) {
		if (i < from || i >= to)
			sample_release(&s->samples[i]);
	}
	memmove(s->samples, s->samples + from, (to - from) * sizeof(*s->samples));
	s->nr_others = s->nr - (to - from);
	s->nr = to - from;
}

/* Keeps the image that has enough of them, the latest of these; the one with most if none has. */
static void keep_one_image(struct samples *s)
{
	size_t best = 0, best_nr = 0, to;
	uint64_t best_wall = 0;

	for (size_t from = 0; from < s->nr; from = to) {
		bool enough, had = best_nr >= TREND_MIN_SAMPLES;

		for (to = from + 1;
		     to < s->nr && !memcmp(s->samples[to].image, s->samples[from].image,
					   sizeof(s->samples[to].image));)
			to++;
		enough = to - from >= TREND_MIN_SAMPLES;
		if (had && !enough)
			continue;
		if ((enough && !had) || (enough && s->samples[to - 1].wall_ms > best_wall) ||
		    (!enough && to - from > best_nr)) {
			best = from;
			best_nr = to - from;
			best_wall = s->samples[to - 1].wall_ms;
		}
	}
	if (s->nr)
		keep_range(s, best, best + best_nr);
}

static void drop_exit(struct samples *s)
{
	uint64_t exit_ms = 0;
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++)
		nr += !s->samples[i].at_exit;
	if (nr < TREND_MIN_SAMPLES || nr == s->nr)
		return;
	nr = 0;
	for (size_t i = 0; i < s->nr; i++) {
		if (s->samples[i].at_exit) {
			exit_ms = s->samples[i].at_ms;
			sample_release(&s->samples[i]);
		} else {
			s->samples[nr++] = s->samples[i];
		}
	}
	s->nr = nr;
	if (exit_ms > s->samples[nr - 1].at_ms)
		s->ran_on_ms = exit_ms - s->samples[nr - 1].at_ms;
}

static void keep_so_many(struct samples *s)
{
	uint64_t *at = xcalloc(s->nr + 1, sizeof(*at));
	bool *keep = xcalloc(s->nr + 1, sizeof(*keep));
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++)
		at[i] = s->samples[i].at_ms;
	thin_evenly(at, s->nr, SAMPLES_MOST, keep);
	for (size_t i = 0; i < s->nr; i++) {
		if (keep[i])
			s->samples[nr++] = s->samples[i];
		else
			sample_release(&s->samples[i]);
	}
	s->nr_left_out = s->nr - nr;
	s->nr = nr;
	free(at);
	free(keep);
}

int samples_find(struct samples *ret, const char *const *operands, size_t nr, bool need_blocks,
		 enum block_kind kind, struct hs_error *err)
{
	int status = 0;

	memset(ret, 0, sizeof(*ret));
	ret->kind = kind;
	for (size_t i = 0; i < nr && !status; i++)
		status = add_operand(ret, operands[i], need_blocks, err);
	if (status)
		return status;
	if (ret->nr)
		qsort(ret->samples, ret->nr, sizeof(*ret->samples), by_image);
	merge_same(ret);
	keep_one_image(ret);
	drop_exit(ret);
	keep_so_many(ret);
	if (ret->nr < TREND_MIN_SAMPLES)
		return hs_error_set(err, HS_E_USAGE,
				    "a trend needs three or more snapshots of one process; %s %s "
				    "%zu%s",
				    nr == 1 ? "here" : ret->nr == 1 ? "this" : "these",
				    ret->nr == 1 ? "is" : "are", ret->nr,
				    ret->nr_others ? " of one, and others of another" : "");
	return 0;
}

uint64_t samples_unrecorded_ms(const struct samples *s)
{
	const struct sample *before = NULL;
	uint64_t off_ms = 0;

	for (size_t i = 0; i < s->nr; i++) {
		const struct sample *after = &s->samples[i];
		uint64_t elapsed, recorded;

		if (after->recorded_ms == UNKNOWN_MS)
			continue;
		elapsed = before ? after->at_ms - before->at_ms : 0;
		recorded = before ? after->recorded_ms - before->recorded_ms : 0;
		off_ms += elapsed > recorded ? elapsed - recorded : 0;
		before = after;
	}
	return off_ms;
}

uint64_t samples_unseen_end_ms(const struct samples *s)
{
	uint64_t longest = 0;

	for (size_t i = 1; i < s->nr; i++) {
		uint64_t interval = s->samples[i].at_ms - s->samples[i - 1].at_ms;

		longest = interval > longest ? interval : longest;
	}
	return s->ran_on_ms > 2 * longest ? s->ran_on_ms : 0;
}

/* ---- reading ----------------------------------------------------------------------------- */

int sample_open(struct sample *s, enum block_kind kind, struct snapshot **ret, struct hs_error *err)
{
	int status;

	if (s->snapshot) {
		*ret = s->snapshot;
		s->snapshot = NULL;
		return 0;
	}
	status = snapshot_open(s->path, ret, err);
	if (!status)
		kind_choose(*ret, kind);
	return status;
}

/* The state of a section, with the series' numbers of its nodes; NULL: not begun. */
struct section_cursor {
	struct timeline_state state;
	uint32_t *nodes;
};

/* Nodes of the series by those of a section; caller frees. */
static uint32_t *nodes_of(struct series *series, const struct timeline_log_section *s)
{
	uint32_t *modules = xcalloc(s->nr_modules, sizeof(*modules));
	uint32_t *nodes = xcalloc(s->nr_nodes, sizeof(*nodes));

	for (size_t i = 1; i < s->nr_modules; i++)
		modules[i] = series_module(series, &s->modules[i]);
	for (size_t i = 1; i < s->nr_nodes; i++)
		nodes[i] =
			series_node(series, nodes[s->nodes[i].parent], modules[s->nodes[i].module],
				    s->nodes[i].offset, s->nodes[i].signal);
	free(modules);
	return nodes;
}

/* Who it is, where no snapshot is left to tell. */
static void describe(struct series *series, const struct timeline_image *image)
{
	series->all->pid = image->pid;
	series->all->generation = image->generation;
	memcpy(series->all->image, image->id, sizeof(series->all->image));
	memcpy(series->all->comm, image->comm, sizeof(series->all->comm));
}

static void add_line(struct series *series, struct section_cursor *c,
		     const struct timeline_log_section *section, size_t line)
{
	const struct timeline_moment *m = &section->lines[line].moment;
	uint64_t count = 0, bytes = 0;

	if (!c->nodes) {
		describe(series, &section->image);
		timeline_state_init(&c->state, section);
		c->nodes = nodes_of(series, section);
	}
	while (c->state.line <= line)
		timeline_state_next(&c->state);
	series_begin(series, m->at_ms);
	for (size_t i = 1; i < section->nr_nodes; i++) {
		const struct timeline_totals *t = &c->state.totals[i];

		if (!t->count && !t->bytes)
			continue;
		series_put(series, series_stack(series, c->nodes[i]), t->count, t->bytes);
		count += t->count;
		bytes += t->bytes;
	}
	/* what has no stack is in the sums alone */
	if (m->totals.count >= count && m->totals.bytes >= bytes)
		series_put(series, 0, m->totals.count - count, m->totals.bytes - bytes);
	series_end(series);
}

static void cursors_free(struct section_cursor *cursors, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (cursors[i].nodes)
			timeline_state_release(&cursors[i].state);
		free(cursors[i].nodes);
	}
	free(cursors);
}

static int add_sample(struct series *series, struct sample *sample, enum block_kind kind,
		      struct hs_error *err)
{
	struct snapshot *snapshot = sample->snapshot;
	int ret = 0;

	if (!snapshot) /* totals are those of malloc */
		ret = kind == KIND_MALLOC ? snapshot_open_to_stream(sample->path, &snapshot, err)
					  : sample_open(sample, kind, &snapshot, err);
	if (ret)
		return ret;
	series_describe(series, snapshot);
	ret = series_add(series, snapshot, err);
	if (snapshot != sample->snapshot) /* else it is still needed for its blocks */
		snapshot_free(snapshot);
	return ret;
}

int samples_series(struct samples *s, struct series *series, struct sample **ret_latest,
		   struct hs_error *err)
{
	struct section_cursor **cursors = xcalloc(s->nr_logs + 1, sizeof(*cursors));
	int status = 0;

	*ret_latest = NULL;
	for (size_t i = 0; i < s->nr_logs; i++)
		cursors[i] = xcalloc(s->logs[i].nr_sections + 1, sizeof(*cursors[i]));
	for (size_t i = 0; i < s->nr && !status; i++) {
		struct sample *sample = &s->samples[i];

		if (sample->path)
			*ret_latest = sample;
		if (sample->log == NO_LOG)
			status = add_sample(series, sample, s->kind, err);
		else
			add_line(series, &cursors[sample->log][sample->section],
				 &s->logs[sample->log].sections[sample->section], sample->line);
	}
	for (size_t i = 0; i < s->nr_logs; i++)
		cursors_free(cursors[i], s->logs[i].nr_sections);
	free(cursors);
	return status;
}
