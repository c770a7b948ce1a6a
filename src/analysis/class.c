/* SPDX-License-Identifier: MIT */
/*
 * class.c - what kind of thing a block is, from its frames; see class.h.
 *
 * Frames are asked from the innermost out, as long as they are a library's: what is allocated by
 * the copy of a string within the growth of a vector is a string. Of Rust functions there are two
 * names, the one in the scopes of the debug information, with the types of generics, and the
 * linker's, which has these types in its newer form only.
 */
#include "analysis/class.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/class_brackets.h"
#include "analysis/class_doubt.h"
#include "analysis/class_pattern.h"
#include "analysis/class_rules.h"
#include "analysis/class_text.h"
#include "analysis/names.h"
#include "util/alloc.h"

#define MAX_NAME 16384u /* bytes of a function's name that are looked at */

/* What the frames so far have said. */
struct finding {
	char *name; /* NULL: nothing yet */
	char *element;
	bool provisional; /* a frame further out may know better */
	bool is_kind; /* if none does, only the kind is known */
	bool of_allocator; /* by allocators only; not provisional: frames without a rule followed */
	bool private; /* by a function that only the container itself calls, in the frame before */
	bool keys_unknown; /* of a tree: whether there may be several values of one key */
	bool contradicted; /* two frames say different things, and nothing tells which is right */
};

static void found(struct finding *f, char *class, char *element)
{
	size_t len = strlen(class);

	free(f->name);
	free(f->element);
	f->is_kind = len && class[len - 1] == '?';
	f->provisional = f->is_kind || (len && class[len - 1] == '~');
	if (f->provisional)
		class[len - 1] = 0;
	f->name = class_type(class);
	f->element = element ? class_type(element) : NULL;
	free(class);
	free(element);
}

/* What was found was another type's. */
static void found_nothing(struct finding *f)
{
	free(f->name);
	free(f->element);
	*f = (struct finding){0};
}

/* ---- types ------------------------------------------------------------------------------- */

/* What the rules of types make of a tight type, or NULL. */
static char *type_class(const char *type)
{
	struct class_captures captures;
	const char *inner = "core::mem::maybe_uninit::MaybeUninit<";
	char *unwrapped = NULL, *class = NULL;

	if (!strncmp(type, inner, strlen(inner)) && strlen(type) > strlen(inner)) {
		unwrapped = xstrndup(type + strlen(inner), strlen(type) - strlen(inner) - 1);
		type = unwrapped;
	}
	for (size_t i = 0; i < class_nr_type_rules && !class; i++) {
		if (class_match(class_type_rules[i].form, type, &captures))
			class = class_expand(class_type_rules[i].class, &captures);
	}
	free(unwrapped);
	return class;
}

char *class_of_vtable(const char *type)
{
	char *tight = class_tight(type), *class = type_class(tight), *ret;

	ret = class_type(class ? class : tight);
	free(class);
	free(tight);
	return ret;
}

/* ---- functions --------------------------------------------------------------------------- */

static bool is_path(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':';
}

/* Whether a name of one capital stands in the type for any type: "T", "[T]", "Option<K>". */
static bool has_parameter(const char *type, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (isupper((unsigned char)type[i]) && (!i || !is_path(type[i - 1])) &&
		    (i + 1 == len || !is_path(type[i + 1])))
			return true;
	}
	return false;
}

/* Of a Rust function whose linker's name has only the names of its parameters: "Vec<T,A>::push". */
static bool has_parameters(const struct class_rule *rule, const struct class_captures *c)
{
	static const char *const rust[] = {"alloc::", "hashbrown::", "std::collections::"};
	bool is_rust = false;

	for (size_t i = 0; i < sizeof(rust) / sizeof(rust[0]); i++)
		is_rust = is_rust || !strncmp(rule->form, rust[i], strlen(rust[i]));
	if (!is_rust)
		return false;
	for (unsigned int i = 1; i < CLASS_NR_CAPTURES; i++) {
		if (c->start[i] && has_parameter(c->start[i], c->len[i]))
			return true;
	}
	return false;
}

/* Whether the rule is of an allocator, which may be the machine code of one for another type. */
static bool is_of_allocator(const struct class_rule *rule)
{
	return *rule->class == '=' && !strchr(rule->class, '|');
}

/* Whether two classes are of one container, of which a tree may be a map or a multimap. */
static bool same_container(const char *class, const char *other)
{
	static const char multi[] = "multi";

	for (;; class++, other++) {
		if (*class != *other) {
			class += name_starts(class, multi) ? strlen(multi) : 0;
			other += name_starts(other, multi) ? strlen(multi) : 0;
		}
		if (*class != *other || !*class || *class == '<')
			return *class == *other;
	}
}

/*
 * Whether the rule may follow what was found further in. inlined: what is inlined into the frame is
 * known.
 */
static bool may_follow(const struct class_rule *rule, const struct class_captures *captures,
		       const struct finding *f, bool inlined)
{
	char *after, *type;
	bool same;

	if (is_of_allocator(rule))
		return !f->name || (f->of_allocator && f->provisional);
	if (f->private && inlined && (!rule->after || !strcmp(rule->after, "~")) &&
	    same_container(rule->class, f->name))
		return true;
	if (!rule->after || !f->name)
		return !rule->after && (!f->name || f->of_allocator);
	if (!strcmp(rule->after, "?"))
		return f->provisional;
	after = class_expand(rule->after, captures);
	type = class_type(after);
	same = !strcmp(type, f->name);
	free(after);
	free(type);
	return same;
}

/* The class that a rule gives, NULL if it gives none after all. */
static char *rule_class(const struct class_rule *rule, const struct class_captures *captures)
{
	char *class = class_expand(rule->class, captures), *other, *of_type, *ret;

	if (*class != '=')
		return class;
	other = strchr(class, '|');
	if (other)
		*other++ = 0;
	of_type = type_class(class + 1);
	if (of_type && !other)
		ret = xasprintf("%s~", of_type);
	else
		ret = of_type || other ? xstrdup(of_type ? of_type : other) : NULL;
	free(of_type);
	free(class);
	return ret;
}

/*
 * Takes what a rule says. It is believed over an allocator that is called from the frame itself;
 * with frames between them that no rule knows, both must say the same.
 */
static void take(const struct class_rule *rule, const struct class_captures *captures, char *class,
		 struct finding *f)
{
	char *doubted = f->of_allocator && !f->provisional && !rule->after ? xstrdup(f->name) : NULL;

	found(f, class, rule->element ? class_expand(rule->element, captures) : NULL);
	f->of_allocator = is_of_allocator(rule);
	if (doubted && strcmp(doubted, f->name)) {
		found_nothing(f);
		f->contradicted = true;
	}
	free(doubted);
}

/*
 * Whether a rule fits the function; f is then what is known with it. inlined: what is inlined into it
 * is known.
 */
static bool ask_function(const char *function, bool generic_names, bool inlined, struct finding *f)
{
	struct class_captures captures;

	for (size_t i = 0; i < class_nr_function_rules; i++) {
		const struct class_rule *rule = &class_function_rules[i];
		char *class;

		if (!class_match(rule->form, function, &captures) ||
		    (generic_names && has_parameters(rule, &captures)) ||
		    !may_follow(rule, &captures, f, inlined))
			continue;
		if (!f->name && !inlined && class_hides_inlined(function)) {
			f->contradicted = true;
			return true;
		}
		class = rule_class(rule, &captures);
		if (!class) {
			found_nothing(f);
			continue;
		}
		take(rule, &captures, class, f);
		f->private = f->name && class_private(function);
		f->keys_unknown = !inlined && class_is_tree(function) && !class_tells_keys(function);
		return true;
	}
	return false;
}

/* class_function() of a name, or NULL where there is none that can be looked at. */
static char *plain_function(const char *name)
{
	return name && strlen(name) <= MAX_NAME ? class_function(name) : NULL;
}

/*
 * Debug information of the lesser kind (rustc -C debuginfo=1) has the arguments of a type at its
 * functions only: "Vec::push<T,A>" is then "Vec<T,A>::push<T,A>". NULL where it is not of that form.
 */
static char *method_of_type(const char *function)
{
	const char *arguments = strchr(function, '<'), *name = arguments, *type;

	if (!arguments || function[strlen(function) - 1] != '>')
		return NULL;
	while (name > function && is_path(name[-1]) && name[-1] != ':')
		name--;
	if (name == arguments || name - function < 3 || strncmp(name - 2, "::", 2))
		return NULL;
	for (type = name - 2; type > function && is_path(type[-1]) && type[-1] != ':';)
		type--;
	if (!isupper((unsigned char)*type))
		return NULL;
	return xasprintf("%.*s%s%s", (int)(name - 2 - function), function, arguments, name - 2);
}

/* The same of a name from the debug information. */
static bool ask_scope(const char *scope, bool inlined, struct finding *f)
{
	char *method;
	bool fits;

	if (ask_function(scope, false, inlined, f))
		return true;
	method = method_of_type(scope);
	fits = method && ask_function(method, false, inlined, f);
	free(method);
	return fits;
}

/* A container of values by their keys, of which there is one with several of one key. */
static bool is_associative(const char *class)
{
	const char *end = class + strcspn(class, "<");

	return name_follows(class, end, "map") || name_follows(class, end, "set");
}

/*
 * What a bare function tells nevertheless: what is allocated through another one than those that a
 * container calls for itself may be an element's, a string in a vector of these. And a tree does not
 * say whether it has several values of one key, as does who uses it.
 */
static void ask_bare(const char *function, struct finding *f)
{
	bool several = strstr(function, "multi") || strstr(function, "_equal");

	if (f->name ? several && is_associative(f->name) && !strstr(f->name, "multi")
		    : !class_bare_private(function)) {
		found_nothing(f);
		f->contradicted = true;
	}
}

static void ask_frame(const struct frame *frame, struct finding *f)
{
	char *scope = plain_function(frame->scope), *function = NULL;
	bool inlined = frame->file != NULL, fits = scope && ask_scope(scope, inlined, f);

	if (class_bare(frame))
		ask_bare(frame->function, f);
	if (!fits) {
		function = plain_function(frame->function);
		fits = function && ask_function(function, true, inlined, f);
	}
	if (function && class_tells_keys(function))
		f->keys_unknown = false;
	if (!fits) {
		f->provisional = f->provisional && f->is_kind;
		f->private = false;
	}
	free(scope);
	free(function);
}

/* Whether a container calls the frame for memory: an allocator of the program's own. */
static bool is_allocator(const struct frame *const *frames, size_t nr)
{
	struct class_captures captures;
	char *caller;
	bool yes;

	if (nr < 2 || frames[0]->runtime || !frames[1]->runtime)
		return false;
	caller = plain_function(frames[1]->function);
	yes = caller && class_match("std::allocator_traits<*>::allocate", caller, &captures);
	free(caller);
	return yes;
}

/*
 * "Vec<A>" becomes "Vec<_>": what only functions that are shared say of their types may be said of
 * another one's.
 */
static void forget_arguments(char *name)
{
	char *open = strchr(name, '<');

	if (open && strlen(open) > 2)
		strcpy(open, "<_>");
}

void class_of_stack(const struct frame *const *frames, size_t nr, struct stack_class *ret)
{
	struct finding f = {0};
	size_t i = is_allocator(frames, nr);

	for (; i < nr && frames[i]->runtime && !f.contradicted; i++)
		ask_frame(frames[i], &f);
	if (f.keys_unknown || (f.name && !*f.name))
		found_nothing(&f);
	else if (f.provisional && f.is_kind)
		forget_arguments(f.name);
	*ret = (struct stack_class){f.name, f.element};
}

void class_release(struct stack_class *c)
{
	free(c->name);
	free(c->element);
	*c = (struct stack_class){NULL, NULL};
}

/* "WHAT in CALLER" */
static char *in_caller(const char *what, const struct frame *site)
{
	char *caller, *type, *ret;

	if (!site)
		return xstrdup("non-object");
	caller = site->module ? plain_function(site->function) : NULL;
	type = caller ? class_type(caller) : frame_label(site);
	free(caller);
	ret = xasprintf("%s in %s", what, type);
	free(type);
	return ret;
}

char *class_of_site(const struct frame *site)
{
	return in_caller("malloc", site);
}

char *class_of_mapping(const struct frame *site)
{
	return in_caller("mapping", site);
}
