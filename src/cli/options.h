/* SPDX-License-Identifier: MIT */
/*
 * options.h - the words of a command line one by one, and the options that the reading commands
 * have in common. No abbreviations; "--name=value" and "--name value" are the same.
 */
#ifndef HEAPSTORY_CLI_OPTIONS_H
#define HEAPSTORY_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/filter.h"
#include "analysis/group.h"
#include "analysis/heap.h"
#include "analysis/kind.h"

struct args {
	int argc, at; /* argv[at] is the next word */
	char **argv;
	bool only_operands; /* "--" was there */
	char *option; /* "--by" or "-n"; NULL: the last word was an operand */
	const char *operand;
	const char *attached; /* what came with the option's own word; NULL: nothing */
};

enum args_kind {
	ARGS_END,
	ARGS_OPTION,
	ARGS_OPERAND,
	ARGS_ERROR, /* said already */
};

/* Words are borrowed; args_release() frees the option at hand. */
void args_init(struct args *args, int argc, char **argv);
void args_release(struct args *args);
/* The next word. An option whose value was not asked for must have none. */
enum args_kind args_next(struct args *args);
bool args_is(const struct args *args, const char *long_name, const char *short_name);
/* Value of the present option; NULL: there is none, said already. */
const char *args_value(struct args *args);
/* Says that the option is unknown; EXIT_TROUBLE. */
int args_unknown(const struct args *args, const char *command);

/* Of reading commands; read_options_init() first. */
struct read_options {
	bool json, all_frames, raw_names, debuginfod;
	bool has_by, has_sort, has_rows;
	enum group_by by;
	enum sort_by sort;
	size_t nr_rows; /* SIZE_MAX: all */
	enum block_kind kind;
	struct filter filter;
	const char **debug_dirs;
	size_t nr_debug_dirs;
	const char **operands;
	size_t nr_operands;
};

/* What a command takes of the common options. */
enum read_takes {
	READ_FILES = 1u << 0, /* --debug-dir, --debuginfod */
	READ_STACKS = 1u << 5 | READ_FILES, /* also --wrapper, --all-frames, --raw-names */
	READ_ROWS = 1u << 1, /* -n */
	READ_GROUPS = 1u << 2, /* --by, --sort */
	READ_FILTERS = 1u << 3,
	READ_KIND = 1u << 4, /* --kind mapping and all; without it only malloc */
};

#define READ_HELP_JSON "  --json               print one JSON object\n"
#define READ_HELP_FILES                                                                      \
	"  --debug-dir DIR      look for debug files here too; may be given several times\n" \
	"  --debuginfod         ask the servers in $DEBUGINFOD_URLS for files too\n"
#define READ_HELP_STACKS                                                                     \
	READ_HELP_FILES                                                                      \
	"  --wrapper GLOB       no site: functions that get memory for others, beside\n"     \
	"                       the well-known ones (xmalloc, zmalloc)\n"                  \
	"  --all-frames         show frames of allocators and language runtimes too\n"       \
	"  --raw-names          show names of functions as the linker knows them\n"
#define READ_HELP_ROWS "  -n N|all             rows to print (20)\n"
#define READ_HELP_BY(usual)                                                                  \
	"  --by WHAT            group by class, site, stack, function, file, module,\n"    \
	"                       zone, thread, size or age (" usual ")\n"
#define READ_HELP_KIND                                                                   \
	"  --kind KIND          malloc (default), mapping (what the program itself\n"     \
	"                       mapped) or all\n"
#define READ_HELP_FILTERS                                                             \
	"  --zone GLOB          only blocks of these zones\n"                         \
	"  --module GLOB        only blocks whose site is in these modules\n"         \
	"  --function REGEX     only blocks with such a function in their stack\n"    \
	"  --class PATTERN      only blocks of this class, and size: 'Visitor', '.*[1m+]'\n"  \
	"  --thread T           only blocks made by this thread, by id or name\n"     \
	"  --min SIZE           only blocks of this size or more (4096, 4k, 1m)\n"    \
	"  --older DURATION     only blocks at least this old (500ms, 30s, 5m, 2h)\n" \
	"  --younger DURATION   only blocks at most this old\n"

/* An option of the command itself: 1 taken, 0 not one of mine, -1 wrong and said. */
typedef int (*own_option)(void *context, struct args *args);

void read_options_init(struct read_options *o);
void read_options_release(struct read_options *o);
/* Parses all words; own may be NULL. 0, or EXIT_TROUBLE and said. */
int read_options_parse(struct read_options *o, int argc, char **argv, unsigned int takes,
		       own_option own, void *context);

/* Says that a value is wrong; -1. */
int args_wrong(const struct args *args, const char *value, const char *expected);

#endif
