/* SPDX-License-Identifier: MIT */
/*
 * options.c - command lines of the reading commands; see options.h.
 */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/runtime.h"
#include "cli/command.h"
#include "cli/suggest.h"
#include "symbolizer/symbolizer.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/units.h"

/* ---- words ------------------------------------------------------------------------------- */

void args_init(struct args *a, int argc, char **argv)
{
	memset(a, 0, sizeof(*a));
	a->argc = argc;
	a->argv = argv;
	a->at = 1;
}

void args_release(struct args *a)
{
	free(a->option);
	a->option = NULL;
}

enum args_kind args_next(struct args *a)
{
	char *word;
	size_t len;

	if (a->option && a->attached) {
		say("option '%s' takes no value", a->option);
		return ARGS_ERROR;
	}
	free(a->option);
	a->option = NULL;
	a->attached = NULL;
	if (a->at >= a->argc)
		return ARGS_END;
	word = a->argv[a->at++];
	if (!a->only_operands && !strcmp(word, "--")) {
		a->only_operands = true;
		return args_next(a);
	}
	if (a->only_operands || word[0] != '-' || !word[1]) {
		a->operand = word;
		return ARGS_OPERAND;
	}
	len = word[1] == '-' ? strcspn(word, "=") : 2;
	a->option = xstrndup(word, len);
	if (word[len])
		a->attached = word + len + (word[len] == '=');
	return ARGS_OPTION;
}

bool args_is(const struct args *a, const char *long_name, const char *short_name)
{
	return (long_name && !strcmp(a->option, long_name)) ||
	       (short_name && !strcmp(a->option, short_name));
}

const char *args_value(struct args *a)
{
	const char *value = a->attached;

	if (value) {
		a->attached = NULL;
		return value;
	}
	if (a->at < a->argc)
		return a->argv[a->at++];
	say("option '%s' needs a value", a->option);
	return NULL;
}

int args_unknown(const struct args *a, const char *command)
{
	return say_no_option(command, a->option);
}

int args_wrong(const struct args *a, const char *value, const char *expected)
{
	say("option '%s' takes %s, not '%s'", a->option, expected, value);
	return -1;
}

/* ---- common options ---------------------------------------------------------------------- */

void read_options_init(struct read_options *o)
{
	memset(o, 0, sizeof(*o));
	o->nr_rows = 20;
}

void read_options_release(struct read_options *o)
{
	if (o->filter.has_function)
		regfree(&o->filter.function);
	if (o->filter.has_class)
		pattern_release(&o->filter.class);
	free(o->debug_dirs);
	free(o->operands);
}

static int parse_by(struct read_options *o, struct args *a)
{
	static const char *const names[] = {
		[GROUP_SITE] = "site",	 [GROUP_STACK] = "stack",   [GROUP_FUNCTION] = "function",
		[GROUP_CLASS] = "class", [GROUP_FILE] = "file",	    [GROUP_MODULE] = "module",
		[GROUP_ZONE] = "zone",	 [GROUP_THREAD] = "thread", [GROUP_SIZE] = "size",
		[GROUP_AGE] = "age",
	};
	const char *value = args_value(a);

	if (!value)
		return -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(value, names[i])) {
			o->by = (enum group_by)i;
			o->has_by = true;
			return 1;
		}
	}
	return args_wrong(a, value,
			  "class, site, stack, function, file, module, zone, thread, size or age");
}

static int parse_sort(struct read_options *o, struct args *a)
{
	const char *value = args_value(a);

	if (!value)
		return -1;
	if (!strcmp(value, "bytes"))
		o->sort = SORT_BYTES;
	else if (!strcmp(value, "count"))
		o->sort = SORT_COUNT;
	else if (!strcmp(value, "delta"))
		o->sort = SORT_DELTA;
	else
		return args_wrong(a, value, "bytes, count or delta");
	o->has_sort = true;
	return 1;
}

static int parse_rows(struct read_options *o, struct args *a)
{
	const char *value = args_value(a);
	char *end;

	if (!value)
		return -1;
	o->has_rows = true;
	if (!strcmp(value, "all")) {
		o->nr_rows = SIZE_MAX;
		return 1;
	}
	o->nr_rows = strtoull(value, &end, 10);
	if (value[0] < '0' || value[0] > '9' || *end)
		return args_wrong(a, value, "a number or 'all'");
	return 1;
}

static int parse_kind(struct read_options *o, struct args *a, bool any)
{
	const char *value = args_value(a);

	if (!value)
		return -1;
	if (!kind_parse(value, &o->kind))
		return args_wrong(a, value, "malloc, mapping or all");
	if (o->kind != KIND_MALLOC && !any) {
		say("--kind %s is not in this version of '%s'", value, a->argv[0]);
		return -1;
	}
	return 1;
}

static int parse_duration(struct args *a, bool *ret_has, uint64_t *ret_ms)
{
	const char *value = args_value(a);
	uint64_t ns;

	if (!value)
		return -1;
	if (units_parse_duration(value, &ns))
		return args_wrong(a, value, UNITS_A_DURATION);
	*ret_has = true;
	*ret_ms = ns / 1000000;
	return 1;
}

static int parse_function(struct filter *f, struct args *a)
{
	const char *value = args_value(a);
	char message[256];
	int error;

	if (!value)
		return -1;
	if (f->has_function)
		regfree(&f->function);
	f->has_function = false;
	error = regcomp(&f->function, value, REG_EXTENDED | REG_NOSUB);
	if (error) {
		regerror(error, &f->function, message, sizeof(message));
		say("option '--function' takes a regular expression, and '%s' is none: %s", value,
		    message);
		return -1;
	}
	f->has_function = true;
	f->function_text = value;
	return 1;
}

static int parse_text(struct args *a, const char **ret)
{
	const char *value = args_value(a);

	if (!value)
		return -1;
	*ret = value;
	return 1;
}

static int parse_class(struct filter *f, struct args *a)
{
	const char *value = args_value(a);
	struct hs_error err = {0};

	if (!value)
		return -1;
	pattern_release(&f->class);
	f->has_class = false;
	if (pattern_parse(value, &f->class, &err)) {
		say_error(&err);
		return -1;
	}
	f->has_class = true;
	f->class_text = value;
	return 1;
}

static int parse_filter(struct filter *f, struct args *a)
{
	const char *value;

	if (args_is(a, "--zone", NULL))
		return parse_text(a, &f->zone);
	if (args_is(a, "--module", NULL))
		return parse_text(a, &f->module);
	if (args_is(a, "--thread", NULL))
		return parse_text(a, &f->thread);
	if (args_is(a, "--function", NULL))
		return parse_function(f, a);
	if (args_is(a, "--class", NULL))
		return parse_class(f, a);
	if (args_is(a, "--older", NULL))
		return parse_duration(a, &f->has_older, &f->older_ms);
	if (args_is(a, "--younger", NULL))
		return parse_duration(a, &f->has_younger, &f->younger_ms);
	if (!args_is(a, "--min", NULL))
		return 0;
	value = args_value(a);
	if (!value)
		return -1;
	if (units_parse_size(value, &f->min_size))
		return args_wrong(a, value, UNITS_A_SIZE);
	return 1;
}

static int parse_debuginfod(struct read_options *o)
{
	char *problem = symbolizer_debuginfod_problem();

	if (problem) {
		say("%s", problem);
		free(problem);
		return -1;
	}
	o->debuginfod = true;
	return 1;
}

static int parse_files(struct read_options *o, struct args *a)
{
	const char *value;

	if (args_is(a, "--debuginfod", NULL))
		return parse_debuginfod(o);
	if (!args_is(a, "--debug-dir", NULL))
		return 0;
	value = args_value(a);
	if (!value)
		return -1;
	o->debug_dirs = xreallocarray(o->debug_dirs, o->nr_debug_dirs + 1, sizeof(*o->debug_dirs));
	o->debug_dirs[o->nr_debug_dirs++] = value;
	return 1;
}

static int parse_stacks(struct read_options *o, struct args *a)
{
	const char *value;

	if (args_is(a, "--all-frames", NULL)) {
		o->all_frames = true;
		return 1;
	}
	if (args_is(a, "--raw-names", NULL)) {
		o->raw_names = true;
		return 1;
	}
	if (!args_is(a, "--wrapper", NULL))
		return 0;
	value = args_value(a);
	if (value && strstr(value, "+0x"))
		return args_wrong(a, value, "names of functions, no places without");
	if (value)
		runtime_add_wrapper(value);
	return value ? 1 : -1;
}

static int parse_common(struct read_options *o, struct args *a, unsigned int takes)
{
	int done = 0;

	if (args_is(a, "--json", NULL)) {
		o->json = true;
		return 1;
	}
	if (takes & READ_FILES)
		done = parse_files(o, a);
	if (!done && (takes & READ_STACKS) == READ_STACKS)
		done = parse_stacks(o, a);
	if (!done && (takes & READ_ROWS) && args_is(a, NULL, "-n"))
		done = parse_rows(o, a);
	if (!done && (takes & READ_GROUPS) && args_is(a, "--by", NULL))
		done = parse_by(o, a);
	if (!done && (takes & READ_GROUPS) && args_is(a, "--sort", NULL))
		done = parse_sort(o, a);
	if (!done && (takes & READ_FILTERS) && args_is(a, "--kind", NULL))
		done = parse_kind(o, a, takes & READ_KIND);
	if (!done && (takes & READ_FILTERS))
		done = parse_filter(&o->filter, a);
	return done;
}

int read_options_parse(struct read_options *o, int argc, char **argv, unsigned int takes,
		       own_option own, void *context)
{
	enum args_kind kind;
	int status = 0, done;
	struct args a;

	args_init(&a, argc, argv);
	while (!status && (kind = args_next(&a)) != ARGS_END) {
		if (kind == ARGS_ERROR) {
			status = EXIT_TROUBLE;
			break;
		}
		if (kind == ARGS_OPERAND) {
			o->operands = xreallocarray(o->operands, o->nr_operands + 1,
						    sizeof(*o->operands));
			o->operands[o->nr_operands++] = a.operand;
			continue;
		}
		done = own ? own(context, &a) : 0;
		if (!done)
			done = parse_common(o, &a, takes);
		if (done <= 0)
			status = done ? EXIT_TROUBLE : args_unknown(&a, argv[0]);
	}
	args_release(&a);
	return status;
}
