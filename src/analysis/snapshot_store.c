/* SPDX-License-Identifier: MIT */
/*
 * snapshot_store.c - from the copy of a store to a snapshot: everything but the blocks, which are
 * in snapshot_blocks.c.
 *
 * The block table is the truth. Per-stack live totals of the store are compared with the sums over
 * the blocks; where they differ and no thread was in the middle of changing just that stack, the
 * snapshot is not consistent.
 */
#include "analysis/snapshot_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "store/summary.h"
#include "util/alloc.h"
#include "util/error.h"

struct build {
	struct snapshot *s;
	struct store_image *image;
	struct snap_findings *findings;
	struct hs_error *err;
	uint32_t *node_map; /* node of the store -> of the snapshot */
	struct snap_maps maps;
	int64_t *cell_count, *cell_bytes; /* live totals by the store, per stack of the snapshot */
};

void snap_finding(struct snap_findings *findings, unsigned int array, const char *format, ...)
{
	va_list args;

	if (!findings || findings->text[array][0])
		return;
	va_start(args, format);
	vsnprintf(findings->text[array], SNAP_PROBLEM_LEN, format, args);
	va_end(args);
}

static int damaged(struct build *b, unsigned int array, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A store that cannot be right: says what is wrong with an array of it. -HS_E_FORMAT. */
static int damaged(struct build *b, unsigned int array, const char *format, ...)
{
	char text[SNAP_PROBLEM_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snap_finding(b->findings, array, "%s", text);
	return hs_error_set(b->err, HS_E_FORMAT, "'%s' is damaged: %s", b->image->path, text);
}

static const struct store_array *array_of(const struct build *b, unsigned int array)
{
	return &b->image->arrays[array];
}

/* ---- the process ------------------------------------------------------------------------- */

static void take_image_id(struct snapshot *s, const struct hs_header *h)
{
	struct {
		uint8_t boot_id[16];
		uint64_t start_ticks, start_real_ns;
		uint32_t pid, generation;
	} id = {{0}, h->start_ticks, h->start_real_ns, h->pid, h->generation};

	memcpy(id.boot_id, h->boot_id, sizeof(id.boot_id));
	for (unsigned int i = 0; i < 2; i++) {
		XXH128_hash_t hash = XXH3_128bits_withSeed(&id, sizeof(id), i);

		memcpy(s->image + 16 * i, &hash, 16);
	}
}

static uint64_t not_negative(int64_t value)
{
	return value > 0 ? (uint64_t)value : 0;
}

static void take_coverage(struct build *b)
{
	const struct hs_header *h = &b->image->header;
	const struct hs_control *c = &b->image->control;
	struct snap_coverage *cov = &b->s->coverage;
	uint64_t end = b->s->taken_ms, recorded = c->live_ms;
	double life;

	cov->mode = c->word & HS_CONTROL_MODE;
	if (cov->mode > HS_MODE_DRAIN) {
		snap_finding(b->findings, SNAP_FINDING_HEADER, "mode %u, expected %u at most",
			     cov->mode, HS_MODE_DRAIN);
		cov->mode = HS_MODE_OFF;
	}
	cov->since_ms = c->mode_since_ms;
	memcpy(cov->lost, h->lost, sizeof(cov->lost));
	cov->flags = h->flags;
	cov->stop_reason =
		h->stop_reason <= HS_STOP_FAULT ? h->stop_reason : (uint32_t)HS_STOP_FAULT;
	cov->stopped_ms = h->stopped_ms;
	cov->in_doubt = b->image->nr_stuck;
	cov->consistent = b->image->consistent;
	if (h->state == HS_STATE_STOPPED && h->stopped_ms < end)
		end = h->stopped_ms;
	if (store_mode_records(cov->mode) && end > c->mode_since_ms)
		recorded += end - c->mode_since_ms;
	/*
	 * Before the store there was no main() yet, only the loader: with none of the program's
	 * blocks missing this is the whole life, however short, and however coarse the clock.
	 */
	life = (double)b->s->taken_ms;
	cov->share_of_life = life > 0 ? (double)recorded / life : 1;
	if (cov->share_of_life > 1)
		cov->share_of_life = 1;
}

void snapshot_set_end(struct snapshot *s, uint64_t ended_ms)
{
	struct snap_coverage *cov = &s->coverage;
	double recorded = cov->share_of_life * (double)s->taken_ms;

	if (ended_ms <= s->taken_ms)
		return;
	if (store_mode_records(cov->mode) && s->state != HS_STATE_STOPPED)
		recorded += (double)(ended_ms - s->taken_ms);
	cov->share_of_life = recorded / (double)ended_ms;
	s->taken_ms = ended_ms;
}

static int take_process(struct build *b)
{
	const struct hs_header *h = &b->image->header;
	struct snapshot *s = b->s;
	int ret;

	s->source = b->image->alive ? SNAPSHOT_LIVE_STORE : SNAPSHOT_DEAD_STORE;
	s->path = xstrdup(b->image->path);
	take_image_id(s, h);
	s->pid = h->pid;
	s->generation = h->generation;
	s->arch = h->arch;
	s->uid = h->uid;
	s->page_size = h->page_size;
	s->depth = h->depth;
	memcpy(s->comm, h->comm, sizeof(s->comm) - 1);
	s->start_real_ns = h->start_real_ns;
	s->start_after_ms = h->start_after_ns / 1000000;
	s->taken_ms = b->image->taken_ms;
	s->number = b->image->control.nr_snapshots + !b->image->alive;
	s->state = h->state;
	if (b->image->alive && s->state == HS_STATE_EXECED)
		s->state = HS_STATE_RECORDING; /* an exec was tried at that moment */
	s->peak_bytes = not_negative(h->peak_bytes);
	s->peak_count = not_negative(h->peak_count);
	s->peak_ms = h->peak_ms;
	take_coverage(b);
	ret = store_image_string(b->image, h->exe_off, &s->exe, b->err);
	if (!ret)
		ret = store_image_string(b->image, h->dir_off, &s->dir, b->err);
	if (ret)
		snap_finding(b->findings, SNAP_FINDING_HEADER,
			     "path of the executable or folder: no string there");
	return ret;
}

/* The lines of the ring, oldest first; what is half written has no time yet. */
static void take_messages(struct build *b)
{
	const struct hs_messages *m = &b->image->messages;
	uint64_t nr = m->count < HS_NR_MESSAGES ? m->count : HS_NR_MESSAGES;
	struct snapshot *s = b->s;

	s->messages = xcalloc(HS_NR_MESSAGES, sizeof(*s->messages));
	for (uint64_t i = 0; i < nr; i++) {
		const struct hs_message *line = &m->ring[(m->count - nr + i) % HS_NR_MESSAGES];
		char *text;

		if (!line->ms)
			continue;
		text = xstrndup(line->text, sizeof(line->text) - 1);
		for (char *p = text; *p; p++) {
			if ((unsigned char)*p < ' ' || *p == 0x7f)
				*p = '?';
		}
		s->messages[s->nr_messages++] = text;
	}
}

/* ---- modules and threads ----------------------------------------------------------------- */

/* Module i of the store; its path is not taken yet. */
static int take_module(struct build *b, uint64_t i, const struct hs_module *from,
		       struct snap_module *m)
{
	if (from->nr_segments > HS_NR_SEGMENTS || from->build_id_len > HS_BUILD_ID_LEN ||
	    from->start > from->end)
		return damaged(b, HS_ARRAY_MODULES,
			       "module %" PRIu64
			       " has %u segments, a build id of %u bytes, lies at 0x%" PRIx64,
			       i, from->nr_segments, from->build_id_len, from->start);
	*m = (struct snap_module){
		.build_id_len = from->build_id_len,
		.load_bias = from->load_bias,
		.start = from->start,
		.end = from->end,
		.flags = from->flags,
		.loaded_ms = snap_ticks_ms(from->loaded),
		.unloaded_ms = snap_ticks_ms(from->unloaded),
		.dev = from->dev,
		.inode = from->inode,
		.nr_segments = from->nr_segments,
	};
	memcpy(m->build_id, from->build_id, m->build_id_len);
	memcpy(m->segments, from->segments, m->nr_segments * sizeof(m->segments[0]));
	for (uint32_t k = 0; k < m->nr_segments; k++) {
		if (m->segments[k].start > m->segments[k].end)
			return damaged(b, HS_ARRAY_MODULES,
				       "module %" PRIu64 ": segment %u begins after its end", i, k);
	}
	return 0;
}

static int take_modules(struct build *b)
{
	const struct store_array *a = array_of(b, HS_ARRAY_MODULES);
	const struct hs_module *from = a->data;
	struct snapshot *s = b->s;

	s->modules = xcalloc(a->count ? a->count : 1, sizeof(*s->modules));
	s->modules[0].path = xstrdup("");
	s->nr_modules = 1;
	for (uint64_t i = 1; i < a->count; i++) {
		int ret = take_module(b, i, &from[i], &s->modules[i]);

		if (ret)
			return ret;
		ret = store_image_string(b->image, from[i].path_off, &s->modules[i].path, b->err);
		if (ret) {
			snap_finding(b->findings, HS_ARRAY_MODULES,
				     "module %" PRIu64 ": no path at %" PRIu64, i,
				     from[i].path_off);
			return ret;
		}
		s->nr_modules = i + 1;
	}
	return 0;
}

static void take_threads(struct build *b)
{
	const struct store_array *a = array_of(b, HS_ARRAY_THREADS);
	const struct hs_thread *from = a->data;
	struct snapshot *s = b->s;

	s->threads = xcalloc(a->count ? a->count : 1, sizeof(*s->threads));
	s->nr_threads = 1;
	b->maps.nr_threads = a->count;
	b->maps.threads = xcalloc(a->count, sizeof(*b->maps.threads));
	for (uint64_t i = 1; i < a->count; i++) {
		struct snap_thread *t = &s->threads[s->nr_threads];

		if (from[i].state == HS_THREAD_FREE && !from[i].tid)
			continue;
		*t = (struct snap_thread){
			.tid = from[i].tid,
			.slot = (uint32_t)i,
			.first_serial = from[i].first_serial,
			.since_ms = snap_ticks_ms(from[i].born_tick),
			.gone = from[i].state != HS_THREAD_LIVE,
		};
		memcpy(t->name, from[i].name, sizeof(t->name) - 1);
		b->maps.threads[i] = (uint32_t)s->nr_threads++;
	}
}

/* ---- nodes and stacks -------------------------------------------------------------------- */

/* Nodes that are there twice become one; order is kept, so parents stay before their children. */
static int take_nodes(struct build *b)
{
	const struct store_array *a = array_of(b, HS_ARRAY_NODES);
	const struct hs_node *from = a->data;
	struct snapshot *s = b->s;
	struct node_table table;
	int ret = 0;

	if (a->count > UINT32_MAX)
		return damaged(b, HS_ARRAY_NODES, "too many nodes");
	s->nodes = xcalloc(a->count ? a->count : 1, sizeof(*s->nodes));
	s->nr_nodes = 1;
	b->node_map = xcalloc(a->count, sizeof(*b->node_map));
	node_table_init(&table, a->count);
	for (uint64_t i = 1; i < a->count; i++) {
		uint32_t nr = (uint32_t)s->nr_nodes, module = HS_NODE_MODULE(from[i].pc), same;

		/* Taken by a thread, not yet filled: nothing names it. */
		if (!from[i].pc && !from[i].parent)
			continue;
		if (from[i].parent >= i || module >= s->nr_modules) {
			ret = damaged(b, HS_ARRAY_NODES,
				      "node %" PRIu64 " has parent %u, expected a smaller number, "
				      "and module %u, expected less than %zu",
				      i, from[i].parent, module, s->nr_modules);
			break;
		}
		s->nodes[nr] = (struct snap_node){
			.pc = from[i].pc & HS_NODE_ADDRESS,
			.parent = b->node_map[from[i].parent],
			.module = module,
			.signal = from[i].pc & HS_NODE_SIGNAL,
		};
		same = node_table_add(&table, s->nodes, nr);
		b->node_map[i] = same;
		s->nr_nodes += same == nr;
	}
	node_table_release(&table);
	return ret;
}

/* Stacks that end in one node become one. */
static int take_stacks(struct build *b)
{
	const struct store_array *a = array_of(b, HS_ARRAY_STACKS);
	const struct hs_stack *from = a->data;
	struct snapshot *s = b->s;
	uint32_t *by_node = xcalloc(s->nr_nodes, sizeof(*by_node));
	int ret = 0;

	s->stacks = xcalloc(a->count ? a->count : 1, sizeof(*s->stacks));
	s->nr_stacks = 1;
	b->maps.nr_stacks = a->count ? a->count : 1;
	b->maps.stacks = xcalloc(b->maps.nr_stacks, sizeof(*b->maps.stacks));
	for (uint64_t i = 1; i < a->count; i++) {
		uint32_t node;

		if (from[i].node >= array_of(b, HS_ARRAY_NODES)->count) {
			ret = damaged(b, HS_ARRAY_STACKS,
				      "stack %" PRIu64 " has node %u, expected less than %" PRIu64,
				      i, from[i].node, array_of(b, HS_ARRAY_NODES)->count);
			break;
		}
		node = b->node_map[from[i].node];
		if (node && !by_node[node]) {
			by_node[node] = (uint32_t)s->nr_stacks;
			s->stacks[s->nr_stacks++].node = node;
		}
		b->maps.stacks[i] = by_node[node];
	}
	free(by_node);
	return ret;
}

static void add_cell(struct build *b, unsigned int array, uint64_t nr, const struct hs_cell *cell,
		     int64_t *peak_count, int64_t *peak_bytes)
{
	uint32_t stack = b->maps.stacks[nr];
	struct snap_stack *st = &b->s->stacks[stack];
	bool at_mark = cell->epoch < b->image->header.peak_epoch;

	if (cell->epoch > b->image->header.peak_epoch)
		snap_finding(b->findings, array,
			     "stack %" PRIu64 " has epoch %" PRIu64 ", expected %" PRIu64
			     " at most",
			     nr, cell->epoch, b->image->header.peak_epoch);
	/* Unsigned, as numbers of a damaged store may overflow. */
	b->cell_count[stack] =
		(int64_t)((uint64_t)b->cell_count[stack] + (uint64_t)cell->live_count);
	b->cell_bytes[stack] =
		(int64_t)((uint64_t)b->cell_bytes[stack] + (uint64_t)cell->live_bytes);
	peak_count[stack] = (int64_t)((uint64_t)peak_count[stack] +
				      (uint64_t)(at_mark ? cell->live_count : cell->peak_count));
	peak_bytes[stack] = (int64_t)((uint64_t)peak_bytes[stack] +
				      (uint64_t)(at_mark ? cell->live_bytes : cell->peak_bytes));
	st->born_count += cell->born_count;
	st->born_bytes += cell->born_bytes;
	st->temporary += cell->temporary;
}

static void take_cells(struct build *b)
{
	struct snapshot *s = b->s;
	int64_t *peak_count = xcalloc(s->nr_stacks, sizeof(*peak_count));
	int64_t *peak_bytes = xcalloc(s->nr_stacks, sizeof(*peak_bytes));

	b->cell_count = xcalloc(s->nr_stacks, sizeof(*b->cell_count));
	b->cell_bytes = xcalloc(s->nr_stacks, sizeof(*b->cell_bytes));
	for (unsigned int shard = 0; shard < HS_NR_SHARDS; shard++) {
		const struct store_array *a = array_of(b, HS_ARRAY_CELLS + shard);
		const struct hs_cell *cells = a->data;

		for (uint64_t i = 0; i < a->count; i++) {
			if (i < b->maps.nr_stacks)
				add_cell(b, HS_ARRAY_CELLS + shard, i, &cells[i], peak_count,
					 peak_bytes);
			else if (cells[i].born_count || cells[i].live_count || cells[i].live_bytes)
				snap_finding(b->findings, HS_ARRAY_CELLS + shard,
					     "totals of stack %" PRIu64
					     ", expected less than %" PRIu64,
					     i, b->maps.nr_stacks);
		}
	}
	for (size_t i = 0; i < s->nr_stacks; i++) {
		s->stacks[i].peak_count = not_negative(peak_count[i]);
		s->stacks[i].peak_bytes = not_negative(peak_bytes[i]);
		s->born_count += s->stacks[i].born_count;
		s->born_bytes += s->stacks[i].born_bytes;
		s->temporary += s->stacks[i].temporary;
	}
	free(peak_count);
	free(peak_bytes);
}

/* ---- blocks against totals --------------------------------------------------------------- */

static void count_busy(const struct build *b, uint32_t *busy, uint32_t stack)
{
	if (stack < b->maps.nr_stacks)
		busy[b->maps.stacks[stack]]++;
}

/* Per stack of the snapshot: threads that were in the middle of changing its totals. */
static uint32_t *find_busy(const struct build *b)
{
	const struct store_array *a = array_of(b, HS_ARRAY_THREADS);
	const struct hs_thread *threads = a->data;
	uint32_t *busy = xcalloc(b->s->nr_stacks, sizeof(*busy));

	for (uint64_t i = 0; i < a->count; i++) {
		if (!threads[i].in)
			continue;
		count_busy(b, busy, threads[i].op_stack);
		count_busy(b, busy, threads[i].op_stack_from);
	}
	return busy;
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static void compare_totals(struct build *b, const struct snap_dropped *dropped)
{
	uint32_t *busy = find_busy(b);
	struct snapshot *s = b->s;

	for (size_t i = 0; i < s->nr_stacks; i++) {
		const struct snap_stack *st = &s->stacks[i];
		int64_t count =
			(int64_t)(st->live_count + dropped[i].count - (uint64_t)b->cell_count[i]);
		int64_t bytes =
			(int64_t)(st->live_bytes + dropped[i].bytes - (uint64_t)b->cell_bytes[i]);

		if ((!count && !bytes) || (busy[i] && magnitude(count) <= busy[i]))
			continue;
		s->coverage.consistent = false;
		s->coverage.in_doubt += count ? magnitude(count) : 1;
		snap_finding(b->findings, HS_ARRAY_CELLS,
			     "stack %zu: blocks and totals differ by %" PRId64 " blocks, %" PRId64
			     " bytes",
			     i, count, bytes);
	}
	free(busy);
}

/* What the threads had not told the header yet may have made a new high-water mark. */
static void raise_peak(struct snapshot *s)
{
	if (s->live_bytes <= s->peak_bytes)
		return;
	s->peak_bytes = s->live_bytes;
	s->peak_count = s->live_count;
	s->peak_ms = s->taken_ms;
	for (size_t i = 0; i < s->nr_stacks; i++) {
		s->stacks[i].peak_count = s->stacks[i].live_count;
		s->stacks[i].peak_bytes = s->stacks[i].live_bytes;
	}
}

int snapshot_from_image(struct store_image *image, struct snapshot **ret,
			struct snap_findings *findings, struct hs_error *err)
{
	struct build b = {.image = image, .findings = findings, .err = err};
	struct snap_dropped *dropped;
	int res;

	b.s = xcalloc(1, sizeof(*b.s));
	res = take_process(&b);
	if (!res)
		res = take_modules(&b);
	if (!res && image->alive)
		snapshot_identify_modules(b.s);
	if (!res)
		res = take_nodes(&b);
	if (!res)
		res = take_stacks(&b);
	if (!res) {
		take_messages(&b);
		take_threads(&b);
		take_cells(&b);
		dropped = xcalloc(b.s->nr_stacks, sizeof(*dropped));
		snapshot_take_blocks(b.s, image, &b.maps, dropped, findings);
		compare_totals(&b, dropped);
		raise_peak(b.s);
		free(dropped);
	}
	free(b.node_map);
	free(b.maps.stacks);
	free(b.maps.threads);
	free(b.cell_count);
	free(b.cell_bytes);
	if (res)
		snapshot_free(b.s);
	else
		*ret = b.s;
	return res;
}
