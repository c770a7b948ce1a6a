/* SPDX-License-Identifier: MIT */
/*
 * timeline.c - per-stack totals at each snapshot; see timeline.h for the format.
 *
 * Invariant: what the maps below hold is what the lines of the section have told so far. A line
 * that could not be written therefore ends the section.
 */
#include "cli/timeline.h"

#include "analysis/snapshot.h"
#include "util/alloc.h"
#include "util/buffer.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uthash.h>

struct totals {
	uint64_t count, bytes, born_count, born_bytes;
};

struct frame_key {
	uint64_t offset;
	uint32_t parent, module;
	uint64_t signal;
};

struct frame {
	struct frame_key key;
	uint32_t nr; /* in the section */
	uint32_t seen; /* number of the line that `now` is of */
	struct totals told, now; /* all zero where no stack ends here */
	UT_hash_handle hh;
};

struct timeline {
	char *path;
	int fd; /* -1: not open yet */
	bool begun; /* the section has its first line */
	off_t end; /* of the file after our latest line */
	uint8_t image[32]; /* of the section */
	struct frame *frames; /* hash by key */
	uint32_t nr_frames, nr_modules, line;
	char **modules; /* path and build id, as they were written */
	size_t alloc_modules;
	/* Of the snapshot at hand: its numbers in those of the section. */
	struct frame **frame_of_node;
	uint32_t *nr_of_module;
};

struct timeline *timeline_new(const char *path)
{
	struct timeline *t = xcalloc(1, sizeof(*t));

	t->path = xstrdup(path);
	t->fd = -1;
	return t;
}

static void section_clear(struct timeline *t)
{
	struct frame *f, *next;

	HASH_ITER(hh, t->frames, f, next) {
		HASH_DEL(t->frames, f);
		free(f);
	}
	for (uint32_t i = 0; i < t->nr_modules; i++)
		free(t->modules[i]);
	t->nr_modules = t->nr_frames = t->line = 0;
	t->begun = false;
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	section_clear(t);
	if (t->fd >= 0)
		close(t->fd);
	free(t->modules);
	free(t->path);
	free(t);
}

/* ---- text -------------------------------------------------------------------------------- */

static void add_json_string(struct buffer *b, const char *text)
{
	json_t *string = json_string(text);
	char *copy, *dump;

	if (!string) { /* not UTF-8: a path may be anything */
		copy = xstrdup(text);
		for (char *p = copy; *p; p++)
			if (*p & 0x80)
				*p = '?';
		string = json_string(copy);
		free(copy);
	}
	dump = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
	buffer_add_string(b, dump ? dump : "\"\"");
	free(dump);
	json_decref(string);
}

static void add_wall(struct buffer *b, uint64_t real_ns)
{
	time_t s = (time_t)(real_ns / 1000000000u);
	struct tm tm;
	char text[64];

	gmtime_r(&s, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	buffer_addf(b, "\"%s.%03uZ\"", text, (unsigned int)(real_ns / 1000000u % 1000));
}

static void add_header(struct buffer *b, const struct snapshot *s)
{
	char comm[sizeof(s->comm) + 1];

	memcpy(comm, s->comm, sizeof(s->comm));
	comm[sizeof(s->comm)] = 0;
	buffer_addf(b, "{\"timeline\":1,\"pid\":%" PRIu32 ",\"generation\":%" PRIu32 ",\"comm\":",
		    s->pid, s->generation);
	add_json_string(b, comm);
	buffer_add_string(b, ",\"start\":");
	add_wall(b, s->start_real_ns - s->start_after_ms * 1000000u);
	buffer_add_string(b, "}\n");
}

/* ---- modules and nodes ------------------------------------------------------------------- */

/* Path and build id as members of an array: what tells modules apart. */
static char *module_text(const struct snap_module *m)
{
	struct buffer b = {NULL, 0, 0};

	buffer_add_byte(&b, '[');
	add_json_string(&b, m->path);
	buffer_add_string(&b, ",\"");
	for (uint32_t i = 0; i < m->build_id_len && i < HS_BUILD_ID_LEN; i++)
		buffer_addf(&b, "%02x", m->build_id[i]);
	buffer_add_string(&b, "\"]");
	return buffer_detach(&b);
}

/* Number in the section of a module; adds it, and to the line, if it is new. */
static uint32_t module_number(struct timeline *t, struct buffer *b, const struct snap_module *m)
{
	char *text = module_text(m);

	for (uint32_t i = 0; i < t->nr_modules; i++) {
		if (!strcmp(t->modules[i], text)) {
			free(text);
			return i + 1;
		}
	}
	t->modules = xgrow(t->modules, &t->alloc_modules, t->nr_modules + 1u, sizeof(*t->modules));
	t->modules[t->nr_modules++] = text;
	if (b->len && b->data[b->len - 1] != '[')
		buffer_add_byte(b, ',');
	buffer_add_string(b, text);
	return t->nr_modules;
}

static void add_modules(struct timeline *t, struct buffer *b, const struct snapshot *s)
{
	buffer_add_string(b, ",\"modules\":[");
	for (size_t i = 1; i < s->nr_modules; i++)
		t->nr_of_module[i] = module_number(t, b, &s->modules[i]);
	buffer_add_byte(b, ']');
}

/* The frame of a node of the snapshot; adds it, and to the line, if it is new. */
static struct frame *frame_of(struct timeline *t, struct buffer *b, const struct snapshot *s,
			      const struct snap_node *node)
{
	struct frame *f, *parent = t->frame_of_node[node->parent];
	bool known = node->module && node->module < s->nr_modules;
	struct frame_key key;

	memset(&key, 0, sizeof(key));
	key.offset = known ? node->pc - s->modules[node->module].load_bias : node->pc;
	key.module = known ? t->nr_of_module[node->module] : 0;
	key.parent = parent ? parent->nr : 0;
	key.signal = node->signal;
	HASH_FIND(hh, t->frames, &key, sizeof(key), f);
	if (f)
		return f;
	f = xcalloc(1, sizeof(*f));
	f->key = key;
	f->nr = ++t->nr_frames;
	HASH_ADD(hh, t->frames, key, sizeof(key), f);
	if (b->data[b->len - 1] != '[')
		buffer_add_byte(b, ',');
	buffer_addf(b, "[%" PRIu32 ",%" PRIu32 ",%" PRIu64 "%s]", key.parent, key.module,
		    key.offset, node->signal ? ",1" : "");
	return f;
}

static void add_nodes(struct timeline *t, struct buffer *b, const struct snapshot *s)
{
	buffer_add_string(b, ",\"nodes\":[");
	for (size_t i = 1; i < s->nr_nodes; i++)
		t->frame_of_node[i] = frame_of(t, b, s, &s->nodes[i]);
	buffer_add_byte(b, ']');
}

static void add_stacks(struct timeline *t, struct buffer *b, const struct snapshot *s)
{
	struct frame *f, *next;

	t->line++;
	for (size_t i = 0; i < s->nr_stacks; i++) {
		const struct snap_stack *stack = &s->stacks[i];

		f = stack->node < s->nr_nodes ? t->frame_of_node[stack->node] : NULL;
		if (!f)
			continue; /* blocks without a stack are in the sums alone */
		if (f->seen != t->line)
			f->now = (struct totals){0, 0, 0, 0};
		f->seen = t->line;
		f->now.count += stack->live_count;
		f->now.bytes += stack->live_bytes;
		f->now.born_count += stack->born_count;
		f->now.born_bytes += stack->born_bytes;
	}
	buffer_add_string(b, ",\"stacks\":[");
	HASH_ITER(hh, t->frames, f, next) {
		if (f->seen != t->line)
			f->now.count = f->now.bytes = 0;
		if (!memcmp(&f->now, &f->told, sizeof(f->now)))
			continue;
		f->told = f->now;
		if (b->data[b->len - 1] != '[')
			buffer_add_byte(b, ',');
		buffer_addf(b, "[%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
			    f->nr, f->now.count, f->now.bytes, f->now.born_count,
			    f->now.born_bytes);
	}
	buffer_add_byte(b, ']');
}

static void add_snapshot(struct timeline *t, struct buffer *b, const struct snapshot *s,
			 const char *name)
{
	uint64_t ms = s->start_after_ms + s->taken_ms;

	buffer_add_string(b, "{\"snapshot\":");
	add_json_string(b, name);
	buffer_addf(b, ",\"s\":%" PRIu64 ".%03u,\"wall\":", ms / 1000, (unsigned int)(ms % 1000));
	add_wall(b, s->start_real_ns + s->taken_ms * 1000000u);
	buffer_addf(b,
		    ",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"born_count\":%" PRIu64
		    ",\"born_bytes\":%" PRIu64 ",\"peak_bytes\":%" PRIu64,
		    s->live_count, s->live_bytes, s->born_count, s->born_bytes, s->peak_bytes);
	t->nr_of_module = xcalloc(s->nr_modules + 1, sizeof(*t->nr_of_module));
	t->frame_of_node = xcalloc(s->nr_nodes + 1, sizeof(struct frame *));
	add_modules(t, b, s);
	add_nodes(t, b, s);
	add_stacks(t, b, s);
	free(t->nr_of_module);
	free(t->frame_of_node);
	t->nr_of_module = NULL;
	t->frame_of_node = NULL;
	buffer_add_string(b, "}\n");
}

/* ---- the file ---------------------------------------------------------------------------- */

/* Size of the whole lines of a file. */
static off_t whole_lines(int fd, off_t size)
{
	char buf[4096];

	while (size > 0) {
		off_t start = size > (off_t)sizeof(buf) ? size - (off_t)sizeof(buf) : 0;
		ssize_t n = pread(fd, buf, (size_t)(size - start), start);
		char *newline = n > 0 ? memrchr(buf, '\n', (size_t)n) : NULL;

		if (newline)
			return start + (newline - buf) + 1;
		size = start;
	}
	return 0;
}

static int open_file(struct timeline *t, struct hs_error *err)
{
	t->fd = open(t->path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return t->fd < 0 ? hs_error_system(err, "write", t->path) : 0;
}

/*
 * Keeps other writers out, cuts off half a line that one of them was killed in, and ends the
 * section if they wrote since: numbers would mean those of their section.
 */
static int lock_file(struct timeline *t, struct hs_error *err)
{
	struct stat st;
	off_t whole;

	while (flock(t->fd, LOCK_EX)) {
		if (errno != EINTR)
			return hs_error_system(err, "lock", t->path);
	}
	if (fstat(t->fd, &st))
		return hs_error_system(err, "read", t->path);
	whole = whole_lines(t->fd, st.st_size);
	if (whole != st.st_size && ftruncate(t->fd, whole))
		return hs_error_system(err, "write", t->path);
	if (whole != t->end)
		section_clear(t);
	return 0;
}

static int append(struct timeline *t, const struct buffer *b, struct hs_error *err)
{
	off_t before = lseek(t->fd, 0, SEEK_END);
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = write(t->fd, b->data + done, b->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int saved = n ? errno : ENOSPC;

			if (before >= 0 && ftruncate(t->fd, before))
				saved = errno;
			errno = saved;
			return hs_error_system(err, "write", t->path);
		}
		done += (size_t)n;
	}
	return 0;
}

int timeline_add(struct timeline *t, const struct snapshot *snapshot, const char *name,
		 struct hs_error *err)
{
	struct buffer b = {NULL, 0, 0};
	int ret = t->fd < 0 ? open_file(t, err) : 0;

	if (!ret)
		ret = lock_file(t, err);
	if (ret)
		goto out;
	if (!t->begun || memcmp(t->image, snapshot->image, sizeof(t->image))) {
		section_clear(t);
		memcpy(t->image, snapshot->image, sizeof(t->image));
		add_header(&b, snapshot);
		t->begun = true;
	}
	add_snapshot(t, &b, snapshot, name);
	ret = append(t, &b, err);
	if (ret)
		section_clear(t);
	t->end = lseek(t->fd, 0, SEEK_END);
out:
	if (t->fd >= 0)
		flock(t->fd, LOCK_UN);
	buffer_clear(&b);
	return ret;
}
