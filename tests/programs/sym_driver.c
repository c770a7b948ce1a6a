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
 * Addresses are hexadecimal digits; "??" stands for unknown. Why there are no names goes to standard
 * error. --traceable prints the verdict, a tab and the line for people.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/symbolizer.h"
#include "util/buffer.h"
#include "util/name_table.h"

#define OUT_BYTES 65536u /* are read, and written, at once */

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

/* What is printed for an address. */
enum form {
	NAMES, FRAMES, SCOPES,
};

static void add_line(struct buffer *out, const char *text)
{
	size_t len = strlen(text = text ? text : "??");
	uint8_t *at = buffer_reserve(out, len + 1);

	memcpy(at, text, len);
	at[len] = '\n';
	out->len += len + 1;
}

/* A colon and the number: printf takes longer than all of a look-up. */
static char *put_number(char *at, uint32_t number)
{
	char digits[10], *first = digits + sizeof(digits);

	do
		*--first = (char)('0' + number % 10);
	while (number /= 10);
	*at++ = ':';
	return (char *)mempcpy(at, first, (size_t)(digits + sizeof(digits) - first));
}

static void add_place(struct buffer *out, const struct name_frame *frame)
{
	const char *file = frame->file ? frame->file : "??";
	size_t len = strlen(file);
	char *at = (char *)buffer_reserve(out, len + 2 * sizeof(":4294967295") + 1);

	at = put_number(put_number((char *)mempcpy(at, file, len), frame->line), frame->column);
	*at++ = '\n';
	out->len = (size_t)((uint8_t *)at - out->data);
}

static const char *function_of(const struct name_frame *frame, bool raw)
{
	return raw && frame->raw ? frame->raw : frame->function;
}

static void add_frames(struct buffer *out, const struct name_frame *frames, size_t nr,
		       enum form form, bool raw)
{
	size_t i;

	if (form == NAMES) { /* that of the symbol: the outermost */
		add_line(out, nr ? function_of(&frames[nr - 1], raw) : NULL);
		return;
	}
	if (!nr)
		buffer_add_string(out, "??\n??:0:0\n");
	for (i = 0; i < nr; i++) {
		add_line(out, function_of(&frames[i], raw));
		add_place(out, &frames[i]);
		if (form == SCOPES)
			add_line(out, frames[i].scope);
	}
	buffer_add_byte(out, '\n');
}

/* All of standard input, with a 0 behind it. */
static char *read_addresses(struct buffer *in)
{
	size_t n;

	do {
		n = fread(buffer_reserve(in, OUT_BYTES), 1, OUT_BYTES, stdin);
		in->len += n;
	} while (n);
	return buffer_string(in);
}

/* The address of a line; *text is behind the line then. */
static uint64_t parse_address(char **text)
{
	uint64_t address = 0;

	for (; **text && **text != '\n'; ++*text)
		address = address << 4 | (uint64_t)((**text & 15) + (**text > '9' ? 9 : 0));
	*text += **text == '\n';
	return address;
}

static void flush(struct buffer *out)
{
	fwrite(out->data, 1, out->len, stdout);
	out->len = 0;
}

static int show_names(const struct symbolizer_options *options, struct symbolizer_module *module,
		      enum form form, bool raw)
{
	struct symbolizer *symbolizer = symbolizer_new(options);
	uint32_t id = symbolizer_add(symbolizer, module);
	const struct name_frame *frames;
	struct buffer in = { NULL, 0, 0 }, out = { NULL, 0, 0 };
	const char *problem;
	char *at = read_addresses(&in);

	setvbuf(stdout, NULL, _IONBF, 0);
	while (*at) {
		size_t n = symbolizer_lookup(symbolizer, id, parse_address(&at), &frames);

		add_frames(&out, frames, n, form, raw);
		if (out.len > OUT_BYTES)
			flush(&out);
	}
	flush(&out);
	buffer_clear(&in);
	buffer_clear(&out);
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
	bool raw_names = false;
	int i, status;

	options.debug_dirs = dirs;
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--traceable"))
			return show_traceable(argv + i + 1);
		if (!strcmp(argv[i], "--demangle"))
			return show_demangled();
		if (!strcmp(argv[i], "--raw"))
			raw_names = true;
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
	status = show_names(&options, &module, form, raw_names);
	free(dirs);
	return status;
}
