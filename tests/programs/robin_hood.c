/* SPDX-License-Identifier: MIT */
/*
 * robin_hood.c - a hash table in plain C that rehashes into a new array.
 *
 * The table starts with 16 places of 16 bytes. When it is 7/8 full, rehash() gets twice as many by
 * calloc, moves the entries and frees the old array. intern() keeps a copy of each name by strdup.
 * load_config() brings 10 names that are there for good, session() adds one and removes it again,
 * log_request() adds one in every fourth request and never removes it. 4000 requests from MARK 2 to
 * 3, 4000 more to MARK 4. From MARK 4 to 5 there are sessions only.
 *
 * TRUTH live 1 at=table_new blocks=1 bytes=256
 * TRUTH grow 1 2 at=intern blocks=10 bytes=100
 * TRUTH grow 2 3 at=rehash blocks=1 bytes=32768
 * TRUTH grow 2 3 at=table_new blocks=-1 bytes=-256
 * TRUTH rate 2 3 count=4000 at=intern via=log_request blocks=0.250 bytes=3.5
 * TRUTH rate 2 3 count=4000 at=intern via=session blocks=0.000 bytes=0.0
 * TRUTH grow 2 3 at=intern via=log_request blocks=1000 bytes=14000
 * TRUTH only 2 3
 * TRUTH lineage 3 at=rehash size=32768 born=256 grows=7 ratio=2 inferred=True birth=table_new
 * TRUTH grow 3 4 at=rehash blocks=0 bytes=32768
 * TRUTH lineage 4 at=rehash size=65536 born=256 grows=8 ratio=2 inferred=True birth=table_new first=2..3 latest=3..4
 * TRUTH only 3 4
 * TRUTH flat 4 5
 * TRUTH exit code=0
 */
#include "mark.h"

#include <stdint.h>

struct place {
	char *name; /* NULL: empty */
	uint64_t hash;
};

struct table {
	struct place *places;
	size_t room, used;
};

static struct table table;

static uint64_t hash_of(const char *name)
{
	uint64_t h = 1469598103934665603u;

	while (*name)
		h = (h ^ (unsigned char)*name++) * 1099511628211u;
	return h ^ h >> 29;
}

/* How far the entry at place i is from where it belongs. */
static size_t distance(const struct table *t, size_t i)
{
	return (i - t->places[i].hash) & (t->room - 1);
}

/* The poor take from the rich: who is nearer to home moves on. */
static void put(struct table *t, struct place entry)
{
	size_t i = entry.hash & (t->room - 1);

	for (size_t far = 0; t->places[i].name; far++, i = (i + 1) & (t->room - 1)) {
		if (distance(t, i) < far) {
			struct place poorer = t->places[i];

			far = distance(t, i);
			t->places[i] = entry;
			entry = poorer;
		}
	}
	t->places[i] = entry;
	t->used++;
}

NOINLINE void rehash(struct table *t)
{
	struct table larger = {calloc(2 * t->room, sizeof(struct place)), 2 * t->room, 0};

	if (!larger.places)
		_exit(1);
	for (size_t i = 0; i < t->room; i++) {
		if (t->places[i].name)
			put(&larger, t->places[i]);
	}
	free(t->places);
	*t = larger;
}

NOINLINE void table_new(struct table *t, size_t room)
{
	t->places = calloc(room, sizeof(struct place));
	t->room = room;
	if (!t->places)
		_exit(1);
}

NOINLINE void intern(struct table *t, const char *name)
{
	struct place entry = {strdup(name), hash_of(name)};

	if (8 * (t->used + 1) > 7 * t->room)
		rehash(t);
	put(t, entry);
}

static void forget(struct table *t, const char *name)
{
	uint64_t hash = hash_of(name);
	size_t i = hash & (t->room - 1), next;

	while (t->places[i].hash != hash || strcmp(t->places[i].name, name))
		i = (i + 1) & (t->room - 1);
	free(t->places[i].name);
	for (;; i = next) {
		next = (i + 1) & (t->room - 1);
		if (!t->places[next].name || !distance(t, next))
			break;
		t->places[i] = t->places[next];
	}
	t->places[i] = (struct place){NULL, 0};
	t->used--;
}

NOINLINE void load_config(void)
{
	char name[32];

	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "config.%02d", i);
		intern(&table, name);
	}
}

NOINLINE void session(int n)
{
	char name[32];

	snprintf(name, sizeof(name), "session/%08d", n);
	intern(&table, name);
	forget(&table, name);
}

NOINLINE void log_request(int n)
{
	char name[32];

	snprintf(name, sizeof(name), "req-%09d", n);
	intern(&table, name);
}

static void serve(int from, int nr)
{
	for (int i = from; i < from + nr; i++) {
		session(i);
		if (i % 4 == 3)
			log_request(i);
	}
	say("OPS", nr);
}

int main(void)
{
	table_new(&table, 16);
	mark(1);
	load_config();
	mark(2);
	serve(0, 4000);
	mark(3);
	serve(4000, 4000);
	mark(4);
	for (int i = 0; i < 4000; i++)
		session(i);
	mark(5);
	return 0;
}
