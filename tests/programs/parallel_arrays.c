/* SPDX-License-Identifier: MIT */
/*
 * parallel_arrays.c - tables whose columns are arrays of their own, all of which grow in one step.
 *
 * put() keeps keys of 8, values of 4 and marks of 1 byte in three arrays; when they are 7/10 full,
 * rehash() makes three of twice the size, puts all entries in by their hashes, and frees the old ones
 * in turn. From 128 places on that is 10 times up to MARK 2 and twice more up to MARK 3. add_point()
 * keeps four columns of 8, 4, 4 and 1 bytes, from 256 on; more_points() copies them one by one, 6
 * times up to MARK 2, twice more up to MARK 3. A log line of 24 bytes comes and goes in between.
 *
 * TRUTH lineage 2 at=new_arrays size=1048576 born=1024 grows=10 ratio=2 inferred=True birth=new_arrays first=1..2
 * TRUTH lineage 2 at=new_arrays size=524288 born=512 grows=10 ratio=2 inferred=True birth=new_arrays first=1..2
 * TRUTH lineage 2 at=new_arrays size=131072 born=128 grows=10 ratio=2 inferred=True birth=new_arrays first=1..2
 * TRUTH lineage 3 at=new_arrays size=4194304 born=1024 grows=12 ratio=2 inferred=True birth=new_arrays first=1..2 latest=2..3
 * TRUTH lineage 3 at=new_arrays size=2097152 born=512 grows=12 ratio=2 inferred=True birth=new_arrays first=1..2 latest=2..3
 * TRUTH lineage 3 at=new_arrays size=524288 born=128 grows=12 ratio=2 inferred=True birth=new_arrays first=1..2 latest=2..3
 * TRUTH grow 1 2 at=new_arrays blocks=0 bytes=1702272
 * TRUTH grow 2 3 at=new_arrays blocks=0 bytes=5111808
 * TRUTH lineage 3 at=more_points size=524288 born=2048 grows=8 ratio=2 inferred=True birth=first_points first=1..2 latest=2..3
 * TRUTH lineage 3 at=more_points size=262144 born=1024 grows=8 ratio=2 inferred=True blocks=2 birth=first_points first=1..2 latest=2..3
 * TRUTH lineage 3 at=more_points size=65536 born=256 grows=8 ratio=2 inferred=True birth=first_points first=1..2 latest=2..3
 * TRUTH grow 1 3 at=more_points blocks=4 bytes=1114112
 * TRUTH only 2 3
 * TRUTH exit code=0
 */
#include "mark.h"

#include <stdint.h>

struct table {
	uint64_t *keys;
	uint32_t *values;
	uint8_t *taken;
	size_t room, used;
};

struct points {
	uint64_t *ids;
	float *x, *y;
	uint8_t *kinds;
	size_t room, used;
};

static struct table table;
static struct points points;

static void *checked(void *p)
{
	if (!p)
		_exit(1);
	return p;
}

NOINLINE void new_arrays(struct table *t, size_t room)
{
	t->keys = checked(malloc(room * sizeof(*t->keys)));
	t->values = checked(malloc(room * sizeof(*t->values)));
	t->taken = checked(calloc(room, sizeof(*t->taken)));
	t->room = room;
	t->used = 0;
}

static void insert(struct table *t, uint64_t key, uint32_t value)
{
	size_t at = (key * 0x9e3779b97f4a7c15u >> 32) % t->room;

	while (t->taken[at])
		at = (at + 1) % t->room;
	t->taken[at] = 1;
	t->keys[at] = key;
	t->values[at] = value;
	t->used++;
}

NOINLINE void rehash(struct table *t)
{
	struct table old = *t;

	new_arrays(t, 2 * old.room);
	for (size_t i = 0; i < old.room; i++)
		if (old.taken[i])
			insert(t, old.keys[i], old.values[i]);
	free(old.keys);
	free(old.values);
	free(old.taken);
}

NOINLINE void put(struct table *t, uint64_t key, uint32_t value)
{
	if (10 * t->used >= 7 * t->room)
		rehash(t);
	insert(t, key, value);
}

NOINLINE void first_points(struct points *p)
{
	p->room = 256;
	p->ids = checked(malloc(p->room * sizeof(*p->ids)));
	p->x = checked(malloc(p->room * sizeof(*p->x)));
	p->y = checked(malloc(p->room * sizeof(*p->y)));
	p->kinds = checked(malloc(p->room));
}

NOINLINE void more_points(struct points *p)
{
	struct points old = *p;

	p->room *= 2;
	p->ids = checked(malloc(p->room * sizeof(*p->ids)));
	p->x = checked(malloc(p->room * sizeof(*p->x)));
	p->y = checked(malloc(p->room * sizeof(*p->y)));
	p->kinds = checked(malloc(p->room));
	memcpy(p->ids, old.ids, old.used * sizeof(*p->ids));
	memcpy(p->x, old.x, old.used * sizeof(*p->x));
	memcpy(p->y, old.y, old.used * sizeof(*p->y));
	memcpy(p->kinds, old.kinds, old.used);
	free(old.ids);
	free(old.x);
	free(old.y);
	free(old.kinds);
}

NOINLINE void add_point(struct points *p, uint64_t id)
{
	if (p->used == p->room)
		more_points(p);
	p->ids[p->used] = id;
	p->x[p->used] = (float)id / 2;
	p->y[p->used] = (float)id / 3;
	p->kinds[p->used++] = (uint8_t)(id % 11);
}

NOINLINE void log_line(void)
{
	char *line = checked(malloc(24));

	sink = line;
	free(line);
}

static void run(uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		put(&table, 31u * i + 7, i);
		if (i % 8 == 0)
			add_point(&points, 2654435761u * i);
		log_line();
	}
}

int main(void)
{
	new_arrays(&table, 128);
	first_points(&points);
	mark(1);
	run(0, 90000);
	mark(2);
	run(90000, 300000);
	mark(3);
}
