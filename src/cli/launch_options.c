/* SPDX-License-Identifier: MIT */
/*
 * launch_options.c - the options of `run` and `env`.
 */
#include "cli/launch.h"
#include "cli/suggest.h"

#include "cli/supervisor.h"
#include "store/create.h"
#include "store/format.h"
#include "util/error.h"
#include "util/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 65535u

int option_value(const char *name, int argc, char **argv, int *i, const char **ret_value,
		 struct hs_error *err)
{
	size_t len = strlen(name);
	const char *word = argv[*i];

	if (strncmp(word, name, len))
		return 0;
	if (word[len] == '=' && name[1] == '-') {
		*ret_value = word + len + 1;
		return 1;
	}
	if (word[len] && name[1] != '-') { /* -oDIR */
		*ret_value = word + len;
		return 1;
	}
	if (word[len])
		return 0;
	if (*i + 1 >= argc)
		return hs_error_set(err, HS_E_USAGE, "'%s' needs a value", name);
	*ret_value = argv[++*i];
	return 1;
}

static int parse_size(const char *name, bool or_none, int argc, char **argv, int *i,
		      uint64_t *ret_bytes, struct hs_error *err)
{
	const char *value;
	uint64_t bytes;
	int ret = option_value(name, argc, argv, i, &value, err);

	if (ret <= 0)
		return ret;
	if (units_parse_size(value, &bytes) || (!bytes && !or_none))
		return hs_error_set(err, HS_E_USAGE,
				    "option '%s' takes " UNITS_A_SIZE ", not '%s'", name, value);
	*ret_bytes = bytes;
	return 1;
}

int option_size(const char *name, int argc, char **argv, int *i, uint64_t *ret_bytes,
		struct hs_error *err)
{
	return parse_size(name, false, argc, argv, i, ret_bytes, err);
}

int option_size_or_0(const char *name, int argc, char **argv, int *i, uint64_t *ret_bytes,
		     struct hs_error *err)
{
	return parse_size(name, true, argc, argv, i, ret_bytes, err);
}

int option_duration(const char *name, int argc, char **argv, int *i, uint64_t *ret_ns,
		    struct hs_error *err)
{
	const char *value;
	uint64_t ns;
	int ret = option_value(name, argc, argv, i, &value, err);

	if (ret <= 0)
		return ret;
	if (units_parse_duration(value, &ns) || !ns)
		return hs_error_set(err, HS_E_USAGE,
				    "option '%s' takes " UNITS_A_DURATION ", not '%s'", name,
				    value);
	*ret_ns = ns;
	return 1;
}

static int parse_mode(const char *value, uint32_t *ret_mode, struct hs_error *err)
{
	if (!strcmp(value, "live"))
		*ret_mode = HS_MODE_LIVE;
	else if (!strcmp(value, "off"))
		*ret_mode = HS_MODE_OFF;
	else if (!strcmp(value, "full") || !strcmp(value, "sample") ||
		 !strncmp(value, "sample=", 7))
		return hs_error_set(err, HS_E_USAGE, "mode '%s' is not in this version", value);
	else
		return hs_error_set(err, HS_E_USAGE, "'%s' is no mode (off, live)",
				    value);
	return 1;
}

static int parse_depth(const char *value, uint32_t *ret_depth, struct hs_error *err)
{
	char *end;
	unsigned long depth;

	errno = 0;
	depth = strtoul(value, &end, 10);
	if (value[0] < '0' || value[0] > '9' || *end || errno || !depth || depth > MAX_DEPTH)
		return hs_error_set(err, HS_E_USAGE,
				    "option '--depth' takes a number from 1 to %u, not '%s'",
				    MAX_DEPTH, value);
	*ret_depth = (uint32_t)depth;
	return 1;
}

/* An option with a value at argv[*i]: 1 taken, 0 not one of these, -HS_E_USAGE. */
static int parse_valued(struct launch_options *o, int argc, char **argv, int *i,
			struct hs_error *err)
{
	const char *value;
	int ret = option_value("-o", argc, argv, i, &o->dir, err);

	ret = ret ? ret : option_value("--store", argc, argv, i, &o->store, err);
	ret = ret ? ret : option_duration("--every", argc, argv, i, &o->every_ns, err);
	ret = ret ? ret : option_size("--on-growth", argc, argv, i, &o->growth_bytes, err);
	if (!ret) {
		ret = option_size_or_0("--keep", argc, argv, i, &o->keep_bytes, err);
		o->keep_given = o->keep_given || ret > 0;
	}
	if (ret)
		return ret;
	ret = option_value("--mode", argc, argv, i, &value, err);
	if (ret)
		return ret < 0 ? ret : parse_mode(value, &o->mode, err);
	ret = option_value("--depth", argc, argv, i, &value, err);
	if (ret)
		return ret < 0 ? ret : parse_depth(value, &o->depth, err);
	ret = option_value("--zone", argc, argv, i, &value, err);
	if (ret > 0)
		return hs_error_set(err, HS_E_USAGE, "'--zone' is not in this version");
	ret = option_value("--kind", argc, argv, i, &value, err);
	if (ret > 0)
		return hs_error_set(
			err, HS_E_USAGE,
			"'--kind' is for reading; blocks and mappings are always recorded");
	return ret;
}

static bool parse_switch(struct launch_options *o, const char *word)
{
	if (!strcmp(word, "--no-exit-snapshot"))
		o->exit_snapshot = false;
	else if (!strcmp(word, "--follow-children"))
		o->follow = true;
	else if (!strcmp(word, "--exec"))
		o->exec = true;
	else if (!strcmp(word, "--anyway"))
		o->anyway = true;
	else
		return false;
	return true;
}

/* What makes no sense without a supervisor, or without a program of ours. */
static int refuse_for_env(const struct launch_options *o, struct hs_error *err)
{
	bool takes_snapshots = o->every_ns || o->growth_bytes || o->keep_given;
	const char *name = o->every_ns	       ? "--every"
			   : o->growth_bytes   ? "--on-growth"
			   : o->keep_given     ? "--keep"
			   : !o->exit_snapshot ? "--no-exit-snapshot"
			   : o->exec	       ? "--exec"
			   : o->anyway	       ? "--anyway"
					       : NULL;

	if (!name)
		return 0;
	if (takes_snapshots)
		return hs_error_set(err, HS_E_USAGE,
				    "'%s' needs 'run' or 'supervise': under 'env' nobody takes "
				    "snapshots",
				    name);
	return hs_error_set(err, HS_E_USAGE, "'%s' needs 'run'", name);
}

int launch_options_parse(struct launch_options *options, enum launch_command command, int argc,
			 char **argv, struct hs_error *err)
{
	int i, ret;

	*options = (struct launch_options){
		.mode = HS_MODE_LIVE,
		.depth = STORE_DEFAULT_DEPTH,
		.exit_snapshot = true,
		.keep_bytes = SUPERVISOR_DEFAULT_KEEP,
	};
	for (i = 1; i < argc; i++) {
		if (argv[i][0] != '-' || !argv[i][1])
			break;
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (parse_switch(options, argv[i]))
			continue;
		ret = parse_valued(options, argc, argv, &i, err);
		if (ret < 0)
			return ret;
		if (!ret) {
			char *text = no_option(argv[0], argv[i]);

			hs_error_set(err, HS_E_USAGE, "%s", text);
			free(text);
			return -HS_E_USAGE;
		}
	}
	if (command == LAUNCH_ENV) {
		ret = refuse_for_env(options, err);
		if (ret)
			return ret;
	}
	return i;
}
