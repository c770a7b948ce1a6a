/* SPDX-License-Identifier: MIT */
/*
 * launch.h - what has to be there before a program starts traced: its options, output folder,
 * store and environment. Shared by `run` and `env`.
 */
#ifndef HEAPSTORY_CLI_LAUNCH_H
#define HEAPSTORY_CLI_LAUNCH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/where.h"

struct hs_error;

struct launch_options {
	const char *dir; /* -o; NULL: the default */
	const char *store; /* --store; NULL: chosen by store_where() */
	uint32_t mode; /* enum hs_mode: off or live */
	uint32_t depth; /* frames */
	uint64_t every_ns; /* 0: no periodic snapshots */
	uint64_t growth_bytes; /* 0: none on growth */
	uint64_t keep_bytes; /* 0: all snapshots are kept */
	bool keep_given;
	bool exit_snapshot;
	bool follow;
	bool exec;
	bool anyway;
};

/* What is shared by the parsers of `run`, `env` and `supervise`. */
enum launch_command {
	LAUNCH_RUN,
	LAUNCH_ENV,
};

/*
 * Reads the options of the command, up to the first operand or behind "--". Returns the index in
 * argv of what follows them, or -HS_E_USAGE.
 */
int launch_options_parse(struct launch_options *options, enum launch_command command, int argc,
			 char **argv, struct hs_error *err);

/*
 * Value of an option that takes one: `--name VALUE` or `--name=VALUE` at argv[*i]; *i moves to the
 * last word it used. 1 if it is this option, 0 if it is another, -HS_E_USAGE if the value is
 * missing. name includes its dashes.
 */
int option_value(const char *name, int argc, char **argv, int *i, const char **ret_value,
		 struct hs_error *err);
/* The same with a size or a duration that must not be 0. */
int option_size(const char *name, int argc, char **argv, int *i, uint64_t *ret_bytes,
		struct hs_error *err);
/* The same, where 0 is a size too. */
int option_size_or_0(const char *name, int argc, char **argv, int *i, uint64_t *ret_bytes,
		     struct hs_error *err);
int option_duration(const char *name, int argc, char **argv, int *i, uint64_t *ret_ns,
		    struct hs_error *err);

/* A program about to be started; all paths are absolute. */
struct launch {
	const struct launch_options *options; /* borrowed */
	char library[PATH_MAX];
	char dir[PATH_MAX]; /* output folder; "": none */
	bool made_dir;
	struct store_where where;
	char store[PATH_MAX]; /* the file; "": the tracer is to make one */
	char link[PATH_MAX]; /* dir/store.live, where that is a link to it; "": none */
	char registry[PATH_MAX]; /* "": none */
};

/* Finds the library that is preloaded and the registry. 0 or -HS_E_*. */
int launch_init(struct launch *l, const struct launch_options *options, struct hs_error *err);

/*
 * Makes the output folder, or takes an empty one that exists; default_dir is used if -o was not
 * given (NULL: no folder then). Then chooses the place of the store. 0 or -HS_E_*; on failure
 * nothing is left behind.
 */
int launch_make_dir(struct launch *l, const char *default_dir, struct hs_error *err);

/* Makes the store of process pid. 0 or -HS_E_*; on failure nothing is left behind. */
int launch_make_store(struct launch *l, pid_t pid, struct hs_error *err);

/* Removes what the two above made. */
void launch_undo(struct launch *l);

/*
 * The environment of the program: ours as it is, and behind it LD_PRELOAD with the library first
 * (of two the loader takes the last, and the tracer takes it out again) and the variables of
 * format.h. The caller frees the array only.
 */
char **launch_environment(const struct launch *l);

/* The words NAME=VALUE alone that launch_environment() adds or changes, NULL at the end. */
char **launch_variables(const struct launch *l);

/*
 * The file that execvp(3) would take for a command, NULL-free and absolute or relative as found in
 * PATH. 0, or the errno that a shell would report.
 */
int launch_find_program(const char *name, char ret[PATH_MAX]);

/* One clear line why the program at path cannot be traced in ret_why, or true. */
bool launch_traceable(const char *path, char *ret_why, size_t size);

/*
 * Makes an output folder (mode 0700), or takes one that exists and is empty, and tries whether a
 * file can be written there. ret is its absolute path. 0 or -HS_E_*; then nothing is left behind.
 */
int output_folder(const char *path, char ret[PATH_MAX], bool *ret_made, struct hs_error *err);

/* Path made absolute against the current folder; it need not exist. 0 or -HS_E_*. */
int absolute_path(const char *path, char ret[PATH_MAX], struct hs_error *err);

#endif
