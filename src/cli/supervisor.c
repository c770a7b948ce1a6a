/* SPDX-License-Identifier: MIT */
/*
 * supervisor.c - what looks after a traced program from outside; see supervisor.h.
 *
 * Invariant: nothing here touches the program but through its store, and no failure here is more
 * than a line on standard error.
 */
#include "cli/supervisor.h"

#include "analysis/snapshot.h"
#include "analysis/thin.h"
#include "cli/bake.h"
#include "cli/command.h"
#include "cli/finish.h"
#include "cli/numbered.h"
#include "cli/timeline.h"
#include "store/format.h"
#include "store/summary.h"
#include "util/alloc.h"
#include "util/clock.h"
#include "util/units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NEVER		 UINT64_MAX
#define GROWTH_POLL_MS	 100
#define CHILDREN_POLL_NS UINT64_C(1000000000)
#define IMAGES_POLL_NS	 UINT64_C(500000000)
#define EXEC_POLL_NS	 10000000
#define EXEC_POLLS	 100
#define RUNNING_NAMED	 8u /* children that are named where they run on */

static uint64_t ms_since(uint64_t ns)
{
	uint64_t now = monotonic_ns();

	return now > ns ? (now - ns) / 1000000 : 0;
}

/* Path of a file in a folder; false if it is too long. */
static bool join(char ret[PATH_MAX], const char *dir, const char *name)
{
	return snprintf(ret, PATH_MAX, "%s/%s", dir, name) < PATH_MAX;
}

static void complain(struct supervisor *s, const struct hs_error *err)
{
	s->trouble = true;
	if (!strcmp(s->said.text, err->text))
		return;
	s->said = *err;
	say_error(err);
}

/* ---- numbered snapshots ------------------------------------------------------------------ */

static void keep_add(struct supervisor *s, uint32_t number, uint64_t bytes, uint64_t taken_ns)
{
	s->kept = xgrow(s->kept, &s->alloc_kept, s->nr_kept + 1, sizeof(*s->kept));
	s->kept[s->nr_kept++] = (struct kept_snapshot){number, bytes, taken_ns};
}

static int is_numbered(const struct dirent *entry)
{
	return numbered_number(entry->d_name) != 0;
}

static int by_time(const void *a, const void *b)
{
	const struct kept_snapshot *x = a, *y = b;

	if (x->taken_ns != y->taken_ns)
		return x->taken_ns < y->taken_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Goes on behind the snapshots of an earlier supervisor. */
static void find_numbered(struct supervisor *s)
{
	struct dirent **names = NULL;
	int nr = scandir(s->dir, &names, is_numbered, NULL);
	char path[PATH_MAX];
	struct stat st;

	for (int i = 0; i < nr; i++) {
		uint32_t number = numbered_number(names[i]->d_name);

		if (join(path, s->dir, names[i]->d_name) && !stat(path, &st)) {
			keep_add(s, number, (uint64_t)st.st_size, timespec_ns(&st.st_mtim));
			if (number >= s->next_number)
				s->next_number = number + 1;
		}
		free(names[i]);
	}
	free(names);
	if (s->nr_kept)
		qsort(s->kept, s->nr_kept, sizeof(*s->kept), by_time);
}

/* Which of the kept snapshots goes next; there are 3 at least. */
static size_t thin_victim(const struct supervisor *s)
{
	uint64_t *at = xcalloc(s->nr_kept, sizeof(*at));
	size_t victim;

	for (size_t i = 0; i < s->nr_kept; i++)
		at[i] = s->kept[i].taken_ns;
	victim = thin_next(at, s->nr_kept);
	free(at);
	return victim;
}

/*
 * Removes snapshots until the others fit into the budget, beside `more` bytes, so that what is left
 * spans the whole run evenly. Never the first or the latest.
 */
static void thin_out(struct supervisor *s, uint64_t more)
{
	uint64_t total = more;

	for (size_t i = 0; i < s->nr_kept; i++)
		total += s->kept[i].bytes;
	while (s->options.keep_bytes && total > s->options.keep_bytes && s->nr_kept > 2) {
		size_t victim = thin_victim(s);
		char name[NUMBERED_NAME_LEN], path[PATH_MAX];

		if (join(path, s->dir, numbered_name(s->kept[victim].number, name)))
			unlink(path);
		total -= s->kept[victim].bytes;
		memmove(&s->kept[victim], &s->kept[victim + 1],
			(s->nr_kept - victim - 1) * sizeof(*s->kept));
		s->nr_kept--;
	}
}

/* ---- taking them ------------------------------------------------------------------------- */

/*
 * Writes dir/name from the store of that folder, and a line of the timeline if there is one.
 * Without a name, the next number that is free, which next_number is then. ended_ms: when the
 * program ended, of which its store has only the last sign of life; 0: it runs, or nobody knows.
 */
static int take_snapshot(struct supervisor *s, const char *dir, const char *name, uint64_t ended_ms,
			 struct timeline *timeline)
{
	struct snapshot *snapshot;
	struct hs_error err;
	char store[PATH_MAX], path[PATH_MAX], number[NUMBERED_NAME_LEN];
	int ret;

	if (!join(store, dir, "store.live") || (name && !join(path, dir, name)))
		return -HS_E_SYSTEM;
	ret = snapshot_open(store, &snapshot, &err);
	if (ret) {
		complain(s, &err);
		return ret;
	}
	snapshot_set_end(snapshot, ended_ms);
	if (dir == s->dir)
		s->bytes_before = snapshot->live_bytes;
	bake_fleeting(snapshot, &s->held);
	if (name) {
		ret = snapshot_write(snapshot, path, NULL, &err);
	} else {
		ret = numbered_write(snapshot, dir, NULL, s->next_number, &s->next_number, &err);
		name = numbered_name(s->next_number, number);
	}
	if (ret)
		complain(s, &err);
	else
		s->nr_written++;
	if (timeline && timeline_add(timeline, snapshot, name, &err))
		complain(s, &err);
	snapshot_free(snapshot);
	return ret;
}

static void take_numbered(struct supervisor *s)
{
	char name[NUMBERED_NAME_LEN], path[PATH_MAX];
	struct stat st;

	if (take_snapshot(s, s->dir, NULL, 0, s->timeline))
		return;
	if (join(path, s->dir, numbered_name(s->next_number, name)) && !stat(path, &st))
		keep_add(s, s->next_number, (uint64_t)st.st_size, timespec_ns(&st.st_mtim));
	s->next_number++;
	thin_out(s, 0);
}

/* What the store says of itself; false if no tracer has come to it yet or it cannot be read. */
static bool summarize(const char *dir, struct store_summary *ret)
{
	char store[PATH_MAX];

	return join(store, dir, "store.live") && !store_summary(store, ret, NULL) &&
	       ret->state != HS_STATE_NEW;
}

/* Where the store is while dir/store.live leads to it: the folder may be moved or removed. */
static void note_store(struct supervisor *s)
{
	char live[PATH_MAX], store[PATH_MAX];

	if (join(live, s->dir, "store.live") && realpath(live, store))
		memcpy(s->store, store, sizeof(s->store));
}

/* Lets dir/name lead to a store, whatever it led to before. */
static bool link_store(const struct supervisor *s, const char *store, const char *name)
{
	char link[PATH_MAX], temp[PATH_MAX];

	if (!join(link, s->dir, name) || !join(temp, s->dir, "store.next"))
		return false;
	if (!symlink(store, temp) && !rename(temp, link))
		return true;
	say("cannot make link '%s': %s", link, strerror(errno));
	unlink(temp);
	return false;
}

/* Store of an image; false if it is not there. */
static bool store_of_image(const struct supervisor *s, uint32_t generation, char ret[PATH_MAX])
{
	return snprintf(ret, PATH_MAX, "%s%" PRIu32 ".store", s->stores, generation) < PATH_MAX &&
	       !access(ret, F_OK);
}

/* See supervisor_follow_images(). */
static void follow_images(struct supervisor *s)
{
	char store[PATH_MAX], live[PATH_MAX], old[PATH_MAX], name[32];
	ssize_t len;

	while (s->stores[0] && store_of_image(s, s->generation + 1, store)) {
		snprintf(name, sizeof(name), "store.%" PRIu32, s->generation);
		s->generation++;
		len = join(live, s->dir, "store.live") ? readlink(live, old, sizeof(old) - 1) : -1;
		if (len <= 0)
			continue;
		old[len] = 0;
		if (link_store(s, old, name))
			link_store(s, store, "store.live");
	}
}

bool supervisor_follow_images(struct supervisor *s, const char *stores, uint32_t generation)
{
	if (snprintf(s->stores, sizeof(s->stores), "%s", stores) >= (int)sizeof(s->stores))
		return false;
	s->generation = generation;
	return true;
}

/* ---- children ---------------------------------------------------------------------------- */

/* Why recording ended before the program did; child: its folder, else NULL. */
static void say_stopped(const struct finish_result *result, const char *child)
{
	static const char *const why[] = {
		[HS_STOP_NONE] = "for no known reason",
		[HS_STOP_CAP] = "the store reached its largest size",
		[HS_STOP_NO_SPACE] = "there was no more room for the store",
		[HS_STOP_FAULT] = "the tracer found its own table damaged",
	};
	char text[UNITS_LEN];

	if (!result->stop_reason || result->stop_reason >= sizeof(why) / sizeof(why[0]))
		return;
	units_format_duration_ms(result->stopped_ms, text);
	if (child)
		say("recording of '%s' stopped %s after its start: %s", child, text,
		    why[result->stop_reason]);
	else
		say("recording stopped %s after its start: %s", text, why[result->stop_reason]);
}

static void finish_folder(struct supervisor *s, const char *dir)
{
	struct finish_result result;
	struct hs_error err;
	char path[PATH_MAX];

	if (s->options.exit_snapshot && join(path, dir, "exit.hs") && access(path, F_OK))
		take_snapshot(s, dir, "exit.hs", 0, NULL);
	if (finish_stores(dir, &result, &err))
		complain(s, &err);
	s->nr_untraced += result.nr_untraced;
	say_stopped(&result, dir);
}

static int is_child(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "child.", 6);
}

/* Takes down a child that outlives the program, and so this supervisor too. */
static void note_running(struct supervisor *s, const struct store_summary *child)
{
	if (s->nr_running < RUNNING_NAMED)
		buffer_addf(&s->running, "%s%" PRIu32 " (%.*s)", s->nr_running ? ", " : "",
			    child->pid, (int)sizeof(child->comm), child->comm);
	else if (s->nr_running == RUNNING_NAMED)
		buffer_add_string(&s->running, ", ...");
	s->nr_running++;
}

/*
 * What a child's store says of it. One that is at its exec has a new store in a moment, unless the
 * image can't be traced; patient: waits for that.
 */
static struct store_summary child_summary(const char *store, bool patient)
{
	const struct timespec pause = {.tv_nsec = EXEC_POLL_NS};
	struct store_summary child;

	for (int i = 0;; i++) {
		memset(&child, 0, sizeof(child));
		if (store_summary(store, &child, NULL) || child.alive || !child.process_runs ||
		    !patient || i >= EXEC_POLLS)
			return child;
		nanosleep(&pause, NULL);
	}
}

static void see_to_child(struct supervisor *s, const char *dir, const char *store, bool at_end)
{
	struct store_summary child = child_summary(store, at_end);

	if (!child.process_runs || (at_end && !child.alive))
		finish_folder(s, dir);
	else if (at_end)
		note_running(s, &child);
}

/* Sees to the folders of children that are gone; at_end: notes those that are not. */
static void finish_children(struct supervisor *s, const char *dir, bool at_end)
{
	struct dirent **names = NULL;
	int nr = scandir(dir, &names, is_child, alphasort);

	for (int i = 0; i < nr; i++) {
		char child[PATH_MAX], store[PATH_MAX];
		struct stat st;

		if (join(child, dir, names[i]->d_name) && join(store, child, "store.live")) {
			if (!lstat(store, &st) && S_ISLNK(st.st_mode))
				see_to_child(s, child, store, at_end);
			finish_children(s, child, at_end);
		}
		free(names[i]);
	}
	free(names);
}

/* ---- the supervisor ---------------------------------------------------------------------- */

void supervisor_init(struct supervisor *s, const char *dir,
		     const struct supervisor_options *options)
{
	char path[PATH_MAX];

	memset(s, 0, sizeof(*s));
	s->options = *options;
	snprintf(s->dir, sizeof(s->dir), "%s", dir);
	s->next_number = 1;
	if (join(path, s->dir, "timeline"))
		s->timeline = timeline_new(path, s->options.keep_bytes / TIMELINE_SHARE);
	find_numbered(s);
	note_store(s);
	s->next_every_ns = options->every_ns ? monotonic_ns() + options->every_ns : NEVER;
	s->next_children_ns = options->follow ? monotonic_ns() + CHILDREN_POLL_NS : NEVER;
}

void supervisor_release(struct supervisor *s)
{
	timeline_free(s->timeline);
	free(s->kept);
	buffer_clear(&s->running);
	held_release(&s->held);
	s->timeline = NULL;
	s->kept = NULL;
}

void supervisor_sign(struct supervisor *s, uint64_t pid)
{
	char store[PATH_MAX];
	int fd = join(store, s->dir, "store.live") ? open(store, O_WRONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	if (pwrite(fd, &pid, sizeof(pid),
		   HS_CONTROL_OFF + offsetof(struct hs_control, supervisor)) < 0)
		say("cannot write '%s': %s", store, strerror(errno));
	close(fd);
}

/* Whether a snapshot is due; moves the dates on. */
static bool is_due(struct supervisor *s, uint64_t now)
{
	struct store_summary summary;
	bool due = now >= s->next_every_ns;

	if (due) /* what was missed is not made up for */
		s->next_every_ns +=
			(1 + (now - s->next_every_ns) / s->options.every_ns) * s->options.every_ns;
	if (!due && !s->options.growth_bytes)
		return false;
	if (!summarize(s->dir, &summary))
		return false;
	return due || (summary.live_bytes > 0 &&
		       (uint64_t)summary.live_bytes >= s->bytes_before + s->options.growth_bytes);
}

static int ms_until(uint64_t now, uint64_t then)
{
	uint64_t ms;

	if (then == NEVER)
		return -1;
	ms = then > now ? (then - now + 999999) / 1000000 : 0;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

int supervisor_tick(struct supervisor *s)
{
	uint64_t now = monotonic_ns(), next;

	follow_images(s);
	note_store(s);
	next = held_look(&s->held, s->options.pid, now);
	if (is_due(s, now))
		take_numbered(s);
	if (now >= s->next_children_ns) {
		finish_children(s, s->dir, false);
		s->next_children_ns = monotonic_ns() + CHILDREN_POLL_NS;
	}
	if (s->options.growth_bytes)
		return GROWTH_POLL_MS;
	if (s->next_every_ns < next)
		next = s->next_every_ns;
	if (s->next_children_ns < next)
		next = s->next_children_ns;
	if (s->stores[0] && next > now + IMAGES_POLL_NS)
		next = now + IMAGES_POLL_NS;
	return ms_until(monotonic_ns(), next);
}

/*
 * No store was found in the folder: either there is none, or the folder cannot be read any more and
 * all that was recorded is still where the store was.
 */
static void say_no_store(struct supervisor *s)
{
	struct store_summary summary;
	struct hs_error err;

	if (s->store[0] && !access(s->store, F_OK) &&
	    (store_summary(s->store, &summary, NULL) || summary.state != HS_STATE_NEW))
		hs_error_set(&err, HS_E_STATE,
			     "what was recorded stays in '%s'; 'heapstory heap %s' reads it",
			     s->store, s->store);
	else
		hs_error_set(&err, HS_E_STATE,
			     "nothing was recorded: the program ended, or became "
			     "one that cannot be traced, before the tracer had started");
	complain(s, &err);
}

void supervisor_finish(struct supervisor *s)
{
	struct store_summary summary;
	struct finish_result result;
	struct hs_error err;
	char path[PATH_MAX];
	struct stat st;
	bool traced;

	follow_images(s);
	traced = summarize(s->dir, &summary);
	if (traced && s->options.exit_snapshot &&
	    !take_snapshot(s, s->dir, "exit.hs", ms_since(summary.start_ns), s->timeline) &&
	    join(path, s->dir, "exit.hs") && !stat(path, &st))
		thin_out(s, (uint64_t)st.st_size);
	held_release(&s->held); /* children are not held, and there may be few descriptors */
	if (finish_stores(s->dir, &result, &err))
		complain(s, &err);
	s->nr_untraced += result.nr_untraced;
	if (s->options.follow)
		finish_children(s, s->dir, true);
	if (!result.nr_stores)
		say_no_store(s);
	say_stopped(&result, NULL);
}

void supervisor_report(struct supervisor *s)
{
	const char *running = buffer_string(&s->running);

	if (s->nr_untraced && s->options.follow)
		say("%" PRIu64 " %s not be traced", s->nr_untraced,
		    s->nr_untraced == 1 ? "child could" : "children could");
	else if (s->nr_untraced)
		say("%" PRIu64 " %s not traced; --follow-children traces %s", s->nr_untraced,
		    s->nr_untraced == 1 ? "child was" : "children were",
		    s->nr_untraced == 1 ? "it" : "them");
	if (s->nr_running == 1)
		say("child %s runs on, in '%s'; 'heapstory supervise %.*s' takes its exit.hs",
		    running, s->dir, (int)strcspn(running, " "), running);
	else if (s->nr_running)
		say("%zu children run on, in '%s': %s; 'heapstory supervise PID' takes the "
		    "exit.hs of each",
		    s->nr_running, s->dir, running);
	if (s->nr_written && isatty(STDERR_FILENO))
		say("%s: %u %s", s->dir, s->nr_written,
		    s->nr_written == 1 ? "snapshot" : "snapshots");
}
