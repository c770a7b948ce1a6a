/* SPDX-License-Identifier: MIT */
/*
 * demo_idleak.c - nothing leaks, and yet the heap grows: ids are lost, not blocks.
 *
 * A toy compositor. Each window gets an id from an allocator with a free list, and its picture is
 * kept in a vector of slots, indexed by id. Closing a window gives its id back; but the error path
 * begin_frame_without_image() takes an id and forgets it. Lost ids never come back, so the
 * allocator hands out ever larger ones, and the innocent slots_put(), called from render_frame(),
 * has to double the vector again and again, although ten windows are open at any time. All of it
 * stays reachable: no leak checker says a word.
 *
 * MARK 1: the desktop is up, 128 windows were opened and 118 closed again. MARK 2: after a minute
 * of frames. MARK 3: after an hour. A slot is 16 bytes and the vector begins with 4 of them.
 *
 * TRUTH live 1 at=slots_put via=open_desktop blocks=1 bytes=2048
 * TRUTH largest 2 size=65536 born=64 grows=10 ratio=2 at=slots_put via=render_frame birth=slots_put
 * TRUTH largest 3 size=4194304 born=64 grows=16 ratio=2 at=slots_put via=render_frame birth=slots_put
 * TRUTH growers 3 render_frame=11 open_desktop=5
 * TRUTH flat 1 3 at=picture_new
 * TRUTH exit code=0
 */
#include "mark.h"

#define WINDOWS 10

struct picture {
	unsigned id;
	char pixels[60];
};

struct slot {
	struct picture *picture;
	unsigned long frame;
};

static struct {
	unsigned *free_ids;
	unsigned nr_free, room, next;
} ids;

static struct {
	struct slot *slots;
	unsigned cap;
} pictures;

static unsigned windows[WINDOWS];

static unsigned id_take(void)
{
	return ids.nr_free ? ids.free_ids[--ids.nr_free] : ids.next++;
}

static NOINLINE void id_give_back(unsigned id)
{
	if (ids.nr_free == ids.room) {
		ids.room = ids.room ? 2 * ids.room : 128;
		ids.free_ids = realloc(ids.free_ids, ids.room * sizeof(*ids.free_ids));
		if (!ids.free_ids)
			_exit(1);
	}
	ids.free_ids[ids.nr_free++] = id;
}

static NOINLINE struct picture *picture_new(unsigned id)
{
	struct picture *p = malloc(sizeof(*p));

	if (!p)
		_exit(1);
	p->id = id;
	memset(p->pixels, 7, sizeof(p->pixels));
	return p;
}

static NOINLINE void slots_put(unsigned id, struct picture *p, unsigned long frame)
{
	unsigned cap = pictures.cap;

	if (id >= cap) {
		do
			cap = cap ? 2 * cap : 4;
		while (id >= cap);
		pictures.slots = realloc(pictures.slots, cap * sizeof(*pictures.slots));
		if (!pictures.slots)
			_exit(1);
		memset(pictures.slots + pictures.cap, 0,
		       (cap - pictures.cap) * sizeof(*pictures.slots));
		pictures.cap = cap;
	}
	pictures.slots[id] = (struct slot){.picture = p, .frame = frame};
}

static NOINLINE void window_close(unsigned id)
{
	free(pictures.slots[id].picture);
	pictures.slots[id].picture = NULL;
	id_give_back(id);
}

static NOINLINE void open_desktop(void)
{
	for (unsigned i = 0; i < 128; i++) {
		unsigned id = id_take();

		slots_put(id, picture_new(id), 0);
	}
	for (unsigned i = 0; i < WINDOWS; i++)
		windows[i] = i;
	for (unsigned i = WINDOWS; i < 128; i++)
		window_close(i);
}

/* The bug: no image came, and the id that was taken for it is dropped. */
static NOINLINE void begin_frame_without_image(void)
{
	(void)id_take();
}

static NOINLINE void render_frame(unsigned long frame)
{
	for (unsigned i = 0; i < WINDOWS; i++) {
		unsigned id = id_take();

		slots_put(id, picture_new(id), frame);
		window_close(windows[i]);
		windows[i] = id;
	}
}

static void run_until(unsigned long frame)
{
	static unsigned long now;

	for (; now < frame; now++) {
		render_frame(now + 1);
		begin_frame_without_image();
	}
}

int main(void)
{
	open_desktop();
	mark(1);
	run_until(60 * 60);
	mark(2);
	run_until(60 * 60 * 60);
	mark(3);
	return 0;
}
