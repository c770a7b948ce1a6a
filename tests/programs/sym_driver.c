/* SPDX-License-Identifier: MIT */
/*
 * sym_driver.c - asks the symbolizer: one address of a file a line in, one name a line out.
 *
 *	sym_driver [--raw] [--frames] [--debug-dir DIR]... [--build-id HEX] FILE < ADDRESSES
 *	sym_driver --traceable PROGRAM...
 *	sym_driver --demangle < NAMES
 *
 * With --frames: for each address its frames, innermost first, two lines each, the function and
 * file:line:column, then an empty line, as llvm-symbolizer does; --scopes adds a third line with
 * the name by scopes.
 * Addresses are hexadecimal; "??" stands for unknown. Why there are no names goes to standard
 * error. --traceable prints the verdict, a tab and the line for people.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/symbolizer.h"

static size_t parse_hex(const char *text, uint8_t *ret, size_t size)
{
	size_t len = 0;
	unsigned int byte;

	for (; len < size && sscanf(text, "%2x", &byte) == 1; text += 2)
		ret[len++] = (uint8_t)byte;
	return len;
}

static int show_traceable(char **paths)
{
	static const char *const names[] = { "ok", "static", "setid", "musl", "arch", "unreadable" };
	char detail[512];

	for (; *paths; paths++) {
		enum elf_trace verdict = elf_traceable(*paths, detail, sizeof(detail));

		printf("%s\t%s\n", names[verdict], detail);
	}
	return 0;
}

static int show_demangled(void)
{
	char line[65536];

	while (fgets(line, sizeof(line), stdin)) {
		char *name;

		line[strcspn(line, "\n")] = '\0';
		name = symbolizer_demangle(line);
		puts(name);
		free(name);
	}
	return 0;
}

static void show_frames(const struct symbolizer_frame *frames, size_t nr, bool scopes)
{
	size_t i;

	if (!nr)
		puts("??\n??:0:0");
	for (i = 0; i < nr; i++) {
		puts(frames[i].function ? frames[i].function : "??");
		printf("%s:%u:%u\n", frames[i].file ? frames[i].file : "??", frames[i].line,
		       frames[i].column);
		if (scopes)
			puts(frames[i].scope ? frames[i].scope : "??");
	}
	puts("");
}

/* What is printed for an address. */
enum form {
	NAMES, FRAMES, SCOPES,
};

static int show_names(const struct symbolizer_options *options, struct symbolizer_module *module,
		      enum form form)
{
	struct symbolizer *symbolizer = symbolizer_new(options);
	uint32_t id = symbolizer_add(symbolizer, module);
	const struct symbolizer_frame *frames;
	const char *problem;
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		size_t n = symbolizer_lookup(symbolizer, id, strtoull(line, NULL, 16), &frames);

		if (form != NAMES)
			show_frames(frames, n, form == SCOPES);
		else /* that of the symbol: the outermost */
			puts(n && frames[n - 1].function ? frames[n - 1].function : "??");
	}
	problem = symbolizer_problem(symbolizer, id);
	if (problem)
		fprintf(stderr, "%s\n", problem);
	symbolizer_free(symbolizer);
	return 0;
}

int main(int argc, char **argv)
{
	struct symbolizer_options options = { 0 };
	struct symbolizer_module module = { 0 };
	const char **dirs = calloc((size_t)argc, sizeof(*dirs));
	enum form form = NAMES;
	uint8_t build_id[64];
	int i, status;

	options.debug_dirs = dirs;
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--traceable"))
			return show_traceable(argv + i + 1);
		if (!strcmp(argv[i], "--demangle"))
			return show_demangled();
		if (!strcmp(argv[i], "--raw"))
			options.raw_names = true;
		else if (!strcmp(argv[i], "--frames"))
			form = FRAMES;
		else if (!strcmp(argv[i], "--scopes"))
			form = SCOPES;
		else if (!strcmp(argv[i], "--debug-dir") && i + 1 < argc)
			dirs[options.nr_debug_dirs++] = argv[++i];
		else if (!strcmp(argv[i], "--build-id") && i + 1 < argc)
			module.build_id_len = parse_hex(argv[++i], build_id, sizeof(build_id));
	}
	if (i >= argc)
		return 2;
	module.path = argv[i];
	module.build_id = build_id;
	status = show_names(&options, &module, form);
	free(dirs);
	return status;
}
