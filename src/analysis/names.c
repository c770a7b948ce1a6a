/* SPDX-License-Identifier: MIT */
/*
 * names.c - frames, sites and zones of the stacks of a snapshot; see names.h.
 *
 * Everything is found once a node and kept: a snapshot has many more blocks than stacks, and its
 * stacks share most of their nodes.
 */
#include "analysis/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/class.h"
#include "analysis/function_path.h"
#include "analysis/runtime.h"
#include "analysis/snapshot.h"
#include "util/alloc.h"

struct node_frames {
	struct frame *frames; /* NULL: not looked up yet */
	uint32_t nr;
};

/* Of the blocks of one stack. */
struct block_class {
	struct stack_class of_stack;
	char *name; /* where the rules say nothing: malloc in ...; NULL: not looked up yet */
	char *mapping; /* of what the program mapped; NULL: not looked up yet */
};

struct word_class {
	bool known;
	char *name; /* NULL: no vtable is there */
};

struct names {
	const struct snapshot *snapshot;
	names_lookup lookup;
	void *context;
	bool show_raw;
	struct node_frames *nodes; /* by node */
	const struct frame **sites; /* by stack; NULL: not looked for yet, or none */
	names_vtable vtable; /* NULL: nobody knows them */
	struct block_class *classes; /* by stack */
	struct word_class *word_classes; /* by class word */
	uint8_t *module_runtime; /* by module: 0 not known yet, 1 no, 2 yes */
	const struct frame **list; /* of the last names_stack() */
	size_t list_alloc;
};

const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct names *names_new(const struct snapshot *snapshot, names_lookup lookup, void *context)
{
	struct names *n = xcalloc(1, sizeof(*n));

	n->snapshot = snapshot;
	n->lookup = lookup;
	n->context = context;
	n->nodes = xcalloc(snapshot->nr_nodes + 1, sizeof(*n->nodes));
	n->sites = xcalloc(snapshot->nr_stacks + 1, sizeof(*n->sites));
	n->module_runtime = xcalloc(snapshot->nr_modules + 1, 1);
	n->classes = xcalloc(snapshot->nr_stacks + 1, sizeof(*n->classes));
	n->word_classes = xcalloc(snapshot->nr_class_words + 1, sizeof(*n->word_classes));
	return n;
}

void names_show_raw(struct names *n)
{
	n->show_raw = true;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->snapshot->nr_nodes; i++)
		free(n->nodes[i].frames);
	free(n->nodes);
	for (size_t i = 0; i < n->snapshot->nr_stacks; i++) {
		class_release(&n->classes[i].of_stack);
		free(n->classes[i].name);
		free(n->classes[i].mapping);
	}
	for (size_t i = 0; i < n->snapshot->nr_class_words; i++)
		free(n->word_classes[i].name);
	free(n->classes);
	free(n->word_classes);
	free(n->sites);
	free(n->module_runtime);
	free(n->list);
	free(n);
}

const struct snapshot *names_snapshot(const struct names *n)
{
	return n->snapshot;
}

static bool module_is_runtime(struct names *n, uint32_t nr)
{
	const struct snap_module *m = &n->snapshot->modules[nr];
	bool yes;

	if (!nr)
		return false;
	if (!n->module_runtime[nr]) {
		yes = (m->flags & (HS_MODULE_TRACER | HS_MODULE_VDSO)) || runtime_module(m->path);
		n->module_runtime[nr] = yes ? 2 : 1;
	}
	return n->module_runtime[nr] == 2;
}

uint64_t names_address(const struct snapshot *s, const struct snap_node *node)
{
	/*
	 * A return address may already lie in the next line, or in the next function. Neither what a
	 * signal interrupted was called, nor what stands between that and the handler: the code that
	 * ends it, to whose first byte handlers return.
	 */
	bool called = !node->signal && !s->nodes[node->parent].signal;

	return node->pc - s->modules[node->module].load_bias - called;
}

/* The snapshot's own names come first: they were right when and where it was made. */
static size_t find_names(struct names *n, const struct snap_node *node,
			 const struct name_frame **ret)
{
	const struct snapshot *s = n->snapshot;
	uint64_t address = names_address(s, node);
	size_t nr = s->names ? name_table_find(s->names, node->module, address, ret) : 0;

	if (nr || !node->module)
		return nr;
	return n->lookup(n->context, s, node->module, address, ret);
}

/* "<u8 as ConvertVec>::to_vec" does not tell whose it is; where it was defined does. */
static const char *own_name(const struct frame *f)
{
	return f->scope ? f->scope : f->function;
}

static void look_up(struct names *n, const struct snap_node *node, struct node_frames *ret)
{
	const struct snap_module *m = &n->snapshot->modules[node->module];
	const struct name_frame *found = NULL;
	uint64_t offset = node->module ? node->pc - m->load_bias : 0;
	bool runtime = module_is_runtime(n, node->module);
	size_t nr = find_names(n, node, &found);

	ret->nr = nr ? (uint32_t)nr : 1;
	ret->frames = xcalloc(ret->nr, sizeof(*ret->frames));
	for (size_t i = 0; i < ret->nr; i++) {
		struct frame *f = &ret->frames[i];

		f->address = node->pc;
		f->offset = offset;
		f->module = node->module && m->path[0] ? m->path : NULL;
		f->runtime = runtime;
		if (!nr)
			continue;
		f->function = found[i].function;
		f->shown = n->show_raw && found[i].raw ? found[i].raw : f->function;
		f->scope = found[i].scope;
		f->file = found[i].file;
		f->line = found[i].line;
		f->column = found[i].column;
		f->inlined = found[i].inlined;
		if (!runtime && f->function)
			f->runtime = node->module ? runtime_function(own_name(f))
						  : runtime_jit(f->function);
		/*
		 * A function that is not inlined is judged by its name: where the compiler merged two
		 * of them it may write the lines of what was inlined, and no frames for it.
		 */
		if (f->file && f->inlined && runtime_file(f->file))
			f->runtime = true;
		f->wrapper = !f->runtime && f->function && node->module &&
			     runtime_wrapper(own_name(f));
	}
}

size_t names_node(struct names *n, uint32_t nr, const struct frame **ret)
{
	const struct snap_node *node = &n->snapshot->nodes[nr];

	if (!nr || node->pc < HS_PC_FIRST_REAL) {
		*ret = NULL;
		return 0;
	}
	if (!n->nodes[nr].frames)
		look_up(n, node, &n->nodes[nr]);
	*ret = n->nodes[nr].frames;
	return n->nodes[nr].nr;
}

size_t names_stack(struct names *n, uint32_t stack, const struct frame *const **ret,
		   enum stack_cut *ret_cut)
{
	uint32_t node = stack ? n->snapshot->stacks[stack].node : 0;
	enum stack_cut cut = STACK_WHOLE;
	size_t nr = 0;

	for (; node; node = n->snapshot->nodes[node].parent) {
		const struct frame *frames;
		size_t more = names_node(n, node, &frames);

		if (n->snapshot->nodes[node].pc == HS_PC_CUT_DEPTH)
			cut = STACK_CUT_DEPTH;
		else if (!more)
			cut = STACK_CUT_UNWIND;
		n->list = xgrow(n->list, &n->list_alloc, nr + more + 1, sizeof(*n->list));
		for (size_t i = 0; i < more; i++)
			n->list[nr++] = &frames[i];
	}
	*ret = n->list;
	*ret_cut = cut;
	return nr;
}

/* The first frame of the program; sets *ret_other to the best one of a stack without such. */
static const struct frame *find_site(struct names *n, uint32_t node, const struct frame **ret_other)
{
	const struct frame *innermost = NULL, *named = NULL, *wrapper = NULL;

	for (; node; node = n->snapshot->nodes[node].parent) {
		const struct frame *frames;
		size_t nr = names_node(n, node, &frames);

		for (size_t i = 0; i < nr; i++) {
			if (!frames[i].runtime && !frames[i].wrapper)
				return &frames[i];
			if (!wrapper && !frames[i].runtime)
				wrapper = &frames[i];
			if (!innermost)
				innermost = &frames[i];
			if (!named && frames[i].function &&
			    !runtime_function(own_name(&frames[i])))
				named = &frames[i];
		}
	}
	*ret_other = wrapper ? wrapper : named ? named : innermost;
	return NULL;
}

const struct frame *names_site(struct names *n, uint32_t stack)
{
	const struct frame *site, *other = NULL;

	if (!stack)
		return NULL;
	if (!n->sites[stack]) {
		site = find_site(n, n->snapshot->stacks[stack].node, &other);
		n->sites[stack] = site ? site : other;
	}
	return n->sites[stack];
}

const char *names_zone(struct names *n, uint32_t stack)
{
	const struct frame *site = names_site(n, stack);

	return site && site->module ? path_basename(site->module) : "";
}

/* ---- classes ----------------------------------------------------------------------------- */

void names_use_vtables(struct names *n, names_vtable vtable)
{
	n->vtable = vtable;
}

static const char *word_class(struct names *n, uint32_t word)
{
	const struct snap_class_word *w = &n->snapshot->class_words[word];
	struct word_class *c = &n->word_classes[word];
	const struct name_frame *baked;
	const char *type = NULL;

	if (!word)
		return NULL;
	if (c->known)
		return c->name;
	c->known = true;
	if (n->snapshot->names &&
	    name_table_find(n->snapshot->names, w->module, w->address, &baked))
		type = baked[0].function;
	else if (n->vtable)
		type = n->vtable(n->context, n->snapshot, w->module, w->address);
	c->name = type ? class_of_vtable(type) : NULL;
	return c->name;
}

static struct block_class *stack_class(struct names *n, uint32_t stack)
{
	struct block_class *c = &n->classes[stack];
	const struct frame *const *frames;
	enum stack_cut cut;
	size_t nr;

	if (c->name)
		return c;
	nr = names_stack(n, stack, &frames, &cut);
	class_of_stack(frames, nr, &c->of_stack);
	c->name = class_of_site(names_site(n, stack));
	return c;
}

static const char *malloc_class(struct names *n, const struct snap_block *b)
{
	const struct block_class *c = stack_class(n, b->stack);
	const char *of_word = b->class_word ? word_class(n, b->class_word) : NULL;
	bool first_element = of_word && c->of_stack.element && c->of_stack.name &&
			     !strcmp(of_word, c->of_stack.element);

	if (of_word && !first_element)
		return of_word;
	return c->of_stack.name ? c->of_stack.name : c->name;
}

static const char *mapping_class(struct names *n, uint32_t stack)
{
	struct block_class *c = &n->classes[stack];

	if (!c->mapping)
		c->mapping = class_of_mapping(names_site(n, stack));
	return c->mapping;
}

const char *names_class(struct names *n, const struct snap_block *b)
{
	if (kind_of(b) == KIND_MAPPING)
		return mapping_class(n, b->stack);
	return malloc_class(n, b);
}

/* ---- labels ------------------------------------------------------------------------------ */

static char *address_label(const struct frame *f)
{
	if (f->module)
		return xasprintf("%s+0x%" PRIx64, path_basename(f->module), f->offset);
	return xasprintf("0x%" PRIx64, f->address);
}

char *frame_label(const struct frame *f)
{
	return f->shown ? xstrdup(f->shown) : address_label(f);
}

char *frame_short(const struct frame *f)
{
	if (!f->shown)
		return address_label(f);
	/* what made code at run time named as it liked */
	return f->module ? function_short(f->shown) : xstrdup(f->shown);
}

char *frame_place(const struct frame *f)
{
	if (f->file && f->line)
		return xasprintf("%s:%" PRIu32, path_basename(f->file), f->line);
	return address_label(f);
}
